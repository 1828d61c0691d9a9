//! Vectors and instruction sets.
//!
//! Kernels are written once, generic over an instruction-set token `S`, a scalar `F`, the vector
//! type `V` and its width `W`. [`fearless_simd`] supplies the vectors, so no kernel needs `unsafe`.
//! A value of [`Isa`] carries the proof that the machine has the instructions it names.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::__m256;
use core::ffi::CStr;
use core::marker::PhantomData;
#[cfg(target_arch = "x86_64")]
use fearless_simd::SimdInto;
use fearless_simd::{
    Level, Simd, SimdBase, SimdCombine, SimdFloat, SimdSplit, f32x4, f32x8, f64x2, f64x4,
};

/// A floating-point type the kernels run in: `f32` or `f64`.
pub(crate) trait Real:
    fearless_simd::SimdElement + Copy + Default + PartialOrd + Send + Sync + 'static
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The largest finite value.
    const MAX: Self;
    /// The smallest positive normal value.
    const TINY: Self;
    /// Not a number.
    const NAN: Self;
    /// The nearest value of this type.
    fn from_f64(x: f64) -> Self;
    /// The nearest `f32`, saturating at the largest finite one.
    fn to_f32(self) -> f32;
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// Whether the value is neither infinite nor NaN.
    fn finite(self) -> bool;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const MAX: Self = f32::MAX;
    const TINY: Self = f32::MIN_POSITIVE;
    const NAN: Self = f32::NAN;
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self.clamp(f32::MIN, f32::MAX)
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const MAX: Self = f64::MAX;
    const TINY: Self = f64::MIN_POSITIVE;
    const NAN: Self = f64::NAN;
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        (self as f32).clamp(f32::MIN, f32::MAX)
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }
}

/// A vector of `W` values of type `F`, on instruction set `S`.
pub(crate) trait Vector<S: Simd, F: Real, const W: usize>:
    SimdFloat<S, Element = F, Array = [F; W]>
{
    /// Transposes a `W`×`W` block.
    #[inline(always)]
    fn transpose(_simd: S, rows: [Self; W]) -> [Self; W] {
        transpose_by_shuffles(rows)
    }

    /// From a run of four values for every lane, a vector for every place in the runs.
    #[inline(always)]
    fn from_runs(simd: S, runs: [&[F; 4]; W]) -> [Self; 4] {
        let mut columns = [Self::splat(simd, F::ZERO); 4];
        for c in 0..4 {
            columns[c] = Self::from_fn(simd, |l| runs[l][c]);
        }
        columns
    }

    /// The reverse of [`Vector::from_runs`].
    #[inline(always)]
    fn to_runs(_simd: S, columns: [Self; 4], runs: [&mut [F; 4]; W]) {
        for c in 0..4 {
            let values = columns[c].to_array();
            for l in 0..W {
                runs[l][c] = values[l];
            }
        }
    }
}

/// `log2 W` rounds of a perfect shuffle.
#[inline(always)]
fn transpose_by_shuffles<S, F, V, const W: usize>(mut rows: [V; W]) -> [V; W]
where
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
{
    let mut round = 1;
    while round < W {
        let mut next = rows;
        for i in 0..W / 2 {
            let (low, high) = rows[i].interleave(rows[i + W / 2]);
            next[2 * i] = low;
            next[2 * i + 1] = high;
        }
        rows = next;
        round *= 2;
    }
    rows
}

impl<S: Simd> Vector<S, f64, 2> for f64x2<S> {}

impl<S: Simd> Vector<S, f32, 4> for f32x4<S> {
    #[inline(always)]
    fn from_runs(simd: S, runs: [&[f32; 4]; 4]) -> [Self; 4] {
        from_four_runs(simd, runs)
    }

    #[inline(always)]
    fn to_runs(simd: S, columns: [Self; 4], runs: [&mut [f32; 4]; 4]) {
        to_four_runs(simd, columns, runs);
    }
}

impl<S: Simd> Vector<S, f64, 4> for f64x4<S> {
    #[inline(always)]
    fn from_runs(simd: S, runs: [&[f64; 4]; 4]) -> [Self; 4] {
        from_four_runs(simd, runs)
    }

