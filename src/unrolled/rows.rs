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

/// Solves (A_i + ridge·tr(A_i)·I) d = b for every row; `b` becomes d.
///
/// `K` is k and `P` is `packed(k)` where these are small, so that a row stays in registers; else they
/// are upper bounds.
#[inline(always)]
fn solve_own<
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    const W: usize,
    const K: usize,
    const P: usize,
>(
    simd: S,
    k: usize,
    a: &[[F; W]],
    b: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let zero = vectors.splat(F::ZERO);
    let (mut matrix, mut d) = ([zero; P], [zero; K]);
    for i in 0..b.len() / k {
        let (a, b) = (&a[i * packed(k)..][..packed(k)], &mut b[i * k..][..k]);
        for e in 0..packed(k) {
            matrix[e] = vectors.load(&a[e]);
        }
        for e in 0..k {
            d[e] = vectors.load(&b[e]);
        }
        factor(simd, k, &mut matrix);
        resolve(k, &matrix, &mut d);
        for e in 0..k {
            d[e].store_array(&mut b[e]);
        }
    }
}

/// Factors G + ridge·tr(G)·I in place, for [`solve_shared`].
#[inline(always)]
fn factor_shared<S, F, V, const W: usize, const P: usize>(simd: S, k: usize, gram: &mut [[F; W]])
where
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
{
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let mut matrix = [vectors.splat(F::ZERO); P];
    for e in 0..packed(k) {
        matrix[e] = vectors.load(&gram[e]);
    }
    factor(simd, k, &mut matrix);
    for e in 0..packed(k) {
        matrix[e].store_array(&mut gram[e]);
    }
}

/// [`solve_own`] for A_i = w̄_i G, where `factor` is that of G and `trust` holds n w̄_i.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn solve_shared<
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    const W: usize,
    const K: usize,
    const P: usize,
>(
    simd: S,
    k: usize,
    n: usize,
    factor: &[[F; W]],
    trust: &[[F; W]],
    b: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let (zero, n) = (vectors.splat(F::ZERO), vectors.number(n as f64));
    let (mut matrix, mut d) = ([zero; P], [zero; K]);
    for e in 0..packed(k) {
        matrix[e] = vectors.load(&factor[e]);
    }
    for i in 0..b.len() / k {
        let b = &mut b[i * k..][..k];
        for e in 0..k {
            d[e] = vectors.load(&b[e]);
        }
        resolve(k, &matrix, &mut d);
        let scale = n / vectors.load(&trust[i]);
        for e in 0..k {
            (d[e] * scale).store_array(&mut b[e]);
        }
    }
}

/// [`solve_own`] with k as a constant if it is 3.
#[inline(always)]
pub(super) fn solve_own_by_rank<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    a: &[[F; W]],
    b: &mut [[F; W]],
) {
    match k {
        3 => solve_own::<S, F, V, W, 3, 6>(simd, 3, a, b),
        _ => solve_own::<S, F, V, W, MAX_K, { packed(MAX_K) }>(simd, k, a, b),
    }
}

/// [`factor_shared`] with k as a constant if it is 3.
#[inline(always)]
pub(super) fn factor_shared_by_rank<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    gram: &mut [[F; W]],
) {
    match k {
        3 => factor_shared::<S, F, V, W, 6>(simd, 3, gram),
        _ => factor_shared::<S, F, V, W, { packed(MAX_K) }>(simd, k, gram),
    }
}

/// [`solve_shared`] with k as a constant if it is 3.
#[inline(always)]
pub(super) fn solve_shared_by_rank<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    n: usize,
    factor: &[[F; W]],
    trust: &[[F; W]],
    b: &mut [[F; W]],
) {
    match k {
        3 => solve_shared::<S, F, V, W, 3, 6>(simd, 3, n, factor, trust, b),
        _ => solve_shared::<S, F, V, W, MAX_K, { packed(MAX_K) }>(simd, k, n, factor, trust, b),
    }
}

/// Writes u + η d + μ (u − previous) over `previous` and its square to `norms`, for every row; a long d
/// is shortened.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn advance<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    step: Step<V>,
    d: &[[F; W]],
    u: &[[F; W]],
    previous: &mut [[F; W]],
    norms: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
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
        let mut square = vectors.splat(F::ZERO);
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

/// A + ridge·tr(A)·I = L D Lᵀ, in place: L below the diagonal, the reciprocals of D on it.
#[inline(always)]
fn factor<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(simd: S, k: usize, a: &mut [V]) {
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
        for j in 0..i {
            for e in 0..j {
                a[row + j] = (-a[row + e]).mul_add(a[packed(j) + e], a[row + j]);
            }
        }
        for j in 0..i {
            let l = a[row + j] * a[packed(j) + j];
            pivot = (-a[row + j]).mul_add(l, pivot);
            a[row + j] = l;
        }
        a[row + i] = one / pivot.max(least);
    }
}

/// Solves with a factor from [`factor`]: `b` becomes x.
#[inline(always)]
fn resolve<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    k: usize,
    factor: &[V],
    b: &mut [V],
) {
    for i in 1..k {
        for j in 0..i {
            b[i] = (-factor[packed(i) + j]).mul_add(b[j], b[i]);
        }
    }
    for i in (0..k).rev() {
        b[i] *= factor[packed(i) + i];
        for e in i + 1..k {
            b[i] = (-factor[packed(e) + i]).mul_add(b[e], b[i]);
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
