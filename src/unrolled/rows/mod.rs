//! Algebra on rows of U, k numbers at a time.
//!
//! A "row" here is a row of vectors: row i of `W` matrices in the lanes shape, `W` rows of one matrix
//! in the single shape. The arithmetic is the same, so both shapes share this file. Symmetric k×k
//! matrices are packed by their lower triangle, entry (a, b) at `a (a + 1) / 2 + b`.
//!
//! What the network calls is not inlined: it exists once for every small k, and both shapes share that too.

use super::rank::by_rank;
use super::{GRAM_RIDGE, NYSTROM_PIVOT, RIDGE};
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
#[inline(never)]
pub(super) fn products<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    u: &[[F; W]],
    p: &mut [[F; W]],
) {
    by_rank::<S, F>(
        simd,
        k,
        #[inline(always)]
        |k| {
            let vectors = Vectors::<S, F, V, W>::new(simd);
            for i in 0..u.len() / k {
                let (u, p) = (&u[i * k..][..k], &mut p[i * packed(k)..][..packed(k)]);
                for a in 0..k {
                    let own = vectors.load(&u[a]);
                    for b in 0..=a {
                        (own * vectors.load(&u[b])).store_array(&mut p[packed(a) + b]);
                    }
                }
            }
        },
    );
}

/// A step from the rows' own A_i and b_i: see [`advance`]. A_i and b_i are overwritten.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(super) fn step_own<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    step: Step<V>,
    a: &mut [[F; W]],
    b: &mut [[F; W]],
    u: &[[F; W]],
    previous: &mut [[F; W]],
    norms: &mut [[F; W]],
) {
    by_rank::<S, F>(
        simd,
        k,
        #[inline(always)]
        |k| {
            solve_own::<S, F, V, W>(simd, k, a, b);
            advance::<S, F, V, W>(simd, k, step, b, u, previous, norms);
        },
    );
}

/// [`step_own`] for A_i = w̄_i G; `g` becomes the factors of G.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(super) fn step_shared<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    n: usize,
    step: Step<V>,
    g: &mut [[F; W]],
    trust: &[[F; W]],
    b: &mut [[F; W]],
    u: &[[F; W]],
    previous: &mut [[F; W]],
    norms: &mut [[F; W]],
) {
    by_rank::<S, F>(
        simd,
        k,
        #[inline(always)]
        |k| {
            factor::<S, F, V, W, 1>(simd, k, g);
            solve_shared::<S, F, V, W>(simd, k, n, g, trust, b);
            advance::<S, F, V, W>(simd, k, step, b, u, previous, norms);
        },
    );
}

/// Makes the columns of `y` those of y·chol(g)⁻ᵀ: orthonormal, if `g` is their Gram matrix; `g` is overwritten.
#[inline(never)]
pub(super) fn unmix<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    guard: Guard,
    most: f64,
    g: &mut [[F; W]],
    y: &mut [[F; W]],
) {
    by_rank::<S, F>(
        simd,
        k,
        #[inline(always)]
        |k| {
            cholesky::<S, F, V, W>(simd, k, guard, g);
            substitute::<S, F, V, W>(simd, k, g, most, y);
        },
    );
}

/// Solves (A_i + ridge·tr(A_i)·I) d = b for every row; `a` becomes factors and `b` becomes d.
#[inline(always)]
fn solve_own<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    a: &mut [[F; W]],
    b: &mut [[F; W]],
) {
    let rows = b.len() / k;
    let mut i = 0;
    if k >= MANY && size_of::<V>() > 16 {
        while i + TOGETHER <= rows {
            let a = &mut a[i * packed(k)..][..TOGETHER * packed(k)];
            factor::<S, F, V, W, TOGETHER>(simd, k, a);
            resolve::<S, F, V, W, TOGETHER>(simd, k, (a, packed(k)), &mut b[i * k..]);
            i += TOGETHER;
        }
    }
    while i < rows {
        let a = &mut a[i * packed(k)..][..packed(k)];
        factor::<S, F, V, W, 1>(simd, k, a);
        resolve::<S, F, V, W, 1>(simd, k, (a, packed(k)), &mut b[i * k..]);
        i += 1;
    }
}

