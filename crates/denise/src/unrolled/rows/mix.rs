//! Rows of a factor times a small matrix.

use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::by_rank;

/// Writes x C to `out`, for rows x of `from` numbers each. C has `from` rows of `stride` numbers, of which the first k
/// count.
#[inline(never)]
pub(crate) fn mix<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    (from, stride): (usize, usize),
    x: &[V::Array],
    c: &[V::Array],
    out: &mut [V::Array],
) {
    by_rank(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            for (i, out) in out.chunks_exact_mut(k).enumerate() {
                let x = &x[i * from..][..from];
                for a in 0..k {
                    let mut sum = vectors.zero();
                    for e in 0..from {
                        sum = vectors
                            .load(&x[e])
                            .mul_add(vectors.load(&c[e * stride + a]), sum);
                    }
                    sum.store_array(&mut out[a]);
                }
            }
        },
    );
}
