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

/// Magnitudes, and the rows that they stand in, as numbers: lists beside each other, which the compiler puts in vectors.
struct Places {
    sizes: Vec<f64>,
    rows: Vec<f64>,
}

impl Places {
    fn new(len: usize, memory: &mut Memory) -> Places {
        Places {
            sizes: memory.zeros(len),
            rows: memory.zeros(len),
        }
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
    top: Places,
    sinking: Places,
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
            top: Places::new(n * outliers, memory),
            sinking: Places::new(n, memory),
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
        let (top, sinking) = (&mut self.top, &mut self.sinking);
        top.sizes.fill(0.0);
        top.rows.fill(0.0);
        for (i, row) in e.chunks_exact(n).enumerate() {
            for (size, e) in sinking.sizes.iter_mut().zip(row) {
                *size = e.abs();
            }
            sinking.rows.fill(i as f64);
            let levels = top.sizes.chunks_exact_mut(n);
            for (sizes, rows) in levels.zip(top.rows.chunks_exact_mut(n)) {
                let tops = sizes.iter_mut().zip(rows);
                let sinking = sinking.sizes.iter_mut().zip(&mut sinking.rows);
                for ((size, row), (other, other_row)) in tops.zip(sinking) {
                    // An equal one stays above: it came from a row further up.
                    let above = *other > *size;
                    (*row, *other_row) = if above {
                        (*other_row, *row)
                    } else {
                        (*row, *other_row)
                    };
                    (*size, *other) = if above {
                        (*other, *size)
                    } else {
                        (*size, *other)
                    };
                }
            }
        }
        let (sizes, rows) = (
            &top.sizes[top.sizes.len() - n..],
            &top.rows[top.rows.len() - n..],
        );
        for (i, row) in e.chunks_exact_mut(n).enumerate() {
            let (own_size, own_row) = (sizes[i], rows[i]);
            for (j, (x, (&size, &last))) in row.iter_mut().zip(sizes.iter().zip(rows)).enumerate() {
                // Of equal entries the upper ones are among the largest.
                let (magnitude, i, j) = (x.abs(), i as f64, j as f64);
                let of_column = (magnitude > size) | ((magnitude == size) & (i <= last));
                let of_row = (magnitude > own_size) | ((magnitude == own_size) & (j <= own_row));
                *x = if of_column & of_row { 0.0 } else { *x };
            }
        }
    }
}
