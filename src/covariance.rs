//! A covariance that can be inverted.

use crate::guard::{code, guard};
use crate::model::denise_model;
use crate::named::{Buffer, Name, check, values};
use crate::report::denise_report;
use crate::status::denise_status;
use denise_rust::covariance::{self, Outputs};
use denise_rust::{Element, Error, Report, Status};

/// Splits count matrices and makes of each a covariance that can be inverted: Sigma = U U' + diag(d), with d_i =
/// max(S_ii, floor * M_ii). L + S is M again; Sigma is what is left of it if assets have nothing in common but the k
/// factors. Never allocates, prints or starts threads.
///
/// - m holds count matrices of n*n values, of which the lower triangles are read. u gets count factors of n*k values,
///   and is needed; denise_covariance_solve_batch takes it. d gets n values for each, sigma and inverse n*n, log_det the
///   logarithm of the determinant, in double in both precisions. d, sigma, inverse, log_det and reports may each be NULL.
///   Buffers must not overlap, and must be aligned to their type.
/// - floor is a share of the variance, from 1e-6 to 1. 0: 0.05. It bounds the condition number: in units in which every
///   M_ii is 1 that of Sigma is at most n (1 + floor) / floor, or n (1 - x + floor) / floor where L explains more than
///   all of a variance and x, which is denise_report.least_specific, is negative.
/// - Sigma and its inverse are positive definite, also as they are written, rounded to their type. For that d_i is never
///   less than 1e-6 of L_ii, nor, in float, than 2.4e-7 n^1.5 of it.
/// - Where S_ii is above its floor, as it nearly always is, Sigma_ii is M_ii. Elsewhere it is more.
/// - An M_ii that is not known (NaN, with DENISE_FLAG_MISSING), zero or negative gets the mean d of the others: an asset
///   that has not moved is not one without risk.
/// - If none is positive, the outputs of that matrix are NaN, its report has DENISE_ERR_SINGULAR, and so does the call
///   return. NaN and infinity are as in denise_decompose_batch. All other matrices are done.
/// - sigma and inverse are symmetric to the bit. Results are the same, to the bit, for any count and place in the batch.
///   All is computed in double from the u that is written. What would overflow becomes the largest finite value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_covariance_batch(
    model: *const denise_model,
    count: usize,
    m: *const f32,
    floor: f64,
    u: *mut f32,
    d: *mut f32,
    sigma: *mut f32,
    inverse: *mut f32,
    log_det: *mut f64,
    reports: *mut denise_report,
) -> denise_status {
    let parts = [d, sigma, inverse];
    // SAFETY: the caller's contract is that of this function.
    unsafe { from_m(model, count, m, floor, u, parts, log_det, reports) }
}

/// The same in double precision, on the same handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_covariance_batch_f64(
    model: *const denise_model,
    count: usize,
    m: *const f64,
    floor: f64,
    u: *mut f64,
    d: *mut f64,
    sigma: *mut f64,
    inverse: *mut f64,
    log_det: *mut f64,
    reports: *mut denise_report,
) -> denise_status {
    let parts = [d, sigma, inverse];
    // SAFETY: the caller's contract is that of this function.
    unsafe { from_m(model, count, m, floor, u, parts, log_det, reports) }
}

