//! Algebra on rows of U, k numbers at a time.
//!
//! A "row" here is a row of vectors: row i of `W` matrices in the lanes shape, `W` rows of one matrix
//! in the single shape. The arithmetic is the same, so both shapes share this file. Symmetric k×k
//! matrices are packed by their lower triangle, entry (a, b) at `a (a + 1) / 2 + b`.

use super::{GRAM_RIDGE, NYSTROM_PIVOT, RIDGE};
use crate::model::MAX_K;
use crate::simd::{Real, Vector, Vectors};
use fearless_simd::Simd;

/// Entries in a packed k×k triangle.
pub(super) const fn packed(k: usize) -> usize {
    k * (k + 1) / 2
}

/// A step's weights, broadcast.
#[derive(Clone, Copy)]
pub(super) struct Step<V> {
    pub(super) eta: V,
    pub(super) mu: V,
    /// Steps longer than half its root are shortened to that, smoothly.
    pub(super) limit: V,
}

/// Writes u_a u_b for every row of `u` to `p`.
#[inline(always)]
pub(super) fn products<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    u: &[[F; W]],
    p: &mut [[F; W]],
) {
    for (u, p) in u.chunks_exact(k).zip(p.chunks_exact_mut(packed(k))) {
        for a in 0..k {
            let own = V::load_array_ref(simd, &u[a]);
            for b in 0..=a {
                (own * V::load_array_ref(simd, &u[b])).store_array(&mut p[packed(a) + b]);
            }
        }
    }
}

/// One step of some rows: solves (A + ridge·tr(A)·I) d = b, writes u + η d + μ (u − previous) over
/// `previous`, and its square to `norms`; `b` becomes d.
///
/// `K` is k and `P` is `packed(k)` where these are small, so that a row stays in registers; else they
/// are upper bounds.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn step<
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    const W: usize,
    const K: usize,
    const P: usize,
>(
    simd: S,
    k: usize,
    step: Step<V>,
    a: &[[F; W]],
    b: &mut [[F; W]],
    u: &[[F; W]],
    previous: &mut [[F; W]],
    norms: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let (zero, tiny) = (vectors.splat(F::ZERO), vectors.splat(F::TINY));
    // Two passes with short chains of dependent operations run faster than one with a long chain,
    // because the processor looks further ahead: more rows are under way at once.
    for (i, norm) in norms.iter_mut().enumerate() {
        let (a, b) = (&a[i * packed(k)..][..packed(k)], &mut b[i * k..][..k]);
        let (mut matrix, mut d) = ([zero; P], [zero; K]);
        for e in 0..packed(k) {
            matrix[e] = vectors.load(&a[e]);
        }
        for e in 0..k {
            d[e] = vectors.load(&b[e]);
        }
        solve(simd, k, &mut matrix, &mut d);
        let mut length = tiny;
        for e in 0..k {
            d[e].store_array(&mut b[e]);
            length = d[e].mul_add(d[e], length);
        }
        length.store_array(norm);
    }
    for (i, norm) in norms.iter_mut().enumerate() {
        let (b, u, previous) = (
            &b[i * k..][..k],
            &u[i * k..][..k],
            &mut previous[i * k..][..k],
        );
        let damped = step.eta * (step.limit / (step.limit + vectors.load(norm)));
        let mut square = zero;
        for e in 0..k {
            let now = vectors.load(&u[e]);
            let moved = damped.mul_add(vectors.load(&b[e]), now);
            let next = step.mu.mul_add(now - vectors.load(&previous[e]), moved);
            next.store_array(&mut previous[e]);
            square = next.mul_add(next, square);
        }
        square.store_array(norm);
    }
}

/// [`step`] with k as a constant if it is small.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn step_by_rank<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    how: Step<V>,
    a: &[[F; W]],
    b: &mut [[F; W]],
    u: &[[F; W]],
    previous: &mut [[F; W]],
    norms: &mut [[F; W]],
) {
    match k {
        1 => step::<S, F, V, W, 1, 1>(simd, 1, how, a, b, u, previous, norms),
        2 => step::<S, F, V, W, 2, 3>(simd, 2, how, a, b, u, previous, norms),
        3 => step::<S, F, V, W, 3, 6>(simd, 3, how, a, b, u, previous, norms),
        4..=8 => step::<S, F, V, W, 8, { packed(8) }>(simd, k, how, a, b, u, previous, norms),
        _ => step::<S, F, V, W, MAX_K, { packed(MAX_K) }>(simd, k, how, a, b, u, previous, norms),
    }
}

