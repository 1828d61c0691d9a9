//! k as a constant.

use crate::simd::{Vector, Vectors};
use fearless_simd::Simd;

/// Calls `body` with k, as a constant if it is small: loops over it unroll then. Every constant costs as much
/// code as the body, so bodies are loops, not the whole network; narrow vectors do without, and f64 has one
/// for the paper's rank alone.
#[inline(always)]
pub(super) fn by_rank<V: Vector>(vectors: Vectors<V>, k: usize, body: impl FnOnce(usize)) {
    by_rank_to::<5, V>(vectors, k, body);
}

/// [`by_rank`] for the loops that take most of the time: with a variable k they would take 1.4 times as long.
#[inline(always)]
pub(super) fn by_many_ranks<V: Vector>(vectors: Vectors<V>, k: usize, body: impl FnOnce(usize)) {
    by_rank_to::<8, V>(vectors, k, body);
}

/// [`by_rank`] with constants up to `MOST`.
#[inline(always)]
pub(super) fn by_rank_to<const MOST: usize, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    body: impl FnOnce(usize),
) {
    // The machine's vectors: those that tests make of narrower ones do without, too.
    let wide = size_of::<<V::Token as Simd>::f32s>() > 16;
    let all = wide && size_of::<V::Scalar>() == size_of::<f32>();
    match k {
        1 if all => vectors.vectorize(
            #[inline(always)]
            || body(1),
        ),
        2 if all => vectors.vectorize(
            #[inline(always)]
            || body(2),
        ),
        3 if wide => vectors.vectorize(
            #[inline(always)]
            || body(3),
        ),
        4 if all && MOST >= 4 => vectors.vectorize(
            #[inline(always)]
            || body(4),
        ),
        5 if all && MOST >= 5 => vectors.vectorize(
            #[inline(always)]
            || body(5),
        ),
        6 if all && MOST >= 6 => vectors.vectorize(
            #[inline(always)]
            || body(6),
        ),
        7 if all && MOST >= 7 => vectors.vectorize(
            #[inline(always)]
            || body(7),
        ),
        8 if all && MOST >= 8 => vectors.vectorize(
            #[inline(always)]
            || body(8),
        ),
        _ => vectors.vectorize(
            #[inline(always)]
            || body(k),
        ),
    }
}

/// Calls `body` with k, as a constant if it is `AT`: for loops that are not worth more code.
#[inline(always)]
pub(super) fn by_one<const AT: usize, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    body: impl FnOnce(usize),
) {
    let wide = size_of::<<V::Token as Simd>::f32s>() > 16;
    if wide && k == AT {
        vectors.vectorize(
            #[inline(always)]
            || body(AT),
        );
    } else {
        vectors.vectorize(
            #[inline(always)]
            || body(k),
        );
    }
}