/// The same from u and m, without a model: u may come from a stream, from denise_decompose_batch or from any other
/// method. Of m only the diagonal is read, and NaN there is a variance that is not known. n is 2 to 512, k is less than
/// n and at most 32. A matrix whose u is not finite gets NaN, and the call returns DENISE_ERR_NOT_FINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_covariance_from_u_batch(
    n: u32,
    k: u32,
    count: usize,
    m: *const f32,
    u: *const f32,
    floor: f64,
    d: *mut f32,
    sigma: *mut f32,
    inverse: *mut f32,
    log_det: *mut f64,
) -> denise_status {
    let parts = [d, sigma, inverse];
    // SAFETY: the caller's contract is that of this function.
    unsafe { from_u([n, k], count, m, u, floor, parts, log_det) }
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_covariance_from_u_batch_f64(
    n: u32,
    k: u32,
    count: usize,
    m: *const f64,
    u: *const f64,
    floor: f64,
    d: *mut f64,
    sigma: *mut f64,
    inverse: *mut f64,
    log_det: *mut f64,
) -> denise_status {
    let parts = [d, sigma, inverse];
    // SAFETY: the caller's contract is that of this function.
    unsafe { from_u([n, k], count, m, u, floor, parts, log_det) }
}

/// y = Sigma x for count matrices, without Sigma: u and d are as denise_covariance_batch wrote them, x and y hold
/// columns*n values for each, in n rows. Takes about 2 n k operations a column. Never allocates.
///
/// - y may be the same pointer as x. No other buffers may overlap, and all must be aligned to their type.
/// - A matrix whose u, d or x is not finite, or whose product is too large for its type, gets NaN in y, and the call
///   returns DENISE_ERR_NOT_FINITE. All others are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_covariance_multiply_batch(
    n: u32,
    k: u32,
    count: usize,
    u: *const f32,
    d: *const f32,
    columns: usize,
    x: *const f32,
    y: *mut f32,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { product(covariance::multiply, [n, k], count, u, d, columns, x, y) }
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_covariance_multiply_batch_f64(
    n: u32,
    k: u32,
    count: usize,
    u: *const f64,
    d: *const f64,
    columns: usize,
    x: *const f64,
    y: *mut f64,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { product(covariance::multiply, [n, k], count, u, d, columns, x, y) }
}

/// y = Sigma^-1 x, likewise, in about n k^2 operations more for each matrix. With x = 1 it gives the weights of the
/// portfolio of least variance, but for their sum. A matrix with a d that is not positive gets NaN in y, and the call
/// returns DENISE_ERR_SINGULAR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_covariance_solve_batch(
    n: u32,
    k: u32,
    count: usize,
    u: *const f32,
    d: *const f32,
    columns: usize,
    x: *const f32,
    y: *mut f32,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { product(covariance::solve, [n, k], count, u, d, columns, x, y) }
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_covariance_solve_batch_f64(
    n: u32,
    k: u32,
    count: usize,
    u: *const f64,
    d: *const f64,
    columns: usize,
    x: *const f64,
    y: *mut f64,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { product(covariance::solve, [n, k], count, u, d, columns, x, y) }
}

/// The buffers of d, sigma, inverse and log_det.
pub(crate) fn buffers<F>(
    n: usize,
    count: usize,
    [d, sigma, inverse]: [*mut F; 3],
    log_det: *mut f64,
) -> [Buffer; 4] {
    [
        Buffer::new(Name::D, d, count, n),
        Buffer::new(Name::Sigma, sigma, count, n * n),
        Buffer::new(Name::Inverse, inverse, count, n * n),
        Buffer::new(Name::LogDet, log_det, count, 1),
    ]
}

/// The same as slices.
///
/// # Safety
/// They passed `check`, and nobody else uses them while the result lives.
pub(crate) unsafe fn outputs<'a, F>(
    n: usize,
    count: usize,
    [d, sigma, inverse]: [*mut F; 3],
    log_det: *mut f64,
) -> Outputs<'a, F> {
    // SAFETY: as the caller promises.
    unsafe {
        Outputs {
            d: values(d, count * n),
            sigma: values(sigma, count * n * n),
            inverse: values(inverse, count * n * n),
            log_det: values(log_det, count),
        }
    }
}

/// # Safety
/// `model` is null or a live handle; the buffers are as `denise_covariance_batch` says.
#[allow(clippy::too_many_arguments, reason = "those of the C function")]
unsafe fn from_m<F: Element>(
    model: *const denise_model,
    count: usize,
    m: *const F,
    floor: f64,
    u: *mut F,
    parts: [*mut F; 3],
    log_det: *mut f64,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let handle = unsafe { model.as_ref() };
    code(guard(|| {
        let handle = handle.ok_or_else(|| Error::new(Status::NullPointer, "model is NULL"))?;
        let (model, report_size) = (&handle.model, handle.layout.report);
        let (n, k) = (model.n(), model.k());
        let needed = |buffer: Buffer| if count > 0 { buffer.needed() } else { buffer };
        let [d, sigma, inverse, log] = buffers(n, count, parts, log_det);
        let room = count.checked_mul(report_size);
        check(&[
            needed(Buffer::new(Name::M, m, count, n * n)),
            needed(Buffer::new(Name::U, u, count, n * k)),
            d,
            sigma,
            inverse,
            log,
            Buffer::bytes(
                Name::Reports,
                reports as usize,
                room.unwrap_or(usize::MAX),
                align_of::<Report>(),
            ),
        ])?;
        if count == 0 {
            return Ok(());
        }
        let whole = reports.is_null() || report_size == size_of::<Report>();
        // SAFETY: checked; the caller owns so many values in each for the length of the call.
        let (m, u) = unsafe {
            (
                core::slice::from_raw_parts(m, count * n * n),
                core::slice::from_raw_parts_mut(u, count * n * k),
            )
        };
        if whole {
            // SAFETY: likewise; a report is laid out as ours.
            return unsafe {
                let reports = values(reports.cast::<Report>(), count);
                model.covariance(m, floor, u, outputs(n, count, parts, log_det), reports)
            };
        }
        // One by one, since the caller's reports are shorter than ours.
        let mut all = Ok(());
        let matrices = m.chunks_exact(n * n).zip(u.chunks_exact_mut(n * k));
        for (i, (m, u)) in matrices.enumerate() {
            let mut report = [Report::default()];
            let at = |start: *mut F, each: usize| match start.is_null() {
                true => start,
                false => start.wrapping_add(i * each),
            };
            let [d, sigma, inverse] = parts;
            let parts = [at(d, n), at(sigma, n * n), at(inverse, n * n)];
            let log = match log_det.is_null() {
                true => log_det,
                false => log_det.wrapping_add(i),
            };
            // SAFETY: place i is inside the caller's buffers.
            let out = unsafe { outputs(n, 1, parts, log) };
            all = all.and(model.covariance(m, floor, u, out, Some(&mut report)));
            // SAFETY: a report in the caller's header is no longer than ours, and there is room for all.
            unsafe {
                let to = reports.cast::<u8>().add(i * report_size);
                core::ptr::copy_nonoverlapping(report.as_ptr().cast(), to, report_size);
            }
        }
        all
    }))
}

