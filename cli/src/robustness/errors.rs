//! Errors of L on synthetic matrices, of which L₀ is known.

use super::Plan;
use super::subject::{CAREFUL, PLAIN, Subject};
use denise_data::generator::{Cell, Distribution, samples};
use serde::Serialize;

/// A method on a kind of matrices.
#[derive(Clone, Debug, Serialize)]
pub struct Error {
    /// Size of the matrices.
    pub n: usize,
    /// Rank that L may have.
    pub k: usize,
    /// Rank of L₀.
    pub true_k: usize,
    /// s(S₀).
    pub sparsity: f64,
    /// M is L₀ plus so many times S₀.
    pub amplitude: f64,
    /// The method.
    pub method: String,
    /// On how many matrices.
    pub matrices: usize,
    /// The mean of rel.error(L).
    pub mean: f64,
    /// Half of the matrices have less.
    pub median: f64,
    /// The largest.
    pub largest: f64,
}

/// s(S₀) and amplitudes of S₀.
const AMPLITUDES: [(f64, f64); 7] = [
    (0.95, 1.0),
    (0.95, 2.0),
    (0.95, 5.0),
    (0.95, 10.0),
    (0.95, 30.0),
    (0.8, 5.0),
    (0.8, 10.0),
];
/// s(S₀) where k is too large.
const RANK: [f64; 2] = [0.95, 0.8];
/// Other sizes n and ranks k.
const SIZES: [(usize, usize); 3] = [(10, 2), (50, 5), (100, 10)];
/// A step of PCP takes n³: of larger matrices it gets fewer, but no fewer than this.
const FEWEST: usize = 16;

/// A kind of matrices.
#[derive(Clone, Copy)]
struct Kind {
    n: usize,
    k: usize,
    true_k: usize,
    sparsity: f64,
    amplitude: f64,
}

const USUAL: Kind = Kind {
    n: 20,
    k: 3,
    true_k: 3,
    sparsity: 0.95,
    amplitude: 1.0,
};

/// Outliers that are several times as large.
pub(super) fn amplitudes(plan: &Plan<'_>) -> Result<Vec<Error>, Box<dyn std::error::Error>> {
    let kinds = AMPLITUDES.map(|(sparsity, amplitude)| Kind {
        sparsity,
        amplitude,
        ..USUAL
    });
    rows(plan, &kinds, &[PLAIN, CAREFUL, Subject::Pcp])
}

/// L₀ has rank 1, and k is 3.
pub(super) fn rank(plan: &Plan<'_>) -> Result<Vec<Error>, Box<dyn std::error::Error>> {
    let kinds = RANK.map(|sparsity| Kind {
        true_k: 1,
        sparsity,
        ..USUAL
    });
    rows(
        plan,
        &kinds,
        &[PLAIN, CAREFUL, Subject::Eigen, Subject::Pcp],
    )
}

/// Other n and k.
pub(super) fn sizes(plan: &Plan<'_>) -> Result<Vec<Error>, Box<dyn std::error::Error>> {
    let kinds = SIZES.map(|(n, k)| Kind {
        n,
        k,
        true_k: k,
        ..USUAL
    });
    rows(plan, &kinds, &[PLAIN, CAREFUL, Subject::Pcp])
}

fn rows(
    plan: &Plan<'_>,
    kinds: &[Kind],
    subjects: &[Subject],
) -> Result<Vec<Error>, Box<dyn std::error::Error>> {
    let mut rows = Vec::new();
    if plan.count == 0 {
        return Ok(rows);
    }
    for kind in kinds {
        let (m, truth) = matrices(plan, kind);
        for subject in subjects {
            let some = match subject {
                Subject::Pcp => fewer(plan.count, kind.n),
                _ => plan.count,
            };
            let some = ..some * kind.n * kind.n;
            let l = subject
                .ready(plan.open, kind.n, kind.k)?
                .low_rank(&m[some])?;
            rows.push(Error::of(kind, *subject, &l, &truth[some]));
        }
    }
    Ok(rows)
}

