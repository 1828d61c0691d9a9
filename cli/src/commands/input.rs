//! Which matrices a command works on.

use clap::ValueEnum;
use denise_data::files::prices::{self, Days, Gaps, Missing, Windows};
use denise_data::files::{FileError, Stack, read, read_with_gaps};
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
    #[arg(long, requires = "table", conflicts_with = "missing")]
    pub drop_missing: bool,
    /// Numbers may be missing: NaN in .npy; empty cells, NaN, NA, null, N/A or #N/A in .csv. Such an entry of a matrix
    /// is not known. In a table, a missing price hides the returns into it and out of it, and each entry is computed
    /// over the days on which both assets have a return; means and variances are of these days too. An entry of too few
    /// days is not known (--min-days), nor is a correlation of an asset that does not vary on them.
    #[arg(long)]
    pub missing: bool,
    /// With --missing: the fewest days of an entry; without it, a third of the window, and at least 3. Fewer days make
    /// entries that are known, but by chance.
    #[arg(long, value_name = "DAYS", requires = "table", requires = "missing")]
    pub min_days: Option<usize>,
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

impl From<Content> for prices::Input {
    fn from(content: Content) -> prices::Input {
        match content {
            Content::Prices => prices::Input::Prices,
            Content::LogPrices => prices::Input::LogPrices,
            Content::Returns => prices::Input::Returns,
        }
    }
}

/// What was read.
pub struct Loaded {
    /// The matrices; NaN is an entry that is not known.
    pub stack: Stack,
    /// Which pairs of a table with gaps are not known.
    pub gaps: Option<Gaps>,
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
        missing: false,
        min_days: None,
    };
    input.load().map(|loaded| loaded.stack)
}

impl Input {
    /// Reads them.
    pub fn load(&self) -> Result<Loaded, FileError> {
        let Some(content) = self.table else {
            let stack = match self.missing {
                true => read_with_gaps(&self.file),
                false => read(&self.file),
            };
            return Ok(Loaded {
                stack: stack?,
                gaps: None,
            });
        };
        let table = self.read_table()?;
        let windows = Windows {
            window: self.window,
            step: self.step,
            kind: if self.covariance {
                prices::Kind::Covariance
            } else {
                prices::Kind::Correlation
            },
            input: content.into(),
            days: self.days(),
        };
        let (stack, gaps) = prices::windows_and_gaps(&table, &windows)?;
        Ok(Loaded {
            stack,
            gaps: self.missing.then_some(gaps),
        })
    }

    /// The table, whatever it holds.
    fn read_table(&self) -> Result<prices::Table, FileError> {
        let missing = match (self.missing, self.drop_missing) {
            (true, _) => Missing::Keep,
            (false, true) => Missing::DropRow,
            (false, false) => Missing::Refuse,
        };
        prices::read(&self.file, missing)
    }

    /// The number of assets of a table, and their returns, day by day; `None` if the file holds matrices.
    pub fn returns(&self) -> Result<Option<(usize, Vec<f64>)>, FileError> {
        let Some(content) = self.table else {
            return Ok(None);
        };
        let table = self.read_table()?;
        let returns = prices::returns(&table, content.into())?;
        Ok(Some((table.names.len(), returns)))
    }

    /// Which days of a window count.
    pub fn days(&self) -> Days {
        match self.min_days {
            _ if !self.missing => Days::All,
            Some(least) => Days::Common { least },
            None => Days::common(self.window),
        }
    }
}
