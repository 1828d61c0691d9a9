//! Streams beside a start from scratch at every tick, and beside eigen-truncation, on real returns.
//!
//! Everything is in units of correlations, in `f64`.

use crate::evaluate::Table;
use crate::robustness::Open;
use denise::classical::{self, Solver};
use denise::{Options, Outputs, Report, StreamOptions};
use serde::Serialize;
use std::error::Error;

/// How covariances are estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// A moving window, means subtracted.
    Window(usize),
    /// Exponential weights, means not subtracted.
    HalfLife(f64),
}

impl Estimate {
    fn options(self) -> StreamOptions {
        let usual = StreamOptions {
            correlation: true,
            ..StreamOptions::default()
        };
        match self {
            Estimate::Window(window) => StreamOptions {
                window,
                demean: true,
                warm_up: window,
                ..usual
            },
            Estimate::HalfLife(half_life) => StreamOptions {
                half_life,
                warm_up: 60,
                ..usual
            },
        }
    }

    fn label(self) -> String {
        match self {
            Estimate::Window(window) => format!("{window} days"),
            Estimate::HalfLife(half_life) => format!("half-life {half_life}"),
        }
    }
}

/// Returns of n assets, day by day.
pub struct Returns {
    /// What they are of.
    pub name: String,
    /// Assets.
    pub n: usize,
    /// One day after another.
    pub values: Vec<f64>,
}

/// How much L moves for each move of M, ‖ΔL‖/‖ΔM‖, from a day to the next.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Moves {
    /// Half of the days have less.
    pub median: f64,
    /// 99 % have less.
    pub p99: f64,
    /// The largest.
    pub largest: f64,
}

/// A stream beside the others.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The returns.
    pub name: String,
    /// How covariances are estimated.
    pub estimate: String,
    /// Assets.
    pub n: usize,
    /// Rank of L.
    pub k: usize,
    /// Ticks that were split.
    pub ticks: usize,
    /// Mean |S| of the stream by that from scratch, over all ticks, and over the last 40 %, which nobody trained on.
    pub ratio: f64,
    /// See `ratio`.
    pub ratio_late: f64,
    /// The same of eigen-truncation, over all ticks.
    pub ratio_eigen: f64,
    /// Share of entries of S that are zero, up to 0.01: the stream, and from scratch.
    pub zeros: f64,
    /// See `zeros`.
    pub zeros_scratch: f64,
    /// The stream.
    pub moves: Moves,
    /// From scratch.
    pub moves_scratch: Moves,
    /// Eigen-truncation.
    pub moves_eigen: Moves,
    /// ‖ΔU‖/‖U‖: 99 % of the days have less.
    pub u_p99: f64,
    /// The longest run of ticks at which the stream's Σ|S| is more than 10 % above that from scratch.
    pub longest: usize,
}

/// L of one pair, tick by tick, by each method.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// In the order of [`NAMES`].
    pub l: [Vec<f64>; 3],
}

/// Who is measured.
pub const NAMES: [&str; 3] = ["stream", "from scratch", "eigen-truncation"];

/// The share of ticks after which nobody trained.
const LATE: f64 = 0.6;
/// Ticks that are split at once.
const AT_ONCE: usize = 256;
/// |S_ij| up to this counts as zero.
const ZERO: f64 = 0.01;

/// Measures, and keeps L of one pair.
pub fn measure(
    open: Open<'_>,
    returns: &Returns,
    estimate: Estimate,
    k: usize,
    pair: (usize, usize),
) -> Result<(Row, Path), Box<dyn Error>> {
    let n = returns.n;
    let model = open(&Options::size(n, k))?;
    let mut stream = model.stream(&estimate.options())?;
    let mut solver = Solver::new(classical::Method::Eigen, n, k, 0.0)?;
    let mut all = [Figures::new(n), Figures::new(n), Figures::new(n)];
    let mut path = Path::default();
    let mut u_before: Option<Vec<f64>> = None;
    let mut u_moves = Vec::new();
    let size = n * n;
    let (mut m, mut l) = (Vec::new(), Vec::new());
    let mut ticks = returns.values.chunks_exact(n).peekable();
    while let Some(tick) = ticks.next() {
        let (mut l_t, mut u_t) = (vec![0.0; size], vec![0.0; n * k]);
        let mut report = [Report::default()];
        let out = Outputs {
            u: Some(&mut u_t),
            l: Some(&mut l_t),
            s: None,
            reports: Some(&mut report),
        };
        stream.push(tick, out)?;
        if report[0].status == 0 {
            let mut m_t = vec![0.0; size];
            stream.covariance(&mut m_t)?;
            // An asset that does not move has no unit, and zeros in L.
            let unit: Vec<f64> = (0..n)
                .map(|i| m_t[i * n + i].sqrt())
                .map(|x| if x > 0.0 { x.recip() } else { 0.0 })
                .collect();
            for at in 0..size {
                let both = unit[at / n] * unit[at % n];
                m.push(m_t[at] * both);
                l.push(l_t[at] * both);
            }
            let u: Vec<f64> = (0..n * k).map(|at| u_t[at] * unit[at / k]).collect();
            if let Some(before) = u_before {
                let step = norm(u.iter().zip(&before).map(|(x, y)| x - y));
                u_moves.push(step / norm(u.iter().copied()));
            }
            u_before = Some(u);
        }
        if m.len() < AT_ONCE * size && ticks.peek().is_some() {
            continue;
        }
        let mut scratch = vec![0.0; m.len()];
        let low_rank = |l| Outputs {
            l: Some(l),
            ..Outputs::default()
        };
        model.decompose(&m, low_rank(&mut scratch))?;
        let mut eigen = vec![0.0; m.len()];
        solver.solve(&m, low_rank(&mut eigen))?;
        for (at, m) in m.chunks_exact(size).enumerate() {
            let of = |l: &[f64]| l[at * size..(at + 1) * size].to_vec();
            for (method, l) in [of(&l), of(&scratch), of(&eigen)].into_iter().enumerate() {
                path.l[method].push(l[pair.0 * n + pair.1]);
                all[method].take(m, l);
            }
        }
        m.clear();
        l.clear();
    }
    let [own, scratch, eigen] = all;
    if own.sizes.len() < 2 {
        return Err(format!("{}: too few ticks", returns.name).into());
    }
    let ratio = |a: &[f64], b: &[f64]| a.iter().sum::<f64>() / b.iter().sum::<f64>();
    let late = (own.sizes.len() as f64 * LATE) as usize;
    let row = Row {
        name: returns.name.clone(),
        estimate: estimate.label(),
        n,
        k,
        ticks: own.sizes.len(),
        ratio: ratio(&own.sizes, &scratch.sizes),
        ratio_late: ratio(&own.sizes[late..], &scratch.sizes[late..]),
        ratio_eigen: ratio(&eigen.sizes, &scratch.sizes),
        zeros: own.zeros(),
        zeros_scratch: scratch.zeros(),
        longest: longest(&own.sizes, &scratch.sizes),
        moves: own.moves(),
        moves_scratch: scratch.moves(),
        moves_eigen: eigen.moves(),
        u_p99: quantile(u_moves, 0.99),
    };
    Ok((row, path))
}

