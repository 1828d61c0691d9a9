//! One matrix after another, one input after another: sums += input × its weights, for inputs that are not zero.
//!
//! After a ReLU about half of the inputs are zero, and they cost nothing here, neither time nor, for a
//! single matrix, the reading of their weights. Every multiply-add loads a weight, so this reaches about
//! 75 % of the peak, counting only the inputs that are not zero.

use super::packed::{BLOCK, Block};
use super::stored::{LINE, Line, Rows};
use crate::simd::{Fixed, Vector, Vectors, prefetch};

/// What one block of inputs adds to one group of outputs.
pub(super) struct Step<'a, T> {
    /// Which inputs of the block are not zero, for each matrix.
    pub(super) words: &'a [u64],
    /// The inputs, for each matrix.
    pub(super) x: &'a [Block],
    /// The first matrix to work on.
    pub(super) from: usize,
    /// Weights from these inputs.
    pub(super) weights: Rows<'a, Line>,
    pub(super) ahead: Ahead<'a, T>,
}

/// Weights that a later step needs, to be on their way before it starts.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a, T> {
    pub(super) weights: Rows<'a, T>,
    /// Which of its inputs are not zero in some matrix.
    pub(super) needed: u64,
}

impl<T> Ahead<'_, T> {
    pub(super) const NOTHING: Self = Ahead {
        weights: Rows {
            lines: &[],
            stride: 0,
            width: 0,
        },
        needed: 0,
    };

    /// Asks for share `i` of `shares`.
    #[inline(never)]
    pub(super) fn prefetch(&self, i: usize, shares: usize) {
        let mut rest = self.share(i, shares);
        while rest != 0 {
            self.prefetch_row(&mut rest);
        }
    }

    /// The inputs of share `i` of `shares`, a bit each.
    #[inline(always)]
    fn share(&self, i: usize, shares: usize) -> u64 {
        let (from, to) = (BLOCK * i / shares, BLOCK * (i + 1) / shares);
        self.needed >> from << from & ((1 << to) - 1)
    }

    /// Asks for the weights of the first of these inputs, and takes it away.
    #[inline(always)]
    fn prefetch_row(&self, rest: &mut u64) {
        let Rows {
            lines,
            stride,
            width,
        } = self.weights;
        let p = rest.trailing_zeros() as usize;
        *rest &= rest.wrapping_sub(1);
        // 64 if nothing is left, which is beyond the last.
        if let Some(row) = lines.get(p * stride..p * stride + width) {
            for line in row.iter().step_by(64 / size_of::<T>()) {
                prefetch(line);
            }
        }
    }
}

/// Vector `v` of the outputs from line `first` on: its block, and its place there.
#[inline(always)]
fn place<V: Vector>(first: usize, v: usize) -> (usize, usize) {
    let output = first * LINE + v * V::W;
    (output / BLOCK, output % BLOCK / V::W)
}

/// Adds to `N` vectors of sums, from line `first` of the group on: 0 if vectors have eight lanes or more, as `N` are
/// then the whole group.
///
/// `sums` is blocks of outputs, each with one [`Block`] a matrix.
#[inline(never)]
pub(super) fn rows<const N: usize, T, V: Vector<Scalar = f32>>(
    vectors: Vectors<V>,
    step: &Step<'_, T>,
    first: usize,
    sums: &mut [Block],
) {
    vectors.vectorize(
        #[inline(always)]
        || {
            let Step {
                words, x, weights, ..
            } = *step;
            let count = x.len();
            let lines = N * V::W / LINE;
            // A constant, where the whole group fits in registers.
            let first = if V::W >= 8 { 0 } else { first };
            for i in step.from..count {
                let (x, word) = (&x[i], words[i]);
                // A row now and then: more at once than the processor can have on their way would stop it.
                let mut coming = step.ahead.share(i, count);
                let every = match coming.count_ones() {
                    0 | 1 => {
                        step.ahead.prefetch(i, count);
                        coming = 0;
                        u32::MAX
                    }
                    rows => (word.count_ones() / rows).max(1),
                };
                let mut until = every;
                let mut sum = [vectors.zero(); N];
                for v in 0..N {
                    let (block, at) = place::<V>(first, v);
                    sum[v] = vectors.load(&V::Array::chunks(&sums[block * count + i].0)[at]);
                }
                let mut rest = word;
                while rest != 0 {
                    let p = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    let value = vectors.splat(x.0[p]);
                    let row = &weights.lines[p * weights.stride + first..][..lines];
                    for v in 0..N {
                        let line = V::Array::chunks(&row[v * V::W / LINE].0);
                        let weights = vectors.load(&line[v % (LINE / V::W)]);
                        sum[v] = value.mul_add(weights, sum[v]);
                    }
                    until -= 1;
                    if until == 0 {
                        step.ahead.prefetch_row(&mut coming);
                        until = every;
                    }
                }
                while coming != 0 {
                    step.ahead.prefetch_row(&mut coming);
                }
                for v in 0..N {
                    let (block, at) = place::<V>(first, v);
                    let block = &mut sums[block * count + i].0;
                    sum[v].store_array(&mut V::Array::chunks_mut(block)[at]);
                }
            }
        },
    );
}
