//! Carries a block of matrices through all layers.
//!
//! For each group of outputs: sums start at the bias; one block of inputs after the other is added, for all
//! matrices, while its weights are in the first-level cache and the next ones are on their way; then the
//! activation. A sum adds its inputs in their order, whichever kernel adds them and however many
//! matrices there are, so results do not depend on that.

use super::activation::activate;
use super::packed::{BLOCK, BLOCK_LINES, Block, GROUP, GROUP_BLOCKS, Packed, Panel, Weights};
use super::rows::{Ahead, Step, rows};
use super::runs::Runs;
use super::stored::{LINE, Line, Rows, Stored, Widen};
use super::tiles::{TILE, tiles};
use crate::memory::filled;
use crate::simd::{Fixed, Isa, Real, Vectors};
use crate::status::Error;
use crate::team::Team;
use crate::workspaces::Workspaces;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use fearless_simd::SimdMask;

/// Matrices that go through the layers together: enough that reading the weights takes little of the time.
pub(crate) const MATRICES: usize = 128;
/// How many blocks ahead weights are asked for.
const AHEAD: usize = 2;
/// Blocks of inputs that tiles add between loading their sums and storing them.
const TILE_BLOCKS: usize = 2;
/// Lines of so many blocks of inputs.
const WIDE: usize = BLOCK * GROUP * TILE_BLOCKS;
/// Multiply-adds of a layer that are not worth sharing: some microseconds.
const SHARED: usize = 100_000;
/// With a smaller share of inputs that are not zero, passing over the others is faster than tiles.
const DENSE: f64 = 0.7;

/// Working memory for one call at a time.
pub(crate) struct Workspace {
    /// Inputs of the even layers and of the odd ones: blocks of inputs, in each one [`Block`] a matrix.
    pub(super) values: [Vec<Block>; 2],
    /// Which of them are not zero, a bit each.
    words: [Vec<u64>; 2],
    /// A block of weights, widened, for each thread.
    wide: Workspaces<Vec<Line>>,
    /// Threads that may share a call.
    threads: usize,
    /// Whether a matrix is finite.
    pub(super) finite: Vec<bool>,
    /// U of one matrix.
    pub(super) u: Vec<f32>,
}

impl Workspace {
    pub(super) fn new(layers: &[Packed], u: usize, threads: usize) -> Result<Workspace, Error> {
        let mut blocks = [layers[0].blocks(), 0];
        for (t, layer) in layers.iter().enumerate() {
            let len = &mut blocks[(t + 1) % 2];
            *len = layer.output_blocks().max(*len);
        }
        let len = blocks.map(|blocks| blocks * MATRICES);
        Ok(Workspace {
            values: [filled(len[0], Block::ZERO)?, filled(len[1], Block::ZERO)?],
            words: [filled(len[0], 0)?, filled(len[1], 0)?],
            wide: Workspaces::new(threads, |_| filled(WIDE, Line::ZERO))?,
            threads,
            finite: filled(MATRICES, true)?,
            u: filled(u, 0.0)?,
        })
    }

    /// Memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let values = self.values.iter().map(|x| size_of_val(&x[..]));
        let words = self.words.iter().map(|x| size_of_val(&x[..]));
        let others = [
            self.threads * WIDE * size_of::<Line>(),
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
    team: &Team<'_>,
    layers: &[Packed],
    weights: &Weights,
    limit: f32,
    workspace: &mut Workspace,
    count: usize,
) {
    let all = Stack {
        team,
        layers,
        limit,
        count,
    };
    match weights {
        Weights::Single(lines) => forward_with(isa, all, lines, workspace),
        Weights::Half(lines) => forward_with(isa, all, lines, workspace),
        Weights::Byte(lines) => forward_with(isa, all, lines, workspace),
    }
}

/// What there is to do, whatever the format of the weights.
struct Stack<'a> {
    team: &'a Team<'a>,
    layers: &'a [Packed],
    limit: f32,
    count: usize,
}

fn forward_with<T: Stored>(isa: Isa, all: Stack<'_>, lines: &[T], workspace: &mut Workspace) {
    match isa {
        Isa::Portable(simd) => {
            let vectors = Vectors::<<f32 as Real>::Portable>::new(simd);
            run(vectors, all, lines, workspace);
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(simd) => {
            let vectors = Vectors::<<f32 as Real>::Avx2>::new(simd);
            run(vectors, all, lines, workspace);
        }
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        Isa::Avx512(simd) => {
            let vectors = Vectors::<<f32 as Real>::Avx512>::new(simd);
            run(vectors, all, lines, workspace);
        }
    }
}

#[inline(never)]
fn run<T: Stored, V: Widen>(
    vectors: Vectors<V>,
    all: Stack<'_>,
    lines: &[T],
    workspace: &mut Workspace,
) {
    let Stack {
        team,
        layers,
        limit,
        count,
    } = all;
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
        let pass = Pass {
            vectors,
            layer,
            lines: &lines[layer.start..][..layer.len::<T>()],
            count,
            x: &x[..layer.blocks() * count],
            words: &words[..layer.blocks() * count],
            tiled: share > DENSE && count >= TILE,
            threads: team.threads(),
            wide,
        };
        let limit = layers.get(t + 1).map_or(limit, |next| next.limit);
        let found = AtomicUsize::new(0);
        let (panel, piece) = (T::GROUPS * GROUP_BLOCKS, pass.piece());
        let outputs = layer.output_blocks() * count;
        let panels = y[..outputs]
            .chunks_mut(panel * count)
            .zip(next_words[..outputs].chunks_mut(panel * count));
        let pieces = panels.enumerate().flat_map(|(at, (sums, words))| {
            let first = (at * panel..).step_by(piece);
            first
                .zip(sums.chunks_mut(piece * count))
                .zip(words.chunks_mut(piece * count))
        });
        let each = |((first, sums), words): ((usize, &mut [Block]), &mut [u64])| {
            pass.sum(first, sums);
            let dense = finish(vectors, layer, limit, first, count, sums, words);
            found.fetch_add(dense, Ordering::Relaxed);
        };
        if layer.inputs * layer.outputs * count < SHARED {
            pieces.for_each(each);
        } else {
            team.share(pieces, each);
        }
        dense = found.into_inner();
        (x, y) = (y, x);
        (words, next_words) = (next_words, words);
    }
}

