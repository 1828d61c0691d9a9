//! The order in which sums over rows are added, the same for both shapes and every vector width.

use crate::simd::Vector;

/// Partial sums over rows: row i goes to number i mod 8, then they are folded in halves. One number
/// for every vector width makes the order of addition, and so the result, the same for all.
pub(super) const PARTIAL_SUMS: usize = 8;

/// Folds the first `count` of the partial sums in halves.
#[inline(always)]
pub(super) fn fold<V: Vector>(mut partial: [V; PARTIAL_SUMS], count: usize) -> V {
    let mut half = count / 2;
    while half > 0 {
        for g in 0..half {
            partial[g] += partial[g + half];
        }
        half /= 2;
    }
    partial[0]
}
