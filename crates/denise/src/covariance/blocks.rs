//! Symmetric n×n matrices of products of rows, without memory for the rows: they are made again for every block.

use super::saturate;
use crate::simd::Real;
use crate::size::MAX_K;

/// Rows and columns of a block, and how many columns are computed at a time.
const SIDE: usize = 32;
const WIDTH: usize = 8;

/// Columns of rows side by side: value c of row i is at [c][i / WIDTH][i % WIDTH].
type Side = [[[f64; WIDTH]; SIDE / WIDTH]; MAX_K];

/// Working memory.
pub(super) struct Blocks {
    rows: Side,
    columns: Side,
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        let zero = [[[0.0; WIDTH]; SIDE / WIDTH]; MAX_K];
        Blocks {
            rows: zero,
            columns: zero,
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
                let columns = if left == top {
                    &self.rows
                } else {
                    load(&mut self.columns, left, SIDE, k, &row);
                    &self.columns
                };
                for a in 0..height {
                    let i = top + a;
                    // Up to the diagonal.
                    let end = n.min(left + SIDE).min(i + 1);
                    for first in (left..end).step_by(WIDTH) {
                        let place = (first - left) / WIDTH;
                        let mut sums = [0.0; WIDTH];
                        for (rows, columns) in self.rows[..k].iter().zip(columns) {
                            let x = rows[a / WIDTH][a % WIDTH];
                            for (sum, column) in sums.iter_mut().zip(&columns[place]) {
                                *sum += x * column;
                            }
                        }
                        let mut values = [F::ZERO; WIDTH];
                        for (value, &sum) in values.iter_mut().zip(&sums) {
                            *value = saturate(entry(sum));
                        }
                        if i - first < WIDTH {
                            values[i - first] = saturate(diagonal(i, sums[i - first]));
                        }
                        let count = WIDTH.min(end - first);
                        out[i * n + first..][..count].copy_from_slice(&values[..count]);
                    }
                    for j in left..end {
                        out[j * n + i] = out[i * n + j];
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
            side[a / WIDTH][a % WIDTH] = *x;
        }
    }
}
