//! A covariance that can be inverted: Σ = UUᵀ + diag(d).
//!
//! L + S is M again, so who needs Σ⁻¹ needs something else. Σ keeps the common part L = UUᵀ and, of S, the diagonal:
//! what each asset does on its own. It is positive definite, and with Woodbury's identity its inverse, its determinant
//! and products with either cost O(nk²), not O(n³).
//!
//! - `specific`: d, with its floor. `woodbury`: the k×k system behind the inverse. `blocks`: n×n matrices from rows.
//! - All of it is computed in `f64`, whatever the caller's type is, from d as the caller gets it.

mod blocks;
mod specific;
mod woodbury;

pub use crate::size::check_size;
pub use specific::{DEFAULT_FLOOR, LEAST_FLOOR};

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use crate::simd::narrow;
use crate::simd::{Isa, Real, Vectors};
use crate::size::{MAX_K, MAX_N};
use crate::status::{Error, Status};
use blocks::Blocks;
use specific::Rule;
use woodbury::Core;

/// Where covariances go; whatever is `None` is not computed.
#[derive(Debug, Default)]
pub struct Outputs<'a, F> {
    /// `count` times d, n values each.
    pub d: Option<&'a mut [F]>,
    /// `count` matrices Σ, n×n, symmetric to the bit.
    pub sigma: Option<&'a mut [F]>,
    /// `count` matrices Σ⁻¹, likewise.
    pub inverse: Option<&'a mut [F]>,
    /// `count` times log det Σ.
    pub log_det: Option<&'a mut [f64]>,
}

/// Σ = UUᵀ + diag(d) with d_i = max(S_ii, floor · M_ii), from factors that are there already, such as those of a stream.
///
/// Of every matrix of `m` (n×n each) the diagonal is read, and `u` has n×k values for each. `floor` 0 is
/// [`DEFAULT_FLOOR`]. Where M_ii is NaN, which means that it is not known, or not positive, d_i is the mean of the others.
/// So Σ is positive definite whatever comes in.
///
/// Never allocates. An error about lengths leaves the outputs as they were. [`Status::NotFinite`] means that U, or a
/// variance, of some matrix was not finite, and [`Status::Singular`] that none of its variances was positive: the outputs
/// of such a matrix are NaN, and all others are valid.
///
/// ```
/// use denise::covariance::{self, Outputs};
///
/// // One factor and two assets: the first is the factor, the second half of it.
/// let (m, u) = ([1.25, 0.5, 0.5, 0.5], [1.0, 0.5]);
/// let (mut d, mut inverse) = ([0.0; 2], [0.0; 4]);
/// let out = Outputs { d: Some(&mut d), inverse: Some(&mut inverse), ..Outputs::default() };
/// covariance::from_u(2, 1, &m, &u, 0.0, out)?;
/// assert_eq!(d, [0.25, 0.25]);
/// // Σ = [1.25 .5; .5 .5], with determinant .375.
/// assert!((inverse[0] - 0.5 / 0.375_f64).abs() < 1e-12);
/// # Ok::<(), denise::Error>(())
/// ```
#[allow(private_bounds, reason = "sealed: f32 and f64")]
pub fn from_u<F: Real>(
    n: usize,
    k: usize,
    m: &[F],
    u: &[F],
    floor: f64,
    out: Outputs<'_, F>,
) -> Result<(), Error> {
    check_size(n, k)?;
    let count = m.len() / (n * n);
    if m.len() != count * n * n {
        return Err(wrong_lengths());
    }
    let variance = |at: usize, i: usize| m[at * n * n + i * (n + 1)].into();
    from_variances(n, k, count, &variance, u, floor, out, &mut |_, _| {})
}

/// The same from variances alone: `variances` has n values for every matrix, the diagonal of M.
#[allow(private_bounds, reason = "sealed: f32 and f64")]
pub fn from_diagonal<F: Real>(
    n: usize,
    k: usize,
    variances: &[F],
    u: &[F],
    floor: f64,
    out: Outputs<'_, F>,
) -> Result<(), Error> {
    check_size(n, k)?;
    let count = variances.len() / n;
    if variances.len() != count * n {
        return Err(wrong_lengths());
    }
    let variance = |at: usize, i: usize| variances[at * n + i].into();
    from_variances(n, k, count, &variance, u, floor, out, &mut |_, _| {})
}

