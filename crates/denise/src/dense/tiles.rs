//! Six matrices by two vectors of outputs at a time: twelve sums in registers, one load of weights for six
//! multiply-adds. Takes zeros as they come, at about 95 % of the multiply-add peak.
//!
//! Vectors as long as a line come from machines with 32 registers: up to three of them, all outputs of a block.

use super::packed::{BLOCK, Block};
use super::rows::Ahead;
use super::stored::{LINE, Line, Rows, Widen};
use crate::simd::{Fixed, Vectors};

/// Matrices of a tile.
pub(super) const TILE: usize = 6;
/// Vectors of a tile, but for those as long as a line.
const VECTORS: usize = 2;

/// Adds what blocks of inputs contribute to a group of outputs, for as many matrices as fill tiles; how many
/// those are.
///
/// `x` is blocks of inputs and `sums` blocks of outputs, each with one [`Block`] for each of `count` matrices.
/// Only the last block may have weights for fewer than `BLOCK` inputs.
#[inline(never)]
pub(super) fn tiles<T, V: Widen>(
    vectors: Vectors<V>,
    x: &[Block],
    count: usize,
    weights: Rows<'_, Line>,
    ahead: Ahead<'_, T>,
    sums: &mut [Block],
) -> usize {
    vectors.vectorize(
        #[inline(always)]
        || {
            let full = count - count % TILE;
            let Rows {
                lines,
                stride,
                width,
            } = weights;
            let outputs = width * LINE;
            let columns = if V::W == LINE {
                outputs.div_ceil(BLOCK)
            } else {
                outputs / (VECTORS * V::W)
            };
            let mut column = Column {
                vectors,
                x,
                count,
                full,
                lines,
                stride,
                output: 0,
                ahead,
                done: 0,
                tiles: columns * (full / TILE),
            };
            while column.output < outputs {
                let left = (BLOCK - column.output % BLOCK).min(outputs - column.output) / V::W;
                match left {
                    1 if V::W == LINE => column.add::<1>(sums),
                    3.. if V::W == LINE => column.add::<3>(sums),
                    _ => column.add::<VECTORS>(sums),
                }
            }
            full
        },
    )
}

/// Some vectors of outputs, for all matrices that fill tiles.
struct Column<'a, T, V: Widen> {
    vectors: Vectors<V>,
    x: &'a [Block],
    count: usize,
    full: usize,
    lines: &'a [Line],
    stride: usize,
    /// The first output.
    output: usize,
    ahead: Ahead<'a, T>,
    /// Tiles that are done, and all there are.
    done: usize,
    tiles: usize,
}

impl<T, V: Widen> Column<'_, T, V> {
    /// Adds to `VECTORS` vectors, all of one block of outputs, and goes on to the next ones.
    #[inline(always)]
    fn add<const VECTORS: usize>(&mut self, sums: &mut [Block]) {
        let (vectors, count, output) = (self.vectors, self.count, self.output);
        let (block, at) = (output / BLOCK, output % BLOCK / V::W);
        let (line, v) = (output / LINE, output % LINE / V::W);
        for first in (0..self.full).step_by(TILE) {
            self.ahead.prefetch(self.done, self.tiles);
            self.done += 1;
            let sums = &mut sums[block * count + first..][..TILE];
            let mut tile = [[vectors.zero(); VECTORS]; TILE];
            for r in 0..TILE {
                let row = &V::Array::chunks(&sums[r].0)[at..][..VECTORS];
                for c in 0..VECTORS {
                    tile[r][c] = vectors.load(&row[c]);
                }
            }
            let blocks = self.x.chunks_exact(count);
            for (x, lines) in blocks.zip(self.lines.chunks(BLOCK * self.stride)) {
                let x = &x[first..][..TILE];
                let lines = &lines[line..];
                multiply(vectors, x, lines, self.stride, v, &mut tile);
            }
            for r in 0..TILE {
                let row = &mut V::Array::chunks_mut(&mut sums[r].0)[at..][..VECTORS];
                for c in 0..VECTORS {
                    tile[r][c].store_array(&mut row[c]);
                }
            }
        }
        self.output += VECTORS * V::W;
    }
}

/// One block of inputs, whose lines start with those of the tile.
#[inline(always)]
fn multiply<const VECTORS: usize, V: Widen>(
    vectors: Vectors<V>,
    x: &[Block],
    lines: &[Line],
    stride: usize,
    v: usize,
    tile: &mut [[V; VECTORS]; TILE],
) {
    let mut held = *tile;
    for (p, row) in lines.chunks(stride).enumerate().take(BLOCK) {
        let mut weights = [vectors.zero(); VECTORS];
        if V::W == LINE {
            let row = &row[..VECTORS];
            for c in 0..VECTORS {
                weights[c] = vectors.load(&V::Array::chunks(&row[c].0)[0]);
            }
        } else {
            let row = &V::Array::chunks(&row[0].0)[v..][..VECTORS];
            for c in 0..VECTORS {
                weights[c] = vectors.load(&row[c]);
            }
        }
        for r in 0..TILE {
            let value = vectors.splat(x[r].0[p]);
            for c in 0..VECTORS {
                held[r][c] = value.mul_add(weights[c], held[r][c]);
            }
        }
    }
    *tile = held;
}
