//! A layer's step, row by row: solved for, shortened if it is long, and taken with some of the step before.

use super::solve::{solve_own, solve_shared};
use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::by_rank;
use crate::unrolled::triangle::triangle;

/// A step's weights, broadcast.
#[derive(Clone, Copy)]
pub(crate) struct Step<V> {
    pub(crate) eta: V,
    pub(crate) mu: V,
    /// Steps longer than half its root are shortened to that, smoothly.
    pub(crate) limit: V,
}

/// Writes |u_i|² of every row to `norms`.
#[inline(always)]
pub(crate) fn squares<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    u: &[V::Array],
    norms: &mut [V::Array],
) {
    for (u, norm) in u.chunks_exact(k).zip(norms) {
        let mut square = vectors.zero();
        for x in u {
            let x = vectors.load(x);
            square = x.mul_add(x, square);
        }
        square.store_array(norm);
    }
}

/// Writes u_a u_b for every row of `u` to `p`.
#[inline(never)]
pub(crate) fn products<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    u: &[V::Array],
    p: &mut [V::Array],
) {
    by_rank(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            for i in 0..u.len() / k {
                let u = &u[i * k..][..k];
                let p = &mut p[i * triangle(k)..][..triangle(k)];
                for a in 0..k {
                    let own = vectors.load(&u[a]);
                    for b in 0..=a {
                        (own * vectors.load(&u[b])).store_array(&mut p[triangle(a) + b]);
                    }
                }
            }
        },
    );
}

/// A step from the rows' own A_i and b_i: see [`advance`]. A_i and b_i are overwritten.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn step_own<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    step: Step<V>,
    a: &mut [V::Array],
    b: &mut [V::Array],
    u: &[V::Array],
    previous: &mut [V::Array],
    norms: &mut [V::Array],
) {
    by_rank(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            solve_own(vectors, k, a, b);
            advance(vectors, k, step, b, u, previous, norms);
        },
    );
}

/// [`step_own`] for A_i = w̄_i G; `g` becomes the factors of G, and `trust` holds n w̄_i.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn step_shared<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    n: usize,
    step: Step<V>,
    g: &mut [V::Array],
    trust: &[V::Array],
    b: &mut [V::Array],
    u: &[V::Array],
    previous: &mut [V::Array],
    norms: &mut [V::Array],
) {
    by_rank(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            solve_shared(vectors, k, n, g, trust, b);
            advance(vectors, k, step, b, u, previous, norms);
        },
    );
}

/// Writes u + η d + μ (u − previous) over `previous` and its square to `norms`, for every row; a long d
/// is shortened.
#[inline(always)]
fn advance<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    step: Step<V>,
    d: &[V::Array],
    u: &[V::Array],
    previous: &mut [V::Array],
    norms: &mut [V::Array],
) {
    for (i, norm) in norms.iter_mut().enumerate() {
        let (d, u, previous) = (
            &d[i * k..][..k],
            &u[i * k..][..k],
            &mut previous[i * k..][..k],
        );
        let mut length = step.limit;
        for e in 0..k {
            let d = vectors.load(&d[e]);
            length = d.mul_add(d, length);
        }
        let damped = step.eta * (step.limit / length);
        let mut square = vectors.zero();
        for e in 0..k {
            let now = vectors.load(&u[e]);
            let moved = damped.mul_add(vectors.load(&d[e]), now);
            let next = step.mu.mul_add(now - vectors.load(&previous[e]), moved);
            next.store_array(&mut previous[e]);
            square = next.mul_add(next, square);
        }
        square.store_array(norm);
    }
}
