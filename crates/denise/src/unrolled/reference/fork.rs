//! Two starts, one from M and one from a clipped M, become one after the first layers.

use super::super::omega::omega;
use super::super::{CUT, GATE};
use super::start::{orthonormalise, typical};
use nalgebra::DMatrix;

/// Joins two factors, each with the mean |R_ij| that its last layer saw. Where one explains M clearly better, the
/// result is that one; between, it changes continuously from one to the other.
pub(super) fn join(
    m: &DMatrix<f64>,
    plain: (DMatrix<f64>, f64),
    robust: (DMatrix<f64>, f64),
) -> (DMatrix<f64>, f64) {
    let (cost, other) = (unexplained(m, &plain.0), unexplained(m, &robust.0));
    let x = ((cost - other) / (GATE * cost + f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let share = x * x * (3.0 - 2.0 * x);
    let mean = (1.0 - share) * plain.1 + share * robust.1;
    (blend(&plain.0, &robust.0, share), mean)
}

/// Σ |R_ij| over i ≠ j, where none counts with more than a share of a typical entry of M: how large an outlier is does
/// not matter.
pub(super) fn unexplained(m: &DMatrix<f64>, u: &DMatrix<f64>) -> f64 {
    let cut = CUT * typical(m);
    let sizes = (m - u * u.transpose()).map(|r| r.abs().min(cut));
    sizes.sum() - sizes.trace()
}

/// A factor of nearly the best approximation of rank k to (1 − share) U Uᵀ + share V Vᵀ, and of exactly that where it
/// has rank k: orthogonal iteration in the 2k columns of both.
fn blend(u: &DMatrix<f64>, v: &DMatrix<f64>, share: f64) -> DMatrix<f64> {
    let (n, k) = u.shape();
    let (first, second) = ((1.0 - share).sqrt(), share.sqrt());
    let both = DMatrix::from_fn(n, 2 * k, |i, a| {
        if a < k {
            first * u[(i, a)]
        } else {
            second * v[(i, a - k)]
        }
    });
    let gram = both.transpose() * &both;
    let omega = DMatrix::from_row_iterator(2 * k, k, omega(2 * k, k));
    let mut c = DMatrix::from_fn(2 * k, k, |i, a| {
        let weight = if i < k { 1.0 - share } else { share };
        let one = f64::from(u8::from(i % k == a));
        weight * (one + omega[(i, a)] * 0.5 / k as f64)
    });
    for _ in 0..3 {
        c = orthonormalise(&gram * c);
    }
    both * c
}
