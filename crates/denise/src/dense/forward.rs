//! Carries a block of matrices through all layers.
//!
//! For each group of outputs: sums start at the bias; one block of inputs after the other is added, for all
//! matrices, while its weights are in the first-level cache and the next ones are on their way; then the
//! activation. A sum adds its inputs in their order, whichever kernel adds them and however many
//! matrices there are, so results do not depend on that.

use super::activation::activate;
use super::half::FromHalf;
use super::packed::{
    BLOCK, Block, GROUP, GROUP_BLOCKS, Line, Packed, Panel, Rows, Stored, Weights,
};
use super::rows::{Ahead, Step, rows};
use super::runs::Runs;
use super::tiles::{TILE, tiles};
use crate::memory::filled;
use crate::simd::{Fixed, Isa, Real, Vectors};
use crate::status::Error;
use core::ops::Range;
use fearless_simd::SimdMask;

/// Matrices that go through the layers together: enough that reading the weights takes little of the time.
pub(crate) const MATRICES: usize = 128;
/// How many blocks ahead weights are asked for.
const AHEAD: usize = 2;
/// Blocks of inputs that tiles add between loading their sums and storing them.
const TILE_BLOCKS: usize = 2;
/// With a smaller share of inputs that are not zero, passing over the others is faster than tiles.
const DENSE: f64 = 0.7;

/// Working memory for one call at a time.
pub(crate) struct Workspace {
    /// Inputs of the even layers and of the odd ones: blocks of inputs, in each one [`Block`] a matrix.
    pub(super) values: [Vec<Block>; 2],
    /// Which of them are not zero, a bit each.
    words: [Vec<u64>; 2],
    /// A block of weights, widened.
    wide: Vec<Line>,
    /// Whether a matrix is finite.
    pub(super) finite: Vec<bool>,
    /// U of one matrix.
    pub(super) u: Vec<f32>,
}

impl Workspace {
    pub(super) fn new(layers: &[Packed], u: usize) -> Result<Workspace, Error> {
        let mut blocks = [layers[0].blocks(), 0];
        for (t, layer) in layers.iter().enumerate() {
            let len = &mut blocks[(t + 1) % 2];
            *len = layer.output_blocks().max(*len);
        }
        let len = blocks.map(|blocks| blocks * MATRICES);
        Ok(Workspace {
            values: [filled(len[0], Block::ZERO)?, filled(len[1], Block::ZERO)?],
            words: [filled(len[0], 0)?, filled(len[1], 0)?],
            wide: filled(BLOCK * GROUP * TILE_BLOCKS, Line::ZERO)?,
            finite: filled(MATRICES, true)?,
            u: filled(u, 0.0)?,
        })
    }

    /// Memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let values = self.values.iter().map(|x| size_of_val(&x[..]));
        let words = self.words.iter().map(|x| size_of_val(&x[..]));
        let others = [
            size_of_val(&self.wide[..]),
            self.finite.len(),
            size_of_val(&self.u[..]),
        ];
        values.chain(words).chain(others).sum()
    }
}

/// Runs the layers on the `count` matrices whose inputs stand in `values[0]`; the outputs are then in
/// `values[layers.len() % 2]`, no larger than `limit`.
pub(super) fn forward(
    isa: Isa,
    layers: &[Packed],
    weights: &Weights,
    limit: f32,
    workspace: &mut Workspace,
    count: usize,
) {
    match weights {
        Weights::Single(lines) => forward_with(isa, layers, lines, limit, workspace, count),
        Weights::Half(lines) => forward_with(isa, layers, lines, limit, workspace, count),
    }
}

