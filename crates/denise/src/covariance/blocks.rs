//! Symmetric n×n matrices of products of rows, without memory for the rows: they are made again for every block.

use super::saturate;
use crate::simd::Real;
use crate::size::MAX_K;

/// Rows and columns of a block.
const SIDE: usize = 32;

/// Columns of rows side by side: value c of row i is at [c][i].
type Side = [[f64; SIDE]; MAX_K];

/// Working memory.
pub(super) struct Blocks {
    rows: Side,
    columns: Side,
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        Blocks {
            rows: [[0.0; SIDE]; MAX_K],
            columns: [[0.0; SIDE]; MAX_K],
        }
    }

    /// out_ij = `entry`(x_i · x_j) off the diagonal, and `diagonal`(i, x_i · x_i) on it, where `row` makes the x_i, which
    /// have k values. Both triangles have the same bits.
    #[inline(always)]
    pub(super) fn fill<F: Real>(
        &mut self,
        n: usize,
        k: usize,
        row: impl Fn(usize, &mut [f64]),
        entry: impl Fn(f64) -> f64,
        diagonal: impl Fn(usize, f64) -> f64,
        out: &mut [F],
    ) {
        for top in (0..n).step_by(SIDE) {
            let height = SIDE.min(n - top);
            load(&mut self.rows, top, height, k, &row);
            for left in (0..=top).step_by(SIDE) {
                let width = SIDE.min(n - left);
                load(&mut self.columns, left, width, k, &row);
                for a in 0..height {
                    let i = top + a;
                    let mut sums = [0.0; SIDE];
                    for (rows, columns) in self.rows[..k].iter().zip(&self.columns) {
                        for (sum, column) in sums.iter_mut().zip(columns) {
                            *sum += rows[a] * column;
                        }
                    }
                    // Up to the diagonal.
                    let width = width.min((i + 1).saturating_sub(left));
                    for (b, &sum) in sums[..width].iter().enumerate() {
                        let j = left + b;
                        let x = if i == j { diagonal(i, sum) } else { entry(sum) };
                        let x = saturate(x);
                        out[i * n + j] = x;
                        out[j * n + i] = x;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn load(side: &mut Side, first: usize, count: usize, k: usize, row: &impl Fn(usize, &mut [f64])) {
    let mut one = [0.0; MAX_K];
    for a in 0..count {
        row(first + a, &mut one[..k]);
        for (side, x) in side.iter_mut().zip(&one[..k]) {
            side[a] = *x;
        }
    }
}