/// [`solve_own`] for A_i = w̄_i G, where `factors` are those of G and `trust` holds n w̄_i.
#[inline(always)]
fn solve_shared<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    n: usize,
    factors: &[[F; W]],
    trust: &[[F; W]],
    b: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let n = vectors.number(n as f64);
    let rows = b.len() / k;
    let mut i = 0;
    if k >= MANY && size_of::<V>() > 16 {
        while i + TOGETHER <= rows {
            resolve::<S, F, V, W, TOGETHER>(simd, k, (factors, 0), &mut b[i * k..]);
            i += TOGETHER;
        }
    }
    while i < rows {
        resolve::<S, F, V, W, 1>(simd, k, (factors, 0), &mut b[i * k..]);
        i += 1;
    }
    for i in 0..rows {
        let b = &mut b[i * k..][..k];
        let scale = n / vectors.load(&trust[i]);
        for e in 0..k {
            (vectors.load(&b[e]) * scale).store_array(&mut b[e]);
        }
    }
}

/// Writes u + η d + μ (u − previous) over `previous` and its square to `norms`, for every row; a long d
/// is shortened.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn advance<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
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

/// From this k on, which is no constant in loops, `TOGETHER` rows take turns: one alone waits for itself. Narrow
/// vectors do without.
const MANY: usize = 6;
const TOGETHER: usize = 4;

/// A + ridge·tr(A)·I = L D Lᵀ for `ROWS` matrices, in place: L below the diagonal, the reciprocals of D on it.
#[inline(always)]
fn factor<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    k: usize,
    a: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let size = packed(k);
    let a = &mut a[..ROWS * size];
    let (tiny, one) = (vectors.splat(F::TINY), vectors.splat(F::ONE));
    let mut least = [tiny; ROWS];
    for r in 0..ROWS {
        let a = &mut a[r * size..][..size];
        let mut trace = vectors.load(&a[0]);
        for i in 1..k {
            trace += vectors.load(&a[packed(i) + i]);
        }
        let shift = trace.mul_add(vectors.number(RIDGE), tiny);
        least[r] = trace.mul_add(vectors.number(0.1 * RIDGE), tiny);
        for i in 0..k {
            let pivot = &mut a[packed(i) + i];
            (vectors.load(pivot) + shift).store_array(pivot);
        }
    }
    // Column by column: what is taken from the rest does not wait for itself.
    for e in 0..k {
        let mut inverse = [one; ROWS];
        for r in 0..ROWS {
            let pivot = &mut a[r * size + packed(e) + e];
            inverse[r] = one / vectors.load(pivot).max(least[r]);
            inverse[r].store_array(pivot);
        }
        for i in e + 1..k {
            let mut x = [one; ROWS];
            for r in 0..ROWS {
                x[r] = vectors.load(&a[r * size + packed(i) + e]);
            }
            for j in e + 1..i {
                for r in 0..ROWS {
                    let l = vectors.load(&a[r * size + packed(j) + e]);
                    let rest = &mut a[r * size + packed(i) + j];
                    (-x[r]).mul_add(l, vectors.load(rest)).store_array(rest);
                }
            }
            for r in 0..ROWS {
                let l = x[r] * inverse[r];
                let pivot = &mut a[r * size + packed(i) + i];
                (-x[r]).mul_add(l, vectors.load(pivot)).store_array(pivot);
                l.store_array(&mut a[r * size + packed(i) + e]);
            }
        }
    }
}

/// Solves for `ROWS` rows with what [`factor`] gave, which is `stride` vectors farther for each: `b` becomes x.
#[inline(always)]
fn resolve<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    k: usize,
    (factors, stride): (&[[F; W]], usize),
    b: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let factors = &factors[..(ROWS - 1) * stride + packed(k)];
    let b = &mut b[..ROWS * k];
    let mut x = [vectors.splat(F::ZERO); ROWS];
    for j in 0..k {
        for r in 0..ROWS {
            x[r] = -vectors.load(&b[r * k + j]);
        }
        for i in j + 1..k {
            for r in 0..ROWS {
                let l = vectors.load(&factors[r * stride + packed(i) + j]);
                let rest = &mut b[r * k + i];
                x[r].mul_add(l, vectors.load(rest)).store_array(rest);
            }
        }
    }
    for i in 0..k {
        for r in 0..ROWS {
            let inverse = vectors.load(&factors[r * stride + packed(i) + i]);
            let rest = &mut b[r * k + i];
            (vectors.load(rest) * inverse).store_array(rest);
        }
    }
    for e in (1..k).rev() {
        for r in 0..ROWS {
            x[r] = -vectors.load(&b[r * k + e]);
        }
        for i in 0..e {
            for r in 0..ROWS {
                let l = vectors.load(&factors[r * stride + packed(e) + i]);
                let rest = &mut b[r * k + i];
                x[r].mul_add(l, vectors.load(rest)).store_array(rest);
            }
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
fn cholesky<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
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
fn substitute<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    factor: &[[F; W]],
    most: f64,
    y: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let most = vectors.number(most);
    for at in 0..y.len() / k {
        let y = &mut y[at * k..][..k];
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
