//! Symmetric matrices kept as their lower triangle, row after row.

/// Entries in the lower triangle of a k×k matrix, and so the place where row k of a larger one starts: entry (a, b)
/// with b ≤ a is at `triangle(a) + b`.
pub(super) const fn triangle(k: usize) -> usize {
    k * (k + 1) / 2
}
