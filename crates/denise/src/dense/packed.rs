//! The weights of a layer, in the order in which the kernels read them.
//!
//! A *line* is the weights from one input to 16 outputs: a cache line of `f32`. A *panel* is some neighbouring lines of
//! every input, one input's *row* of them after the other's. A batch takes a *group* of up to six lines of each row at
//! a time, as many sums as fit in registers; a few matrices take the whole row. The last group of a layer has 2, 4 or 6
//! lines; what is beyond the last output is zero.

use super::half::{FromHalf, narrow};
use super::network::{Activation, Layer};
use super::pages::Pages;
use crate::memory::filled;
use crate::simd::{Fixed, Vectors};
use crate::status::Error;

/// Outputs of a line.
pub(super) const LINE: usize = 16;
/// Lines of a group that is not the last.
pub(super) const GROUP: usize = 6;
/// Inputs that the kernels take at a time: their weights for one group, 18 KB, stay in the first-level cache.
pub(super) const BLOCK: usize = 48;
/// Lines for a block of outputs.
pub(super) const BLOCK_LINES: usize = BLOCK / LINE;
/// Blocks of outputs in a group.
pub(super) const GROUP_BLOCKS: usize = GROUP * LINE / BLOCK;

/// Lines of some inputs.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub(super) lines: &'a [T],
    /// Lines from one input to the next.
    pub(super) stride: usize,
    /// Lines of an input that belong to it.
    pub(super) width: usize,
}

impl<'a, T> Rows<'a, T> {
    /// The lines of an input.
    #[inline(always)]
    pub(super) fn row(&self, input: usize) -> &'a [T] {
        &self.lines[input * self.stride..][..self.width]
    }
}

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
    /// Groups of a panel that is not the last.
    const GROUPS: usize;
    /// Fewer matrices than these take whole rows.
    const FEW: usize;

    /// Vector number `v` of it.
    fn vector<V: FromHalf>(&self, vectors: Vectors<V>, v: usize) -> V;

    /// The same weights as lines of `f32`, for which there is room in `wide`.
    fn widen<'a, V: FromHalf>(
        vectors: Vectors<V>,
        stored: Rows<'a, Self>,
        wide: &'a mut [Line],
    ) -> Rows<'a, Line>;
}

/// Made for batches: what they read of a block of inputs is in one piece.
impl Stored for Line {
    const GROUPS: usize = 1;
    const FEW: usize = 2;

    #[inline(always)]
    fn vector<V: FromHalf>(&self, vectors: Vectors<V>, v: usize) -> V {
        vectors.load(&V::Array::chunks(&self.0)[v])
    }

    fn widen<'a, V: FromHalf>(
        _: Vectors<V>,
        stored: Rows<'a, Line>,
        _: &'a mut [Line],
    ) -> Rows<'a, Line> {
        stored
    }
}

/// Made for one matrix: what it reads of an input is in one piece, long enough for the processor to see it coming.
impl Stored for HalfLine {
    const GROUPS: usize = 9;
    const FEW: usize = 5;

    #[inline(always)]
    fn vector<V: FromHalf>(&self, vectors: Vectors<V>, v: usize) -> V {
        V::from_half(vectors.simd(), &V::Halves::chunks(&self.0)[v])
    }

    #[inline(never)]
    fn widen<'a, V: FromHalf>(
        vectors: Vectors<V>,
        stored: Rows<'a, HalfLine>,
        wide: &'a mut [Line],
    ) -> Rows<'a, Line> {
        let width = stored.width;
        let inputs = stored.lines.len().div_ceil(stored.stride);
        let lines = &mut wide[..inputs * width];
        vectors.vectorize(
            #[inline(always)]
            || {
                for (p, wide) in lines.chunks_exact_mut(width).enumerate() {
                    for (half, line) in stored.row(p).iter().zip(wide) {
                        for (v, to) in V::Array::chunks_mut(&mut line.0).iter_mut().enumerate() {
                            half.vector(vectors, v).store_array(to);
                        }
                    }
                }
            },
        );
        Rows {
            lines,
            stride: width,
            width,
        }
    }
}

