//! One page for a sceptic: where Denise is better than other methods, where it is worse, and by how much.
//!
//! - `scenario`: the kinds of matrices. `column`: who stands there. `effort`: how many matrices each gets.
//! - `accuracy`: errors of L where L₀ is known. `cell`: one method beside Denise. `heat`: all of them in a table, and
//!   `picture` in colours. `tally`: wins and losses.
//! - `stability`: real windows, which `windows` makes in pairs of days; `followed` has streams.
//! - `usefulness`: what a Python program has measured of portfolios.
//! - `opening`: the first three sentences. `page`: the rest. `machine`: where and when. `text`: numbers and lists.

mod accuracy;
mod cell;
mod column;
mod effort;
mod followed;
mod heat;
mod machine;
mod opening;
mod page;
mod picture;
mod scenario;
mod stability;
mod tally;
#[cfg(test)]
mod testing;
mod text;
mod usefulness;
mod windows;

pub use effort::Effort;
pub use machine::Machine;
pub use page::Origin;
pub use usefulness::Usefulness;
pub use windows::Panel;

use crate::evaluate::Table;
use crate::robustness::Open;
use serde::Serialize;
use std::error::Error;

/// All that the page shows.
#[derive(Serialize)]
pub struct Evidence {
    /// Errors of L.
    pub accuracy: Vec<accuracy::Row>,
    /// Changes of L.
    pub stability: Vec<stability::Row>,
    /// Portfolios; it has a file of its own.
    #[serde(skip)]
    pub usefulness: Option<Usefulness>,
}

impl Evidence {
    /// Measures all but usefulness.
    pub fn measure(
        open: Open<'_>,
        panels: &[Panel],
        effort: &Effort,
        seed: u64,
        usefulness: Option<Usefulness>,
    ) -> Result<Evidence, Box<dyn Error>> {
        Ok(Evidence {
            accuracy: accuracy::measure(open, effort, seed)?,
            stability: stability::measure(open, panels, effort, seed)?,
            usefulness,
        })
    }

    /// Every number of the table of ratios.
    pub fn details(&self) -> Table {
        heat::details(&self.accuracy)
    }
}
