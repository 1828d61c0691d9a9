//! A few matrices: all outputs of a layer, six inputs at a time.
//!
//! A call of few matrices is as fast as its weights arrive. Here they are read in runs as long as the layer is
//! wide, six at once, which the processor fetches ahead by itself; it only has to be told where the next ones
//! start. Inputs of zero cost nothing, not even the reading of their weights.

use super::half::FromHalf;
use super::packed::{BLOCK, BLOCK_LINES, Block, LINE, Rows, Stored};

use crate::simd::{Fixed, Vectors, prefetch};
use core::ops::Range;

/// Inputs at a time. A vector of sums is loaded and stored once for so many multiply-adds.
const INPUTS: usize = 6;
/// Bytes at the start of a row that are asked for before the row is needed: all of a short one.
const START: usize = 384;

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
    pub(super) fn add<V: FromHalf>(&self, vectors: Vectors<V>, sums: &mut [Block]) {
        let blocks = self.words.len() / self.count;
        if self.count == 1 {
            return self.add_inputs(vectors, 0..blocks, 0, sums);
        }
        // The weights of a block stay in the second-level cache until all matrices have used them.
        for block in 0..blocks {
            for i in 0..self.count {
                self.add_inputs(vectors, block..block + 1, i, sums);
            }
        }
    }

    /// Adds the inputs of some blocks to the sums of matrix `i`.
    fn add_inputs<V: FromHalf>(
        &self,
        vectors: Vectors<V>,
        blocks: Range<usize>,
        i: usize,
        sums: &mut [Block],
    ) {
        let mut places = blocks.flat_map(|b| {
            let mut rest = self.words[b * self.count + i];
            core::iter::from_fn(move || {
                let p = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (p < BLOCK).then_some((b, p))
            })
        });
        // Two sixes ahead.
        let mut next = [self.take(i, &mut places), self.take(i, &mut places)];
        while let [Some(six), after] = next {
            next = [after, self.take(i, &mut places)];
            six.add(vectors, i, self.count, sums);
        }
    }

    /// The next six inputs of matrix `i`, whose weights are then on their way.
    #[inline(always)]
    fn take(
        &self,
        i: usize,
        places: &mut impl Iterator<Item = (usize, usize)>,
    ) -> Option<Six<'_, T>> {
        let first = places.next()?;
        // What is missing in the last six is added as zero times a row, which changes nothing.
        let mut six = Six {
            values: [0.0; INPUTS],
            rows: [self.weights.row(first.0 * BLOCK + first.1); INPUTS],
        };
        let all = core::iter::once(first).chain(places);
        for (c, (b, p)) in all.take(INPUTS).enumerate() {
            six.values[c] = self.x[b * self.count + i].0[p];
            six.rows[c] = self.weights.row(b * BLOCK + p);
            let lines = six.rows[c].iter().step_by(64 / size_of::<T>());
            for line in lines.take(START / 64) {
                prefetch(line);
            }
        }
        Some(six)
    }
}

/// Inputs and the rows of their weights.
struct Six<'a, T> {
    values: [f32; INPUTS],
    rows: [&'a [T]; INPUTS],
}

impl<T: Stored> Six<'_, T> {
    #[inline(never)]
    fn add<V: FromHalf>(&self, vectors: Vectors<V>, i: usize, count: usize, sums: &mut [Block]) {
        vectors.vectorize(
            #[inline(always)]
            || {
                let values = self.values.map(|value| vectors.splat(value));
                for (b, sums) in sums.chunks_exact_mut(count).enumerate() {
                    let rows = self.rows.map(|row| &row[b * BLOCK_LINES..][..BLOCK_LINES]);
                    let sums = V::Array::chunks_mut(&mut sums[i].0);
                    for (v, sum) in sums.iter_mut().enumerate() {
                        let (line, at) = (v * V::W / LINE, v % (LINE / V::W));
                        let mut held = vectors.load(sum);
                        for c in 0..INPUTS {
                            let weights = rows[c][line].vector(vectors, at);
                            held = values[c].mul_add(weights, held);
                        }
                        held.store_array(sum);
                    }
                }
            },
        );
    }
}
