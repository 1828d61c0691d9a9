//! A few matrices: all outputs of a layer, six inputs at a time.
//!
//! A call of few matrices is as fast as its weights arrive. Here they are read in runs as long as the layer is
//! wide, six at once, which the processor fetches ahead by itself; it only has to be told where the next ones
//! start. Inputs of zero cost nothing, not even the reading of their weights.

use super::packed::{BLOCK, BLOCK_LINES, Block};
use super::stored::{LINE, Rows, Stored, Widen};
use crate::simd::{Fixed, Vectors, prefetch};
use core::ops::Range;

/// Inputs at a time. A vector of sums is loaded and stored once for so many multiply-adds.
const INPUTS: usize = 6;
/// Bytes at the start of a row that are asked for before the row is needed: all of a short one.
const START: usize = 384;
/// Bytes of rows that are on their way: enough for the time it takes, and less than the first-level cache.
const AHEAD: usize = 8 << 10;

/// What a layer adds to the sums of `count` matrices.
pub(super) struct Runs<'a, T> {
    /// All weights.
    pub(super) weights: Rows<'a, T>,
    /// Which inputs are not zero: blocks of inputs, in each a word for each matrix.
    pub(super) words: &'a [u64],
    pub(super) x: &'a [Block],
    pub(super) count: usize,
}

impl<T: Stored> Runs<'_, T> {
    /// Adds all inputs to the sums: blocks of outputs, each with one [`Block`] a matrix.
    pub(super) fn add<V: Widen>(&self, vectors: Vectors<V>, sums: &mut [Block]) {
        let blocks = self.words.len() / self.count;
        if self.count == 1 {
            let mut ahead = self.places(0..blocks, 0);
            let row = self.weights.width * size_of::<T>();
            for _ in 0..(AHEAD / row.max(1)).max(2 * INPUTS) {
                self.prefetch(ahead.next());
            }
            return self.add_inputs(vectors, 0..blocks, ahead, 0, sums);
        }
        // The weights of a block stay in the second-level cache until all matrices have used them.
        for block in 0..blocks {
            for i in 0..self.count {
                let ahead = self.places(block + 1..(block + 2).min(blocks), i);
                self.add_inputs(vectors, block..block + 1, ahead, i, sums);
            }
        }
    }

    /// Inputs of matrix `i` that are not zero.
    fn places(&self, blocks: Range<usize>, i: usize) -> Places<'_> {
        Places {
            words: self.words,
            count: self.count,
            blocks,
            i,
            block: 0,
            rest: 0,
        }
    }

    /// Adds the inputs of some blocks to the sums of matrix `i`. For each, the weights of one of `ahead` are asked for.
    fn add_inputs<V: Widen>(
        &self,
        vectors: Vectors<V>,
        blocks: Range<usize>,
        mut ahead: Places<'_>,
        i: usize,
        sums: &mut [Block],
    ) {
        let mut places = self.places(blocks, i);
        while let Some(first) = places.next() {
            // What is missing in the last six is added as zero times a row, which changes nothing.
            let mut six = Six {
                values: [0.0; INPUTS],
                rows: [self.weights.row(first.0 * BLOCK + first.1); INPUTS],
            };
            let mut next = Some(first);
            for c in 0..INPUTS {
                let Some((b, p)) = next else { break };
                six.values[c] = self.x[b * self.count + i].0[p];
                six.rows[c] = self.weights.row(b * BLOCK + p);
                self.prefetch(ahead.next());
                next = if c + 1 < INPUTS { places.next() } else { None };
            }
            six.add(vectors, i, self.count, sums);
        }
    }

    /// Asks for the weights of an input.
    #[inline(always)]
    fn prefetch(&self, place: Option<(usize, usize)>) {
        if let Some((b, p)) = place {
            let row = self.weights.row(b * BLOCK + p);
            let lines = row.iter().step_by(64 / size_of::<T>());
            for line in lines.take(START / 64) {
                prefetch(line);
            }
        }
    }
}

/// Inputs of matrix `i` that are not zero, as block and place.
struct Places<'a> {
    words: &'a [u64],
    count: usize,
    i: usize,
    /// That are still to come.
    blocks: Range<usize>,
    block: usize,
    /// Those of `block` that are still to come.
    rest: u64,
}

impl Iterator for Places<'_> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        while self.rest == 0 {
            self.block = self.blocks.next()?;
            self.rest = self.words[self.block * self.count + self.i];
        }
        let place = self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some((self.block, place))
    }
}

/// Inputs and the rows of their weights.
struct Six<'a, T> {
    values: [f32; INPUTS],
    rows: [&'a [T]; INPUTS],
}

impl<T: Stored> Six<'_, T> {
    #[inline(never)]
    fn add<V: Widen>(&self, vectors: Vectors<V>, i: usize, count: usize, sums: &mut [Block]) {
        vectors.vectorize(
            #[inline(always)]
            || {
                // Loops and not `map`, which is not always inlined.
                let mut values = [vectors.zero(); INPUTS];
                let mut rows: [&[[T; BLOCK_LINES]]; INPUTS] = [&[]; INPUTS];
                let blocks = sums.len() / count;
                for c in 0..INPUTS {
                    values[c] = vectors.splat(self.values[c]);
                    rows[c] = &self.rows[c].as_chunks().0[..blocks];
                }
                for b in 0..blocks {
                    let sums = V::Array::chunks_mut(&mut sums[b * count + i].0);
                    for v in 0..BLOCK / V::W {
                        let (line, at) = (v * V::W / LINE, v % (LINE / V::W));
                        let mut held = vectors.load(&sums[v]);
                        for c in 0..INPUTS {
                            let weights = rows[c][b][line].vector(vectors, at);
                            held = values[c].mul_add(weights, held);
                        }
                        held.store_array(&mut sums[v]);
                    }
                }
            },
        );
    }
}
