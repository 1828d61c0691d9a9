//! Fast principal component pursuit: minimise ½‖M − L − S‖² + λ‖S‖₁ over L of a given rank
//! (Rodríguez and Wohlberg, "Fast principal component pursuit via alternating minimization", ICIP 2013).
//!
//! Alternates the best L of the current rank with shrinking S. The rank starts at one and grows by one a
//! loop for as long as the last singular value still matters.

use crate::eigen::End;
use crate::eigen::Spectrum;
use crate::eigen::rows::shrink;

/// The smallest last singular value, over the sum of the others, for which the rank goes on growing.
const MATTERS: f64 = 0.01;

/// As many loops as the largest rank.
pub(super) fn solve(
    m: &[f64],
    k: usize,
    lambda: f64,
    spectrum: &mut Spectrum,
    y: &mut [f64],
    l: &mut [f64],
) {
    let mut rank = 1;
    // y = M − S.
    y.copy_from_slice(m);
    for remaining in (0..k).rev() {
        spectrum.largest(y, rank, End::Both);
        let values = spectrum.values();
        let last = values.get(rank - 1).map_or(0.0, |a| a.abs());
        let others: f64 = values.iter().take(rank - 1).map(|a| a.abs()).sum();
        if rank == 1 || last >= MATTERS * others {
            rank += 1;
        }
        spectrum.sum(|a| a, l);
        if remaining > 0 {
            for ((y, &m), &l) in y.iter_mut().zip(m).zip(l.iter()) {
                *y = m - shrink(m - l, lambda);
            }
        }
    }
}
