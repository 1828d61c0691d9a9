//! How far L can be relied on where matrices are not those of the paper's tables: larger outliers, another order of the
//! assets, other units, the next day, a rank that is too large, other sizes, entries that are not known.
//!
//! - `subject`: the network, with its options, and the methods beside it.
//! - `errors`: on matrices of which L₀ is known. `changes`: on real ones, where L is compared with another L.
//!   `missing`: on both, with entries that are hidden.
//! - `tables`: the same for people.

mod changes;
mod errors;
mod missing;
mod subject;
mod tables;

pub use changes::{Change, Panel, Stocks, distance, order_of, reordered, rescaled};
pub use errors::Error as ErrorOfL;
pub use missing::Hidden;
pub use subject::{Open, PLAIN, Splitter, Subject};
pub use tables::Part;

use denise_data::generator::Pairs;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::error::Error;

/// What to measure, and on what.
pub struct Plan<'a> {
    /// Opens the network.
    pub open: Open<'a>,
    /// How the pairs of S₀ are drawn.
    pub pairs: Pairs,
    /// Matrices of each kind.
    pub count: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Windows of the assets for which k = 3 is meant; without them only synthetic matrices are measured.
    pub stocks: Option<Stocks<'a>>,
    /// Windows of more assets, of several sizes.
    pub panels: &'a [Panel],
}

/// All that is measured, in `f64`.
#[derive(Clone, Debug, Serialize)]
pub struct Robustness {
    /// Errors of L where S₀ is taken several times.
    pub amplitudes: Vec<ErrorOfL>,
    /// Errors of L where k is two too large.
    pub rank: Vec<ErrorOfL>,
    /// Errors of L for other n and k.
    pub sizes: Vec<ErrorOfL>,
    /// Errors of L where entries are missing.
    pub missing: Vec<Hidden>,
    /// Errors of hidden entries of real matrices.
    pub hidden: Vec<Hidden>,
    /// ‖ΔL‖_F / ‖L‖_F where the assets are in another order.
    pub order: Vec<Change>,
    /// ‖ΔL‖_F / ‖L‖_F where the assets are in other units.
    pub units: Vec<Change>,
    /// ‖ΔL‖_F / ‖ΔM‖_F from a day to the next.
    pub days: Vec<Change>,
}

/// Measures all of it.
pub fn measure(plan: &Plan<'_>) -> Result<Robustness, Box<dyn Error>> {
    let bar = ProgressBar::new(8);
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len}, {msg}")?);
    let next = |part: &'static str| {
        bar.set_message(part);
        bar.inc(1);
    };
    next("large outliers");
    let amplitudes = errors::amplitudes(plan)?;
    next("rank");
    let rank = errors::rank(plan)?;
    next("sizes");
    let sizes = errors::sizes(plan)?;
    next("missing entries");
    let missing = missing::synthetic(plan)?;
    next("hidden entries");
    let hidden = missing::real(plan)?;
    next("order");
    let order = changes::order(plan)?;
    next("units");
    let units = changes::units(plan)?;
    next("days");
    let days = changes::days(plan)?;
    bar.finish_and_clear();
    Ok(Robustness {
        amplitudes,
        rank,
        sizes,
        missing,
        hidden,
        order,
        units,
        days,
    })
}