/// One layer on one block of matrices.
struct Pass<'a, T, V: Widen> {
    vectors: Vectors<V>,
    layer: &'a Packed,
    /// Its weights.
    lines: &'a [T],
    count: usize,
    x: &'a [Block],
    words: &'a [u64],
    /// Whether so few inputs are zero that tiles are faster.
    tiled: bool,
    threads: usize,
    wide: &'a Workspaces<Vec<Line>>,
}

impl<'a, T: Stored, V: Widen> Pass<'a, T, V> {
    /// Whether whole rows of weights are taken.
    fn few(&self) -> bool {
        self.count < T::FEW
    }

    /// Blocks of outputs that a thread takes at a time, all of one panel: a group; or, of whole rows, a panel. Unless
    /// there are many panels, each is cut into as many parts as there are threads.
    fn piece(&self) -> usize {
        if !self.few() {
            return GROUP_BLOCKS;
        }
        let panel = self.layer.output_blocks().min(T::GROUPS * GROUP_BLOCKS);
        match self.layer.panels::<T>() / self.threads {
            0..4 => panel.div_ceil(self.threads),
            _ => panel,
        }
    }

    /// The sums of some blocks of outputs, the first of which is `first`.
    fn sum(&self, first: usize, sums: &mut [Block]) {
        let bias = &self.layer.bias[first..];
        for (bias, sums) in bias.iter().zip(sums.chunks_exact_mut(self.count)) {
            sums.fill(*bias);
        }
        if self.few() {
            self.add_runs(first, sums);
        } else {
            self.add(first / GROUP_BLOCKS, sums);
        }
    }

    /// Adds all inputs to the sums of blocks of a panel.
    fn add_runs(&self, first: usize, sums: &mut [Block]) {
        let panel = T::GROUPS * GROUP_BLOCKS;
        let Panel { start, stride } = self.layer.panel::<T>(first / panel);
        let (line, width) = (
            first % panel * BLOCK_LINES,
            sums.len() / self.count * BLOCK_LINES,
        );
        let runs = Runs {
            weights: Rows {
                lines: &self.lines[start + line..start + self.layer.inputs * stride],
                stride,
                width,
            },
            words: self.words,
            x: self.x,
            count: self.count,
        };
        runs.add(self.vectors, sums);
    }

    /// Adds all inputs to the sums of a group.
    #[inline(never)]
    fn add(&self, group: usize, sums: &mut [Block]) {
        let blocks = self.layer.blocks();
        let each = if self.tiled { TILE_BLOCKS } else { 1 };
        let wide = &mut self.wide.borrow()[..];
        for block in (0..blocks).step_by(each) {
            let blocks = block..(block + each).min(blocks);
            let stored = self.rows(group, blocks.clone());
            let ahead = self.ahead(group, block);
            let weights = T::widen(self.vectors, stored, wide);
            self.add_blocks(blocks, weights, ahead, sums);
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

    /// The weights that this thread will need soon after those of a block. In the next group but those that the other
    /// threads are likely to take.
    #[inline(never)]
    fn ahead(&self, group: usize, block: usize) -> Ahead<'a, T> {
        let blocks = self.layer.blocks();
        let later = block + AHEAD;
        let (group, block) = (group + later / blocks * self.threads, later % blocks);
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
        if V::W == LINE {
            match weights.width {
                6 => rows::<6, T, V>(self.vectors, &step, 0, sums),
                4 => rows::<4, T, V>(self.vectors, &step, 0, sums),
                _ => rows::<2, T, V>(self.vectors, &step, 0, sums),
            }
        } else if V::W == 8 {
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
fn finish<V: Widen>(
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
fn mark<V: Widen>(vectors: Vectors<V>, block: &Block, len: usize) -> u64 {
    let mut word = 0;
    for (v, values) in V::Array::chunks(&block.0).iter().enumerate() {
        let bits = vectors.load(values).simd_ne(vectors.zero()).to_bitmask();
        word |= bits << (v * V::W);
    }
    word & ((1 << len) - 1)
}
