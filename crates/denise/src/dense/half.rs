//! Weights as IEEE 754 half-precision numbers: eleven significant bits, half the memory.

use crate::simd::{Fixed, Vector};
use fearless_simd::{Simd, f32x4, f32x8, f32x16};

/// The nearest half to a number below 2 in magnitude, ties to even.
pub(super) fn narrow(x: f32) -> u16 {
    debug_assert!(x.abs() < 2.0);
    let exponent = (x.abs().to_bits() >> 23) as i32 - 127;
    // Halves below 2⁻¹⁴ are equally spaced.
    let spacing = 2_f64.powi(exponent.max(-14) - 10);
    let nearest = ((f64::from(x.abs()) / spacing).round_ties_even() * spacing) as f32;
    let sign = (x.to_bits() >> 16) as u16 & 0x8000;
    sign | ((nearest / REBIAS).to_bits() >> 13) as u16
}

/// 2¹¹²: what the exponents of the two formats differ by.
const REBIAS: f32 = f32::from_bits((127 + 112) << 23);

/// The value of a finite half. Exact.
#[inline(always)]
fn widen(x: u16) -> f32 {
    let magnitude = f32::from_bits(u32::from(x & 0x7fff) << 13) * REBIAS;
    f32::from_bits(magnitude.to_bits() | u32::from(x & 0x8000) << 16)
}

/// A vector that can be loaded from halves.
pub(super) trait FromHalf: Vector<Scalar = f32> {
    /// As many halves.
    type Halves: Fixed<u16>;
    fn from_half(simd: Self::Token, x: &Self::Halves) -> Self;
}

impl<S: Simd> FromHalf for f32x4<S> {
    type Halves = [u16; 4];

    #[inline(always)]
    fn from_half(simd: S, x: &[u16; 4]) -> Self {
        widen_each(simd, x)
    }
}

impl<S: Simd> FromHalf for f32x8<S> {
    type Halves = [u16; 8];

    #[inline(always)]
    fn from_half(simd: S, x: &[u16; 8]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = simd.level().as_avx2() {
            use fearless_simd::{SimdBase, SimdInto, u16x8};
            return widen_avx2(avx2, u16x8::load_array_ref(simd, x).into()).simd_into(simd);
        }
        widen_each(simd, x)
    }
}

impl<S: Simd> FromHalf for f32x16<S> {
    type Halves = [u16; 16];

    #[inline(always)]
    fn from_half(simd: S, x: &[u16; 16]) -> Self {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        if let Some(avx512) = simd.level().as_avx512() {
            use fearless_simd::{SimdBase, SimdInto, u16x16};
            return widen_avx512(avx512, u16x16::load_array_ref(simd, x).into()).simd_into(simd);
        }
        widen_each(simd, x)
    }
}

/// [`FromHalf::from_half`], one by one.
#[inline(always)]
fn widen_each<V: FromHalf>(simd: V::Token, x: &V::Halves) -> V {
    let mut wide = V::Array::filled(0.0);
    for l in 0..V::W {
        wide[l] = widen(x[l]);
    }
    V::load_array_ref(simd, &wide)
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline]
    fn widen_avx2(avx2: Avx2, x: core::arch::x86_64::__m128i) -> core::arch::x86_64::__m256 {
        core::arch::x86_64::_mm256_cvtph_ps(x)
    }
);

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
fearless_simd::kernel!(
    #[inline]
    fn widen_avx512(avx512: Avx512, x: core::arch::x86_64::__m256i) -> core::arch::x86_64::__m512 {
        core::arch::x86_64::_mm512_cvtph_ps(x)
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;
    use fearless_simd::SimdBase;

    /// Finite halves below 2.
    fn halves() -> impl Iterator<Item = u16> {
        (0..0x4000_u16).flat_map(|x| [x, x | 0x8000])
    }

    #[test]
    fn every_half_survives_and_ties_go_to_even() {
        for x in halves() {
            assert_eq!(narrow(widen(x)), x, "{x:#x}");
        }
        for x in 0..0x3fff_u16 {
            let (low, high) = (f64::from(widen(x)), f64::from(widen(x + 1)));
            let middle = ((low + high) / 2.0) as f32;
            assert_eq!(narrow(middle), x + (x & 1), "{x:#x}");
            assert_eq!(narrow(middle.next_down()), x);
            assert_eq!(narrow(middle.next_up()), x + 1);
        }
        assert_eq!(widen(0x3c00), 1.0);
        assert_eq!(widen(1), 2_f32.powi(-24));
    }

    #[test]
    #[cfg_attr(not(target_arch = "x86_64"), allow(irrefutable_let_patterns))]
    fn vectors_widen_as_scalars_do() {
        let Isa::Portable(simd) = Isa::portable() else {
            unreachable!()
        };
        for x in halves() {
            let wide = f32x4::from_half(simd, &[x, 0, x, 1]).to_array();
            assert_eq!(wide.map(f32::to_bits)[2], widen(x).to_bits());
            #[cfg(target_arch = "x86_64")]
            if let Some(Isa::Avx2(simd)) = Isa::avx2() {
                let wide = f32x8::from_half(simd, &[x; 8]).to_array();
                assert_eq!(wide.map(f32::to_bits), [widen(x).to_bits(); 8]);
            }
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            if let Some(Isa::Avx512(simd)) = Isa::avx512() {
                let halves = core::array::from_fn(|l| x ^ l as u16);
                let wide = f32x16::from_half(simd, &halves).to_array();
                assert_eq!(wide.map(f32::to_bits), halves.map(|x| widen(x).to_bits()));
            }
        }
    }
}
