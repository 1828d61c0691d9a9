//! The k×k system of each row, A + ridge·tr(A)·I = L D Lᵀ, factored and solved.

use crate::simd::{Real, Vector, Vectors};
use crate::unrolled::RIDGE;
use crate::unrolled::triangle::triangle;

/// From this k on, which is no constant in loops, `TOGETHER` rows take turns: one alone waits for itself. Narrow
/// vectors do without.
const MANY: usize = 6;
const TOGETHER: usize = 4;

/// Solves (A_i + ridge·tr(A_i)·I) d = b for every row; `a` becomes factors and `b` becomes d.
#[inline(always)]
pub(super) fn solve_own<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    a: &mut [V::Array],
    b: &mut [V::Array],
) {
    let size = triangle(k);
    let rows = b.len() / k;
    let mut i = 0;
    if k >= MANY && size_of::<V>() > 16 {
        while i + TOGETHER <= rows {
            let a = &mut a[i * size..][..TOGETHER * size];
            factor::<TOGETHER, V>(vectors, k, a);
            resolve::<TOGETHER, V>(vectors, k, (a, size), &mut b[i * k..]);
            i += TOGETHER;
        }
    }
    while i < rows {
        let a = &mut a[i * size..][..size];
        factor::<1, V>(vectors, k, a);
        resolve::<1, V>(vectors, k, (a, size), &mut b[i * k..]);
        i += 1;
    }
}

/// [`solve_own`] for A_i = w̄_i G, where `trust` holds n w̄_i and `g` the factors of G.
#[inline(always)]
pub(super) fn solve_shared<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    n: usize,
    g: &[V::Array],
    trust: &[V::Array],
    b: &mut [V::Array],
) {
    let n = vectors.number(n as f64);
    let rows = b.len() / k;
    let mut i = 0;
    if k >= MANY && size_of::<V>() > 16 {
        while i + TOGETHER <= rows {
            resolve::<TOGETHER, V>(vectors, k, (g, 0), &mut b[i * k..]);
            i += TOGETHER;
        }
    }
    while i < rows {
        resolve::<1, V>(vectors, k, (g, 0), &mut b[i * k..]);
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

/// A + ridge·tr(A)·I = L D Lᵀ for `ROWS` matrices, in place: L below the diagonal, the reciprocals of D on it.
#[inline(always)]
pub(super) fn factor<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    a: &mut [V::Array],
) {
    let size = triangle(k);
    let a = &mut a[..ROWS * size];
    let (tiny, one) = (vectors.splat(V::Scalar::TINY), vectors.one());
    let mut least = [tiny; ROWS];
    for r in 0..ROWS {
        let a = &mut a[r * size..][..size];
        let mut trace = vectors.load(&a[0]);
        for i in 1..k {
            trace += vectors.load(&a[triangle(i) + i]);
        }
        let shift = trace.mul_add(vectors.number(RIDGE), tiny);
        least[r] = trace.mul_add(vectors.number(0.1 * RIDGE), tiny);
        for i in 0..k {
            let pivot = &mut a[triangle(i) + i];
            (vectors.load(pivot) + shift).store_array(pivot);
        }
    }
    // Column by column: what is taken from the rest does not wait for itself.
    for e in 0..k {
        let mut inverse = [one; ROWS];
        for r in 0..ROWS {
            let pivot = &mut a[r * size + triangle(e) + e];
            inverse[r] = one / vectors.load(pivot).max(least[r]);
            inverse[r].store_array(pivot);
        }
        for i in e + 1..k {
            let mut x = [one; ROWS];
            for r in 0..ROWS {
                x[r] = vectors.load(&a[r * size + triangle(i) + e]);
            }
            for j in e + 1..i {
                for r in 0..ROWS {
                    let l = vectors.load(&a[r * size + triangle(j) + e]);
                    let rest = &mut a[r * size + triangle(i) + j];
                    (-x[r]).mul_add(l, vectors.load(rest)).store_array(rest);
                }
            }
            for r in 0..ROWS {
                let l = x[r] * inverse[r];
                let pivot = &mut a[r * size + triangle(i) + i];
                (-x[r]).mul_add(l, vectors.load(pivot)).store_array(pivot);
                l.store_array(&mut a[r * size + triangle(i) + e]);
            }
        }
    }
}

/// Solves for `ROWS` rows with what [`factor`] gave, which is `stride` vectors farther for each: `b` becomes x.
#[inline(always)]
pub(super) fn resolve<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    (factors, stride): (&[V::Array], usize),
    b: &mut [V::Array],
) {
    let factors = &factors[..(ROWS - 1) * stride + triangle(k)];
    let b = &mut b[..ROWS * k];
    let mut x = [vectors.zero(); ROWS];
    for j in 0..k {
        for r in 0..ROWS {
            x[r] = -vectors.load(&b[r * k + j]);
        }
        for i in j + 1..k {
            for r in 0..ROWS {
                let l = vectors.load(&factors[r * stride + triangle(i) + j]);
                let rest = &mut b[r * k + i];
                x[r].mul_add(l, vectors.load(rest)).store_array(rest);
            }
        }
    }
    for i in 0..k {
        for r in 0..ROWS {
            let inverse = vectors.load(&factors[r * stride + triangle(i) + i]);
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
                let l = vectors.load(&factors[r * stride + triangle(e) + i]);
                let rest = &mut b[r * k + i];
                x[r].mul_add(l, vectors.load(rest)).store_array(rest);
            }
        }
    }
}

