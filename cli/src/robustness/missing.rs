//! Entries that are not known: the error of all of L on synthetic matrices, and of hidden entries on real ones.

use super::subject::{CAREFUL, PLAIN, Splitter, Subject};
use super::{Plan, Stocks};
use denise::Outputs;
use denise::classical::{self, Solver};
use denise_data::generator::{Cell, Holes, Kind, Source, samples};
use denise_data::random::Random;
use rayon::prelude::*;
use serde::Serialize;
use std::error::Error;

/// A method on matrices of which something is hidden.
#[derive(Clone, Debug, Serialize)]
pub struct Hidden {
    /// The matrices, and what is hidden of them.
    pub kind: String,
    /// The method.
    pub method: String,
    /// On how many matrices.
    pub matrices: usize,
    /// The mean of rel.error(L), all of L; on real matrices the mean over windows of ‖L − M‖ / ‖M‖ over the hidden
    /// entries.
    pub mean: f64,
    /// Half of the matrices have less.
    pub median: f64,
    /// The largest.
    pub largest: f64,
}

/// n = 20, k = 3, authors' pairs: s(S₀), and what is hidden.
const SYNTHETIC: [(f64, &str); 13] = [
    (0.95, "none"),
    (0.95, "0.05"),
    (0.95, "0.10"),
    (0.95, "0.20"),
    (0.95, "0.30"),
    (0.95, "0.40"),
    (0.8, "0.10"),
    (0.8, "0.30"),
    (0.95, "groups 3"),
    (0.95, "groups 10"),
    (0.95, "groups 30"),
    (0.95, "rows 4:6"),
    (0.95, "variances 0.50"),
];
const N: usize = 20;
const K: usize = 3;
/// PCP is slow, and slower where much is missing.
const MOST_PCP: usize = 500;
/// Of the pairs of a real window.
const SHARE: f64 = 0.1;
/// Rounds of filling in holes from a truncated eigendecomposition.
const ROUNDS: usize = 50;

/// The network, and masked PCP with both λ.
pub(super) fn synthetic(plan: &Plan<'_>) -> Result<Vec<Hidden>, Box<dyn Error>> {
    let mut rows = Vec::new();
    if plan.count == 0 {
        return Ok(rows);
    }
    for (sparsity, holes) in SYNTHETIC {
        let kind = Kind {
            source: Source::Sum(Cell {
                sparsity,
                pairs: plan.pairs,
                ..Cell::default()
            }),
            holes: holes.parse::<Holes>()?,
        };
        let data = samples(N, K, &[kind], plan.seed, 0, plan.count);
        for subject in [
            PLAIN,
            CAREFUL,
            Subject::MaskedPcp(1.0),
            Subject::MaskedPcp(0.56),
        ] {
            let some = match subject {
                Subject::MaskedPcp(_) => plan.count.min(MOST_PCP),
                _ => plan.count,
            };
            let some = ..some * N * N;
            let l = subject.ready(plan.open, N, K)?.low_rank(&data.m[some])?;
            let errors = l
                .chunks_exact(N * N)
                .zip(data.l[some].chunks_exact(N * N))
                .map(|(l, truth)| relative(l, truth, |_| true));
            rows.push(Hidden::of(kind.to_string(), subject.label(), errors));
        }
    }
    Ok(rows)
}

/// A tenth of the pairs of every window is hidden and found again.
pub(super) fn real(plan: &Plan<'_>) -> Result<Vec<Hidden>, Box<dyn Error>> {
    let Some(Stocks { n, windows, .. }) = plan.stocks else {
        return Ok(Vec::new());
    };
    let (k, size) = (K.min(n - 1), n * n);
    let m = hide(n, windows, plan.seed);
    let kind = format!("windows, {:.0} % of the pairs", 100.0 * SHARE);
    let mut rows = Vec::new();
    let mut add = |method: String, l: &[f64]| {
        let matrices = l.chunks_exact(size).zip(windows.chunks_exact(size));
        let errors = matrices
            .zip(m.chunks_exact(size))
            .map(|((l, truth), m)| relative(l, truth, |at| m[at].is_nan()));
        rows.push(Hidden::of(kind.clone(), method, errors));
    };
    for subject in [
        PLAIN,
        CAREFUL,
        Subject::MaskedPcp(1.0),
        Subject::MaskedPcp(0.56),
    ] {
        let splitter: Splitter = subject.ready(plan.open, n, k)?;
        add(subject.label(), &splitter.low_rank(&m)?);
    }
    let filled: Result<Vec<Vec<f64>>, denise::Error> = m
        .par_chunks_exact(size)
        .map(|m| eigen_fill(n, k, m))
        .collect();
    add(
        format!("eigen-truncation, {ROUNDS} times"),
        &filled?.concat(),
    );
    let means: Vec<f64> = m
        .chunks_exact(size)
        .flat_map(|m| mean_of_rows(n, m))
        .collect();
    add("mean of the two assets' pairs".to_owned(), &means);
    Ok(rows)
}

