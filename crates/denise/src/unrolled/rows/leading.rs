//! The leading directions of a small symmetric matrix, by Jacobi's rotations.

use crate::simd::{Real, Vector, Vectors};
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

/// Turns the matrix `g` so that its first `k` directions are the leading ones, and writes the rotation to `turn`, row
/// by row: one sweep over all pairs, and two over those between the first k and the rest.
#[inline(never)]
pub(crate) fn leading<V: Vector>(
    vectors: Vectors<V>,
    width: usize,
    k: usize,
    g: &mut [V::Array],
    turn: &mut [V::Array],
) {
    vectors.vectorize(
        #[inline(always)]
        move || {
            for (at, x) in turn[..width * width].iter_mut().enumerate() {
                let one = f64::from(u8::from(at % (width + 1) == 0));
                vectors.number(one).store_array(x);
            }
            for sweep in 0..3 {
                let (first, last) = if sweep == 0 { (width, 0) } else { (k, k) };
                for a in 0..first {
                    for c in last.max(a + 1)..width {
                        rotate(vectors, width, g, turn, a, c);
                    }
                }
            }
        },
    );
}

/// Rotates columns a < c so that entry (c, a) becomes zero and the larger value is at (a, a).
#[inline(always)]
fn rotate<V: Vector>(
    vectors: Vectors<V>,
    width: usize,
    g: &mut [V::Array],
    turn: &mut [V::Array],
    a: usize,
    c: usize,
) {
    let (zero, one, two) = (vectors.zero(), vectors.one(), vectors.number(2.0));
    let p = vectors.load(&g[at(a, a)]);
    let q = vectors.load(&g[at(c, c)]);
    let o = vectors.load(&g[at(c, a)]);
    let apart = p - q;
    let double = two * o;
    let length = double.mul_add(double, apart * apart).sqrt();
    let tangent = double.abs() / (apart.abs() + length + vectors.splat(V::Scalar::TINY));
    let large = one / tangent.mul_add(tangent, one).sqrt();
    let small = tangent * large;
    let ordered = apart.simd_ge(zero);
    let cosine: V = ordered.select(large, small);
    let sine: V = ordered.select(small, large);
    let sine: V = o.simd_lt(zero).select(-sine, sine);
    for i in 0..width {
        if i != a && i != c {
            turn_pair(vectors, cosine, sine, g, at(i, a), at(i, c));
        }
        turn_pair(vectors, cosine, sine, turn, i * width + a, i * width + c);
    }
    let (cc, ss) = (cosine * cosine, sine * sine);
    let cross = cosine * sine * double;
    cc.mul_add(p, ss.mul_add(q, cross))
        .store_array(&mut g[at(a, a)]);
    ss.mul_add(p, cc.mul_add(q, -cross))
        .store_array(&mut g[at(c, c)]);
    zero.store_array(&mut g[at(c, a)]);
}

/// Where entry (i, j), that is entry (j, i), of a symmetric matrix is.
const fn at(i: usize, j: usize) -> usize {
    if i < j {
        triangle(j) + i
    } else {
        triangle(i) + j
    }
}

/// Two numbers, turned.
#[inline(always)]
fn turn_pair<V: Vector>(
    vectors: Vectors<V>,
    cosine: V,
    sine: V,
    g: &mut [V::Array],
    x: usize,
    y: usize,
) {
    let (first, second) = (vectors.load(&g[x]), vectors.load(&g[y]));
    cosine.mul_add(first, sine * second).store_array(&mut g[x]);
    let turned = cosine.mul_add(second, -(sine * first));
    turned.store_array(&mut g[y]);
}