    #[inline(always)]
    fn to_runs(simd: S, columns: [Self; 4], runs: [&mut [f64; 4]; 4]) {
        to_four_runs(simd, columns, runs);
    }
}

/// [`Vector::from_runs`] for vectors of four.
#[inline(always)]
fn from_four_runs<S: Simd, F: Real, V: Vector<S, F, 4>>(simd: S, runs: [&[F; 4]; 4]) -> [V; 4] {
    let mut rows = [V::splat(simd, F::ZERO); 4];
    for l in 0..4 {
        rows[l] = V::load_array_ref(simd, runs[l]);
    }
    V::transpose(simd, rows)
}

/// [`Vector::to_runs`] for vectors of four.
#[inline(always)]
fn to_four_runs<S: Simd, F: Real, V: Vector<S, F, 4>>(
    simd: S,
    columns: [V; 4],
    runs: [&mut [F; 4]; 4],
) {
    let rows = V::transpose(simd, columns);
    for l in 0..4 {
        rows[l].store_array(runs[l]);
    }
}

#[cfg(test)]
impl<S: Simd> Vector<S, f32, 16> for fearless_simd::f32x16<S> {}
#[cfg(test)]
impl<S: Simd> Vector<S, f64, 8> for fearless_simd::f64x8<S> {}

impl<S: Simd> Vector<S, f32, 8> for f32x8<S> {
    /// On AVX2, in half the instructions: there, a perfect shuffle of eight takes two.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn transpose(simd: S, rows: [Self; 8]) -> [Self; 8] {
        match simd.level().as_avx2() {
            Some(avx2) => transpose_avx2(avx2, rows.map(Into::into)).map(
                #[inline(always)]
                |row| row.simd_into(simd),
            ),
            None => transpose_by_shuffles(rows),
        }
    }

    /// Lanes l and l + 4 share a vector on the way, whose halves are transposed side by side.
    #[inline(always)]
    fn from_runs(simd: S, runs: [&[f32; 4]; 8]) -> [Self; 4] {
        let mut rows = [Self::splat(simd, 0.0); 4];
        for l in 0..4 {
            let low = f32x4::load_array_ref(simd, runs[l]);
            rows[l] = low.combine(f32x4::load_array_ref(simd, runs[l + 4]));
        }
        transpose_halves(simd, rows)
    }

    #[inline(always)]
    fn to_runs(simd: S, columns: [Self; 4], runs: [&mut [f32; 4]; 8]) {
        let rows = transpose_halves(simd, columns);
        for l in 0..4 {
            let (low, high) = rows[l].split();
            low.store_array(runs[l]);
            high.store_array(runs[l + 4]);
        }
    }
}

/// Transposes the 4×4 blocks in the lower and in the upper halves of four vectors.
#[inline(always)]
fn transpose_halves<S: Simd>(simd: S, rows: [f32x8<S>; 4]) -> [f32x8<S>; 4] {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = simd.level().as_avx2() {
        return transpose_halves_avx2(avx2, rows.map(Into::into)).map(
            #[inline(always)]
            |row| row.simd_into(simd),
        );
    }
    let (mut low, mut high) = ([f32x4::splat(simd, 0.0); 4], [f32x4::splat(simd, 0.0); 4]);
    for r in 0..4 {
        (low[r], high[r]) = rows[r].split();
    }
    let (low, high) = (transpose_by_shuffles(low), transpose_by_shuffles(high));
    let mut turned = rows;
    for r in 0..4 {
        turned[r] = low[r].combine(high[r]);
    }
    turned
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline]
    fn transpose_halves_avx2(avx2: Avx2, r: [__m256; 4]) -> [__m256; 4] {
        use core::arch::x86_64::{
            _mm256_shuffle_ps as shuffle, _mm256_unpackhi_ps as high, _mm256_unpacklo_ps as low,
        };
        let (a, b) = (low(r[0], r[1]), low(r[2], r[3]));
        let (c, d) = (high(r[0], r[1]), high(r[2], r[3]));
        [
            shuffle::<0x44>(a, b),
            shuffle::<0xee>(a, b),
            shuffle::<0x44>(c, d),
            shuffle::<0xee>(c, d),
        ]
    }
);

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline]
    fn transpose_avx2(avx2: Avx2, r: [__m256; 8]) -> [__m256; 8] {
        use core::arch::x86_64::{
            _mm256_permute2f128_ps as halves, _mm256_shuffle_ps as shuffle,
            _mm256_unpackhi_ps as high, _mm256_unpacklo_ps as low,
        };
        // Pairs of rows, then quadruples, within each half of a vector; then the halves.
        let pairs = [
            low(r[0], r[1]),
            high(r[0], r[1]),
            low(r[2], r[3]),
            high(r[2], r[3]),
            low(r[4], r[5]),
            high(r[4], r[5]),
            low(r[6], r[7]),
            high(r[6], r[7]),
        ];
        let four = |top: usize, bottom: usize| {
            (
                shuffle::<0x44>(pairs[top], pairs[bottom]),
                shuffle::<0xee>(pairs[top], pairs[bottom]),
            )
        };
        let ((a, b), (c, d)) = (four(0, 2), four(1, 3));
        let ((e, f), (g, h)) = (four(4, 6), four(5, 7));
        [
            halves::<0x20>(a, e),
            halves::<0x20>(b, f),
            halves::<0x20>(c, g),
            halves::<0x20>(d, h),
            halves::<0x31>(a, e),
            halves::<0x31>(b, f),
            halves::<0x31>(c, g),
            halves::<0x31>(d, h),
        ]
    }
);