/// M = L₀ + a S₀, and L₀.
fn matrices(plan: &Plan<'_>, kind: &Kind) -> (Vec<f64>, Vec<f64>) {
    let cell = Cell {
        sparsity: kind.sparsity,
        distribution: Distribution::Normal(0.0, 1.0),
        pairs: plan.pairs,
        ..Cell::default()
    };
    let mut data = samples(kind.n, kind.true_k, &[cell], plan.seed, 0, plan.count);
    // Where nothing is to be multiplied, nothing is to be rounded.
    if kind.amplitude != 1.0 {
        for (m, l) in data.m.iter_mut().zip(&data.l) {
            *m = l + kind.amplitude * (*m - l);
        }
    }
    (data.m, data.l)
}

/// So many matrices of size n take about as long as `count` of the usual size.
fn fewer(count: usize, n: usize) -> usize {
    let share = (USUAL.n as f64 / n as f64).powi(3).min(1.0);
    ((count as f64 * share) as usize).max(FEWEST).min(count)
}

impl Error {
    fn of(kind: &Kind, subject: Subject, l: &[f64], truth: &[f64]) -> Error {
        let size = kind.n * kind.n;
        let mut errors: Vec<f64> = l
            .chunks_exact(size)
            .zip(truth.chunks_exact(size))
            .map(|(l, truth)| {
                let wrong = l.iter().zip(truth).map(|(l, l0)| (l - l0).powi(2));
                let norm = truth.iter().map(|l0| l0 * l0);
                (wrong.sum::<f64>() / norm.sum::<f64>()).sqrt()
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        let count = errors.len();
        Error {
            n: kind.n,
            k: kind.k,
            true_k: kind.true_k,
            sparsity: kind.sparsity,
            amplitude: kind.amplitude,
            method: subject.label(),
            matrices: count,
            mean: errors.iter().sum::<f64>() / count as f64,
            median: errors.get(count / 2).copied().unwrap_or(f64::NAN),
            largest: errors.last().copied().unwrap_or(f64::NAN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise::{Model, Options};
    use denise_data::generator::Pairs;

    fn on<T>(count: usize, run: impl Fn(&Plan<'_>) -> T) -> T {
        run(&Plan {
            open: &|options: &Options| Ok(Model::builtin(options)?),
            pairs: Pairs::Authors,
            count,
            seed: 1,
            stocks: None,
            panels: &[],
        })
    }

    /// S₀ grows with the amplitude, and L₀ stays.
    #[test]
    fn amplitudes_multiply_the_sparse_part() {
        let of = |amplitude| on(2, |plan| matrices(plan, &Kind { amplitude, ..USUAL }));
        let ((m, l), (large, same)) = (of(1.0), of(5.0));
        assert_eq!(l, same);
        for ((m, large), l) in m.iter().zip(large).zip(l) {
            assert!((5.0 * (m - l) - (large - l)).abs() < 1e-12);
        }
    }

    #[test]
    fn errors_are_relative_to_the_truth() {
        let kind = Kind { n: 2, ..USUAL };
        let truth = [1.0; 8];
        let l = [2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 4.0];
        let row = Error::of(&kind, PLAIN, &l, &truth);
        assert_eq!((row.matrices, row.mean, row.largest), (2, 1.25, 1.5));
    }

    #[test]
    fn every_kind_has_every_method() {
        let rows = on(2, amplitudes).unwrap();
        assert_eq!(rows.len(), 3 * AMPLITUDES.len());
        assert!(rows[0].mean < 0.1 && rows.iter().all(|row| row.mean >= 0.0 && row.matrices == 2));
        let rows = on(2, rank).unwrap();
        assert!(rows.iter().all(|row| (row.k, row.true_k) == (3, 1)));
        assert_eq!(
            (fewer(2000, 20), fewer(2000, 100), fewer(5, 100)),
            (2000, 16, 5)
        );
    }
}
