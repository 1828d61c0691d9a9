//! Methods side by side: the paper's tables, and what they leave out.
//!
//! - `method`: all that can split a matrix. `measures`: what is measured of a split. `timing`: how long it takes.
//! - `synthetic`: matrices of which the split is known (the paper's Tables 1 and 2). `stocks`: real ones (Table 3).
//! - `published`: the paper's own figures. `table`: the same table for terminals, Markdown, CSV and LaTeX.

mod continuity;
mod measures;
mod method;
mod published;
mod stocks;
mod synthetic;
mod table;
mod timing;

pub use continuity::{Continuity, continuity};

pub use method::{Method, Splitter};
pub use published::{PAPER_NORMAL, PAPER_STOCKS, PAPER_STUDENT, Published};
pub use stocks::{StockRow, stocks};
pub use synthetic::{Contender, Plan, Row, evaluate};
pub use table::{Format, Table};
pub use timing::time;
