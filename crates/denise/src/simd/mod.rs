//! Vectors and instruction sets.
//!
//! Kernels are written once, generic over a vector type alone: [`Vector`] carries the scalar, the width and the
//! instruction set. [`fearless_simd`] supplies the vectors, so no kernel needs `unsafe`.
//!
//! - `isa`: the instruction sets, as proofs that the machine has them.
//! - `vector`: what a kernel may ask of a vector, and of its scalar.
//! - `widths`: the vectors there are. `transpose`: how they turn blocks of values.

#![allow(
    clippy::needless_range_loop,
    reason = "kernels walk several arrays by one index, and iterators of vectors are not always inlined"
)]

mod isa;
mod transpose;
mod vector;
mod widths;

pub(crate) use isa::Isa;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub(crate) use isa::narrow;
pub(crate) use vector::{Fixed, Real, Runs, RunsMut, Vector, Vectors};

/// Asks for the cache line of a value that will be read soon.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint, which reads nothing and faults nowhere; every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T1>((&raw const *value).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