/// The same from variances wherever they are, for `count` matrices. `failed` hears of those that have no Σ, and why. Both are behind
/// pointers, so that there is one copy of all this for each precision.
#[allow(clippy::too_many_arguments, reason = "what there is to know")]
pub(crate) fn from_variances<F: Real>(
    n: usize,
    k: usize,
    count: usize,
    variance: &dyn Fn(usize, usize) -> f64,
    u: &[F],
    floor: f64,
    mut out: Outputs<'_, F>,
    failed: &mut dyn FnMut(usize, Status),
) -> Result<(), Error> {
    check(n, k, count, u.len(), floor, &out)?;
    let rule = Rule::<F>::new(n, floor)?;
    let (mut d, mut core, mut blocks) = ([F::ZERO; MAX_N], Core::new(), Blocks::new());
    let d = &mut d[..n];
    let mut all = Ok(());
    for at in 0..count {
        let u = &u[at * n * k..][..n * k];
        let outcome = rule.specific(k, u, |i| variance(at, i), d);
        let sound = outcome.is_ok();
        if let Err(status) = outcome {
            // That something is not a number says more than that nothing is positive.
            if all != Err(Status::NotFinite) {
                all = outcome;
            }
            d.fill(F::NAN);
            failed(at, status);
        }
        if let Some(out) = &mut out.d {
            out[at * n..][..n].copy_from_slice(d);
        }
        if let Some(out) = &mut out.sigma {
            let out = &mut out[at * n * n..][..n * n];
            match sound {
                true => vectorize(
                    #[inline(always)]
                    || sigma(&mut blocks, n, k, u, d, out),
                ),
                false => out.fill(F::NAN),
            }
        }
        if out.inverse.is_none() && out.log_det.is_none() {
            continue;
        }
        if sound {
            core.factorise(k, u, d);
        }
        if let Some(out) = &mut out.log_det {
            out[at] = match sound {
                true => core.log_det(k, d),
                false => f64::NAN,
            };
        }
        if let Some(out) = &mut out.inverse {
            let out = &mut out[at * n * n..][..n * n];
            match sound {
                true => vectorize(
                    #[inline(always)]
                    || inverse(&mut blocks, &core, n, k, u, d, out),
                ),
                false => out.fill(F::NAN),
            }
        }
    }
    all.map_err(Error::from)
}

/// Whether the arguments fit each other, for `count` matrices.
pub(crate) fn check<F: Real>(
    n: usize,
    k: usize,
    count: usize,
    u: usize,
    floor: f64,
    out: &Outputs<'_, F>,
) -> Result<(), Error> {
    Rule::<F>::new(n, floor)?;
    let fits = |len: Option<usize>, each: usize| len.is_none_or(|len| len == count * each);
    if u != count * n * k
        || !fits(out.d.as_ref().map(|x| x.len()), n)
        || !fits(out.sigma.as_ref().map(|x| x.len()), n * n)
        || !fits(out.inverse.as_ref().map(|x| x.len()), n * n)
        || !fits(out.log_det.as_ref().map(|x| x.len()), 1)
    {
        return Err(wrong_lengths());
    }
    Ok(())
}

/// x ← Σ x, for every matrix with its U (n×k) and its d: `x` has n rows of `columns` values for each. Never allocates.
/// [`Status::NotFinite`]: a matrix for which something is not finite, or the product is too large, gets NaN, and all others
/// are valid.
#[allow(private_bounds, reason = "sealed: f32 and f64")]
pub fn multiply<F: Real>(
    n: usize,
    k: usize,
    u: &[F],
    d: &[F],
    columns: usize,
    x: &mut [F],
) -> Result<(), Error> {
    each(n, k, u, d, columns, x, false)
}

/// x ← Σ⁻¹ x, likewise. [`Status::Singular`]: a d is not positive; the x of its matrix is NaN, and all others are valid.
#[allow(private_bounds, reason = "sealed: f32 and f64")]
pub fn solve<F: Real>(
    n: usize,
    k: usize,
    u: &[F],
    d: &[F],
    columns: usize,
    x: &mut [F],
) -> Result<(), Error> {
    each(n, k, u, d, columns, x, true)
}

/// Columns that are multiplied at a time.
const STRIP: usize = 16;

