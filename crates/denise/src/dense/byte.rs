//! Weights as whole numbers from −127 to 127: a quarter of the memory.

use crate::simd::{Fixed, Vector};
use fearless_simd::{Simd, f32x4, f32x8, f32x16};

/// The largest.
pub(super) const MOST: f32 = 127.0;

/// The nearest whole number, ties to even.
pub(super) fn narrow(x: f32) -> i8 {
    x.round_ties_even().clamp(-MOST, MOST) as i8
}

/// A vector that can be loaded from bytes. Exact.
pub(super) trait FromByte: Vector<Scalar = f32> {
    /// As many bytes.
    type Whole: Fixed<i8>;
    fn from_byte(simd: Self::Token, x: &Self::Whole) -> Self;
}

impl<S: Simd> FromByte for f32x4<S> {
    type Whole = [i8; 4];

    #[inline(always)]
    fn from_byte(simd: S, x: &[i8; 4]) -> Self {
        widen_each(simd, x)
    }
}

impl<S: Simd> FromByte for f32x8<S> {
    type Whole = [i8; 8];

    #[inline(always)]
    fn from_byte(simd: S, x: &[i8; 8]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = simd.level().as_avx2() {
            use fearless_simd::SimdInto;
            let bytes = i64::from_ne_bytes(x.map(|x| x as u8));
            return widen_avx2(avx2, bytes).simd_into(simd);
        }
        widen_each(simd, x)
    }
}

impl<S: Simd> FromByte for f32x16<S> {
    type Whole = [i8; 16];

    #[inline(always)]
    fn from_byte(simd: S, x: &[i8; 16]) -> Self {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        if let Some(avx512) = simd.level().as_avx512() {
            use fearless_simd::{SimdBase, SimdInto, i8x16};
            return widen_avx512(avx512, i8x16::load_array_ref(simd, x).into()).simd_into(simd);
        }
        widen_each(simd, x)
    }
}

/// [`FromByte::from_byte`], one by one.
#[inline(always)]
fn widen_each<V: FromByte>(simd: V::Token, x: &V::Whole) -> V {
    let mut wide = V::Array::filled(0.0);
    for l in 0..V::W {
        wide[l] = f32::from(x[l]);
    }
    V::load_array_ref(simd, &wide)
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline]
    fn widen_avx2(avx2: Avx2, x: i64) -> core::arch::x86_64::__m256 {
        use core::arch::x86_64::{_mm_cvtsi64_si128, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps};
        _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_cvtsi64_si128(x)))
    }
);

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
fearless_simd::kernel!(
    #[inline]
    fn widen_avx512(avx512: Avx512, x: core::arch::x86_64::__m128i) -> core::arch::x86_64::__m512 {
        use core::arch::x86_64::{_mm512_cvtepi8_epi32, _mm512_cvtepi32_ps};
        _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(x))
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;
    use fearless_simd::SimdBase;

    #[test]
    fn the_nearest_whole_number() {
        for x in -127..=127_i8 {
            let exact = f32::from(x);
            assert_eq!(narrow(exact), x);
            assert_eq!(narrow(exact + 0.499), x);
            assert_eq!(narrow(exact - 0.499), x);
        }
        assert_eq!([0.5, 1.5, -0.5, -1.5].map(narrow), [0, 2, 0, -2]);
        assert_eq!([127.4, 128.0, -130.0].map(narrow), [127, 127, -127]);
    }

    #[test]
    #[cfg_attr(not(target_arch = "x86_64"), allow(irrefutable_let_patterns))]
    fn vectors_widen_as_scalars_do() {
        let Isa::Portable(simd) = Isa::portable() else {
            unreachable!()
        };
        for x in -127..=127_i8 {
            let wide = f32x4::from_byte(simd, &[0, x, 1, -x]).to_array();
            assert_eq!(wide, [0.0, f32::from(x), 1.0, f32::from(-x)]);
            #[cfg(target_arch = "x86_64")]
            if let Some(Isa::Avx2(simd)) = Isa::avx2() {
                let wide = f32x8::from_byte(simd, &[x, 0, -x, 1, 2, 3, -4, x]).to_array();
                let [plus, minus] = [f32::from(x), f32::from(-x)];
                assert_eq!(wide, [plus, 0.0, minus, 1.0, 2.0, 3.0, -4.0, plus]);
            }
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            if let Some(Isa::Avx512(simd)) = Isa::avx512() {
                let bytes = core::array::from_fn(|l| x.wrapping_add(l as i8).max(-127));
                let wide = f32x16::from_byte(simd, &bytes).to_array();
                assert_eq!(wide, bytes.map(f32::from));
            }
        }
    }
}
