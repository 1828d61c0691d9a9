//! From a table of prices or returns to the covariance of each window of days.

mod correlation;
mod pairwise;
mod rows;
mod table;
mod windows;

pub use rows::{Row, Rows, open};
pub use table::{Missing, Table, parse, read};
pub use windows::{Days, Gaps, Input, Kind, Windows, returns, windows, windows_and_gaps};
