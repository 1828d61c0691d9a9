//! Which kinds of synthetic matrices a command works on.

use denise_data::generator::{Amplitude, Cell, Distribution, Pairs};

/// Kinds of matrices: every distribution with every sparsity and every amplitude.
#[derive(clap::Args, Clone, Debug)]
pub struct Cells {
    /// Shares of zeros in S₀; without it 0.6,0.7,0.8,0.9,0.95.
    #[arg(long, value_delimiter = ',', value_parser = share)]
    sparsity: Vec<f64>,
    /// Distributions of U: normal, normal:MEAN:SD, t:DEGREES, uniform, uniform:LOW:HIGH; without it normal,t:5.
    #[arg(long, value_delimiter = ',')]
    distribution: Vec<Distribution>,
    /// What S₀ is multiplied by: numbers, or LOW..HIGH for another one in every matrix; without it 1, as in the paper.
    #[arg(long, value_delimiter = ',')]
    amplitude: Vec<Amplitude>,
}

/// Those of the paper's tables.
const SPARSITIES: [f64; 5] = [0.6, 0.7, 0.8, 0.9, 0.95];
const DISTRIBUTIONS: [Distribution; 2] =
    [Distribution::Normal(0.0, 1.0), Distribution::StudentT(5.0)];

/// A share of zeros, from an argument.
pub fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..1.0).contains(&x) => Ok(x),
        _ => Err("must be a number from 0 to less than 1".into()),
    }
}

impl Cells {
    /// Whether any of them was asked for.
    pub fn named(&self) -> bool {
        !self.sparsity.is_empty() || !self.distribution.is_empty() || !self.amplitude.is_empty()
    }

    /// All of them.
    pub fn list(&self, pairs: impl Into<Pairs>) -> Vec<Cell> {
        self.with(or(&self.sparsity, &SPARSITIES), pairs)
    }

    /// Every distribution and amplitude with other sparsities.
    pub fn with(&self, sparsities: &[f64], pairs: impl Into<Pairs>) -> Vec<Cell> {
        let pairs = pairs.into();
        let mut all = Vec::new();
        for &amplitude in or(&self.amplitude, &[Amplitude::default()]) {
            for &distribution in or(&self.distribution, &DISTRIBUTIONS) {
                all.extend(sparsities.iter().map(|&sparsity| Cell {
                    sparsity,
                    distribution,
                    pairs,
                    amplitude,
                    ..Cell::default()
                }));
            }
        }
        all
    }
}

/// The list, or what stands for an empty one.
fn or<'a, T>(list: &'a [T], otherwise: &'a [T]) -> &'a [T] {
    if list.is_empty() { otherwise } else { list }
}
