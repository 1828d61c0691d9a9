//! A layer's step, row by row: solved for, shortened if it is long, and taken with some of the step before.

use super::solve::{FEW, Factors, factor, resolve, solve_own, solve_shared};
use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::{by_many_ranks, by_one, by_rank};
use crate::unrolled::triangle::triangle;

/// A step's weights.
#[derive(Clone, Copy)]
pub(crate) struct Step<F> {
    pub(crate) eta: F,
    pub(crate) mu: F,
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
#[inline(always)]
pub(crate) fn products<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    u: &[V::Array],
    p: &mut [V::Array],
) {
    apart::<V>(
        #[inline(always)]
        || {
            by_rank(
                vectors,
                k,
                #[inline(always)]
                move |k| {
                    for (u, p) in u.chunks_exact(k).zip(p.chunks_exact_mut(triangle(k))) {
                        for a in 0..k {
                            let own = vectors.load(&u[a]);
                            for b in 0..=a {
                                (own * vectors.load(&u[b])).store_array(&mut p[triangle(a) + b]);
                            }
                        }
                    }
                },
            );
        },
    );
}

/// G in `g` becomes its factors.
#[inline(always)]
pub(crate) fn factor_gram<V: Vector>(vectors: Vectors<V>, k: usize, g: &mut [V::Array]) {
    apart::<V>(
        #[inline(always)]
        || {
            by_rank(
                vectors,
                k,
                #[inline(always)]
                move |k| {
                    if k <= FEW {
                        Factors::of(vectors, k, g).store(g);
                    } else {
                        factor::<1, V>(vectors, k, g);
                    }
                },
            );
        },
    );
}

/// The systems of the rows, whose solutions are their steps.
pub(crate) struct Systems<'a, V: Vector> {
    pub(crate) vectors: Vectors<V>,
    pub(crate) k: usize,
    pub(crate) n: usize,
    /// Longer steps are shortened: see [`damp`].
    pub(crate) limit: V,
    /// The factors of G, if A_i = w̄_i G.
    pub(crate) shared: Option<&'a [V::Array]>,
}

/// What [`Systems::solve`] takes of some rows.
pub(crate) struct Unsolved<'a, V: Vector> {
    /// A_i, if it is the row's own. It is overwritten.
    pub(crate) a: &'a mut [V::Array],
    /// n w̄_i, if not.
    pub(crate) trust: &'a [V::Array],
    /// b_i, which becomes the step.
    pub(crate) b: &'a mut [V::Array],
}

impl<V: Vector> Systems<'_, V> {
    /// The steps of some rows.
    #[inline(always)]
    pub(crate) fn solve(&self, rows: Unsolved<'_, V>) {
        let Unsolved { a, trust, b } = rows;
        apart::<V>(
            #[inline(always)]
            || match self.shared {
                None => damped_own(self.vectors, self.k, self.limit, a, b),
                Some(g) => damped_shared(self.vectors, self.k, self.n, self.limit, g, trust, b),
            },
        );
    }
}

/// The rows' steps from their own A_i and b_i, shortened if they are long. `b` becomes the steps, and A_i is
/// overwritten.
#[inline(always)]
fn damped_own<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    limit: V,
    a: &mut [V::Array],
    b: &mut [V::Array],
) {
    by_many_ranks(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            if k <= FEW {
                for (b, a) in b.chunks_exact_mut(k).zip(a.chunks_exact(triangle(k))) {
                    let factors = Factors::of(vectors, k, a);
                    let d = factors.solve(vectors, b);
                    damp_few(k, limit, d, b);
                }
                return;
            }
            solve_own(vectors, k, a, b);
            damp(vectors, k, limit, b);
        },
    );
}

/// [`damped_own`] for A_i = w̄_i G, where `g` holds the factors of G and `trust` n w̄_i.
#[inline(always)]
fn damped_shared<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    n: usize,
    limit: V,
    g: &[V::Array],
    trust: &[V::Array],
    b: &mut [V::Array],
) {
    by_rank(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            if k <= FEW {
                let n = vectors.number(n as f64);
                let factors = Factors::load(vectors, k, g);
                for (b, trust) in b.chunks_exact_mut(k).zip(trust) {
                    let mut d = factors.solve(vectors, b);
                    let scale = n / vectors.load(trust);
                    for e in 0..k {
                        d[e] *= scale;
                    }
                    damp_few(k, limit, d, b);
                }
                return;
            }
            solve_shared(vectors, k, n, g, trust, b);
            damp(vectors, k, limit, b);
        },
    );
}

