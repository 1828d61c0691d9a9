//! The leading directions of a small symmetric matrix, by Jacobi's rotations.

use crate::simd::{Real, Vector, Vectors};
use crate::unrolled::SWEEPS;
use crate::unrolled::rank::by_one;
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

/// Turns the matrix `g` so that its first `k` directions are the leading ones, and writes these directions to the rows
/// of `turn`: a sweep over all pairs, then over those between the first k and the rest. `whole` is scratch.
#[inline(never)]
pub(crate) fn leading<V: Vector>(
    vectors: Vectors<V>,
    width: usize,
    k: usize,
    g: &mut [V::Array],
    turn: &mut [V::Array],
    whole: &mut [V::Array],
) {
    by_one::<5, V>(
        vectors,
        width,
        #[inline(always)]
        move |width| {
            let (turn, whole) = (&mut turn[..width * width], &mut whole[..width * width]);
            for i in 0..width {
                for j in 0..width {
                    let one = f64::from(u8::from(i == j));
                    vectors.number(one).store_array(&mut turn[i * width + j]);
                    whole[i * width + j] = g[triangle(i.max(j)) + i.min(j)];
                }
            }
            for sweep in 0..SWEEPS {
                let (first, last) = if sweep == 0 { (width, 0) } else { (k, k) };
                for a in 0..first {
                    for c in last.max(a + 1)..width {
                        rotate(vectors, width, whole, turn, a, c);
                    }
                }
            }
            for i in 0..k {
                g[triangle(i)..][..=i].copy_from_slice(&whole[i * width..][..=i]);
            }
        },
    );
}

/// Rotates directions a < c so that entry (a, c) becomes zero and the larger value is at (a, a).
#[inline(always)]
fn rotate<V: Vector>(
    vectors: Vectors<V>,
    width: usize,
    whole: &mut [V::Array],
    turn: &mut [V::Array],
    a: usize,
    c: usize,
) {
    let (zero, one) = (vectors.zero(), vectors.one());
    let (row_a, row_c) = two_rows(width, whole, a, c);
    let (p, o, q) = (
        vectors.load(&row_a[a]),
        vectors.load(&row_a[c]),
        vectors.load(&row_c[c]),
    );
    let apart = p - q;
    let double = o + o;
    let length = double.mul_add(double, apart * apart).sqrt();
    let tangent = double.abs() / (apart.abs() + length + vectors.splat(V::Scalar::TINY));
    let large = one / tangent.mul_add(tangent, one).sqrt();
    let small = tangent * large;
    let ordered = apart.simd_ge(zero);
    let cosine: V = ordered.select(large, small);
    let sine: V = ordered.select(small, large);
    let sine: V = o.simd_lt(zero).select(-sine, sine);
    turn_rows(vectors, cosine, sine, row_a, row_c);
    let (cc, ss) = (cosine * cosine, sine * sine);
    let cross = cosine * sine * double;
    cc.mul_add(p, ss.mul_add(q, cross))
        .store_array(&mut row_a[a]);
    ss.mul_add(p, cc.mul_add(q, -cross))
        .store_array(&mut row_c[c]);
    zero.store_array(&mut row_a[c]);
    zero.store_array(&mut row_c[a]);
    for i in 0..width {
        whole[i * width + a] = whole[a * width + i];
        whole[i * width + c] = whole[c * width + i];
    }
    let (row_a, row_c) = two_rows(width, turn, a, c);
    turn_rows(vectors, cosine, sine, row_a, row_c);
}

/// Rows a < c of a square matrix.
#[inline(always)]
fn two_rows<T>(width: usize, matrix: &mut [T], a: usize, c: usize) -> (&mut [T], &mut [T]) {
    let (above, below) = matrix.split_at_mut(c * width);
    (&mut above[a * width..][..width], &mut below[..width])
}

/// Two rows, turned.
#[inline(always)]
fn turn_rows<V: Vector>(
    vectors: Vectors<V>,
    cosine: V,
    sine: V,
    a: &mut [V::Array],
    c: &mut [V::Array],
) {
    for (a, c) in a.iter_mut().zip(c) {
        let (first, second) = (vectors.load(a), vectors.load(c));
        cosine.mul_add(first, sine * second).store_array(a);
        let turned = cosine.mul_add(second, -(sine * first));
        turned.store_array(c);
    }
}
