//! Eigen-truncation: the best positive semidefinite approximation of rank k in the Frobenius norm.

use crate::eigen::End;
use crate::eigen::Spectrum;

/// The sum of a v vᵀ over the k largest positive eigenvalues a.
pub(super) fn solve(m: &[f64], k: usize, spectrum: &mut Spectrum, l: &mut [f64]) {
    spectrum.largest(m, k, End::Positive);
    spectrum.sum(|a| a, l);
}
