//! The classical methods, to check the network against.

use crate::buffers::{Buffers, Matrices};
use crate::guard::{code, guard};
use crate::memory::zeros;
use crate::report::denise_report;
use crate::status::denise_status;
use denise_rust::classical::{Method, Solver};
use denise_rust::{Error, Status};

/// Splits count matrices with a classical method (DENISE_METHOD_), to check the network against. Slow, and
/// it allocates: once a call, not for every matrix. lambda <= 0: the paper's value for that method. n is 2 to 512 and k
/// as in denise_options, where the method uses it. The lower triangle of m counts; l and s may each be NULL;
/// s may be the same pointer as m. l and s are bitwise symmetric, and finite for finite m. A matrix with NaN or
/// infinity gets NaN, and results do not depend on count, as in denise_decompose_batch.
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