/// [`damp`] for one step, in registers, which is then written to `out`.
#[inline(always)]
fn damp_few<V: Vector>(k: usize, limit: V, d: [V; FEW], out: &mut [V::Array]) {
    let mut length = limit;
    for e in 0..k {
        length = d[e].mul_add(d[e], length);
    }
    let damping = limit / length;
    for e in 0..k {
        (d[e] * damping).store_array(&mut out[e]);
    }
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

/// From dᵀU in `c` to the C, times ν, for which U C is the part of the steps d within the span of U. `g` holds the factors
/// of G = UᵀU.
#[inline(never)]
pub(crate) fn within<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    nu: V,
    g: &[V::Array],
    c: &mut [V::Array],
) {
    by_one::<3, V>(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            if k <= FEW {
                let factors = Factors::load(vectors, k, g);
                for b in 0..k {
                    let c = &mut c[b * k..][..k];
                    let x = factors.solve(vectors, c);
                    for e in 0..k {
                        (x[e] * nu).store_array(&mut c[e]);
                    }
                }
                return;
            }
            for b in 0..k {
                let c = &mut c[b * k..][..k];
                resolve::<1, V>(vectors, k, (g, 0), c);
                for e in 0..k {
                    (vectors.load(&c[e]) * nu).store_array(&mut c[e]);
                }
            }
        },
    );
}

/// What is the same for the steps of all rows.
pub(crate) struct Advance<'a, V: Vector> {
    pub(crate) vectors: Vectors<V>,
    pub(crate) k: usize,
    pub(crate) step: Step<V::Scalar>,
    /// C; without it, it is zero.
    pub(crate) c: Option<&'a [V::Array]>,
}

/// What [`Advance::rows`] takes of some rows.
pub(crate) struct Moving<'a, V: Vector> {
    pub(crate) d: &'a [V::Array],
    pub(crate) u: &'a [V::Array],
    /// U before, which becomes U after.
    pub(crate) previous: &'a mut [V::Array],
    /// |u_i|² after.
    pub(crate) norms: &'a mut [V::Array],
}

impl<V: Vector> Advance<'_, V> {
    /// From row u of U and step d to u + η d + C u + μ (u − previous).
    #[inline(always)]
    pub(crate) fn rows(&self, rows: Moving<'_, V>) {
        let Advance {
            vectors,
            k,
            step,
            c,
        } = *self;
        let Moving {
            d,
            u,
            previous,
            norms,
        } = rows;
        apart::<V>(
            #[inline(always)]
            || {
                by_rank(
                    vectors,
                    k,
                    #[inline(always)]
                    move |k| {
                        let (eta, mu) = (vectors.splat(step.eta), vectors.splat(step.mu));
                        let rows = d.chunks_exact(k).zip(u.chunks_exact(k));
                        let out = previous.chunks_exact_mut(k).zip(norms);
                        for ((d, u), (previous, norm)) in rows.zip(out) {
                            let mut square = vectors.zero();
                            for e in 0..k {
                                let now = vectors.load(&u[e]);
                                let mut next = eta.mul_add(vectors.load(&d[e]), now);
                                let before = vectors.load(&previous[e]);
                                next = mu.mul_add(now - before, next);
                                if let Some(c) = c {
                                    let c = &c[e * k..][..k];
                                    for a in 0..k {
                                        let c = vectors.load(&c[a]);
                                        next = vectors.load(&u[a]).mul_add(c, next);
                                    }
                                }
                                next.store_array(&mut previous[e]);
                                square = next.mul_add(next, square);
                            }
                            square.store_array(norm);
                        }
                    },
                );
            },
        );
    }
}

/// Does `work` here or, with narrower vectors than those of AVX-512, in a function of its own. That saves code, of which
/// the library without AVX-512 should have little. But what such a function is given is written and read again, and a
/// layer waits for that.
#[inline(always)]
fn apart<V: Vector>(work: impl FnOnce()) {
    if size_of::<V>() > 32 {
        work();
    } else {
        elsewhere(work);
    }
}

#[inline(never)]
fn elsewhere(work: impl FnOnce()) {
    work();
}
