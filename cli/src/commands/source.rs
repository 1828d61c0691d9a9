//! Covariances from what a user has: a table of prices as it is, or matrices.

use super::input::{Content, Input, Loaded};
use clap::ValueEnum;
use denise_data::files::FileError;
use std::path::PathBuf;

/// A table of prices, or matrices.
#[derive(clap::Args, Clone, Debug)]
pub struct Source {
    /// A CSV table of prices, with a column per asset and a row per day, as .csv or .csv.gz; or matrices, as .npy.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the file holds; without it, prices, or matrices if its name ends with .npy.
    #[arg(long, value_enum, value_name = "CONTENT")]
    table: Option<Holds>,
    /// Days in a window.
    #[arg(long, default_value_t = 250)]
    window: usize,
    /// Days from one window to the next.
    #[arg(long, default_value_t = 21)]
    step: usize,
    /// Leave out days on which a price is missing, instead of refusing the table.
    #[arg(long, conflicts_with = "missing")]
    drop_missing: bool,
    /// Numbers may be missing, as for `denise decompose`: entries over too few common days are not known.
    #[arg(long)]
    pub missing: bool,
    /// With --missing: the fewest common days of two assets; without it, a third of the window.
    #[arg(long, value_name = "DAYS", requires = "missing")]
    min_days: Option<usize>,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Holds {
    /// Prices, for simple returns.
    Prices,
    /// Prices, for logarithmic returns.
    LogPrices,
    /// Returns.
    Returns,
    /// Matrices.
    Matrices,
}

impl Source {
    /// Covariances of rolling windows, or the matrices of the file.
    pub fn load(&self) -> Result<Loaded, FileError> {
        let table = match self.holds() {
            Holds::Prices => Some(Content::Prices),
            Holds::LogPrices => Some(Content::LogPrices),
            Holds::Returns => Some(Content::Returns),
            Holds::Matrices => None,
        };
        let input = Input {
            file: self.file.clone(),
            table,
            window: self.window,
            step: self.step,
            covariance: true,
            drop_missing: self.drop_missing,
            missing: self.missing,
            min_days: self.min_days,
        };
        input.load()
    }

    /// How many observations are behind a matrix, if that is known.
    pub fn observations(&self) -> Option<usize> {
        (self.holds() != Holds::Matrices).then_some(self.window)
    }

    fn holds(&self) -> Holds {
        let npy = || self.file.extension().is_some_and(|ending| ending == "npy");
        match self.table {
            Some(holds) => holds,
            None if npy() => Holds::Matrices,
            None => Holds::Prices,
        }
    }
}
