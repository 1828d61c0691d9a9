//! How the pairs of S₀ are drawn, as an option.

use clap::ValueEnum;
use denise_data::generator;

/// The kinds of pairs, with what the help says about each.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Pairs {
    /// As the code that made the paper's tables: j from 1 to n - 1, then i below j; entries up to 0.01 count as zeros.
    Authors,
    /// As the paper's text: all pairs alike. Easier to split than the authors'.
    Uniform,
}

impl From<Pairs> for generator::Pairs {
    fn from(pairs: Pairs) -> generator::Pairs {
        match pairs {
            Pairs::Authors => generator::Pairs::Authors,
            Pairs::Uniform => generator::Pairs::Uniform,
        }
    }
}