/// # Safety
/// The buffers are as `denise_covariance_from_u_batch` says.
unsafe fn from_u<F: Element>(
    [n, k]: [u32; 2],
    count: usize,
    m: *const F,
    u: *const F,
    floor: f64,
    parts: [*mut F; 3],
    log_det: *mut f64,
) -> denise_status {
    let (n, k) = (n as usize, k as usize);
    code(guard(|| {
        covariance::check_size(n, k)?;
        let needed = |buffer: Buffer| if count > 0 { buffer.needed() } else { buffer };
        let [d, sigma, inverse, log] = buffers(n, count, parts, log_det);
        check(&[
            needed(Buffer::new(Name::M, m, count, n * n)),
            needed(Buffer::new(Name::U, u, count, n * k)),
            d,
            sigma,
            inverse,
            log,
        ])?;
        if count == 0 {
            return Ok(());
        }
        // SAFETY: checked; the caller owns so many values in each for the length of the call.
        unsafe {
            let m = core::slice::from_raw_parts(m, count * n * n);
            let u = core::slice::from_raw_parts(u, count * n * k);
            covariance::from_u(n, k, m, u, floor, outputs(n, count, parts, log_det))
        }
    }))
}

/// A function of the library that puts a product in the place of x.
type Product<F> = fn(usize, usize, &[F], &[F], usize, &mut [F]) -> Result<(), Error>;

/// # Safety
/// The buffers are as `denise_covariance_multiply_batch` says.
#[allow(clippy::too_many_arguments, reason = "those of the C functions")]
unsafe fn product<F: Element>(
    body: Product<F>,
    [n, k]: [u32; 2],
    count: usize,
    u: *const F,
    d: *const F,
    columns: usize,
    x: *const F,
    y: *mut F,
) -> denise_status {
    let (n, k) = (n as usize, k as usize);
    code(guard(|| {
        covariance::check_size(n, k)?;
        let some = count > 0 && columns > 0;
        let needed = |buffer: Buffer| if some { buffer.needed() } else { buffer };
        // A product that overflows is too much for any buffer.
        let each = columns.saturating_mul(n);
        let in_place = x == y.cast_const();
        let x_apart = if in_place { core::ptr::null() } else { x };
        let given = Buffer::new(Name::X, x_apart, count, each);
        check(&[
            needed(Buffer::new(Name::U, u, count, n * k)),
            needed(Buffer::new(Name::D, d, count, n)),
            if in_place { given } else { needed(given) },
            needed(Buffer::new(Name::Y, y, count, each)),
        ])?;
        if !some {
            return Ok(());
        }
        // SAFETY: checked; the caller owns so many values in each for the length of the call.
        unsafe {
            if !in_place {
                core::ptr::copy_nonoverlapping(x, y, count * each);
            }
            let u = core::slice::from_raw_parts(u, count * n * k);
            let d = core::slice::from_raw_parts(d, count * n);
            let y = core::slice::from_raw_parts_mut(y, count * each);
            body(n, k, u, d, columns, y)
        }
    }))
}
