//! The split of the correlation matrix instead of the covariance, so that the units of the assets do not matter.
//!
//! The network sees D^(−1/2) M D^(−1/2) with D = diag M; what it finds is scaled back. An asset whose variance is not
//! positive gets zeros. One whose variance is not known gets a unit in which its correlations are of usual size.

use super::buffers::Buffers;
use super::missing::{diagonal, or_zero};
use super::scale::Scale;
use super::shape::Shape;
use super::{LEAST_SIZE, USUAL_CORRELATION};
use crate::simd::Vector;
use fearless_simd::Select;

/// From M̂ in `buffers.m` to its correlation matrix, at unit scale. Gives that scale. `missing` tells whether variances
/// may be.
#[inline(always)]
pub(super) fn standardise<V: Vector>(
    shape: impl Shape<V>,
    missing: bool,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    let (zero, one) = (vectors.zero(), vectors.one());
    for (row, inverse) in buffers.norms.iter_mut().enumerate() {
        let variance = shape.diagonal(buffers.m, row);
        let root: V = one / variance.sqrt();
        let root: V = variance.simd_gt(zero).select(root, zero);
        root.store_array(inverse);
    }
    if missing {
        without_variance(shape, buffers);
    }
    let Buffers { m, norms, sums, .. } = buffers;
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

/// Where a variance is not known, a unit from what is known of pairs with assets that have one: its reciprocal goes to
/// `buffers.norms`, where those of the others are, and the unit itself to `buffers.roots`.
#[inline(never)]
fn without_variance<V: Vector>(shape: impl Shape<V>, buffers: &mut Buffers<'_, V>) {
    shape.vectors().vectorize(
        #[inline(always)]
        || units_from_pairs(shape, buffers),
    );
}

/// [`without_variance`], to be inlined where the instruction set is enabled.
#[inline(always)]
fn units_from_pairs<V: Vector>(shape: impl Shape<V>, buffers: &mut Buffers<'_, V>) {
    let vectors = shape.vectors();
    let (zero, one) = (vectors.zero(), vectors.one());
    let Buffers {
        m,
        w,
        known,
        norms,
        sums,
        trust,
        sizes,
        roots,
        ..
    } = buffers;
    for (w, m) in w.iter_mut().zip(m.iter()) {
        vectors.load(m).abs().store_array(w);
    }
    shape.multiply(1, w, norms, sums);
    let measured = sizes;
    for (measured, inverse) in measured.iter_mut().zip(norms.iter()) {
        let there: V = vectors.load(inverse).simd_gt(zero).select(one, zero);
        there.store_array(measured);
    }
    shape.multiply(1, known, measured, trust);
    let usual = vectors.number(USUAL_CORRELATION);
    let least = vectors.number(LEAST_SIZE);
    diagonal(shape, known, roots);
    for row in 0..shape.rows() {
        let (sum, count) = (vectors.load(&sums[row]), vectors.load(&trust[row]));
        let inverse = usual * count / sum.max(least);
        let inverse: V = sum.simd_gt(least).select(inverse, zero);
        let has_variance = vectors.load(&roots[row]).simd_gt(zero);
        let inverse: V = has_variance.select(vectors.load(&norms[row]), inverse);
        inverse.store_array(&mut norms[row]);
        let unit: V = inverse.simd_gt(zero).select(one / inverse, zero);
        let unit: V = has_variance.select(zero, unit);
        unit.store_array(&mut roots[row]);
    }
}

/// Takes U back to the units of M̂. `unit` is from [`standardise`], `scale` is that of M.
#[inline(always)]
pub(super) fn restore<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    unit: V,
    scale: &Scale<V>,
    missing: bool,
    buffers: &mut Buffers<'_, V>,
) {
    let vectors = shape.vectors();
    let Buffers { raw, u, roots, .. } = buffers;
    for (row, u) in u.chunks_exact_mut(k).enumerate() {
        let variance = or_zero(vectors, shape.diagonal(raw, row)) * scale.shift;
        let variance = (variance * scale.inverse).max(vectors.zero());
        let mut root = (variance * unit).sqrt();
        if missing {
            root += vectors.load(&roots[row]) * unit.sqrt();
        }
        for x in u {
            (vectors.load(x) * root).store_array(x);
        }
    }
}
