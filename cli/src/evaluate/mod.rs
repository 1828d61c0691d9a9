//! Methods side by side: the paper's tables, and what they leave out.
//!
//! - `method`: all that can split a matrix. `contender`: which of them, with which λ. `best`: the best λ.
//! - `measures`: what is measured of a split. `timing`: how long it takes. `front`: networks beside each other. `continuity`: how L follows M.
//! - `synthetic`: matrices of which the split is known (the paper's Tables 1 and 2). `stocks`: real ones (Table 3).
//! - `pace`: how long that may take.
//! - `published`: the paper's own figures. `table`: the same table for terminals, Markdown, CSV and LaTeX.

pub mod best;
mod contender;
mod continuity;
mod front;
mod measures;
mod method;
mod pace;
mod published;
mod stocks;
mod synthetic;
mod table;
mod timing;

pub use contender::{Contender, LRS, Lambda, Matrices, PAPER, contenders};
pub use continuity::{Continuity, continuity};
pub use front::{BATCH, side_by_side};
#[cfg(test)]
pub use measures::Spread;
pub use method::Method;
pub use pace::Pace;
pub use published::{PAPER_NORMAL, PAPER_STOCKS, PAPER_STUDENT, Published};
pub use stocks::{StockRow, stocks};
pub use synthetic::{Plan, Row, evaluate};
pub use table::{Format, Table};
pub use timing::{Times, time};
