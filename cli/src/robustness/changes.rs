//! How L changes on real matrices, of which nobody knows the split: with the order of the assets, with their units, and
//! from a day to the next.

use super::Plan;
use super::subject::{CAREFUL, PLAIN, Splitter, Subject};
use denise_data::random::Random;
use serde::Serialize;
use std::error::Error;

/// Windows of one table of prices.
#[derive(Clone, Copy)]
pub struct Stocks<'a> {
    /// Assets.
    pub n: usize,
    /// Some windows, far enough from each other.
    pub windows: &'a [f64],
    /// Windows that begin a day after each other.
    pub daily: &'a [f64],
}

/// Windows of as many assets of a larger table.
pub struct Panel {
    /// Assets in each.
    pub n: usize,
    /// Rank that L may have.
    pub k: usize,
    /// The windows.
    pub windows: Vec<f64>,
}

/// How much L changes, by one method.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Size of the matrices.
    pub n: usize,
    /// Rank that L may have.
    pub k: usize,
    /// The method.
    pub method: String,
    /// On how many matrices.
    pub matrices: usize,
    /// Half of the matrices have less.
    pub median: f64,
    /// 95 % have less.
    pub p95: f64,
    /// 99 % have less.
    pub p99: f64,
    /// The largest.
    pub largest: f64,
}

/// Rank of L on windows of 20 stocks, as in the paper.
const K: usize = 3;
/// Units are multiplied by e^u, where u is at most this in size.
const UNITS: f64 = 1.5;

/// The assets of each matrix in a random order, and L put back into the first one.
pub(super) fn order(plan: &Plan<'_>) -> Result<Vec<Change>, Box<dyn Error>> {
    let mut rows = Vec::new();
    if let Some(Stocks { n, windows, .. }) = plan.stocks {
        let k = K.min(n - 1);
        for subject in [PLAIN, CAREFUL, Subject::Eigen, Subject::Pcp] {
            let splitter = subject.ready(plan.open, n, k)?;
            rows.push(Change::of(
                n,
                k,
                subject.label(),
                reordered(&splitter, windows, plan.seed)?,
            ));
        }
    }
    for Panel { n, k, windows } in plan.panels {
        // Without PCP, which takes minutes for these and does not look at the order.
        for subject in [PLAIN, CAREFUL, Subject::Eigen] {
            let splitter = subject.ready(plan.open, *n, *k)?;
            rows.push(Change::of(
                *n,
                *k,
                subject.label(),
                reordered(&splitter, windows, plan.seed)?,
            ));
        }
    }
    Ok(rows)
}

/// ‖ΔL‖_F / ‖L‖_F of each matrix, where the assets are in a random order.
pub fn reordered(splitter: &Splitter, m: &[f64], seed: u64) -> Result<Vec<f64>, denise::Error> {
    let (n, mut random) = (splitter.n, Random::new(seed));
    let mut other = Vec::with_capacity(m.len());
    let mut orders = Vec::new();
    for m in m.chunks_exact(n * n) {
        let order = order_of(n, &mut random);
        other.extend((0..n * n).map(|at| m[order[at / n] * n + order[at % n]]));
        orders.push(order);
    }
    let l = splitter.low_rank(m)?;
    let mut back = vec![0.0; m.len()];
    let matrices = splitter.low_rank(&other)?;
    let matrices = matrices
        .chunks_exact(n * n)
        .zip(back.chunks_exact_mut(n * n));
    for ((other, back), order) in matrices.zip(orders) {
        for at in 0..n * n {
            back[order[at / n] * n + order[at % n]] = other[at];
        }
    }
    Ok(relative(n * n, &l, &back))
}