/// Loads and constants of one vector type.
///
/// Methods and not closures, here and in all kernels: vector code is only fast if it is inlined into
/// the function that enables the instruction set, and that can be asked of a method only.
pub(crate) struct Vectors<S, F, V, const W: usize> {
    simd: S,
    vector: PhantomData<(F, V)>,
}

impl<S: Copy, F, V, const W: usize> Clone for Vectors<S, F, V, W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Copy, F, V, const W: usize> Copy for Vectors<S, F, V, W> {}

impl<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize> Vectors<S, F, V, W> {
    #[inline(always)]
    pub(crate) fn new(simd: S) -> Self {
        Vectors {
            simd,
            vector: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn simd(self) -> S {
        self.simd
    }

    #[inline(always)]
    pub(crate) fn load(self, x: &[F; W]) -> V {
        V::load_array_ref(self.simd, x)
    }

    #[inline(always)]
    pub(crate) fn splat(self, x: F) -> V {
        V::splat(self.simd, x)
    }

    /// The nearest value of the type, in every lane.
    #[inline(always)]
    pub(crate) fn number(self, x: f64) -> V {
        V::splat(self.simd, F::from_f64(x))
    }
}

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

    /// The unrolled network's kernel.
    pub(crate) fn unrolled_name(self) -> &'static CStr {
        match self {
            Isa::Portable(_) if cfg!(target_arch = "x86_64") => c"unrolled sse2",
            Isa::Portable(_) if cfg!(target_arch = "aarch64") => c"unrolled neon",
            Isa::Portable(_) => c"unrolled portable",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => c"unrolled avx2",
        }
    }

    /// A dense network's kernel, with weights as they are or as halves.
    pub(crate) fn dense_name(self, half: bool) -> &'static CStr {
        let (single, half_name) = match self {
            Isa::Portable(_) if cfg!(target_arch = "x86_64") => (c"dense sse2", c"dense sse2 f16"),
            Isa::Portable(_) if cfg!(target_arch = "aarch64") => (c"dense neon", c"dense neon f16"),
            Isa::Portable(_) => (c"dense portable", c"dense portable f16"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => (c"dense avx2", c"dense avx2 f16"),
        };
        if half { half_name } else { single }
    }
}

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

/// Stores up to `W` values, as many as there is room for.
#[inline(always)]
pub(crate) fn store_run<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    values: V,
    run: &mut [F],
) {
    match run.first_chunk_mut::<W>() {
        Some(run) => values.store_array(run),
        // Half of them at once, if so many there are.
        None => {
            let values = values.to_array();
            let half = if run.len() < W / 2 { 0 } else { W / 2 };
            if half > 0 {
                run[..W / 2].copy_from_slice(&values[..W / 2]);
            }
            for (x, value) in run.iter_mut().zip(values).skip(half) {
                *x = value;
            }
        }
    }
}
