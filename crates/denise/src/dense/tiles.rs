//! Six matrices by two vectors of outputs at a time: twelve sums in registers, one load of weights for six
//! multiply-adds. Takes zeros as they come, at about 95 % of the multiply-add peak.

use super::packed::{BLOCK, Block};
use super::rows::Ahead;
use super::stored::{LINE, Line, Rows, Widen};
use crate::simd::{Fixed, Vectors};

/// Matrices of a tile.
pub(super) const TILE: usize = 6;
/// Vectors of a tile.
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
            let columns = width * LINE / (VECTORS * V::W);
            let tiles = columns * (full / TILE);
            let mut done = 0;
            for pair in 0..columns {
                let output = pair * VECTORS * V::W;
                let (block, at) = (output / BLOCK, output % BLOCK / V::W);
                let (line, v) = (output / LINE, output % LINE / V::W);
                for first in (0..full).step_by(TILE) {
                    ahead.prefetch(done, tiles);
                    done += 1;
                    let sums = &mut sums[block * count + first..][..TILE];
                    let mut tile = [[vectors.zero(); VECTORS]; TILE];
                    for r in 0..TILE {
                        let row = &V::Array::chunks(&sums[r].0)[at..][..VECTORS];
                        for c in 0..VECTORS {
                            tile[r][c] = vectors.load(&row[c]);
                        }
                    }
                    let blocks = x.chunks_exact(count);
                    for (x, lines) in blocks.zip(lines.chunks(BLOCK * stride)) {
                        let x = &x[first..][..TILE];
                        let lines = &lines[line..];
                        multiply(vectors, x, lines, stride, v, &mut tile);
                    }
                    for r in 0..TILE {
                        let row = &mut V::Array::chunks_mut(&mut sums[r].0)[at..][..VECTORS];
                        for c in 0..VECTORS {
                            tile[r][c].store_array(&mut row[c]);
                        }
                    }
                }
            }
            full
        },
    )
}

/// One block of inputs.
#[inline(always)]
fn multiply<V: Widen>(
    vectors: Vectors<V>,
    x: &[Block],
    lines: &[Line],
    stride: usize,
    v: usize,
    tile: &mut [[V; VECTORS]; TILE],
) {
    let mut held = *tile;
    for (p, line) in lines.iter().step_by(stride).enumerate().take(BLOCK) {
        let pair = &V::Array::chunks(&line.0)[v..][..VECTORS];
        let low = vectors.load(&pair[0]);
        let high = vectors.load(&pair[1]);
        for r in 0..TILE {
            let value = vectors.splat(x[r].0[p]);
            held[r][0] = value.mul_add(low, held[r][0]);
            held[r][1] = value.mul_add(high, held[r][1]);
        }
    }
    *tile = held;
}
