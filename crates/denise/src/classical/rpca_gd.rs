//! Robust PCA by gradient descent on the factors of L
//! (Yi, Park, Chen and Caramanis, "Fast algorithms for robust PCA via gradient descent", NIPS 2016, algorithm 1,
//! without the projection onto incoherent factors, which the LRS library leaves out by default too).
//!
//! For symmetric M the factors of L = U Vᵀ stay tied, V = U J with J the signs of the eigenvalues that they
//! start from, so one of them is enough.

use crate::eigen::End;
use crate::eigen::Memory;
use crate::eigen::Spectrum;
use crate::eigen::rows::{add, dot, square_norm, sum_of_squares};

/// The step, over 1/σ₁ of the start.
const STEP: f64 = 0.5;
/// The pull that keeps U and V in balance, over the step.
const BALANCE: f64 = 1.0 / 16.0;
const MOST_STEPS: usize = 29;
const TOLERANCE: f64 = 2e-4;

/// A magnitude and the row that it stands in. A number, so that both move in vectors.
#[derive(Clone, Copy, Default)]
struct Place {
    size: f64,
    row: f64,
}

impl Place {
    /// Whether an entry of this size in this row is among the largest of a column whose last of them is `self`.
    /// Of equal entries the upper ones are.
    #[inline(always)]
    fn admits(self, size: f64, row: f64) -> bool {
        size > self.size || (size == self.size && row <= self.row)
    }
}

/// What the method works in, beside n×n matrices.
pub(super) struct Factors {
    n: usize,
    /// How many entries of a row may be outliers.
    outliers: usize,
    /// U, one column a row, and its next value; numbers with the signs J.
    u: Vec<f64>,
    next: Vec<f64>,
    signs: Vec<f64>,
    /// The largest magnitudes of each column, one rank a row, and those on their way there.
    top: Vec<Place>,
    sinking: Vec<Place>,
}

impl Factors {
    /// `share` is the largest share of outliers in a row, below 1 (the paper's α).
    pub(super) fn new(n: usize, k: usize, share: f64, memory: &mut Memory) -> Factors {
        let outliers = (share * n as f64) as usize;
        Factors {
            n,
            outliers,
            u: memory.zeros(n * k),
            next: memory.zeros(n * k),
            signs: memory.room(k),
            top: memory.zeros(n * outliers),
            sinking: memory.zeros(n),
        }
    }

    /// Splits `m`, whose entries are of unit scale; `e` is working memory.
    pub(super) fn solve(
        &mut self,
        m: &[f64],
        k: usize,
        spectrum: &mut Spectrum,
        e: &mut [f64],
        l: &mut [f64],
    ) {
        let n = self.n;
        e.copy_from_slice(m);
        self.remove_outliers(e);
        spectrum.largest(e, k, End::Both);
        let norm = spectrum.values().first().map_or(0.0, |a| a.abs());
        self.signs.clear();
        // Nothing but roundings: all of M is outliers.
        if norm > n as f64 * f64::EPSILON {
            self.signs.extend_from_slice(spectrum.values());
            let columns = spectrum.factors(|a| a);
            self.u[..columns.len()].copy_from_slice(columns);
            self.descend(m, STEP / norm, e, l);
        }
        self.product(l);
    }

    fn descend(&mut self, m: &[f64], step: f64, e: &mut [f64], l: &mut [f64]) {
        let norm = square_norm(m).sqrt();
        let mut error = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            self.product(l);
            for ((e, &m), &l) in e.iter_mut().zip(m).zip(l.iter()) {
                *e = m - l;
            }
            self.remove_outliers(e);
            self.step(e, step);
            let previous = error;
            error = square_norm(e).sqrt() / norm;
            if error <= TOLERANCE || error >= previous - f64::EPSILON {
                break;
            }
        }
    }

    /// U ← U + step (E V − U (UᵀU − VᵀV) / 16) with V = U J.
    fn step(&mut self, e: &[f64], step: f64) {
        let n = self.n;
        let columns = || self.u.chunks_exact(n).zip(&self.signs);
        for ((u, &sign), next) in columns().zip(self.next.chunks_exact_mut(n)) {
            next.copy_from_slice(u);
            for (row, &x) in e.chunks_exact(n).zip(u) {
                add(next, step * x * 1.0_f64.copysign(sign), row);
            }
            // An entry of UᵀU − JUᵀUJ is zero where the signs agree, and else twice that of UᵀU.
            for (other, _) in columns().filter(|&(_, &other)| other * sign < 0.0) {
                add(next, -step * BALANCE * 2.0 * dot(u, other), other);
            }
        }
        core::mem::swap(&mut self.u, &mut self.next);
    }

    /// L = U J Uᵀ.
    fn product(&self, l: &mut [f64]) {
        sum_of_squares(&self.u, &self.signs, self.n, l);
    }

    /// Sets to zero what is among the `outliers` largest magnitudes of both its row and its column, never more
    /// of either. `e` is symmetric, so row i is column i, and what is left is symmetric too.
    fn remove_outliers(&mut self, e: &mut [f64]) {
        let n = self.n;
        if self.outliers == 0 {
            return;
        }
        // The largest magnitudes of each column, in falling order: each entry sinks to its place. Columns
        // are side by side, so this is one comparison of vectors after the other, and no branch.
        self.top.fill(Place::default());
        for (i, row) in e.chunks_exact(n).enumerate() {
            for (x, e) in self.sinking.iter_mut().zip(row) {
                *x = Place {
                    size: e.abs(),
                    row: i as f64,
                };
            }
            for level in self.top.chunks_exact_mut(n) {
                for (top, x) in level.iter_mut().zip(&mut self.sinking) {
                    // An equal one stays above: it came from a row further up.
                    let (high, low) = if x.size > top.size {
                        (*x, *top)
                    } else {
                        (*top, *x)
                    };
                    (*top, *x) = (high, low);
                }
            }
        }
        let last = &self.top[(self.outliers - 1) * n..];
        for (i, (row, own)) in e.chunks_exact_mut(n).zip(last).enumerate() {
            for (j, (x, other)) in row.iter_mut().zip(last).enumerate() {
                let size = x.abs();
                let outlier = other.admits(size, i as f64) & own.admits(size, j as f64);
                *x = if outlier { 0.0 } else { *x };
            }
        }
    }
}
