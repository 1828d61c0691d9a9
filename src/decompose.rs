//! The hot path.

use crate::buffers::{Buffers, Matrices};
use crate::guard::{code, guard, null};
use crate::model::denise_model;
use crate::report::denise_report;
use crate::status::denise_status;
use denise_rust::Element;
use std::sync::PoisonError;

/// Splits count matrices: M = L + S, with L = U U' of rank at most k. Never allocates, prints or starts threads. It
/// waits only if more calls than max_concurrency run on this handle.
///
/// - m, l and s hold count matrices of n*n values, u holds count factors of n*k values, all row-major. reports holds
///   count reports. u, l, s and reports may each be NULL.
/// - Only the lower triangle of m is read. l and s are written in full.
/// - s may be the same pointer as m. No other buffers may overlap.
/// - Any alignment works. But if a pointer is not aligned to its type, the call goes one matrix at a time, and such
///   calls wait for each other.
/// - l and s are symmetric to the bit, and l + s is m to one rounding.
/// - The columns of u are orthogonal, the longest first, and the entry of largest size in each is positive. (A dense
///   network gives the u that it computes.)
/// - A matrix with NaN or infinity gets NaN in all its outputs. The others are split, and the call returns
///   DENISE_ERR_NOT_FINITE. With DENISE_FLAG_MISSING a NaN is an entry that is not known, and no error: l and u are
///   complete, and s is NaN where m is.
/// - Results are the same, to the bit, for any count, any place in the batch and any number of threads.
/// - Finite input gives finite output. What would overflow becomes the largest finite value; with the built-in network
///   this takes entries above 1e-6 of that value.
/// - A matrix that is not positive semidefinite is not an error, but the farther it is from that, the less its split
///   means.
/// - count 0 does nothing and gives DENISE_OK.
/// - After a fork the child may call it too, if no other thread was inside a call on this handle at that time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_decompose_batch(
    model: *const denise_model,
    count: usize,
    m: *const f32,
    u: *mut f32,
    l: *mut f32,
    s: *mut f32,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { decompose(model, count, m, [u, l, s], reports) }
}

/// The same in double precision, on the same handle. A dense network computes u in float, from m rounded to float, and
/// then l and s in double.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_decompose_batch_f64(
    model: *const denise_model,
    count: usize,
    m: *const f64,
    u: *mut f64,
    l: *mut f64,
    s: *mut f64,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { decompose(model, count, m, [u, l, s], reports) }
}

/// # Safety
/// `model` is null or a live handle; the buffers are as `denise_decompose_batch` says.
unsafe fn decompose<F: Element>(
    model: *const denise_model,
    count: usize,
    m: *const F,
    [u, l, s]: [*mut F; 3],
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let Some(handle) = (unsafe { model.as_ref() }) else {
        return code(null("model is NULL"));
    };
    let model = &handle.model;
    let buffers = Buffers {
        m,
        u,
        l,
        s,
        reports,
        report_size: handle.layout.report,
        n: model.n(),
        k: model.k(),
        count,
    };
    code(guard(|| {
        buffers.check()?;
        if buffers.fit() {
            // SAFETY: checked, they fit, and the caller owns the buffers for the length of the call.
            return unsafe {
                buffers.whole(|m, out| match m {
                    Matrices::Apart(m) => model.decompose(m, out),
                    Matrices::InPlace(m) => model.decompose_in_place(m, out),
                })
            };
        }
        let mut staging = handle
            .staging
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // SAFETY: checked, and the caller owns the buffers for the length of the call.
        unsafe { buffers.one_by_one(staging.values(), |m, out| model.decompose_in_place(m, out)) }
    }))
}
