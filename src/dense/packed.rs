//! The weights of a layer, in the order in which the kernels read them.
//!
//! A *line* is the weights from one input to 16 outputs: a cache line of `f32`. A *group* is up to six of
//! them, as many sums as fit in registers, input after input, so that it is read from its start to its end,
//! and what an input does not need is passed over in one piece. The last group of a layer has 2, 4 or 6
//! lines; what is beyond the last output is zero.

use super::half::{FromHalf, narrow};
use super::memory::memory;
use super::network::{Activation, Layer};
use crate::status::Error;
use fearless_simd::Simd;

/// Outputs of a line.
pub(super) const LINE: usize = 16;
/// Lines of a group that is not the last.
pub(super) const GROUP: usize = 6;
/// Inputs that the kernels take at a time: their weights for one group, 18 KB, stay in the first-level cache.
pub(super) const BLOCK: usize = 48;
/// Blocks of outputs in a group.
pub(super) const GROUP_BLOCKS: usize = GROUP * LINE / BLOCK;

/// `BLOCK` values of one matrix, or of every matrix.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Block(pub(super) [f32; BLOCK]);

impl Block {
    pub(super) const ZERO: Block = Block([0.0; BLOCK]);
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [f32; LINE]);

impl Line {
    pub(super) const ZERO: Line = Line([0.0; LINE]);
}

#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct HalfLine([u16; LINE]);

/// A line in either format.
pub(super) trait Stored: Copy {
    /// Vector number `v` of it.
    fn vector<S: Simd, V: FromHalf<S, W>, const W: usize>(&self, simd: S, v: usize) -> V;
}

impl Stored for Line {
    #[inline(always)]
    fn vector<S: Simd, V: FromHalf<S, W>, const W: usize>(&self, simd: S, v: usize) -> V {
        V::load_array_ref(simd, &self.0.as_chunks().0[v])
    }
}

impl Stored for HalfLine {
    #[inline(always)]
    fn vector<S: Simd, V: FromHalf<S, W>, const W: usize>(&self, simd: S, v: usize) -> V {
        V::from_half(simd, &self.0.as_chunks().0[v])
    }
}

pub(super) enum Weights {
    Single(Vec<Line>),
    /// Each output's weights divided by its scale.
    Half(Vec<HalfLine>),
}

pub(super) struct Packed {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weights: Weights,
    /// What a sum starts from; in blocks, zero beyond the last output.
    pub(super) bias: Vec<Block>,
    /// What a sum is multiplied by in the end: 1, or a power of two if weights are halves.
    pub(super) scale: Vec<Block>,
    pub(super) activation: Activation,
    /// The largest input that cannot make a sum overflow, whatever the others are. Inputs are cut at it:
    /// only numbers that no network means are larger.
    pub(super) limit: f32,
}

impl Packed {
    pub(super) fn new(layer: &Layer, half: bool) -> Result<Packed, Error> {
        let (inputs, outputs) = (layer.inputs, layer.outputs);
        let blocks = output_blocks(outputs);
        let mut packed = Packed {
            inputs,
            outputs,
            weights: Weights::Single(Vec::new()),
            bias: filled(blocks, Block::ZERO)?,
            scale: filled(blocks, Block([1.0; BLOCK]))?,
            activation: layer.activation,
            limit: f32::MAX,
        };
        // Sums of magnitudes, in f64, whose exponents cannot overflow.
        let (mut largest, mut sums) = (filled(outputs, 0.0_f32)?, filled(outputs, 0.0_f64)?);
        for row in layer.weights.chunks_exact(outputs) {
            for ((largest, sum), w) in largest.iter_mut().zip(&mut sums).zip(row) {
                *largest = largest.max(w.abs());
                *sum += f64::from(w.abs());
            }
        }
        let quarter = f32::MAX / 4.0;
        for j in 0..outputs {
            let scale = if half { power_of_two(largest[j]) } else { 1.0 };
            let bias = (layer.bias[j] / scale).min(quarter).max(-quarter);
            packed.scale[j / BLOCK].0[j % BLOCK] = scale;
            // Not −0: a sum that starts there could tell an input of 0 from none.
            packed.bias[j / BLOCK].0[j % BLOCK] = bias + 0.0;
            // Rounding to halves may add one part in 2,048.
            let sum = sums[j] / f64::from(scale) * 1.001;
            packed.limit = packed.limit.min((f64::from(quarter) / sum) as f32);
        }
        let lines = inputs * lines_of(outputs);
        packed.weights = if half {
            let mut all = memory(lines, HalfLine([0; LINE]))?;
            packed.fill(layer, &mut all, |line, l, w, scale| {
                line.0[l] = narrow(w / scale)
            });
            Weights::Half(all)
        } else {
            let mut all = memory(lines, Line::ZERO)?;
            packed.fill(layer, &mut all, |line, l, w, _| line.0[l] = w);
            Weights::Single(all)
        };
        Ok(packed)
    }

    fn fill<T>(&self, layer: &Layer, lines: &mut [T], put: impl Fn(&mut T, usize, f32, f32)) {
        for (p, row) in layer.weights.chunks_exact(self.outputs).enumerate() {
            for (j, &w) in row.iter().enumerate() {
                let (start, width) = self.group(j / (GROUP * LINE));
                let line = start + p * width + j % (GROUP * LINE) / LINE;
                let scale = self.scale[j / BLOCK].0[j % BLOCK];
                put(&mut lines[line], j % LINE, w, scale);
            }
        }
    }

    pub(super) fn groups(&self) -> usize {
        self.outputs.div_ceil(GROUP * LINE)
    }

    /// A group's first line, and its lines for one input.
    pub(super) fn group(&self, group: usize) -> (usize, usize) {
        let before = group * GROUP;
        let width = (lines_of(self.outputs) - before).min(GROUP);
        (before * self.inputs, width)
    }

    /// Blocks of outputs, with those that only pad the last group.
    pub(super) fn output_blocks(&self) -> usize {
        output_blocks(self.outputs)
    }

    /// Blocks of inputs.
    pub(super) fn blocks(&self) -> usize {
        self.inputs.div_ceil(BLOCK)
    }

    /// Inputs of a block: `BLOCK`, or fewer in the last.
    pub(super) fn block_len(&self, block: usize) -> usize {
        (self.inputs - block * BLOCK).min(BLOCK)
    }
}

/// Lines for one input: an even number.
fn lines_of(outputs: usize) -> usize {
    outputs.div_ceil(2 * LINE) * 2
}

fn output_blocks(outputs: usize) -> usize {
    (lines_of(outputs) * LINE).div_ceil(BLOCK)
}

/// The largest power of two that is not above a magnitude, so that the quotient is below 2.
fn power_of_two(magnitude: f32) -> f32 {
    // A subnormal one gets the smallest normal power, and keeps fewer bits.
    f32::from_bits(magnitude.to_bits() & 0x7f80_0000).max(f32::MIN_POSITIVE)
}

/// A vector of copies, without aborting if there is no memory.
pub(super) fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    all.try_reserve_exact(len)?;
    all.resize(len, value);
    Ok(all)
}