/// The weights of all layers, one after the other.
pub(super) enum Weights {
    Single(Pages<Line>),
    /// Each output's weights divided by its scale.
    Half(Pages<HalfLine>),
}

impl Weights {
    /// Packs the weights of these layers, and what else belongs to them.
    pub(super) fn pack(layers: &[Layer], half: bool) -> Result<(Weights, Vec<Packed>), Error> {
        let mut packed = Vec::new();
        packed.try_reserve_exact(layers.len())?;
        for layer in layers {
            packed.push(Packed::new(layer, half)?);
        }
        let weights = if half {
            let zero = HalfLine([0; LINE]);
            Weights::Half(fill(layers, &mut packed, zero, |line, l, w, scale| {
                line.0[l] = narrow(w / scale)
            })?)
        } else {
            Weights::Single(fill(layers, &mut packed, Line::ZERO, |line, l, w, _| {
                line.0[l] = w
            })?)
        };
        Ok((weights, packed))
    }
}

/// Lays out the rows of all layers, and writes each weight with `put`, which gets its line, its place there, the weight
/// and the scale of its output.
fn fill<T: Stored>(
    layers: &[Layer],
    packed: &mut [Packed],
    zero: T,
    put: impl Fn(&mut T, usize, f32, f32),
) -> Result<Pages<T>, Error> {
    let mut len = 0;
    for packed in &mut *packed {
        packed.start = len;
        len += packed.len::<T>();
    }
    let mut lines = Pages::filled(len, zero)?;
    for (layer, packed) in layers.iter().zip(packed) {
        for (p, row) in layer.weights.chunks_exact(layer.outputs).enumerate() {
            for (j, &w) in row.iter().enumerate() {
                let panel = packed.panel::<T>(j / (T::GROUPS * GROUP * LINE));
                let line = panel.start + p * panel.stride + j / LINE % (T::GROUPS * GROUP);
                let scale = packed.scale[j / BLOCK].0[j % BLOCK];
                put(&mut lines[packed.start + line], j % LINE, w, scale);
            }
        }
    }
    Ok(lines)
}

/// Where some lines of every input are.
pub(super) struct Panel {
    /// Its first line, counted from the layer's first.
    pub(super) start: usize,
    /// Lines from the start of one row to that of the next.
    pub(super) stride: usize,
}

/// A layer, but for its weights.
pub(super) struct Packed {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// The first line of its weights.
    pub(super) start: usize,
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
    fn new(layer: &Layer, half: bool) -> Result<Packed, Error> {
        let (inputs, outputs) = (layer.inputs, layer.outputs);
        let blocks = output_blocks(outputs);
        let mut packed = Packed {
            inputs,
            outputs,
            start: 0,
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
        Ok(packed)
    }

    /// A panel. Its rows are whole blocks of outputs. Long ones are an odd number of cache lines: at a distance of a
    /// power of two they would compete for the same few places in the cache.
    pub(super) fn panel<T: Stored>(&self, panel: usize) -> Panel {
        let stride = |blocks: usize| {
            let lines = blocks * BLOCK_LINES;
            let each = 64 / size_of::<T>();
            if T::GROUPS == 1 {
                lines
            } else {
                (lines.div_ceil(each) | 1) * each
            }
        };
        let full = T::GROUPS * GROUP_BLOCKS;
        let before = panel * full;
        Panel {
            start: panel * stride(full) * self.inputs,
            stride: stride((self.output_blocks() - before).min(full)),
        }
    }

    pub(super) fn panels<T: Stored>(&self) -> usize {
        self.groups().div_ceil(T::GROUPS)
    }

    /// All lines of the layer.
    pub(super) fn len<T: Stored>(&self) -> usize {
        let last = self.panel::<T>(self.panels::<T>() - 1);
        last.start + last.stride * self.inputs
    }

    pub(super) fn groups(&self) -> usize {
        self.outputs.div_ceil(GROUP * LINE)
    }

    /// Lines of a group.
    pub(super) fn width(&self, group: usize) -> usize {
        (lines_of(self.outputs) - group * GROUP).min(GROUP)
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
