//! The k×k system behind Σ⁻¹.
//!
//! Σ⁻¹ = D⁻¹ − D⁻¹U G⁻¹ UᵀD⁻¹ with the core G = I + UᵀD⁻¹U, and det Σ = det D · det G (Woodbury 1950).

use super::STRIP;
use crate::logarithm;
use crate::simd::Real;
use crate::size::{MAX_K, MAX_N};
use core::ops::Range;

/// C, lower triangular, with CCᵀ = G.
pub(super) struct Core {
    /// Row a begins at a(a+1)/2, and its last value is 1 / C_aa.
    c: [f64; MAX_K * (MAX_K + 1) / 2],
    /// 1 / √d_i.
    units: [f64; MAX_N],
}

fn row(a: usize) -> Range<usize> {
    a * (a + 1) / 2..(a + 1) * (a + 2) / 2
}

impl Core {
    pub(super) fn new() -> Core {
        Core {
            c: [0.0; MAX_K * (MAX_K + 1) / 2],
            units: [0.0; MAX_N],
        }
    }

    /// 1 / √d_i of the last d.
    #[inline(always)]
    pub(super) fn unit(&self, i: usize) -> f64 {
        self.units[i]
    }

    /// Of this U and d, which are finite and d positive.
    pub(super) fn factorise<F: Real>(&mut self, k: usize, u: &[F], d: &[F]) {
        let c = &mut self.c[..k * (k + 1) / 2];
        c.fill(0.0);
        let mut scaled = [0.0; MAX_K];
        for ((u, &d), unit) in u.chunks_exact(k).zip(d).zip(&mut self.units) {
            // In units of √d neither squares nor their sums overflow.
            *unit = 1.0 / Into::<f64>::into(d).sqrt();
            for (x, &u) in scaled.iter_mut().zip(u) {
                *x = u.into() * *unit;
            }
            for a in 0..k {
                for (c, &x) in c[row(a)].iter_mut().zip(&scaled) {
                    *c += scaled[a] * x;
                }
            }
        }
        for a in 0..k {
            let (above, own) = c.split_at_mut(row(a).start);
            for b in 0..a {
                let other = &above[row(b)];
                let known: f64 = own[..b].iter().zip(other).map(|(x, y)| x * y).sum();
                own[b] = (own[b] - known) * other[b];
            }
            let known: f64 = own[..a].iter().map(|x| x * x).sum();
            // G − I is positive semidefinite, so what is left is at least one, but for rounding.
            own[a] = 1.0 / (1.0 + own[a] - known).max(1.0).sqrt();
        }
    }

    /// log det Σ of the last U and d.
    pub(super) fn log_det<F: Real>(&self, k: usize, d: &[F]) -> f64 {
        let of_d: f64 = d.iter().map(|&d| logarithm::ln(d.into())).sum();
        let of_core: f64 = (0..k).map(|a| logarithm::ln(self.c[row(a).end - 1])).sum();
        of_d - 2.0 * of_core
    }

    /// x ← C⁻¹ x.
    #[inline(always)]
    pub(super) fn forward(&self, x: &mut [f64]) {
        for a in 0..x.len() {
            let c = &self.c[row(a)];
            let known: f64 = c[..a].iter().zip(&*x).map(|(c, x)| c * x).sum();
            x[a] = (x[a] - known) * c[a];
        }
    }

    /// Some columns of D⁻¹ x − D⁻¹U G⁻¹ (UᵀD⁻¹ x).
    #[inline(always)]
    pub(super) fn solve_strip<F: Real>(
        &self,
        k: usize,
        u: &[F],
        columns: usize,
        strip: Range<usize>,
        x: &mut [F],
    ) {
        let mut t = [[0.0; STRIP]; MAX_K];
        let rows = || u.chunks_exact(k).zip(&self.units);
        for ((u, unit), x) in rows().zip(x.chunks_exact(columns)) {
            for (t, &u) in t.iter_mut().zip(u) {
                let u = u.into() * unit;
                for (t, &x) in t.iter_mut().zip(&x[strip.clone()]) {
                    *t += u * (x.into() * unit);
                }
            }
        }
        // C⁻¹, then C⁻ᵀ.
        for a in 0..k {
            let c = &self.c[row(a)];
            let (above, own) = t.split_at_mut(a);
            for (c, above) in c.iter().zip(above) {
                for (own, above) in own[0].iter_mut().zip(above) {
                    *own -= c * *above;
                }
            }
            for own in &mut own[0] {
                *own *= c[a];
            }
        }
        for a in (0..k).rev() {
            let c = &self.c[row(a)];
            let (above, own) = t.split_at_mut(a);
            for own in &mut own[0] {
                *own *= c[a];
            }
            for (c, above) in c.iter().zip(above) {
                for (above, own) in above.iter_mut().zip(&own[0]) {
                    *above -= c * own;
                }
            }
        }
        for ((u, unit), x) in rows().zip(x.chunks_exact_mut(columns)) {
            let x = &mut x[strip.clone()];
            let mut left = [0.0; STRIP];
            for (left, &x) in left.iter_mut().zip(&*x) {
                *left = x.into() * unit;
            }
            for (t, &u) in t.iter().zip(u) {
                let u = u.into() * unit;
                for (left, t) in left.iter_mut().zip(t) {
                    *left -= u * t;
                }
            }
            for (x, left) in x.iter_mut().zip(left) {
                *x = F::from_f64(left * unit);
            }
        }
    }
}
