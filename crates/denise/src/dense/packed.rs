//! The weights of a layer, in the order in which the kernels read them.
//!
//! A *line* is the weights from one input to 16 outputs: a cache line of `f32`. A *panel* is some neighbouring lines of
//! every input, one input's *row* of them after the other's. A batch takes a *group* of up to six lines of each row at
//! a time, as many sums as fit in registers; a few matrices take the whole row. The last group of a layer has 2, 4 or 6
//! lines; what is beyond the last output is zero.

use super::network::{Activation, Layer};
use super::pages::Pages;
use super::stored::{ByteLine, Format, HalfLine, LINE, Line, Stored};
use crate::memory::filled;
use crate::status::Error;

/// Lines of a group that is not the last.
pub(super) const GROUP: usize = 6;
/// Inputs that the kernels take at a time: their weights for one group, 18 KB, stay in the first-level cache.
pub(super) const BLOCK: usize = 48;
/// Lines for a block of outputs.
pub(super) const BLOCK_LINES: usize = BLOCK / LINE;
/// Blocks of outputs in a group.
pub(super) const GROUP_BLOCKS: usize = GROUP * LINE / BLOCK;

/// `BLOCK` values of one matrix, or of every matrix.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Block(pub(super) [f32; BLOCK]);

impl Block {
    pub(super) const ZERO: Block = Block([0.0; BLOCK]);
}

/// The weights of all layers, one after the other. Each output's are divided by its scale.
pub(super) enum Weights {
    Single(Pages<Line>),
    Half(Pages<HalfLine>),
    Byte(Pages<ByteLine>),
}

impl Weights {
    /// Packs the weights of these layers, and what else belongs to them.
    pub(super) fn pack(layers: &[Layer], format: Format) -> Result<(Weights, Vec<Packed>), Error> {
        let mut packed = Vec::new();
        packed.try_reserve_exact(layers.len())?;
        let weights = match format {
            Format::Single => Weights::Single(fill(layers, &mut packed)?),
            Format::Half => Weights::Half(fill(layers, &mut packed)?),
            Format::Byte => Weights::Byte(fill(layers, &mut packed)?),
        };
        Ok((weights, packed))
    }
}

/// Lays out the rows of all layers, for which there is room in `all`, and writes each weight.
fn fill<T: Stored>(layers: &[Layer], all: &mut Vec<Packed>) -> Result<Pages<T>, Error> {
    let mut len = 0;
    for layer in layers {
        let packed = Packed::new::<T>(layer, len)?;
        len += packed.len::<T>();
        all.push(packed);
    }
    let mut lines = Pages::filled(len, T::ZERO)?;
    for (layer, packed) in layers.iter().zip(all) {
        for (p, row) in layer.weights.chunks_exact(layer.outputs).enumerate() {
            for (j, &w) in row.iter().enumerate() {
                let panel = packed.panel::<T>(j / (T::GROUPS * GROUP * LINE));
                let line = panel.start + p * panel.stride + j / LINE % (T::GROUPS * GROUP);
                let scale = packed.scale[j / BLOCK].0[j % BLOCK];
                lines[packed.start + line].put(j % LINE, w / scale);
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
    /// What a sum is multiplied by in the end: 1, unless weights are rounded.
    pub(super) scale: Vec<Block>,
    pub(super) activation: Activation,
    /// The largest input that cannot make a sum overflow, whatever the others are. Inputs are cut at it:
    /// only numbers that no network means are larger.
    pub(super) limit: f32,
}

impl Packed {
    fn new<T: Stored>(layer: &Layer, start: usize) -> Result<Packed, Error> {
        let (inputs, outputs) = (layer.inputs, layer.outputs);
        let blocks = output_blocks(outputs);
        let mut packed = Packed {
            inputs,
            outputs,
            start,
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
            // Not so small that the bias would not fit; at such a distance the weights do not matter beside it.
            let least = (layer.bias[j].abs() * 2_f32.powi(-100)).max(f32::MIN_POSITIVE);
            let scale = match largest[j] {
                0.0 => 1.0,
                largest => T::scale(largest.max(least)),
            };
            let bias = (layer.bias[j] / scale).min(quarter).max(-quarter);
            packed.scale[j / BLOCK].0[j % BLOCK] = scale;
            // Not −0: a sum that starts there could tell an input of 0 from none.
            packed.bias[j / BLOCK].0[j % BLOCK] = bias + 0.0;
            let (part, unit) = T::ROUNDING;
            // Twice what rounding may add.
            let sum = sums[j] / f64::from(scale) * (1.0 + 2.0 * part) + 2.0 * unit * inputs as f64;
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
