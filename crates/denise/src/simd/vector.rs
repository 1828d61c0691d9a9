//! What a kernel is generic over: one vector type, which knows its value, its width and its instruction set.

use super::isa::Baseline;
use core::ops::{Index, IndexMut};
use fearless_simd::{Simd, SimdFloat, SimdFloatElement};

/// A floating-point type the kernels run in: `f32` or `f64`.
pub(crate) trait Real:
    SimdFloatElement + From<f32> + Into<f64> + Send + Sync + 'static
{
    /// Its vectors on every machine of this architecture.
    type Portable: Vector<Token = Baseline, Scalar = Self>;
    /// Its vectors on AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Token = fearless_simd::Avx2, Scalar = Self>;
    /// Its vectors on AVX-512.
    #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
    type Avx512: Vector<Token = fearless_simd::Avx512, Scalar = Self>;

    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The largest finite value.
    const MAX: Self;
    /// The smallest positive normal value.
    const TINY: Self;
    /// A column of which less than the root of this is left counts as parallel to those before it.
    const PARALLEL: Self;
    /// Not a number.
    const NAN: Self;
    /// How far rounding moves a value, relative to it.
    const ULP: f64;
    /// The nearest value of this type.
    fn from_f64(x: f64) -> Self;
    /// The nearest `f32`, saturating at the largest finite one.
    fn to_f32(self) -> f32;
    /// Whether the value is neither infinite nor NaN.
    fn finite(self) -> bool;
}

/// A vector of [`Vector::W`] values of one type, on one instruction set.
///
/// In memory it is `V::Array`, which is `[V::Scalar; W]`.
pub(crate) trait Vector:
    SimdFloat<
        <Self as Vector>::Token,
        Element = <Self as Vector>::Scalar,
        Array: Fixed<<Self as Vector>::Scalar>,
    >
{
    /// The instruction set. Who has a value of it may use the vector.
    type Token: Simd;
    /// `f32` or `f64`.
    type Scalar: Real;
    /// `W` vectors: a `W`×`W` block.
    type Square: Fixed<Self>;
    /// Vectors of four values where that is a half or a quarter of these, or else these.
    type Tail: Vector<Token = Self::Token, Scalar = Self::Scalar>;
    /// Values in a vector.
    const W: usize = Self::Square::LEN;

    /// Transposes a `W`×`W` block.
    fn transpose(simd: Self::Token, rows: Self::Square) -> Self::Square;

    /// A vector that begins with these values, and has `rest` in all other lanes.
    fn from_tail(simd: Self::Token, tail: Self::Tail, rest: Self::Scalar) -> Self;

    /// From run number `row` of every lane, a vector for every place in the run.
    fn from_runs(simd: Self::Token, runs: &impl Runs<Self::Scalar>, row: usize) -> [Self; 4];

    /// The reverse of [`Vector::from_runs`].
    fn to_runs(
        simd: Self::Token,
        columns: [Self; 4],
        runs: &mut impl RunsMut<Self::Scalar>,
        row: usize,
    );
}

/// Runs of four values, several of them for every lane of a vector.
pub(crate) trait Runs<T> {
    fn run(&self, lane: usize, row: usize) -> &[T; 4];
}

/// Such runs, to write to.
pub(crate) trait RunsMut<T> {
    fn run_mut(&mut self, lane: usize, row: usize) -> &mut [T; 4];
}

/// The array `[T; LEN]`, where the length belongs to a vector that the code is generic over and cannot be written.
pub(crate) trait Fixed<T>:
    Copy + Send + Sync + Index<usize, Output = T> + IndexMut<usize>
{
    const LEN: usize;
    /// The value, everywhere.
    fn filled(x: T) -> Self;
    /// All values of arrays.
    fn values_mut(x: &mut [Self]) -> &mut [T];
    /// As many whole arrays as there are in a slice.
    fn chunks(x: &[T]) -> &[Self];
    /// Likewise, to write to.
    fn chunks_mut(x: &mut [T]) -> &mut [Self];
}

impl<T: Copy + Send + Sync, const LEN: usize> Fixed<T> for [T; LEN] {
    const LEN: usize = LEN;

    #[inline(always)]
    fn filled(x: T) -> Self {
        [x; LEN]
    }

    #[inline(always)]
    fn values_mut(x: &mut [Self]) -> &mut [T] {
        x.as_flattened_mut()
    }

    #[inline(always)]
    fn chunks(x: &[T]) -> &[Self] {
        x.as_chunks().0
    }

    #[inline(always)]
    fn chunks_mut(x: &mut [T]) -> &mut [Self] {
        x.as_chunks_mut().0
    }
}

/// Loads and constants of one vector type, on a machine that has it. Kernels take this as their first argument.
///
/// Methods and not closures, here and in all kernels: vector code is only fast if it is inlined into
/// the function that enables the instruction set, and that can be asked of a method only.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<V: Vector> {
    simd: V::Token,
}

impl<V: Vector> Vectors<V> {
    #[inline(always)]
    pub(crate) fn new(simd: V::Token) -> Self {
        Vectors { simd }
    }

    #[inline(always)]
    pub(crate) fn simd(self) -> V::Token {
        self.simd
    }

    /// Runs what is inlined into `body` on the instruction set.
    #[inline(always)]
    pub(crate) fn vectorize<R>(self, body: impl FnOnce() -> R) -> R {
        self.simd.vectorize(body)
    }

    #[inline(always)]
    pub(crate) fn load(self, x: &V::Array) -> V {
        V::load_array_ref(self.simd, x)
    }

    #[inline(always)]
    pub(crate) fn splat(self, x: V::Scalar) -> V {
        V::splat(self.simd, x)
    }

    #[inline(always)]
    pub(crate) fn zero(self) -> V {
        self.splat(V::Scalar::ZERO)
    }

    #[inline(always)]
    pub(crate) fn one(self) -> V {
        self.splat(V::Scalar::ONE)
    }

    /// The nearest value of the type, in every lane.
    #[inline(always)]
    pub(crate) fn number(self, x: f64) -> V {
        self.splat(V::Scalar::from_f64(x))
    }
}
