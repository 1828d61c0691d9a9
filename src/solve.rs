//! The classical methods, to check the network against.

use crate::buffers::{Buffers, Matrices};
use crate::guard::{code, guard};
use crate::memory::zeros;
use crate::report::denise_report;
use crate::status::denise_status;
use denise_rust::classical::{Method, Solver};
use denise_rust::{Error, Status};

/// Splits count matrices with a classical method, a DENISE_METHOD_ value, to compare the network with. Slow. Allocates,
/// once for each call.
///
/// - n is 2 to 512. k is less than n and at most 32; methods without a rank ignore it.
/// - lambda <= 0 means the paper's value for the method.
/// - m, l and s are as in denise_decompose_batch: only the lower triangle is read, l and s may each be NULL, s may be
///   the same pointer as m, results are symmetric to the bit and do not depend on count, and a matrix with NaN or
///   infinity gets NaN. For DENISE_METHOD_MASKED_PCP a NaN is an entry that is not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_solve_batch(
    method: i32,
    n: u32,
    k: u32,
    lambda: f64,
    count: usize,
    m: *const f64,
    l: *mut f64,
    s: *mut f64,
) -> denise_status {
    code(guard(|| {
        let method = Method::from_code(method)
            .ok_or_else(|| Error::new(Status::Argument, "method is no DENISE_METHOD_ value"))?;
        let mut solver = Solver::new(method, n as usize, k as usize, lambda)?;
        let buffers = Buffers {
            m,
            u: core::ptr::null_mut(),
            l,
            s,
            reports: core::ptr::null_mut(),
            report_size: size_of::<denise_report>(),
            n: solver.n(),
            k: solver.k(),
            count,
        };
        buffers.check()?;
        if buffers.fit() {
            // SAFETY: checked, they fit, and the caller owns the buffers for the length of the call.
            return unsafe {
                buffers.whole(|m, out| match m {
                    Matrices::Apart(m) => solver.solve(m, out),
                    Matrices::InPlace(m) => solver.solve_in_place(m, out),
                })
            };
        }
        let mut staging = zeros(Buffers::<f64>::staging_len(solver.n(), solver.k()))?;
        // SAFETY: checked, and the caller owns the buffers for the length of the call.
        unsafe { buffers.one_by_one(&mut staging, |m, out| solver.solve_in_place(m, out)) }
    }))
}
