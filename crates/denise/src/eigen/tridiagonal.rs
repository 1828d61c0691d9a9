//! A symmetric matrix to tridiagonal form and back, by Householder's reflections.

use super::memory::Memory;
use super::rows::dot;
use crate::simd::Isa;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use crate::simd::narrow;
use fearless_simd::{Simd, SimdBase, f64x4};

/// T = Qᵀ A Q, as its diagonal, the entries beside it, and Q as a product of reflections.
///
/// T is numbered from the last row of A upwards: its large entries then come first, as the QR iteration
/// likes it.
pub(super) struct Tridiagonal {
    n: usize,
    isa: Isa,
    /// Rows of A in fours, filled up with zeros: loops have no remainder. Row i ends as the vector v of
    /// reflection i, I − τ v vᵀ, which moves rows 0 .. i only; in its last four zeros stand behind v.
    a: Vec<[f64; 4]>,
    tau: Vec<f64>,
    /// The diagonal of T.
    pub(super) d: Vec<f64>,
    /// Beside it: e[i] couples i and i + 1. The last entry is zero.
    pub(super) e: Vec<f64>,
    w: Vec<[f64; 4]>,
}

/// Squares of what is smaller are lost, which is nothing beside a matrix of unit scale.
const NEGLIGIBLE: f64 = 1e-290;

impl Tridiagonal {
    pub(super) fn new(n: usize, memory: &mut Memory) -> Tridiagonal {
        Tridiagonal {
            n,
            isa: Isa::best(),
            a: memory.zeros(n * n.div_ceil(4)),
            tau: memory.zeros(n),
            d: memory.zeros(n),
            e: memory.zeros(n),
            w: memory.zeros(n.div_ceil(4)),
        }
    }

    /// Takes the symmetric matrix `a` apart, whose entries are of unit scale.
    pub(super) fn reduce(&mut self, a: &[f64]) {
        // The same operations in the same order on every machine: results are the same to the bit.
        match self.isa {
            Isa::Portable(simd) => self.reflect(simd, a),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => simd.vectorize(
                #[inline(always)]
                || self.reflect(simd, a),
            ),
            // Rows are in fours.
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            Isa::Avx512(simd) => narrow(simd).vectorize(
                #[inline(always)]
                || self.reflect(narrow(simd), a),
            ),
        }
    }

    #[inline(always)]
    fn reflect<S: Simd>(&mut self, simd: S, a: &[f64]) {
        let (n, stride) = (self.n, self.n.div_ceil(4));
        for (row, from) in self.a.chunks_exact_mut(stride).zip(a.chunks_exact(n)) {
            row.as_flattened_mut()[..n].copy_from_slice(from);
        }
        for i in (1..n).rev() {
            let to = n - 1 - i;
            let (active, rest) = self.a.split_at_mut(i * stride);
            self.d[to] = rest.as_flattened()[i];
            let v4 = &mut rest[..i.div_ceil(4)];
            let v = v4.as_flattened_mut();
            let last = v[i - 1];
            v[i - 1..].fill(0.0);
            let others = dot(v, v);
            self.e[to] = last;
            self.tau[i] = 0.0;
            if others < NEGLIGIBLE {
                continue;
            }
            // Away from the larger entry: no cancellation.
            let norm = (others + last * last).sqrt();
            let image = if last > 0.0 { -norm } else { norm };
            v[i - 1] = last - image;
            self.e[to] = image;
            self.tau[i] = 2.0 / (others + v[i - 1] * v[i - 1]);
            let w = &mut self.w[..i.div_ceil(4)];
            reflect_both_sides(simd, active, i, v4, self.tau[i], w);
        }
        self.d[n - 1] = self.a[0][0];
    }

    /// Q z for four vectors z side by side, in T's numbering before and after.
    pub(super) fn restore(&self, z: &mut [[f64; 4]]) {
        let rows = self.a.chunks_exact(self.n.div_ceil(4)).zip(&self.tau);
        for (i, (v, &tau)) in rows.enumerate().skip(2) {
            let v = &v.as_flattened()[..i];
            let z = &mut z[self.n - i..];
            let mut dots = [0.0; 4];
            for (&v, z) in v.iter().zip(z.iter().rev()) {
                for (dot, z) in dots.iter_mut().zip(z) {
                    *dot += v * z;
                }
            }
            for (&v, z) in v.iter().zip(z.iter_mut().rev()) {
                for (z, dot) in z.iter_mut().zip(dots) {
                    *z -= v * (tau * dot);
                }
            }
        }
    }
}

/// A ← H A H on the leading i×i block, whose rows are all of `a`. What stands right of it in the last four is left as
/// it is, since v and w are zero there.
#[inline(always)]
fn reflect_both_sides<S: Simd>(
    simd: S,
    a: &mut [[f64; 4]],
    i: usize,
    v: &[[f64; 4]],
    tau: f64,
    w: &mut [[f64; 4]],
) {
    let stride = a.len() / i;
    // w = A v, by rows of the symmetric A: no sum runs across a vector.
    w.fill([0.0; 4]);
    for (row, &vj) in a.chunks_exact(stride).zip(v.as_flattened()) {
        let vj = f64x4::splat(simd, vj);
        for (w, row) in w.iter_mut().zip(row) {
            let sum = load(simd, w) + vj * load(simd, row);
            sum.store_array(w);
        }
    }
    w.as_flattened_mut()[i..].fill(0.0);
    // A − v wᵀ − w vᵀ with w = τ A v − (τ² vᵀAv / 2) v. In this order nothing overflows, however short v is.
    let half = 0.5 * tau * (tau * dot(v.as_flattened(), w.as_flattened()));
    for (w, &v) in w.as_flattened_mut().iter_mut().zip(v.as_flattened()) {
        *w = tau * *w - half * v;
    }
    let numbers = v.as_flattened().iter().zip(w.as_flattened());
    for (row, (&vj, &wj)) in a.chunks_exact_mut(stride).zip(numbers) {
        let (vj, wj) = (f64x4::splat(simd, vj), f64x4::splat(simd, wj));
        for ((a, v), w) in row.iter_mut().zip(v).zip(w.iter()) {
            let rest = load(simd, a) - (vj * load(simd, w) + wj * load(simd, v));
            rest.store_array(a);
        }
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, x: &[f64; 4]) -> f64x4<S> {
    f64x4::load_array_ref(simd, x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_sets_agree_to_the_bit() {
        for n in [2, 3, 7, 8, 20, 33] {
            let entry = |i: usize, j: usize| ((i * j + i + j) as f64).sin();
            let a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
            let results = [Isa::portable(), Isa::best()].map(|isa| {
                let mut t = Tridiagonal::new(n, &mut Memory::new());
                t.isa = isa;
                t.reduce(&a);
                (t.d, t.e, t.a)
            });
            assert_eq!(results[0], results[1], "n = {n}");
        }
    }
}
