//! Medians, and what the machine could do at best.

use std::time::Instant;

/// The middle value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// GFLOP/s of fused multiply-adds on values in registers, for about a millisecond, with the widest vectors that there
/// are.
pub(crate) fn fma_peak() -> f64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the machine has the instructions.
        return unsafe { fma_peak_avx512() };
    } else if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
    {
        // SAFETY: likewise.
        return unsafe { fma_peak_avx2() };
    }
    f64::NAN
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fma_peak_avx512() -> f64 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};
    let (x, y) = (
        _mm512_set1_ps(std::hint::black_box(0.999)),
        _mm512_set1_ps(1e-3),
    );
    peak_of(16, _mm512_set1_ps(1.0), |sum| _mm512_fmadd_ps(sum, x, y))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fma_peak_avx2() -> f64 {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
    let (x, y) = (
        _mm256_set1_ps(std::hint::black_box(0.999)),
        _mm256_set1_ps(1e-3),
    );
    peak_of(8, _mm256_set1_ps(1.0), |sum| _mm256_fmadd_ps(sum, x, y))
}

/// Of vectors with so many lanes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn peak_of<V: Copy>(lanes: usize, one: V, fma: impl Fn(V) -> V) -> f64 {
    const ROUNDS: usize = 40_000;
    // Twelve chains: more than the latency of an addition times the units that add.
    let mut sums = [one; 12];
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for sum in &mut sums {
            *sum = fma(*sum);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    std::hint::black_box(sums);
    (ROUNDS * 12 * lanes * 2) as f64 / seconds / 1e9
}