/// Solves (A + ridge·tr(A)·I) x = b by an L D Lᵀ factorisation: `a` is used up, `b` becomes x.
#[inline(always)]
fn solve<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    a: &mut [V],
    b: &mut [V],
) {
    let tiny = V::splat(simd, F::TINY);
    let one = V::splat(simd, F::ONE);
    let mut trace = a[0];
    for i in 1..k {
        trace += a[packed(i) + i];
    }
    let shift = trace.mul_add(V::splat(simd, F::from_f64(RIDGE)), tiny);
    let least = trace.mul_add(V::splat(simd, F::from_f64(0.1 * RIDGE)), tiny);
    for i in 0..k {
        let row = packed(i);
        let mut pivot = a[row + i] + shift;
        // L D, then L, for row i; the reciprocals of D are on the diagonal.
        for j in 0..i {
            for e in 0..j {
                a[row + j] = (-a[row + e]).mul_add(a[packed(j) + e], a[row + j]);
            }
        }
        for j in 0..i {
            let l = a[row + j] * a[packed(j) + j];
            pivot = (-a[row + j]).mul_add(l, pivot);
            b[i] = (-l).mul_add(b[j], b[i]);
            a[row + j] = l;
        }
        a[row + i] = one / pivot.max(least);
    }
    for i in (0..k).rev() {
        b[i] *= a[packed(i) + i];
        for e in i + 1..k {
            b[i] = (-a[packed(e) + i]).mul_add(b[e], b[i]);
        }
    }
}

/// How a symmetric k×k matrix that may not be positive definite is made so before it is factored.
#[derive(Clone, Copy)]
pub(super) enum Guard {
    /// A small multiple of the trace is added to the diagonal.
    Ridge,
    /// Pivots below a small multiple of the diagonal's size are raised to it.
    Pivot,
}

/// The Cholesky factor of the packed matrix `g`, in place, with the diagonal inverted.
#[inline(always)]
pub(super) fn cholesky<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    guard: Guard,
    g: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let tiny = V::splat(simd, F::TINY);
    let one = V::splat(simd, F::ONE);
    let mut size = vectors.load(&g[0]).abs();
    for i in 1..k {
        size += vectors.load(&g[packed(i) + i]).abs();
    }
    let (ridge, least) = match guard {
        Guard::Ridge => (GRAM_RIDGE, 0.1 * GRAM_RIDGE),
        Guard::Pivot => (0.0, NYSTROM_PIVOT),
    };
    let ridge = size * V::splat(simd, F::from_f64(ridge));
    let least = size.mul_add(V::splat(simd, F::from_f64(least)), tiny);
    let zero = vectors.splat(F::ZERO);
    for i in 0..k {
        let (above, row) = g.split_at_mut(packed(i));
        let mut pivot = vectors.load(&row[i]) + ridge;
        for j in 0..i {
            let upper = &above[packed(j)..];
            let mut x = vectors.load(&row[j]);
            for e in 0..j {
                x = (-vectors.load(&row[e])).mul_add(vectors.load(&upper[e]), x);
            }
            // No more than is left of the diagonal: nothing changes for a positive semidefinite
            // matrix, and for any other the factor stays bounded.
            let most = pivot.max(zero).sqrt();
            let x = (x * vectors.load(&upper[j])).min(most).max(-most);
            pivot = (-x).mul_add(x, pivot);
            x.store_array(&mut row[j]);
        }
        (one / pivot.max(least).sqrt()).store_array(&mut row[i]);
    }
}

/// Replaces every row y of `y` by the row q with `factor` q = y, for a factor from [`cholesky`]. Numbers
/// are cut at ±`most`, which those of a positive semidefinite matrix do not reach.
#[inline(always)]
pub(super) fn substitute<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    factor: &[[F; W]],
    most: f64,
    y: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let most = vectors.number(most);
    for y in y.chunks_exact_mut(k) {
        for i in 0..k {
            let row = &factor[packed(i)..];
            let mut x = vectors.load(&y[i]);
            for j in 0..i {
                x = (-vectors.load(&row[j])).mul_add(vectors.load(&y[j]), x);
            }
            let x = x * vectors.load(&row[i]);
            x.min(most).max(-most).store_array(&mut y[i]);
        }
    }
}
