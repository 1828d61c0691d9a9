//! Which kinds of synthetic matrices a command works on.

use denise_data::generator::{Cell, Distribution, Pairs};

/// Kinds of matrices: every distribution with every sparsity.
#[derive(clap::Args, Clone, Debug)]
pub struct Cells {
    /// Shares of zeros in S₀.
    #[arg(long, value_delimiter = ',', default_value = "0.6,0.7,0.8,0.9,0.95", value_parser = share)]
    sparsity: Vec<f64>,
    /// Distributions of U: normal, normal:MEAN:SD, t:DEGREES, uniform, uniform:LOW:HIGH.
    #[arg(long, value_delimiter = ',', default_value = "normal,t:5")]
    distribution: Vec<Distribution>,
}

/// A share of zeros, from an argument.
pub fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..1.0).contains(&x) => Ok(x),
        _ => Err("must be a number from 0 to less than 1".into()),
    }
}

impl Cells {
    /// All of them.
    pub fn list(&self, pairs: impl Into<Pairs>) -> Vec<Cell> {
        self.with(&self.sparsity, pairs)
    }

    /// Every distribution with other sparsities.
    pub fn with(&self, sparsities: &[f64], pairs: impl Into<Pairs>) -> Vec<Cell> {
        let pairs = pairs.into();
        let of = |&distribution| {
            sparsities.iter().map(move |&sparsity| Cell {
                sparsity,
                distribution,
                pairs,
            })
        };
        self.distribution.iter().flat_map(of).collect()
    }
}
