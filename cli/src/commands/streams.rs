//! What streams are measured on, and how that is printed: for `denise eval` and `denise results`.

use super::model::Model;
use super::robustness::Assets;
use crate::evaluate::{Format, Pace};
use crate::robustness::Open;
use crate::streams::{self, Estimate, Path as OfPair, Returns, Row};
use denise_data::files::prices::{self, Input, Missing, Table};
use std::error::Error;
use std::path::Path;

/// The pair of which L is drawn, by name: two banks.
pub const PAIR: [&str; 2] = ["BAC", "JPM"];
/// What is estimated for 20 stocks: first what is drawn.
const ESTIMATES: [Estimate; 3] = [
    Estimate::Window(100),
    Estimate::HalfLife(60.0),
    Estimate::HalfLife(20.0),
];
/// Rank of L for them, and others that are measured too.
const K: usize = 3;
const RANKS: [usize; 2] = [1, 5];

/// All that is measured, and L of the pair with windows of 100 days.
pub struct Measured {
    pub rows: Vec<Row>,
    pub path: OfPair,
}

/// On the prices, and on the first assets of a larger table if there is one.
pub fn measure(
    model: &Model,
    path: &Path,
    assets: &Assets,
    pace: Pace,
) -> Result<Measured, Box<dyn Error>> {
    let table = prices::read(path, Missing::Refuse)?;
    let n = table.names.len();
    let place = |name: &str| table.names.iter().position(|x| x == name);
    let pair = match PAIR.map(place) {
        [Some(a), Some(b)] => (a, b),
        _ => (0, n - 1),
    };
    let open: Open<'_> = &|options| model.open_for(options);
    let returns = of(&table, n)?;
    let mut rows = Vec::new();
    let mut first = None;
    for &estimate in &ESTIMATES[..pace.of(ESTIMATES.len(), 1)] {
        let (row, path) = streams::measure(open, &returns, estimate, K.min(n - 1), pair)?;
        rows.push(row);
        first.get_or_insert(path);
    }
    for &k in RANKS[..pace.of(RANKS.len(), 0)].iter().filter(|&&k| k < n) {
        rows.push(streams::measure(open, &returns, ESTIMATES[0], k, pair)?.0);
    }
    if let Some(table) = assets.table()? {
        for (n, k) in assets.sizes(&table)? {
            let returns = of(&table, n)?;
            for estimate in ESTIMATES {
                rows.push(streams::measure(open, &returns, estimate, k, (0, 1))?.0);
            }
        }
    }
    Ok(Measured {
        rows,
        path: first.unwrap_or_default(),
    })
}

/// The returns of the first n assets.
fn of(table: &Table, n: usize) -> Result<Returns, Box<dyn Error>> {
    let all = table.names.len();
    let returns = prices::returns(table, Input::Prices)?;
    let some = returns.chunks_exact(all).flat_map(|day| &day[..n]);
    Ok(Returns {
        name: format!("{n} stocks"),
        n,
        values: some.copied().collect(),
    })
}

/// The table, in any format.
pub fn print(rows: &[Row], format: Format) -> Result<String, Box<dyn Error>> {
    if format == Format::Json {
        let all = serde_json::json!({"streams": rows});
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    Ok(streams::table(rows).write(format))
}
