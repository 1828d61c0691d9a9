//! Rows of a factor times a small matrix.

use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::by_one;

/// Writes x Cᵀ to `out`, for rows x of `from` numbers each; C has k rows, which are `stride` vectors apart.
#[inline(never)]
pub(crate) fn mix<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    from: usize,
    x: &[V::Array],
    (c, stride): (&[V::Array], usize),
    out: &mut [V::Array],
) {
    by_one::<3, V>(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            for (i, out) in out.chunks_exact_mut(k).enumerate() {
                let x = &x[i * from..][..from];
                for a in 0..k {
                    let mut sum = vectors.zero();
                    for (x, c) in x.iter().zip(&c[a * stride..][..from]) {
                        sum = vectors.load(x).mul_add(vectors.load(c), sum);
                    }
                    sum.store_array(&mut out[a]);
                }
            }
        },
    );
}
