//! The formats of weights: a line, the weights from one input to 16 outputs, in each of them.

use super::byte::{self, FromByte};
use super::half::{self, FromHalf};
use crate::simd::{Fixed, Vectors};

/// Outputs of a line.
pub(super) const LINE: usize = 16;

/// How weights are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    /// As they are: `f32`.
    Single,
    /// As 16-bit floating-point numbers.
    Half,
    /// As 8-bit whole numbers.
    Byte,
}

/// A vector that can be loaded from all of them.
pub(super) trait Widen: FromHalf + FromByte {}
impl<V: FromHalf + FromByte> Widen for V {}

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

#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [f32; LINE]);

#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct HalfLine([u16; LINE]);

#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct ByteLine([i8; LINE]);

/// A line in any format.
pub(super) trait Stored: Copy + Send + Sync {
    const ZERO: Self;
    /// Groups of a panel that is not the last.
    const GROUPS: usize;
    /// Fewer matrices than these take whole rows.
    const FEW: usize;
    /// Rounding changes a weight by no more than this part of it, and this much of the scale.
    const ROUNDING: (f64, f64);

    /// What the weights of an output are divided by, if this is the largest magnitude of them.
    fn scale(largest: f32) -> f32;
    /// Writes the weight of output `l`, divided by its scale.
    fn put(&mut self, l: usize, weight: f32);
    /// Vector number `v` of it.
    fn vector<V: Widen>(&self, vectors: Vectors<V>, v: usize) -> V;

    /// The same weights as lines of `f32`, for which there is room in `wide`.
    #[inline(never)]
    fn widen<'a, V: Widen>(
        vectors: Vectors<V>,
        stored: Rows<'a, Self>,
        wide: &'a mut [Line],
    ) -> Rows<'a, Line> {
        let width = stored.width;
        let inputs = stored.lines.len().div_ceil(stored.stride);
        let lines = &mut wide[..inputs * width];
        vectors.vectorize(
            #[inline(always)]
            || {
                for (p, wide) in lines.chunks_exact_mut(width).enumerate() {
                    for (narrow, line) in stored.row(p).iter().zip(wide) {
                        for (v, to) in V::Array::chunks_mut(&mut line.0).iter_mut().enumerate() {
                            narrow.vector(vectors, v).store_array(to);
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

/// Made for batches: what they read of a block of inputs is in one piece.
impl Stored for Line {
    const ZERO: Line = Line([0.0; LINE]);
    const GROUPS: usize = 1;
    const FEW: usize = 2;
    const ROUNDING: (f64, f64) = (0.0, 0.0);

    fn scale(_: f32) -> f32 {
        1.0
    }

    fn put(&mut self, l: usize, weight: f32) {
        self.0[l] = weight;
    }

    #[inline(always)]
    fn vector<V: Widen>(&self, vectors: Vectors<V>, v: usize) -> V {
        vectors.load(&V::Array::chunks(&self.0)[v])
    }

    fn widen<'a, V: Widen>(
        _: Vectors<V>,
        stored: Rows<'a, Line>,
        _: &'a mut [Line],
    ) -> Rows<'a, Line> {
        stored
    }
}

/// Made for one matrix: what it reads of an input is in one piece, long enough for the processor to see it coming.
impl Stored for HalfLine {
    const ZERO: HalfLine = HalfLine([0; LINE]);
    const GROUPS: usize = 9;
    const FEW: usize = 7;
    const ROUNDING: (f64, f64) = (1.0 / 2048.0, 0.0);

    /// The largest power of two that is not above it, so that the quotient is below 2; dividing by it is exact.
    fn scale(largest: f32) -> f32 {
        f32::from_bits(largest.to_bits() & 0x7f80_0000)
    }

    fn put(&mut self, l: usize, weight: f32) {
        self.0[l] = half::narrow(weight);
    }

    #[inline(always)]
    fn vector<V: Widen>(&self, vectors: Vectors<V>, v: usize) -> V {
        V::from_half(vectors.simd(), &V::Halves::chunks(&self.0)[v])
    }
}

/// Made for one matrix too.
impl Stored for ByteLine {
    const ZERO: ByteLine = ByteLine([0; LINE]);
    const GROUPS: usize = 9;
    const FEW: usize = 6;
    const ROUNDING: (f64, f64) = (0.0, 0.5);

    fn scale(largest: f32) -> f32 {
        largest / byte::MOST
    }

    fn put(&mut self, l: usize, weight: f32) {
        self.0[l] = byte::narrow(weight);
    }

    #[inline(always)]
    fn vector<V: Widen>(&self, vectors: Vectors<V>, v: usize) -> V {
        V::from_byte(vectors.simd(), &V::Whole::chunks(&self.0)[v])
    }
}
