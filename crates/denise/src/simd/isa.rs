//! Instruction sets. A value of [`Isa`] is the proof that the machine has the instructions it names.

use fearless_simd::Level;

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

    /// The fastest one here.
    pub(crate) fn best() -> Isa {
        Isa::avx2().unwrap_or(Isa::portable())
    }
}
