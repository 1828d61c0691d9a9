//! Rows of about the same size. `reference/balance.rs` says what it computes.

use super::buffers::Buffers;
use super::shape::Shape;
use super::{Bounds, LEAST_SIZE, TYPICAL};
use crate::simd::{Vector, Vectors};

/// Divides M̂ in `buffers.m` by r_i r_j, and writes r to `buffers.sizes`. Means are over `buffers.shares` of a row.
#[inline(never)]
pub(super) fn balance<V: Vector>(
    shape: impl Shape<V>,
    bounds: Bounds,
    buffers: &mut Buffers<'_, V>,
) {
    let vectors = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            let Buffers {
                m,
                sums,
                trust,
                sizes,
                shares,
                ..
            } = buffers;
            let inverse = trust;
            shape.row_sums(
                m,
                sums,
                #[inline(always)]
                |x| x.abs().sqrt(),
            );
            let least = vectors.number(LEAST_SIZE);
            for row in 0..shape.rows() {
                let share = vectors.load(&shares[row]);
                let mean = (vectors.load(&sums[row]) * share).max(least);
                mean.store_array(&mut sizes[row]);
                (vectors.one() / mean).store_array(&mut inverse[row]);
            }
            shape.scale_both(inverse, m);
            let most = vectors.number(TYPICAL);
            shape.row_sums(
                m,
                sums,
                #[inline(always)]
                |x| x.abs().min(most),
            );
            let own = vectors.number(bounds.own);
            for row in 0..shape.rows() {
                let share = vectors.load(&shares[row]) * own;
                let root = (vectors.load(&sums[row]) * share).sqrt().max(least);
                (vectors.load(&sizes[row]) * root).store_array(&mut sizes[row]);
                (vectors.one() / root).store_array(&mut inverse[row]);
            }
            shape.scale_both(inverse, m);
        },
    );
}

/// The start's copy of a balanced matrix, without entries that an L of rank k would hardly have; `factor` widens the
/// bounds.
#[inline(always)]
pub(super) fn clip<V: Vector>(
    shape: impl Shape<V>,
    bounds: Bounds,
    factor: f64,
    m: &[V::Array],
    w: &mut [V::Array],
) {
    let vectors = shape.vectors();
    let pair = vectors.number(factor * bounds.pair / bounds.own);
    shape.clip(pair, vectors.number(factor), m, w);
}

/// From the factor of a balanced matrix to that of M̂: row i times r_i.
#[inline(always)]
pub(super) fn restore<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    sizes: &[V::Array],
    u: &mut [V::Array],
) {
    for (u, size) in u.chunks_exact_mut(k).zip(sizes) {
        let size = vectors.load(size);
        for x in u {
            (vectors.load(x) * size).store_array(x);
        }
    }
}
