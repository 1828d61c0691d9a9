//! Which matrices a command works on.

use clap::ValueEnum;
use denise_data::files::prices::{self, Missing, Windows};
use denise_data::files::{FileError, Stack, read};
use std::path::{Path, PathBuf};

/// A file of matrices, or a table of prices from which they are made.
#[derive(clap::Args, Clone, Debug)]
pub struct Input {
    /// Matrices as .npy (n×n or count×n×n), .csv or .csv.gz; or, with --table, a table of prices.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The file is a CSV table with a column per asset and a row per day: take rolling windows of it.
    #[arg(long, value_enum, value_name = "CONTENT")]
    pub table: Option<Content>,
    /// Days in a window.
    #[arg(long, default_value_t = 100, requires = "table")]
    pub window: usize,
    /// Days from one window to the next.
    #[arg(long, default_value_t = 5, requires = "table")]
    pub step: usize,
    /// Covariance instead of correlation.
    #[arg(long, requires = "table")]
    pub covariance: bool,
    /// Leave out days on which a number is missing, instead of refusing the table.
    #[arg(long, requires = "table")]
    pub drop_missing: bool,
}

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Content {
    /// Prices, for simple returns.
    Prices,
    /// Prices, for logarithmic returns.
    LogPrices,
    /// Returns.
    Returns,
}

/// The windows of the paper's example: 100 days, every 5 days, correlations of simple returns.
pub fn stock_windows(path: &Path) -> Result<Stack, FileError> {
    windows_every(path, 5)
}

/// The same with other days from one window to the next.
pub fn windows_every(path: &Path, step: usize) -> Result<Stack, FileError> {
    let input = Input {
        file: path.to_owned(),
        table: Some(Content::Prices),
        window: 100,
        step,
        covariance: false,
        drop_missing: false,
    };
    input.load()
}

impl Input {
    /// Reads them.
    pub fn load(&self) -> Result<Stack, FileError> {
        let Some(content) = self.table else {
            return read(&self.file);
        };
        let missing = if self.drop_missing {
            Missing::DropRow
        } else {
            Missing::Refuse
        };
        let table = prices::read(&self.file, missing)?;
        let windows = Windows {
            window: self.window,
            step: self.step,
            kind: if self.covariance {
                prices::Kind::Covariance
            } else {
                prices::Kind::Correlation
            },
            input: match content {
                Content::Prices => prices::Input::Prices,
                Content::LogPrices => prices::Input::LogPrices,
                Content::Returns => prices::Input::Returns,
            },
        };
        prices::windows(&table, &windows)
    }
}
