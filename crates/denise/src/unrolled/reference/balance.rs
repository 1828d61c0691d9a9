//! Rows of about the same size, and what an entry must exceed to be cut before the start.
//!
//! An asset with large entries would own the leading eigenvectors, and the thresholds of the layers would be wrong for
//! all others. So M_ij is divided by r_i r_j, where r_i is large for an asset whose entries are; and since an outlier
//! must not decide it, r_i is a mean of roots, then of entries that are cut.

use super::super::{LEAST_SIZE, TYPICAL, bounds};
use nalgebra::{DMatrix, DVector};

/// r_i for every row of a symmetric M at unit scale. `known` is 1 where an entry is known; where it is not, M has 0.
///
/// The largest entry on the diagonal of [`clipped`] is one.
pub fn row_sizes(m: &DMatrix<f64>, known: &DMatrix<f64>, k: usize) -> DVector<f64> {
    let counts = DVector::from_fn(m.nrows(), |i, _| known.row(i).sum().max(1.0));
    let first = DVector::from_fn(m.nrows(), |i, _| {
        let mean = m.row(i).map(|x| x.abs().sqrt()).sum() / counts[i];
        mean.max(LEAST_SIZE)
    });
    let once = balanced(m, &first);
    let own = bounds(k).own;
    DVector::from_fn(m.nrows(), |i, _| {
        let mean = once.row(i).map(|x| x.abs().min(TYPICAL)).sum() / counts[i];
        first[i] * (mean * own).sqrt().max(LEAST_SIZE)
    })
}

/// M_ij / (r_i r_j).
pub fn balanced(m: &DMatrix<f64>, sizes: &DVector<f64>) -> DMatrix<f64> {
    let inverse = sizes.map(f64::recip);
    DMatrix::from_fn(m.nrows(), m.nrows(), |i, j| {
        m[(i, j)] * (inverse[i] * inverse[j])
    })
}

/// A balanced matrix with no entry that an L of rank k would hardly have; `factor` widens the bounds.
pub fn clipped(m: &DMatrix<f64>, k: usize, factor: f64) -> DMatrix<f64> {
    let bounds = bounds(k);
    DMatrix::from_fn(m.nrows(), m.nrows(), |i, j| {
        let most = if i == j {
            factor
        } else {
            factor * bounds.pair / bounds.own
        };
        m[(i, j)].clamp(-most, most)
    })
}
