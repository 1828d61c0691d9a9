//! k as a constant.

use crate::simd::{Vector, Vectors};
use fearless_simd::Simd;

/// Calls `body` with k, as a constant if it is small: loops over it unroll then. Every constant costs as much
/// code as the body, so bodies are loops, not the whole network; narrow vectors do without.
#[inline(always)]
pub(super) fn by_rank<V: Vector>(vectors: Vectors<V>, k: usize, body: impl FnOnce(usize)) {
    by_constant::<1, 5, V>(vectors, k, body);
}

/// [`by_rank`] for the loops that take most of the time: with a variable k they would take 1.4 times as long.
#[inline(always)]
pub(super) fn by_many_ranks<V: Vector>(vectors: Vectors<V>, k: usize, body: impl FnOnce(usize)) {
    by_constant::<1, 8, V>(vectors, k, body);
}

/// [`by_rank`] for loops over the columns with which the start works, of which there are two more.
#[inline(always)]
pub(super) fn by_width<V: Vector>(vectors: Vectors<V>, width: usize, body: impl FnOnce(usize)) {
    by_constant::<3, 7, V>(vectors, width, body);
}

/// Calls `body` with k, as a constant if it is `AT`: for loops that are not worth more code.
#[inline(always)]
pub(super) fn by_one<const AT: usize, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    body: impl FnOnce(usize),
) {
    by_constant::<AT, AT, V>(vectors, k, body);
}

/// Calls `body` with k, as a constant if it is from `LEAST` to `MOST`, at most 8.
#[inline(always)]
pub(super) fn by_constant<const LEAST: usize, const MOST: usize, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    body: impl FnOnce(usize),
) {
    const { assert!(1 <= LEAST && LEAST <= MOST && MOST <= 8) };
    // The machine's vectors: those that tests make of narrower ones do without, too.
    let wide = size_of::<<V::Token as Simd>::f32s>() > 16;
    let constant = |at| wide && LEAST <= at && at <= MOST;
    match k {
        1 if constant(1) => vectors.vectorize(
            #[inline(always)]
            || body(1),
        ),
        2 if constant(2) => vectors.vectorize(
            #[inline(always)]
            || body(2),
        ),
        3 if constant(3) => vectors.vectorize(
            #[inline(always)]
            || body(3),
        ),
        4 if constant(4) => vectors.vectorize(
            #[inline(always)]
            || body(4),
        ),
        5 if constant(5) => vectors.vectorize(
            #[inline(always)]
            || body(5),
        ),
        6 if constant(6) => vectors.vectorize(
            #[inline(always)]
            || body(6),
        ),
        7 if constant(7) => vectors.vectorize(
            #[inline(always)]
            || body(7),
        ),
        8 if constant(8) => vectors.vectorize(
            #[inline(always)]
            || body(8),
        ),
        _ => vectors.vectorize(
            #[inline(always)]
            || body(k),
        ),
    }
}