/// Numbers below n in a random order.
pub fn order_of(n: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// The assets of each matrix in random units, and L put back into the first ones.
pub(super) fn units(plan: &Plan<'_>) -> Result<Vec<Change>, Box<dyn Error>> {
    let Some(Stocks { n, windows, .. }) = plan.stocks else {
        return Ok(Vec::new());
    };
    let k = K.min(n - 1);
    let with = |careful| Subject::Network {
        careful,
        correlation: true,
    };
    let mut rows = Vec::new();
    for subject in [PLAIN, with(false), CAREFUL, with(true), Subject::Pcp] {
        let splitter = subject.ready(plan.open, n, k)?;
        rows.push(Change::of(
            n,
            k,
            subject.label(),
            rescaled(&splitter, windows, plan.seed)?,
        ));
    }
    Ok(rows)
}

/// ‖ΔL‖_F / ‖L‖_F of each matrix, where the assets are in random units.
pub fn rescaled(splitter: &Splitter, m: &[f64], seed: u64) -> Result<Vec<f64>, denise::Error> {
    let (n, mut random) = (splitter.n, Random::new(seed));
    let count = m.len() / (n * n);
    let units: Vec<f64> = (0..count * n)
        .map(|_| (UNITS * random.signed()).exp())
        .collect();
    let scale = |at: usize| {
        let (matrix, at) = (at / (n * n), at % (n * n));
        units[matrix * n + at / n] * units[matrix * n + at % n]
    };
    let other: Vec<f64> = m.iter().enumerate().map(|(at, x)| x * scale(at)).collect();
    let l = splitter.low_rank(m)?;
    let mut back = splitter.low_rank(&other)?;
    for (at, x) in back.iter_mut().enumerate() {
        *x /= scale(at);
    }
    Ok(relative(n * n, &l, &back))
}

/// From each window to the one that begins a day later, relative to the change of M.
pub(super) fn days(plan: &Plan<'_>) -> Result<Vec<Change>, Box<dyn Error>> {
    let Some(Stocks { n, daily, .. }) = plan.stocks else {
        return Ok(Vec::new());
    };
    let (k, size) = (K.min(n - 1), n * n);
    let mut rows = Vec::new();
    for subject in [PLAIN, CAREFUL, Subject::Eigen, Subject::Pcp] {
        let l = subject.ready(plan.open, n, k)?.low_rank(daily)?;
        let step = |x: &[f64], day: usize| {
            let (today, tomorrow) = x[day * size..(day + 2) * size].split_at(size);
            distance(today, tomorrow)
        };
        let days = (daily.len() / size).saturating_sub(1);
        // A day on which nothing changes would divide by zero.
        let ratios = (0..days)
            .map(|day| step(&l, day) / step(daily, day))
            .filter(|ratio| ratio.is_finite());
        rows.push(Change::of(n, k, subject.label(), ratios.collect()));
    }
    Ok(rows)
}

/// ‖ΔL‖_F / ‖L‖_F of each matrix of `size` entries.
fn relative(size: usize, l: &[f64], other: &[f64]) -> Vec<f64> {
    let pairs = l.chunks_exact(size).zip(other.chunks_exact(size));
    let zero = vec![0.0; size];
    pairs
        .map(|(l, other)| distance(l, other) / distance(l, &zero))
        .collect()
}

/// ‖A − B‖_F.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

impl Change {
    /// Of a number of each matrix.
    pub fn of(n: usize, k: usize, method: String, mut values: Vec<f64>) -> Change {
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let at = |share: f64| {
            let place = (share * count as f64) as usize;
            values
                .get(place.min(count.saturating_sub(1)))
                .copied()
                .unwrap_or(f64::NAN)
        };
        Change {
            n,
            k,
            method,
            matrices: count,
            median: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            largest: at(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise::{Model, Options};
    use denise_data::generator::Pairs;
    use denise_data::matrices::covariance;

    const N: usize = 8;

    fn on(
        windows: &[f64],
        run: impl Fn(&Plan<'_>) -> Result<Vec<Change>, Box<dyn Error>>,
    ) -> Vec<Change> {
        let panels = [Panel {
            n: N,
            k: 2,
            windows: windows.to_vec(),
        }];
        let plan = Plan {
            open: &|options: &Options| Ok(Model::builtin(options)?),
            pairs: Pairs::Authors,
            count: 1,
            seed: 1,
            stocks: Some(Stocks {
                n: N,
                windows,
                daily: windows,
            }),
            panels: &panels,
        };
        run(&plan).unwrap()
    }

    fn some() -> Vec<f64> {
        let mut random = Random::new(5);
        (0..20)
            .flat_map(|_| covariance(N, 2, 0.1, &mut random))
            .collect()
    }

    fn of<'a>(rows: &'a [Change], method: &str) -> &'a Change {
        rows.iter().find(|row| row.method == method).unwrap()
    }

    #[test]
    fn orders_are_permutations() {
        let mut random = Random::new(1);
        let mut order = order_of(50, &mut random);
        assert_ne!(order, order_of(50, &mut random));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..50));
    }

    /// Methods that are known not to look at the order, or at units, tell whether L is put back rightly.
    #[test]
    fn what_does_not_depend_on_order_or_units_is_found_not_to() {
        let rows = on(&some(), order);
        assert_eq!(rows.len(), 4 + 3);
        for method in ["eigen-truncation", "PCP, λ = 1/√n"] {
            assert!(of(&rows, method).largest < 1e-6, "{method}: {rows:?}");
        }
        let rows = on(&some(), units);
        let with = of(&rows, "Denise, correlation");
        assert!(
            with.largest < 1e-6 && of(&rows, "Denise").median > 1e-3,
            "{rows:?}"
        );
    }

    /// L of M of rank k is M.
    #[test]
    fn days_are_compared_with_the_change_of_m() {
        let mut random = Random::new(2);
        let m: Vec<f64> = (0..9)
            .flat_map(|_| covariance(N, 2, 0.0, &mut random))
            .collect();
        let rows = on(&m, days);
        let row = of(&rows, "eigen-truncation");
        assert_eq!(row.matrices, 8);
        assert!((row.median - 1.0).abs() < 1e-9 && (row.largest - 1.0).abs() < 1e-9);
    }

    #[test]
    fn quantiles() {
        let row = Change::of(
            2,
            1,
            String::new(),
            (1..=100).rev().map(f64::from).collect(),
        );
        assert_eq!(
            (row.median, row.p95, row.p99, row.largest),
            (51.0, 96.0, 100.0, 100.0)
        );
        assert!(Change::of(2, 1, String::new(), Vec::new()).median.is_nan());
    }
}
