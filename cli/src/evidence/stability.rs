//! How L changes on real windows, of which nobody knows the split: with the order of the assets, with their units, and
//! from a day to the next. All methods get the same windows, in `f64`.

use super::effort::Effort;
use super::followed;
use super::text::two_figures;
use super::windows::{Pairs, Panel};
use crate::evaluate::Table;
use crate::robustness::{Change, Open, PLAIN, Splitter, Subject, distance, reordered, rescaled};
use serde::Serialize;
use std::error::Error;

/// All changes of one panel, size and rank.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub panel: String,
    pub n: usize,
    pub k: usize,
    /// Windows, and as many a day later.
    pub windows: usize,
    /// ‖ΔL‖_F / ‖L‖_F.
    pub order: [Change; 3],
    /// ‖ΔL‖_F / ‖L‖_F; the second is Denise on correlations.
    pub units: [Change; 4],
    /// ‖ΔL‖_F / ‖ΔM‖_F; the last is a stream.
    pub days: [Change; 4],
}

/// Ranks of L.
const RANKS: [usize; 2] = [3, 5];
/// Panels with more assets than this are also measured with so many.
const FEWER: usize = 50;

const CORRELATION: Subject = Subject::Network {
    careful: false,
    correlation: true,
};

/// Measures every panel.
pub fn measure(
    open: Open<'_>,
    panels: &[Panel],
    effort: &Effort,
    seed: u64,
) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for panel in panels {
        let all = panel.assets();
        let fewer = (FEWER < all).then_some(FEWER);
        for n in fewer.into_iter().chain([all]) {
            let pairs = panel.pairs(n, effort.days)?;
            let returns = panel.returns(n)?;
            // PCP does not look at k.
            let pcp = Measured::of(&Subject::Pcp.ready(open, n, 1)?, &pairs, seed)?;
            for k in RANKS.into_iter().filter(|&k| k < n) {
                let ready = |subject: Subject| subject.ready(open, n, k);
                let own = Measured::of(&ready(PLAIN)?, &pairs, seed)?;
                let eigen = Measured::of(&ready(Subject::Eigen)?, &pairs, seed)?;
                let correlation = rescaled(&ready(CORRELATION)?, &pairs.today, seed)?;
                let stream = followed::moves(open, (n, k), &returns, &pairs.days)?;
                let change = |subject: Subject, values: &Vec<f64>| {
                    Change::of(n, k, subject.label(), values.clone())
                };
                let each = |values: fn(&Measured) -> &Vec<f64>| {
                    [
                        change(PLAIN, values(&own)),
                        change(Subject::Eigen, values(&eigen)),
                        change(Subject::Pcp, values(&pcp)),
                    ]
                };
                let [plain, of_eigen, of_pcp] = each(|x| &x.units);
                let units = [plain, change(CORRELATION, &correlation), of_eigen, of_pcp];
                let [plain, of_eigen, of_pcp] = each(|x| &x.days);
                let stream = Change::of(n, k, "Denise, stream".to_owned(), stream);
                rows.push(Row {
                    panel: panel.name.clone(),
                    n,
                    k,
                    windows: pairs.days.len(),
                    order: each(|x| &x.order),
                    units,
                    days: [plain, of_eigen, of_pcp, stream],
                });
            }
        }
    }
    Ok(rows)
}

/// Changes of one method.
struct Measured {
    order: Vec<f64>,
    units: Vec<f64>,
    days: Vec<f64>,
}

impl Measured {
    fn of(splitter: &Splitter, pairs: &Pairs, seed: u64) -> Result<Measured, denise::Error> {
        Ok(Measured {
            order: reordered(splitter, &pairs.today, seed)?,
            units: rescaled(splitter, &pairs.today, seed)?,
            days: stepped(splitter, pairs)?,
        })
    }
}

/// ‖ΔL‖_F / ‖ΔM‖_F of each pair.
fn stepped(splitter: &Splitter, pairs: &Pairs) -> Result<Vec<f64>, denise::Error> {
    let size = pairs.n * pairs.n;
    let today = splitter.low_rank(&pairs.today)?;
    let tomorrow = splitter.low_rank(&pairs.tomorrow)?;
    let steps = |a: &[f64], b: &[f64]| -> Vec<f64> {
        let matrices = a.chunks_exact(size).zip(b.chunks_exact(size));
        matrices.map(|(a, b)| distance(a, b)).collect()
    };
    let l = steps(&today, &tomorrow);
    let m = steps(&pairs.today, &pairs.tomorrow);
    // A day on which nothing changes would divide by zero.
    let ratios = l.iter().zip(m).map(|(l, m)| l / m);
    Ok(ratios.filter(|ratio| ratio.is_finite()).collect())
}

/// What the table has.
pub const LEGEND: &str = "\
    - *Order*: the assets in a random order, ‖ΔL‖ / ‖L‖, 99 % of the windows have less.\n\
    - *Units*: each asset multiplied by e^u, with u uniform within ±1.5, ‖ΔL‖ / ‖L‖, the median; *corr.* is \
    `DENISE_FLAG_CORRELATION`.\n\
    - *Day*: from a window to the one that begins a day later, ‖ΔL‖ / ‖ΔM‖, the median, and in brackets what 99 % have \
    less than.\n";

/// One line for each panel, size and rank.
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "panel",
        "n, k",
        "windows",
        "order: Denise",
        "eigen",
        "PCP",
        "units: Denise",
        "corr.",
        "eigen",
        "PCP",
        "day: Denise",
        "eigen",
        "PCP",
        "stream",
    ]);
    for row in rows {
        let mut cells = vec![
            row.panel.clone(),
            format!("{}, {}", row.n, row.k),
            row.windows.to_string(),
        ];
        cells.extend(row.order.iter().map(|x| short(x.p99)));
        cells.extend(row.units.iter().map(|x| short(x.median)));
        let both = |x: &Change| format!("{} ({})", two_figures(x.median), two_figures(x.p99));
        cells.extend(row.days.iter().map(both));
        table.push(cells);
    }
    table
}

/// Rounding needs no figures.
fn short(x: f64) -> String {
    match x {
        x if x.abs() < 1e-3 => format!("{x:.0e}"),
        x => two_figures(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Format;
    use denise::Model;
    use std::path::Path;

    #[test]
    fn a_panel_has_a_row_for_each_rank() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/data/sp500/sp500_dataset.csv.gz"
        );
        let panel = Panel::read(Path::new(path)).unwrap();
        let open: Open<'_> = &|options| Ok(Model::builtin(options)?);
        let effort = Effort {
            days: 3,
            ..Effort::QUICK
        };
        let rows = measure(open, &[panel], &effort, 1).unwrap();
        let ranks: Vec<usize> = rows.iter().map(|row| row.k).collect();
        assert_eq!(ranks, RANKS);
        for row in &rows {
            assert!((1..=3).contains(&row.windows));
            // These do not look at the order, nor at the units.
            let still = [&row.order[1], &row.order[2], &row.units[1]];
            assert!(still.iter().all(|x| x.largest < 1e-6), "{row:?}");
            assert!(row.days.iter().all(|x| x.median > 0.0), "{row:?}");
        }
        let text = table(&rows).write(Format::Markdown);
        assert!(text.contains("| sp500 | 20, 3 | 3 |"), "{text}");
    }
}