fn forward_with<T: Stored>(
    isa: Isa,
    layers: &[Packed],
    lines: &[T],
    limit: f32,
    workspace: &mut Workspace,
    count: usize,
) {
    match isa {
        Isa::Portable(simd) => {
            let vectors = Vectors::<<f32 as Real>::Portable>::new(simd);
            run(vectors, layers, lines, limit, workspace, count);
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(simd) => {
            let vectors = Vectors::<<f32 as Real>::Avx2>::new(simd);
            run(vectors, layers, lines, limit, workspace, count);
        }
    }
}

#[inline(never)]
fn run<T: Stored, V: FromHalf>(
    vectors: Vectors<V>,
    layers: &[Packed],
    lines: &[T],
    limit: f32,
    workspace: &mut Workspace,
    count: usize,
) {
    let Workspace {
        values: [x, y],
        words: [words, next_words],
        wide,
        ..
    } = workspace;
    let (mut x, mut y, mut words, mut next_words) = (x, y, words, next_words);
    let inputs = layers[0].blocks() * count;
    let mut dense = 0;
    for (t, block) in x[..inputs].iter().enumerate() {
        let len = layers[0].block_len(t / count);
        words[t] = mark(vectors, block, len);
        dense += words[t].count_ones() as usize;
    }
    for (t, layer) in layers.iter().enumerate() {
        let share = dense as f64 / (count * layer.inputs) as f64;
        let mut pass = Pass {
            vectors,
            layer,
            lines: &lines[layer.start..][..layer.len::<T>()],
            count,
            x: &x[..layer.blocks() * count],
            words: &words[..layer.blocks() * count],
            tiled: share > DENSE && count >= TILE,
            wide,
        };
        let limit = layers.get(t + 1).map_or(limit, |next| next.limit);
        dense = 0;
        let groups = if count < T::FEW { T::GROUPS } else { 1 };
        for group in (0..layer.groups()).step_by(groups) {
            let first = group * GROUP_BLOCKS;
            let blocks = first..(first + groups * GROUP_BLOCKS).min(layer.output_blocks());
            let cells = first * count..blocks.end * count;
            let sums = &mut y[cells.clone()];
            for (bias, sums) in layer.bias[blocks].iter().zip(sums.chunks_exact_mut(count)) {
                sums.fill(*bias);
            }
            if count < T::FEW {
                pass.add_runs(group / groups, sums);
            } else {
                pass.add(group, sums);
            }
            let words = &mut next_words[cells];
            dense += finish(vectors, layer, limit, first, count, sums, words);
        }
        (x, y) = (y, x);
        (words, next_words) = (next_words, words);
    }
}

/// One layer on one block of matrices.
struct Pass<'a, T, V: FromHalf> {
    vectors: Vectors<V>,
    layer: &'a Packed,
    /// Its weights.
    lines: &'a [T],
    count: usize,
    x: &'a [Block],
    words: &'a [u64],
    /// Whether so few inputs are zero that tiles are faster.
    tiled: bool,
    wide: &'a mut [Line],
}

impl<'a, T: Stored, V: FromHalf> Pass<'a, T, V> {
    /// Adds all inputs to the sums of a panel.
    fn add_runs(&self, panel: usize, sums: &mut [Block]) {
        let Panel { start, stride } = self.layer.panel::<T>(panel);
        let runs = Runs {
            weights: Rows {
                lines: &self.lines[start..][..self.layer.inputs * stride],
                stride,
                width: stride,
            },
            words: self.words,
            x: self.x,
            count: self.count,
        };
        runs.add(self.vectors, sums);
    }

    /// Adds all inputs to the sums of a group.
    #[inline(never)]
    fn add(&mut self, group: usize, sums: &mut [Block]) {
        let blocks = self.layer.blocks();
        let each = if self.tiled { TILE_BLOCKS } else { 1 };
        for block in (0..blocks).step_by(each) {
            let blocks = block..(block + each).min(blocks);
            let stored = self.rows(group, blocks.clone());
            let ahead = self.ahead(group, block);
            let wide = core::mem::take(&mut self.wide);
            let weights = T::widen(self.vectors, stored, wide);
            self.add_blocks(blocks, weights, ahead, sums);
            self.wide = wide;
        }
    }