/// What is counted of one method.
struct Figures {
    n: usize,
    before: Option<(Vec<f64>, Vec<f64>)>,
    /// Mean |S| of every tick.
    sizes: Vec<f64>,
    zeros: usize,
    moves: Vec<f64>,
}

impl Figures {
    fn new(n: usize) -> Figures {
        Figures {
            n,
            before: None,
            sizes: Vec::new(),
            zeros: 0,
            moves: Vec::new(),
        }
    }

    fn take(&mut self, m: &[f64], l: Vec<f64>) {
        let s = m.iter().zip(&l).map(|(m, l)| (m - l).abs());
        self.sizes.push(s.clone().sum::<f64>() / m.len() as f64);
        self.zeros += s.filter(|&s| s <= ZERO).count();
        if let Some((m_before, l_before)) = &self.before {
            let step = norm(m.iter().zip(m_before).map(|(x, y)| x - y));
            // On a day without trade nothing moves.
            if step > 1e-9 {
                let moved = norm(l.iter().zip(l_before).map(|(x, y)| x - y));
                self.moves.push(moved / step);
            }
        }
        self.before = Some((m.to_vec(), l));
    }

    fn zeros(&self) -> f64 {
        self.zeros as f64 / (self.sizes.len() * self.n * self.n) as f64
    }

    fn moves(&self) -> Moves {
        Moves {
            median: quantile(self.moves.clone(), 0.5),
            p99: quantile(self.moves.clone(), 0.99),
            largest: quantile(self.moves.clone(), 1.0),
        }
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|x| x * x).sum::<f64>().sqrt()
}

fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = ((values.len() as f64 - 1.0) * share).round() as usize;
    values.get(at).copied().unwrap_or(f64::NAN)
}

fn longest(own: &[f64], scratch: &[f64]) -> usize {
    let (mut run, mut most) = (0, 0);
    for (own, scratch) in own.iter().zip(scratch) {
        run = if *own > 1.1 * scratch { run + 1 } else { 0 };
        most = most.max(run);
    }
    most
}

/// For people.
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "returns",
        "estimate",
        "n, k",
        "mean |S|: stream, later days, eigen",
        "zeros in S",
        "stream: median, 99 %, largest",
        "from scratch",
        "eigen",
        "‖ΔU‖/‖U‖, 99 %",
        "longest",
    ]);
    let moves = |x: &Moves| format!("{:.2} {:.2} {:.1}", x.median, x.p99, x.largest);
    for row in rows {
        table.push(vec![
            row.name.clone(),
            row.estimate.clone(),
            format!("{}, {}", row.n, row.k),
            format!(
                "{:.3} {:.3} {:.3}",
                row.ratio, row.ratio_late, row.ratio_eigen
            ),
            format!("{:.3} ({:.3})", row.zeros, row.zeros_scratch),
            moves(&row.moves),
            moves(&row.moves_scratch),
            moves(&row.moves_eigen),
            format!("{:.3}", row.u_p99),
            row.longest.to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise::Model;
    use denise_data::files::prices::{self, Input, Missing};

    /// 1990 to 2022: 1998, 2000, 2008 and 2020 are in it.
    #[test]
    fn on_real_returns_a_stream_explains_as_much_as_a_start_from_scratch_and_finds_back() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/data/sp500/sp500_dataset.csv.gz"
        );
        let table = prices::read(std::path::Path::new(path), Missing::Refuse).unwrap();
        let returns = Returns {
            name: String::new(),
            n: 20,
            values: prices::returns(&table, Input::Prices).unwrap(),
        };
        let open: Open<'_> = &|options| Ok(Model::builtin(options)?);
        for estimate in [
            Estimate::Window(100),
            Estimate::HalfLife(60.0),
            Estimate::HalfLife(20.0),
        ] {
            let (row, _) = measure(open, &returns, estimate, 3, (0, 1)).unwrap();
            assert!(row.ticks > 8000);
            assert!(row.longest <= 20, "{row:?}");
            assert!(row.ratio < 1.03, "{row:?}");
            assert!(row.moves.median < row.moves_scratch.median, "{row:?}");
            assert!(row.moves.p99 < row.moves_scratch.p99, "{row:?}");
        }
    }
}
