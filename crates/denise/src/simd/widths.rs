//! Which vectors there are: one for each scalar and width, with the fastest way to turn its blocks.

use super::isa::Baseline;
use super::transpose;
use super::vector::{Real, Runs, RunsMut, Vector};
use fearless_simd::{Simd, SimdBase, SimdCombine, f32x4, f32x8, f32x16, f64x2, f64x4, f64x8};

impl Real for f32 {
    type Portable = f32x4<Baseline>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = f32x8<fearless_simd::Avx2>;
    #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
    type Avx512 = f32x16<fearless_simd::Avx512>;

    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const MAX: Self = f32::MAX;
    const TINY: Self = f32::MIN_POSITIVE;
    const PARALLEL: Self = (64.0 * f32::EPSILON) * (64.0 * f32::EPSILON);
    const NAN: Self = f32::NAN;
    const ULP: f64 = f32::EPSILON as f64 / 2.0;
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self.clamp(f32::MIN, f32::MAX)
    }
    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl Real for f64 {
    type Portable = f64x2<Baseline>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = f64x4<fearless_simd::Avx2>;
    #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
    type Avx512 = f64x8<fearless_simd::Avx512>;

    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const MAX: Self = f64::MAX;
    const TINY: Self = f64::MIN_POSITIVE;
    const PARALLEL: Self = 1e-18;
    const NAN: Self = f64::NAN;
    const ULP: f64 = f64::EPSILON / 2.0;
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        (self as f32).clamp(f32::MIN, f32::MAX)
    }
    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl<S: Simd> Vector for f64x2<S> {
    type Token = S;
    type Scalar = f64;
    type Square = [Self; 2];
    type Tail = Self;

    #[inline(always)]
    fn transpose(_: S, rows: [Self; 2]) -> [Self; 2] {
        transpose::by_shuffles::<Self>(rows)
    }

    #[inline(always)]
    fn from_tail(_: S, tail: Self, _: Self::Scalar) -> Self {
        tail
    }

    #[inline(always)]
    fn from_runs(simd: S, runs: &impl Runs<f64>, row: usize) -> [Self; 4] {
        transpose::from_runs(simd, runs, row)
    }

    #[inline(always)]
    fn to_runs(_: S, columns: [Self; 4], runs: &mut impl RunsMut<f64>, row: usize) {
        transpose::to_runs(columns, runs, row);
    }
}

impl<S: Simd> Vector for f32x4<S> {
    type Token = S;
    type Scalar = f32;
    type Square = [Self; 4];
    type Tail = Self;

    #[inline(always)]
    fn transpose(_: S, rows: [Self; 4]) -> [Self; 4] {
        transpose::by_shuffles::<Self>(rows)
    }

    #[inline(always)]
    fn from_tail(_: S, tail: Self, _: Self::Scalar) -> Self {
        tail
    }

    #[inline(always)]
    fn from_runs(simd: S, runs: &impl Runs<f32>, row: usize) -> [Self; 4] {
        transpose::from_four_runs(simd, runs, 0, row)
    }

    #[inline(always)]
    fn to_runs(simd: S, columns: [Self; 4], runs: &mut impl RunsMut<f32>, row: usize) {
        transpose::to_four_runs(simd, columns, runs, 0, row);
    }
}

impl<S: Simd> Vector for f64x4<S> {
    type Token = S;
    type Scalar = f64;
    type Square = [Self; 4];
    type Tail = Self;

    #[inline(always)]
    fn transpose(_: S, rows: [Self; 4]) -> [Self; 4] {
        transpose::by_shuffles::<Self>(rows)
    }

    #[inline(always)]
    fn from_tail(_: S, tail: Self, _: Self::Scalar) -> Self {
        tail
    }

    #[inline(always)]
    fn from_runs(simd: S, runs: &impl Runs<f64>, row: usize) -> [Self; 4] {
        transpose::from_four_runs(simd, runs, 0, row)
    }

    #[inline(always)]
    fn to_runs(simd: S, columns: [Self; 4], runs: &mut impl RunsMut<f64>, row: usize) {
        transpose::to_four_runs(simd, columns, runs, 0, row);
    }
}

impl<S: Simd> Vector for f32x8<S> {
    type Token = S;
    type Scalar = f32;
    type Square = [Self; 8];
    type Tail = Self;

    #[inline(always)]
    fn transpose(simd: S, rows: [Self; 8]) -> [Self; 8] {
        transpose::eight(simd, rows)
    }

    #[inline(always)]
    fn from_tail(_: S, tail: Self, _: Self::Scalar) -> Self {
        tail
    }

    #[inline(always)]
    fn from_runs(simd: S, runs: &impl Runs<f32>, row: usize) -> [Self; 4] {
        transpose::from_eight_runs(simd, runs, 0, row)
    }

    #[inline(always)]
    fn to_runs(simd: S, columns: [Self; 4], runs: &mut impl RunsMut<f32>, row: usize) {
        transpose::to_eight_runs(simd, columns, runs, 0, row);
    }
}

impl<S: Simd> Vector for f64x8<S> {
    type Token = S;
    type Scalar = f64;
    type Square = [Self; 8];
    type Tail = f64x4<S>;

    #[inline(always)]
    fn transpose(_: S, rows: [Self; 8]) -> [Self; 8] {
        transpose::by_shuffles::<Self>(rows)
    }

    #[inline(always)]
    fn from_tail(simd: S, tail: f64x4<S>, rest: f64) -> Self {
        tail.combine(f64x4::splat(simd, rest))
    }

    #[inline(always)]
    fn from_runs(simd: S, runs: &impl Runs<f64>, row: usize) -> [Self; 4] {
        let low: [f64x4<S>; 4] = transpose::from_four_runs(simd, runs, 0, row);
        let high = transpose::from_four_runs(simd, runs, 4, row);
        transpose::from_halves(low, high)
    }

    #[inline(always)]
    fn to_runs(simd: S, columns: [Self; 4], runs: &mut impl RunsMut<f64>, row: usize) {
        let (low, high) = transpose::to_halves(columns);
        transpose::to_four_runs(simd, low, runs, 0, row);
        transpose::to_four_runs(simd, high, runs, 4, row);
    }
}

impl<S: Simd> Vector for f32x16<S> {
    type Token = S;
    type Scalar = f32;
    type Square = [Self; 16];
    type Tail = f32x4<S>;

    #[inline(always)]
    fn transpose(_: S, rows: [Self; 16]) -> [Self; 16] {
        transpose::by_shuffles::<Self>(rows)
    }

    #[inline(always)]
    fn from_tail(simd: S, tail: f32x4<S>, rest: f32) -> Self {
        let half = tail.combine(f32x4::splat(simd, rest));
        half.combine(f32x8::splat(simd, rest))
    }

    #[inline(always)]
    fn from_runs(simd: S, runs: &impl Runs<f32>, row: usize) -> [Self; 4] {
        let low: [f32x8<S>; 4] = transpose::from_eight_runs(simd, runs, 0, row);
        let high = transpose::from_eight_runs(simd, runs, 8, row);
        transpose::from_halves(low, high)
    }

    #[inline(always)]
    fn to_runs(simd: S, columns: [Self; 4], runs: &mut impl RunsMut<f32>, row: usize) {
        let (low, high) = transpose::to_halves(columns);
        transpose::to_eight_runs(simd, low, runs, 0, row);
        transpose::to_eight_runs(simd, high, runs, 8, row);
    }
}
