//! k as a constant.

use crate::simd::Real;
use fearless_simd::Simd;

/// Calls `body` with k, as a constant if it is small: loops over it unroll then. Every constant costs as much
/// code as the body, so bodies are loops, not the whole network; narrow vectors do without, and f64 has one
/// for the paper's rank alone.
#[inline(always)]
pub(super) fn by_rank<S: Simd, F: Real>(simd: S, k: usize, body: impl FnOnce(usize)) {
    by_rank_to::<S, F, 5>(simd, k, body);
}

/// [`by_rank`] with constants up to `MOST`.
#[inline(always)]
pub(super) fn by_rank_to<S: Simd, F: Real, const MOST: usize>(
    simd: S,
    k: usize,
    body: impl FnOnce(usize),
) {
    let wide = size_of::<S::f32s>() > 16;
    let all = wide && size_of::<F>() == size_of::<f32>();
    match k {
        1 if all => simd.vectorize(
            #[inline(always)]
            || body(1),
        ),
        2 if all => simd.vectorize(
            #[inline(always)]
            || body(2),
        ),
        3 if wide => simd.vectorize(
            #[inline(always)]
            || body(3),
        ),
        4 if all && MOST >= 4 => simd.vectorize(
            #[inline(always)]
            || body(4),
        ),
        5 if all && MOST >= 5 => simd.vectorize(
            #[inline(always)]
            || body(5),
        ),
        _ => simd.vectorize(
            #[inline(always)]
            || body(k),
        ),
    }
}