    /// The weights from blocks of inputs to a group.
    fn rows(&self, group: usize, blocks: Range<usize>) -> Rows<'a, T> {
        let Panel { start, stride } = self.layer.panel::<T>(group / T::GROUPS);
        let first = start + group % T::GROUPS * GROUP;
        let end = (blocks.end * BLOCK).min(self.layer.inputs);
        Rows {
            lines: &self.lines[blocks.start * BLOCK * stride + first..end * stride + start],
            stride,
            width: self.layer.width(group),
        }
    }

    /// The weights that will be needed soon after those of a block.
    #[inline(never)]
    fn ahead(&self, group: usize, block: usize) -> Ahead<'a, T> {
        let blocks = self.layer.blocks();
        let later = block + AHEAD;
        let (group, block) = (group + later / blocks, later % blocks);
        if group >= self.layer.groups() {
            return Ahead::NOTHING;
        }
        let words = &self.words[block * self.count..][..self.count];
        Ahead {
            weights: self.rows(group, block..block + 1),
            needed: words.iter().fold(0, |all, word| all | word),
        }
    }

    #[inline(never)]
    fn add_blocks(
        &self,
        blocks: Range<usize>,
        weights: Rows<'_, Line>,
        ahead: Ahead<'_, T>,
        sums: &mut [Block],
    ) {
        let mut from = 0;
        if self.tiled {
            let x = &self.x[blocks.start * self.count..blocks.end * self.count];
            from = tiles(self.vectors, x, self.count, weights, ahead, sums);
        }
        if from < self.count {
            let each = weights.lines.chunks(BLOCK * weights.stride);
            for (block, lines) in blocks.zip(each) {
                let weights = Rows { lines, ..weights };
                self.add_rows(block, from, weights, ahead, sums);
            }
        }
    }

    #[inline(never)]
    fn add_rows(
        &self,
        block: usize,
        from: usize,
        weights: Rows<'_, Line>,
        ahead: Ahead<'_, T>,
        sums: &mut [Block],
    ) {
        let step = Step {
            words: &self.words[block * self.count..][..self.count],
            x: &self.x[block * self.count..][..self.count],
            from,
            weights,
            ahead,
        };
        if V::W == 8 {
            match weights.width {
                6 => rows::<12, T, V>(self.vectors, &step, 0, sums),
                4 => rows::<8, T, V>(self.vectors, &step, 0, sums),
                _ => rows::<4, T, V>(self.vectors, &step, 0, sums),
            }
        } else {
            for first in (0..weights.width).step_by(2) {
                rows::<8, T, V>(self.vectors, &step, first, sums);
            }
        }
    }
}

/// Turns sums into outputs, and marks those that are not zero; how many these are.
#[inline(never)]
fn finish<V: FromHalf>(
    vectors: Vectors<V>,
    layer: &Packed,
    limit: f32,
    first: usize,
    count: usize,
    sums: &mut [Block],
    words: &mut [u64],
) -> usize {
    vectors.vectorize(
        #[inline(always)]
        || {
            let (zero, most) = (vectors.zero(), vectors.splat(f32::MAX));
            let limit = vectors.splat(limit);
            let mut dense = 0;
            let blocks = sums
                .chunks_exact_mut(count)
                .zip(words.chunks_exact_mut(count));
            for (b, (sums, words)) in blocks.enumerate() {
                let scale = V::Array::chunks(&layer.scale[first + b].0);
                let len = layer.outputs.saturating_sub((first + b) * BLOCK).min(BLOCK);
                for (block, word) in sums.iter_mut().zip(words) {
                    let used = len.div_ceil(V::W);
                    let values = V::Array::chunks_mut(&mut block.0).iter_mut();
                    for (v, value) in values.enumerate().take(used) {
                        // A sum of −0 becomes 0: only its sign could tell the kernels apart.
                        let sum = vectors.load(value) * vectors.load(&scale[v]) + zero;
                        let sum = sum.min(most).max(-most);
                        let sum = activate(vectors, layer.activation, sum);
                        sum.min(limit).max(-limit).store_array(value);
                    }
                    *word = mark(vectors, block, len);
                    dense += word.count_ones() as usize;
                }
            }
            dense
        },
    )
}

/// A bit for each of the first `len` values that is not zero.
#[inline(always)]
fn mark<V: FromHalf>(vectors: Vectors<V>, block: &Block, len: usize) -> u64 {
    let mut word = 0;
    for (v, values) in V::Array::chunks(&block.0).iter().enumerate() {
        let bits = vectors.load(values).simd_ne(vectors.zero()).to_bitmask();
        word |= bits << (v * V::W);
    }
    word & ((1 << len) - 1)
}