fn each<F: Real>(
    n: usize,
    k: usize,
    u: &[F],
    d: &[F],
    columns: usize,
    x: &mut [F],
    invert: bool,
) -> Result<(), Error> {
    check_size(n, k)?;
    let count = d.len() / n;
    let len = columns.checked_mul(n).and_then(|x| x.checked_mul(count));
    if d.len() != count * n || u.len() != count * n * k || len != Some(x.len()) {
        return Err(wrong_lengths());
    }
    if columns == 0 {
        return Ok(());
    }
    let mut core = Core::new();
    let mut all = Ok(());
    for (at, x) in x.chunks_exact_mut(n * columns).enumerate() {
        let (u, d) = (&u[at * n * k..][..n * k], &d[at * n..][..n]);
        let finite = |values: &[F]| values.iter().all(|value| value.finite());
        let mut outcome = if !finite(u) || !finite(d) || !finite(x) {
            Err(Status::NotFinite)
        } else if invert && d.iter().any(|&d| d.into() <= 0.0) {
            Err(Status::Singular)
        } else {
            Ok(())
        };
        if outcome.is_ok() {
            if invert {
                core.factorise(k, u, d);
            }
            for first in (0..columns).step_by(STRIP) {
                let last = columns.min(first + STRIP);
                vectorize(
                    #[inline(always)]
                    || match invert {
                        false => multiply_strip(k, u, d, columns, first..last, x),
                        true => core.solve_strip(k, u, columns, first..last, x),
                    },
                );
            }
            // A product too large for the type is none.
            if !finite(x) {
                outcome = Err(Status::NotFinite);
            }
        }
        if outcome.is_err() {
            if all != Err(Status::NotFinite) {
                all = outcome;
            }
            x.fill(F::NAN);
        }
    }
    all.map_err(Error::from)
}

/// Some columns of U (Uᵀ x) + d x.
#[inline(always)]
fn multiply_strip<F: Real>(
    k: usize,
    u: &[F],
    d: &[F],
    columns: usize,
    strip: core::ops::Range<usize>,
    x: &mut [F],
) {
    let mut common = [[0.0; STRIP]; MAX_K];
    let width = strip.len();
    for (u, x) in u.chunks_exact(k).zip(x.chunks_exact(columns)) {
        for (common, &u) in common.iter_mut().zip(u) {
            let u: f64 = u.into();
            for (common, &x) in common.iter_mut().zip(&x[strip.clone()]) {
                *common += u * x.into();
            }
        }
    }
    for ((u, &d), x) in u.chunks_exact(k).zip(d).zip(x.chunks_exact_mut(columns)) {
        let d: f64 = d.into();
        let mut sum = [0.0; STRIP];
        for (sum, &x) in sum.iter_mut().zip(&x[strip.clone()]) {
            *sum = d * x.into();
        }
        for (common, &u) in common.iter().zip(u) {
            let u: f64 = u.into();
            for (sum, common) in sum.iter_mut().zip(common) {
                *sum += u * common;
            }
        }
        for (x, &sum) in x[strip.clone()].iter_mut().zip(&sum[..width]) {
            *x = F::from_f64(sum);
        }
    }
}

/// UUᵀ + diag(d).
#[inline(always)]
fn sigma<F: Real>(blocks: &mut Blocks, n: usize, k: usize, u: &[F], d: &[F], out: &mut [F]) {
    let row = |i: usize, row: &mut [f64]| {
        for (x, &u) in row.iter_mut().zip(&u[i * k..]) {
            *x = u.into();
        }
    };
    let diagonal = |i: usize, square: f64| square + d[i].into();
    blocks.fill(n, k, row, |dot| dot, diagonal, out);
}

/// D⁻¹ − ZZᵀ, where row i of Z is C⁻¹ u_i / d_i, and CCᵀ the core.
#[inline(always)]
fn inverse<F: Real>(
    blocks: &mut Blocks,
    core: &Core,
    n: usize,
    k: usize,
    u: &[F],
    d: &[F],
    out: &mut [F],
) {
    let row = |i: usize, row: &mut [f64]| {
        let unit = core.unit(i);
        for (x, &u) in row.iter_mut().zip(&u[i * k..]) {
            *x = u.into() * unit;
        }
        core.forward(row);
        for x in row {
            *x *= unit;
        }
    };
    let diagonal = |i: usize, square: f64| {
        let d: f64 = d[i].into();
        1.0 / d - square
    };
    blocks.fill(n, k, row, |dot| -dot, diagonal, out);
}

/// The nearest value of the caller's type; the largest finite one where there is none.
#[inline(always)]
fn saturate<F: Real>(x: f64) -> F {
    let most: f64 = F::MAX.into();
    F::from_f64(x.clamp(-most, most))
}

/// Runs `body`, all of which must be inlined, with vectors as wide as those of AVX2, if the machine has them. It has the
/// same bits with any.
fn vectorize<R>(body: impl FnOnce() -> R) -> R {
    match Isa::best() {
        Isa::Portable(simd) => Vectors::<<f64 as Real>::Portable>::new(simd).vectorize(body),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(simd) => Vectors::<<f64 as Real>::Avx2>::new(simd).vectorize(body),
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        Isa::Avx512(simd) => Vectors::<<f64 as Real>::Avx2>::new(narrow(simd)).vectorize(body),
    }
}

fn wrong_lengths() -> Error {
    let message = "the slices do not hold the same number of matrices";
    Error::new(Status::Shape, message)
}

#[cfg(test)]
mod tests;