/// NaN for a share of the pairs, in both triangles.
fn hide(n: usize, windows: &[f64], seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut m = windows.to_vec();
    for m in m.chunks_exact_mut(n * n) {
        for i in 0..n {
            for j in 0..i {
                if random.uniform() < SHARE {
                    m[i * n + j] = f64::NAN;
                    m[j * n + i] = f64::NAN;
                }
            }
        }
    }
    m
}

/// Holes filled with zeros, then again and again with what the k leading eigenvectors say.
fn eigen_fill(n: usize, k: usize, m: &[f64]) -> Result<Vec<f64>, denise::Error> {
    let mut solver = Solver::new(classical::Method::Eigen, n, k, 0.0)?;
    let mut l = vec![0.0; n * n];
    for _ in 0..ROUNDS {
        let known = m.iter().zip(&l);
        let filled: Vec<f64> = known
            .map(|(&m, &l)| if m.is_nan() { l } else { m })
            .collect();
        let out = Outputs {
            l: Some(&mut l),
            ..Outputs::default()
        };
        solver.solve(&filled, out)?;
    }
    Ok(l)
}

/// For each pair, the mean of what is known of both assets with others.
fn mean_of_rows(n: usize, m: &[f64]) -> Vec<f64> {
    let each: Vec<(f64, f64)> = (0..n)
        .map(|i| {
            let pairs = (0..n).filter(|&j| j != i).map(|j| m[i * n + j]);
            pairs
                .filter(|x| !x.is_nan())
                .fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0))
        })
        .collect();
    let both = |at: usize| {
        let ((a, x), (b, y)) = (each[at / n], each[at % n]);
        (a + b) / f64::max(x + y, 1.0)
    };
    (0..n * n).map(both).collect()
}

/// ‖L − M‖ / ‖M‖ over some entries.
fn relative(l: &[f64], truth: &[f64], chosen: impl Fn(usize) -> bool) -> f64 {
    let (mut wrong, mut norm) = (0.0, 0.0);
    for at in (0..l.len()).filter(|&at| chosen(at)) {
        wrong += (l[at] - truth[at]).powi(2);
        norm += truth[at].powi(2);
    }
    f64::sqrt(wrong / f64::max(norm, f64::MIN_POSITIVE))
}

impl Hidden {
    fn of(kind: String, method: String, errors: impl Iterator<Item = f64>) -> Hidden {
        let mut errors: Vec<f64> = errors.collect();
        errors.sort_by(f64::total_cmp);
        let count = errors.len();
        Hidden {
            kind,
            method,
            matrices: count,
            mean: errors.iter().sum::<f64>() / count.max(1) as f64,
            median: errors.get(count / 2).copied().unwrap_or(f64::NAN),
            largest: errors.last().copied().unwrap_or(f64::NAN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_over_the_chosen_entries() {
        let (l, truth) = ([1.0, 5.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(relative(&l, &truth, |at| at != 1), 0.0);
        assert_eq!(relative(&l, &truth, |at| at == 1), 1.5);
    }

    /// A matrix of rank one is filled in exactly, and a constant one by its mean.
    #[test]
    fn holes_are_filled() {
        let n = 6;
        let mut m: Vec<f64> = (0..n * n)
            .map(|at| ((at / n + 1) * (at % n + 1)) as f64)
            .collect();
        m[n] = f64::NAN;
        m[1] = f64::NAN;
        let l = eigen_fill(n, 1, &m).unwrap();
        assert!((l[1] - 2.0).abs() < 1e-6, "{}", l[1]);
        let mut m = vec![0.5; n * n];
        m[n] = f64::NAN;
        m[1] = f64::NAN;
        assert_eq!(mean_of_rows(n, &m)[1], 0.5);
    }

    #[test]
    fn the_same_pairs_are_hidden_in_both_triangles() {
        let n = 12;
        let m = hide(n, &vec![1.0; 40 * n * n], 1);
        let mut count = 0;
        for m in m.chunks(n * n) {
            for at in 0..n * n {
                assert_eq!(m[at].is_nan(), m[at % n * n + at / n].is_nan());
                count += usize::from(m[at].is_nan());
            }
            assert!((0..n).all(|i| !m[i * (n + 1)].is_nan()));
        }
        let share = count as f64 / (40 * n * (n - 1)) as f64;
        assert!((share - SHARE).abs() < 0.02, "{share}");
    }
}
