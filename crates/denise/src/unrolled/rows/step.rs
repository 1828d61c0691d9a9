//! A layer's step, row by row: solved for, shortened if it is long, and taken with some of the step before.

use super::solve::{factor_one, resolve_one, solve_own, solve_shared};
use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::{by_one, by_rank};
use crate::unrolled::triangle::triangle;

/// A step's weights, broadcast.
#[derive(Clone, Copy)]
pub(crate) struct Step<V> {
    pub(crate) eta: V,
    pub(crate) mu: V,
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

/// The rows' steps from their own A_i and b_i, shortened if they are long. `b` becomes the steps, and A_i is
/// overwritten.
#[inline(never)]
pub(crate) fn damped_own<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    limit: V,
    a: &mut [V::Array],
    b: &mut [V::Array],
) {
    by_rank(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            solve_own(vectors, k, a, b);
            damp(vectors, k, limit, b);
        },
    );
}

/// [`damped_own`] for A_i = w̄_i G; `g` becomes the factors of G, and `trust` holds n w̄_i.
#[inline(never)]
pub(crate) fn damped_shared<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    n: usize,
    limit: V,
    g: &mut [V::Array],
    trust: &[V::Array],
    b: &mut [V::Array],
) {
    by_rank(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            factor_one(vectors, k, g);
            solve_shared(vectors, k, n, g, trust, b);
            damp(vectors, k, limit, b);
        },
    );
}

/// Steps longer than half the root of `limit` are shortened to that, smoothly.
#[inline(always)]
fn damp<V: Vector>(vectors: Vectors<V>, k: usize, limit: V, d: &mut [V::Array]) {
    for i in 0..d.len() / k {
        let d = &mut d[i * k..][..k];
        let mut length = limit;
        for e in 0..k {
            let d = vectors.load(&d[e]);
            length = d.mul_add(d, length);
        }
        let damping = limit / length;
        for e in 0..k {
            (vectors.load(&d[e]) * damping).store_array(&mut d[e]);
        }
    }
}

/// From dᵀU in `c` to the C, times ν, for which U C is the part of the steps d within the span of U. `g` is G = UᵀU, or
/// its factors if it has been `factored`.
#[inline(never)]
pub(crate) fn within<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    nu: V,
    factored: bool,
    g: &mut [V::Array],
    c: &mut [V::Array],
) {
    by_one::<3, V>(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            if !factored {
                factor_one(vectors, k, g);
            }
            for b in 0..k {
                let c = &mut c[b * k..][..k];
                resolve_one(vectors, k, g, c);
                for e in 0..k {
                    (vectors.load(&c[e]) * nu).store_array(&mut c[e]);
                }
            }
        },
    );
}

/// Writes u + η d + C u + μ (u − previous) over `previous` and its square to `norms`, for every row u of U and step d.
/// Without `c`, C is zero.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn advance<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    step: Step<V>,
    d: &[V::Array],
    c: Option<&[V::Array]>,
    u: &[V::Array],
    previous: &mut [V::Array],
    norms: &mut [V::Array],
) {
    by_rank(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            for (i, norm) in norms.iter_mut().enumerate() {
                let (d, u, previous) = (
                    &d[i * k..][..k],
                    &u[i * k..][..k],
                    &mut previous[i * k..][..k],
                );
                let mut square = vectors.zero();
                for e in 0..k {
                    let now = vectors.load(&u[e]);
                    let mut next = step.eta.mul_add(vectors.load(&d[e]), now);
                    next = step
                        .mu
                        .mul_add(now - vectors.load(&previous[e]), next);
                    if let Some(c) = c {
                        let c = &c[e * k..][..k];
                        for a in 0..k {
                            next = vectors.load(&u[a]).mul_add(vectors.load(&c[a]), next);
                        }
                    }
                    next.store_array(&mut previous[e]);
                    square = next.mul_add(next, square);
                }
                square.store_array(norm);
            }
        },
    );
}
