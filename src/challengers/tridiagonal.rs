//! A symmetric matrix to tridiagonal form and back, by Householder's reflections.

use super::rows::{dot, padded, zeros};
use crate::simd::Isa;
use crate::status::Error;
use fearless_simd::Simd;

/// T = Qᵀ A Q, as its diagonal, the entries beside it, and Q as a product of reflections.
///
/// T is numbered from the last row of A upwards: its large entries then come first, as the QR iteration
/// likes it.
pub(super) struct Tridiagonal {
    n: usize,
    isa: Isa,
    /// Rows of A, `padded(n)` apart. Row i ends as the vector v of reflection i, I − τ v vᵀ, which moves rows
    /// 0 .. i only; behind v, up to the next multiple of four, are zeros.
    a: Vec<f64>,
    tau: Vec<f64>,
    /// The diagonal of T.
    pub(super) d: Vec<f64>,
    /// Beside it: e[i] couples i and i + 1. The last entry is zero.
    pub(super) e: Vec<f64>,
    w: Vec<f64>,
}

/// Squares of what is smaller are lost, which is nothing beside a matrix of unit scale.
const NEGLIGIBLE: f64 = 1e-290;

impl Tridiagonal {
    pub(super) fn new(n: usize) -> Result<Tridiagonal, Error> {
        Ok(Tridiagonal {
            n,
            isa: Isa::best(),
            a: zeros(n * padded(n))?,
            tau: zeros(n)?,
            d: zeros(n)?,
            e: zeros(n)?,
            w: zeros(padded(n))?,
        })
    }

    /// Takes the symmetric matrix `a` apart, whose entries are of unit scale.
    pub(super) fn reduce(&mut self, a: &[f64]) {
        match self.isa {
            Isa::Portable(_) => self.reflect(a),
            // The same operations in the same order, only wider: the results are the same to the bit.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => simd.vectorize(
                #[inline(always)]
                || self.reflect(a),
            ),
        }
    }

    #[inline(always)]
    fn reflect(&mut self, a: &[f64]) {
        let (n, stride) = (self.n, padded(self.n));
        for (row, from) in self.a.chunks_exact_mut(stride).zip(a.chunks_exact(n)) {
            row[..n].copy_from_slice(from);
        }
        for i in (1..n).rev() {
            let (active, rest) = self.a.split_at_mut(i * stride);
            let (to, v) = (n - 1 - i, &mut rest[..stride]);
            self.d[to] = v[i];
            let v = &mut v[..padded(i)];
            let last = v[i - 1];
            v[i - 1..].fill(0.0);
            let others = dot(v, v);
            self.tau[i] = 0.0;
            self.e[to] = last;
            if others < NEGLIGIBLE {
                continue;
            }
            // Away from the larger entry: no cancellation.
            let norm = (others + last * last).sqrt();
            let image = if last > 0.0 { -norm } else { norm };
            v[i - 1] = last - image;
            self.e[to] = image;
            self.tau[i] = 2.0 / (others + v[i - 1] * v[i - 1]);
            reflect_both_sides(active, i, v, self.tau[i], &mut self.w[..padded(i)]);
        }
        self.d[n - 1] = self.a[0];
        self.e[n - 1] = 0.0;
    }

    /// Q z for four vectors z side by side, in T's numbering before and after.
    pub(super) fn restore(&self, z: &mut [[f64; 4]]) {
        let stride = padded(self.n);
        for i in 2..self.n {
            let v = &self.a[i * stride..i * stride + i];
            let z = &mut z[self.n - i..];
            let mut dots = [0.0; 4];
            for (&v, z) in v.iter().zip(z.iter().rev()) {
                for (dot, z) in dots.iter_mut().zip(z) {
                    *dot += v * z;
                }
            }
            let dots = dots.map(|dot| dot * self.tau[i]);
            for (&v, z) in v.iter().zip(z.iter_mut().rev()) {
                for (z, dot) in z.iter_mut().zip(dots) {
                    *z -= v * dot;
                }
            }
        }
    }
}

/// A ← H A H on the leading i×i block, whose rows are all of `a`. Columns up to the next multiple of four take
/// part: there v and w are zero, so nothing changes.
#[inline(always)]
fn reflect_both_sides(a: &mut [f64], i: usize, v: &[f64], tau: f64, w: &mut [f64]) {
    let stride = a.len() / i;
    let v4 = v.as_chunks::<4>().0;
    let w4 = w.as_chunks_mut::<4>().0;
    // w = A v, by rows of the symmetric A, four at a time: no sum runs across a vector.
    w4.fill([0.0; 4]);
    let fours = a.chunks_exact(4 * stride);
    let rest = fours.remainder().chunks_exact(stride);
    for (rows, v) in fours.zip(v4) {
        let (r0, rows) = rows.split_at(stride);
        let (r1, rows) = rows.split_at(stride);
        let (r2, r3) = rows.split_at(stride);
        let [r0, r1, r2, r3] = [r0, r1, r2, r3].map(|row| row.as_chunks::<4>().0);
        for (w, (((r0, r1), r2), r3)) in w4.iter_mut().zip(r0.iter().zip(r1).zip(r2).zip(r3)) {
            for lane in 0..4 {
                w[lane] +=
                    (v[0] * r0[lane] + v[1] * r1[lane]) + (v[2] * r2[lane] + v[3] * r3[lane]);
            }
        }
    }
    for (row, &v) in rest.zip(&v[i / 4 * 4..]) {
        for (w, row) in w4.iter_mut().zip(row.as_chunks::<4>().0) {
            for lane in 0..4 {
                w[lane] += v * row[lane];
            }
        }
    }
    w[i..].fill(0.0);
    // A − v wᵀ − w vᵀ with w = τ A v − (τ² vᵀAv / 2) v.
    let half = 0.5 * tau * tau * dot(v, w);
    for (w, &v) in w.iter_mut().zip(v) {
        *w = tau * *w - half * v;
    }
    let w4 = w.as_chunks::<4>().0;
    for ((row, &vj), &wj) in a.chunks_exact_mut(stride).zip(v).zip(w.iter()) {
        for ((a, v), w) in row.as_chunks_mut::<4>().0.iter_mut().zip(v4).zip(w4) {
            for lane in 0..4 {
                a[lane] -= vj * w[lane] + wj * v[lane];
            }
        }
    }
}
