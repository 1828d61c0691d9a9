//! The leading directions of a small symmetric matrix, by Jacobi's rotations.

use crate::simd::{Fixed, Real, Vector, Vectors};
use crate::unrolled::SWEEPS;
use crate::unrolled::rank::by_width;
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

/// Turns the matrix `g` so that its first `k` directions are the leading ones, and writes these directions to the rows
/// of `turn`: a sweep over all pairs, then over those between the first k and the rest.
#[inline(never)]
pub(crate) fn leading<V: Vector>(
    vectors: Vectors<V>,
    width: usize,
    k: usize,
    g: &mut [V::Array],
    turn: &mut [V::Array],
) {
    by_width(
        vectors,
        width,
        #[inline(always)]
        move |width| {
            let (g, turn) = (&mut g[..triangle(width)], &mut turn[..width * width]);
            turn.fill(V::Array::filled(V::Scalar::ZERO));
            for i in 0..width {
                turn[i * width + i] = V::Array::filled(V::Scalar::ONE);
            }
            // Pairs (a, c) row by row; but those with the same a + c have no direction in common and come one after
            // the other, so that none waits for the one before.
            for sweep in 0..SWEEPS {
                let (first, last) = if sweep == 0 { (width, 0) } else { (k, k) };
                for sum in 1..2 * width - 2 {
                    for a in sum.saturating_sub(width - 1)..first.min(sum.div_ceil(2)) {
                        let c = sum - a;
                        if last <= c {
                            rotate(vectors, width, g, turn, a, c);
                        }
                    }
                }
            }
        },
    );
}

/// Rotates directions a < c so that entry (c, a) becomes zero and the larger value is at (a, a).
#[inline(always)]
fn rotate<V: Vector>(
    vectors: Vectors<V>,
    width: usize,
    g: &mut [V::Array],
    turn: &mut [V::Array],
    a: usize,
    c: usize,
) {
    let (zero, one) = (vectors.zero(), vectors.one());
    let (p, o, q) = (
        vectors.load(&g[place(a, a)]),
        vectors.load(&g[place(c, a)]),
        vectors.load(&g[place(c, c)]),
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
    let (cc, ss) = (cosine * cosine, sine * sine);
    let cross = cosine * sine * double;
    cc.mul_add(p, ss.mul_add(q, cross))
        .store_array(&mut g[place(a, a)]);
    ss.mul_add(p, cc.mul_add(q, -cross))
        .store_array(&mut g[place(c, c)]);
    zero.store_array(&mut g[place(c, a)]);
    for i in 0..width {
        if i != a && i != c {
            turn_pair(vectors, cosine, sine, g, place(i, a), place(i, c));
        }
        turn_pair(vectors, cosine, sine, turn, a * width + i, c * width + i);
    }
}

/// Where entry (i, j) of a symmetric matrix is.
#[inline(always)]
fn place(i: usize, j: usize) -> usize {
    triangle(i.max(j)) + i.min(j)
}

/// The numbers at two places, turned.
#[inline(always)]
fn turn_pair<V: Vector>(
    vectors: Vectors<V>,
    cosine: V,
    sine: V,
    numbers: &mut [V::Array],
    a: usize,
    c: usize,
) {
    let (first, second) = (vectors.load(&numbers[a]), vectors.load(&numbers[c]));
    cosine
        .mul_add(first, sine * second)
        .store_array(&mut numbers[a]);
    cosine
        .mul_add(second, -(sine * first))
        .store_array(&mut numbers[c]);
}