/// The largest k for which [`Factors`] of a constant k stay in registers.
pub(super) const FEW: usize = 5;

/// What [`factor`] gives for one matrix with k ≤ [`FEW`].
#[derive(Clone, Copy)]
pub(super) struct Factors<V> {
    k: usize,
    l: [V; triangle(FEW)],
}

impl<V: Vector> Factors<V> {
    /// Of a matrix.
    #[inline(always)]
    pub(super) fn of(vectors: Vectors<V>, k: usize, a: &[V::Array]) -> Factors<V> {
        let mut l = Factors::load(vectors, k, a).l;
        let tiny = vectors.splat(V::Scalar::TINY);
        let mut trace = l[0];
        for i in 1..k {
            trace += l[triangle(i) + i];
        }
        let shift = trace.mul_add(vectors.number(RIDGE), tiny);
        let least = trace.mul_add(vectors.number(0.1 * RIDGE), tiny);
        for i in 0..k {
            l[triangle(i) + i] += shift;
        }
        for e in 0..k {
            let inverse = vectors.one() / l[triangle(e) + e].max(least);
            l[triangle(e) + e] = inverse;
            for i in e + 1..k {
                let x = l[triangle(i) + e];
                for j in e + 1..i {
                    l[triangle(i) + j] = (-x).mul_add(l[triangle(j) + e], l[triangle(i) + j]);
                }
                let scaled = x * inverse;
                l[triangle(i) + i] = (-x).mul_add(scaled, l[triangle(i) + i]);
                l[triangle(i) + e] = scaled;
            }
        }
        Factors { k, l }
    }

    /// As they are in memory.
    #[inline(always)]
    pub(super) fn load(vectors: Vectors<V>, k: usize, a: &[V::Array]) -> Factors<V> {
        let a = &a[..triangle(k)];
        let mut l = [vectors.zero(); triangle(FEW)];
        for e in 0..triangle(k) {
            l[e] = vectors.load(&a[e]);
        }
        Factors { k, l }
    }

    #[inline(always)]
    pub(super) fn store(&self, a: &mut [V::Array]) {
        let a = &mut a[..triangle(self.k)];
        for e in 0..triangle(self.k) {
            self.l[e].store_array(&mut a[e]);
        }
    }

    /// [`resolve`] for one row.
    #[inline(always)]
    pub(super) fn solve(&self, vectors: Vectors<V>, b: &[V::Array]) -> [V; FEW] {
        let k = self.k;
        let b = &b[..k];
        let mut x = [vectors.zero(); FEW];
        for j in 0..k {
            x[j] = vectors.load(&b[j]);
        }
        for j in 0..k {
            let taken = -x[j];
            for i in j + 1..k {
                x[i] = taken.mul_add(self.l[triangle(i) + j], x[i]);
            }
        }
        for i in 0..k {
            x[i] *= self.l[triangle(i) + i];
        }
        for e in (1..k).rev() {
            let taken = -x[e];
            for i in 0..e {
                x[i] = taken.mul_add(self.l[triangle(e) + i], x[i]);
            }
        }
        x
    }
}
