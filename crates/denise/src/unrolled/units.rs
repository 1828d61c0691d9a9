//! The split of the correlation matrix instead of the covariance, so that the units of the assets do not matter.
//!
//! The network sees D^(−1/2) M D^(−1/2) with D = diag M; what it finds is scaled back. An asset whose variance is not
//! positive gets zeros.

use super::buffers::Buffers;
use super::scale::Scale;
use super::shape::Shape;
use crate::simd::Vector;
use fearless_simd::Select;

/// From M̂ in `buffers.m` to its correlation matrix, at unit scale. Gives that scale.
#[inline(always)]
pub(super) fn standardise<V: Vector>(shape: impl Shape<V>, buffers: &mut Buffers<'_, V>) -> V {
    let vectors = shape.vectors();
    let (zero, one) = (vectors.zero(), vectors.one());
    let Buffers { m, norms, sums, .. } = buffers;
    for (row, inverse) in norms.iter_mut().enumerate() {
        let variance = shape.diagonal(m, row);
        let root: V = one / variance.sqrt();
        let root: V = variance.simd_gt(zero).select(root, zero);
        root.store_array(inverse);
    }
    shape.scale_both(norms, m);
    for m in m.iter_mut() {
        // No correlation is above one, but for an M that is not positive semidefinite.
        vectors.load(m).min(one).max(-one).store_array(m);
    }
    let scale = Scale::of(shape, m, sums);
    for m in m.iter_mut() {
        (vectors.load(m) * scale.inverse).store_array(m);
    }
    scale.s
}

/// Takes U back to the units of M̂, which is put into `buffers.m` again by the caller. `scale` is from [`standardise`].
#[inline(always)]
pub(super) fn restore<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    scale: V,
    buffers: &mut Buffers<'_, V>,
) {
    let vectors = shape.vectors();
    let Buffers { m, u, .. } = buffers;
    for (row, u) in u.chunks_exact_mut(k).enumerate() {
        let variance = shape.diagonal(m, row).max(vectors.zero());
        let root = (variance * scale).sqrt();
        for x in u {
            (vectors.load(x) * root).store_array(x);
        }
    }
}
