//! The leading directions of a small symmetric matrix, by Jacobi's rotations.

use crate::simd::{Fixed, Real, Vector, Vectors};
use crate::unrolled::SWEEPS;
use crate::unrolled::rank::by_width;
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

/// Turns the matrix `g` so that its first `k` directions are the leading ones: a sweep over all pairs, then over those
/// between the first k and the rest. Row i of `room` has 2·`width` vectors: row i of the turned matrix, and direction i.
#[inline(never)]
pub(crate) fn leading<V: Vector>(
    vectors: Vectors<V>,
    width: usize,
    k: usize,
    g: &mut [V::Array],
    room: &mut [V::Array],
) {
    by_width(
        vectors,
        width,
        #[inline(always)]
        move |width| {
            let room = &mut room[..2 * width * width];
            for (i, row) in room.chunks_exact_mut(2 * width).enumerate() {
                for j in 0..width {
                    row[j] = g[triangle(i.max(j)) + i.min(j)];
                    row[width + j] = V::Array::filled(V::Scalar::ZERO);
                }
                row[width + i] = V::Array::filled(V::Scalar::ONE);
            }
            // Pairs (a, c) row by row; but those with the same a + c have no direction in common and come one after
            // the other, so that none waits for the one before.
            for sweep in 0..SWEEPS {
                let (first, last) = if sweep == 0 { (width, 0) } else { (k, k) };
                for sum in 1..2 * width - 2 {
                    for a in sum.saturating_sub(width - 1)..first.min(sum.div_ceil(2)) {
                        let c = sum - a;
                        if last <= c {
                            rotate(vectors, width, room, a, c);
                        }
                    }
                }
            }
            for (i, row) in room.chunks_exact(2 * width).enumerate().take(k) {
                g[triangle(i)..][..=i].copy_from_slice(&row[..=i]);
            }
        },
    );
}

/// Rotates directions a < c so that entry (c, a) becomes zero and the larger value is at (a, a).
#[inline(always)]
fn rotate<V: Vector>(vectors: Vectors<V>, width: usize, room: &mut [V::Array], a: usize, c: usize) {
    let (zero, one) = (vectors.zero(), vectors.one());
    let (above, below) = room.split_at_mut(c * 2 * width);
    let of_a = &mut above[a * 2 * width..][..2 * width];
    let of_c = &mut below[..2 * width];
    let (p, o, q) = (
        vectors.load(&of_a[a]),
        vectors.load(&of_a[c]),
        vectors.load(&of_c[c]),
    );
    let apart = p - q;
    let double = o + o;
    let square = double * double;
    let length = apart.mul_add(apart, square).sqrt();
    // Cosine and sine are as these two; the root of the least normal number keeps both finite where there is nothing.
    let least = vectors.splat(V::Scalar::TINY).sqrt();
    let first = apart.abs() + length + (least + least);
    let inverse = one / first.mul_add(first, square).sqrt();
    let (large, small) = (first * inverse, double.abs() * inverse);
    let ordered = apart.simd_ge(zero);
    let cosine: V = ordered.select(large, small);
    let sine: V = ordered.select(small, large);
    let sine: V = o.simd_lt(zero).select(-sine, sine);
    let (cc, ss) = (cosine * cosine, sine * sine);
    let cross = cosine * sine * double;
    for i in 0..2 * width {
        let (first, second) = (vectors.load(&of_a[i]), vectors.load(&of_c[i]));
        let turned = cosine.mul_add(first, sine * second);
        turned.store_array(&mut of_a[i]);
        let turned = cosine.mul_add(second, -(sine * first));
        turned.store_array(&mut of_c[i]);
    }
    // Where both turn there is more to it.
    let larger = cc.mul_add(p, ss.mul_add(q, cross));
    larger.store_array(&mut of_a[a]);
    zero.store_array(&mut of_a[c]);
    zero.store_array(&mut of_c[a]);
    let smaller = ss.mul_add(p, cc.mul_add(q, -cross));
    smaller.store_array(&mut of_c[c]);
    // The matrix stays symmetric.
    for i in 0..width {
        room[i * 2 * width + a] = room[a * 2 * width + i];
        room[i * 2 * width + c] = room[c * 2 * width + i];
    }
}
