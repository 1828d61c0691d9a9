//! Instruction sets. A value of [`Isa`] is the proof that the machine has the instructions it names.

use fearless_simd::Level;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use fearless_simd::Simd;

/// The instructions that every machine of this architecture has.
#[cfg(target_arch = "x86_64")]
pub(crate) type Baseline = fearless_simd::Sse2;
#[cfg(target_arch = "aarch64")]
pub(crate) type Baseline = fearless_simd::Neon;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) type Baseline = fearless_simd::Fallback;

fn baseline() -> Baseline {
    let level = Level::baseline();
    #[cfg(target_arch = "x86_64")]
    let token = level.as_sse2();
    #[cfg(target_arch = "aarch64")]
    let token = level.as_neon();
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let token = match level {
        Level::Fallback(token) => Some(token),
        _ => None,
    };
    token.expect("part of the architecture")
}

/// An instruction set that this machine has.
#[derive(Clone, Copy)]
pub(crate) enum Isa {
    /// What every machine of this architecture has.
    Portable(Baseline),
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::Avx2),
    /// With all that Ice Lake and Zen 4 have of it.
    #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
    Avx512(fearless_simd::Avx512),
}

impl Isa {
    pub(crate) fn portable() -> Isa {
        Isa::Portable(baseline())
    }

    pub(crate) fn avx2() -> Option<Isa> {
        #[cfg(target_arch = "x86_64")]
        return Level::new().as_avx2().map(Isa::Avx2);
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    pub(crate) fn avx512() -> Option<Isa> {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        return Level::new().as_avx512().map(Isa::Avx512);
        #[cfg(not(all(target_arch = "x86_64", feature = "avx512")))]
        None
    }

    /// The widest one here.
    pub(crate) fn best() -> Isa {
        Isa::avx512().or(Isa::avx2()).unwrap_or(Isa::portable())
    }

    /// All that there are here.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Isa> {
        let wide = [Isa::avx2(), Isa::avx512()].into_iter().flatten();
        [Isa::portable()].into_iter().chain(wide).collect()
    }
}

/// Every machine with AVX-512 has AVX2, for what is no faster with wider vectors.
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
#[inline(always)]
pub(crate) fn narrow(simd: fearless_simd::Avx512) -> fearless_simd::Avx2 {
    simd.level().as_avx2().expect("part of AVX-512")
}
