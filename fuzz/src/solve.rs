//! Classical methods on any numbers.

use crate::bytes::Bytes;
use crate::decompose::{adds_up, is_finite, is_symmetric, matrices, same};
use crate::guarded::Guarded;
use denise::{
    DENISE_ERR_ARGUMENT, DENISE_ERR_NOT_FINITE, DENISE_METHOD_EIGEN, DENISE_METHOD_FPCP,
    DENISE_METHOD_IALM, DENISE_METHOD_PCP, DENISE_METHOD_RPCA_GD, DENISE_OK, denise_solve_batch,
};
use std::ptr;

/// One call.
struct Problem {
    method: i32,
    n: usize,
    k: usize,
    lambda: f64,
}

/// Runs a method on numbers and buffers that the bytes say; what is checked is as for networks.
pub(crate) fn solve(bytes: &mut Bytes<'_>) {
    let method = 1 + bytes.below(5) as i32;
    // Two methods take up to a thousand steps, and cannot be told to take fewer: small matrices, so that they end soon.
    let steps = [DENISE_METHOD_PCP, DENISE_METHOD_IALM].contains(&method);
    let n = 2 + bytes.below(if steps { 4 } else { 18 });
    let problem = Problem {
        method,
        n,
        k: 1 + bytes.below(n - 1),
        lambda: match bytes.byte() {
            0..128 => 0.0,
            128..224 => f64::from(bytes.byte()) / 64.0,
            _ => f64::from_le_bytes(bytes.array()),
        },
    };
    let count = bytes.below(4);
    let mask = bytes.byte();
    let shifts = [bytes.byte(), bytes.byte(), bytes.byte()]
        .map(|x| if mask & 8 != 0 { usize::from(x) % 8 } else { 0 });
    let m = matrices::<f64>(bytes, n, count);
    let lambda = problem.lambda;
    if !lambda.is_finite() || method == DENISE_METHOD_RPCA_GD && lambda >= 1.0 {
        let (status, ..) = call(&problem, &m, count, 0, [0; 3]);
        assert_eq!(status, DENISE_ERR_ARGUMENT);
        return;
    }
    let (status, l, s) = call(&problem, &m, count, mask, shifts);
    let all_finite = m.chunks_exact(n * n).all(|m| is_finite(m, n));
    let expected = |finite| {
        if finite {
            DENISE_OK
        } else {
            DENISE_ERR_NOT_FINITE
        }
    };
    assert_eq!(status, expected(all_finite));
    for (i, m) in m.chunks_exact(n * n).enumerate() {
        let (status, one_l, one_s) = call(&problem, m, 1, 0, [0; 3]);
        let finite = is_finite(m, n);
        assert_eq!(status, expected(finite));
        same(&l, &one_l, i, n * n);
        same(&s, &one_s, i, n * n);
        if finite {
            check(&problem, m, &one_l, &one_s);
        } else {
            assert!(one_l.iter().chain(&one_s).all(|x| x.is_nan()));
        }
    }
}

fn check(problem: &Problem, m: &[f64], l: &[f64], s: &[f64]) {
    let n = problem.n;
    assert!(l.iter().chain(s).all(|x| x.is_finite()));
    is_symmetric(l, n);
    is_symmetric(s, n);
    // Of the methods with an S of their own the header says how near L + S is to M.
    let share = match problem.method {
        DENISE_METHOD_PCP => 1e-3,
        DENISE_METHOD_IALM => 1e-7,
        DENISE_METHOD_EIGEN | DENISE_METHOD_FPCP | DENISE_METHOD_RPCA_GD => {
            adds_up(m, l, s, n);
            return;
        }
        other => unreachable!("{other}"),
    };
    let largest = m.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    // Where digits are lost for other reasons.
    if !(f64::MIN_POSITIVE * 1e20..=f64::MAX / 1e6).contains(&largest) {
        return;
    }
    let (mut error, mut size) = (0.0, 0.0);
    for i in 0..n {
        for j in 0..n {
            let (lower, at) = (i.max(j) * n + i.min(j), i * n + j);
            error += ((l[at] + s[at] - m[lower]) / largest).powi(2);
            size += (m[lower] / largest).powi(2);
        }
    }
    assert!(
        error <= share * share * size,
        "method {}: L + S is M to {:e} only",
        problem.method,
        (error / size).sqrt()
    );
}

/// The status, L and S; empty if it was not asked for.
fn call(
    problem: &Problem,
    m: &[f64],
    count: usize,
    mask: u8,
    [at_m, at_l, at_s]: [usize; 3],
) -> (i32, Vec<f64>, Vec<f64>) {
    let (without_l, without_s, in_place) = (mask & 1 != 0, mask & 2 != 0, mask & 4 != 0);
    let edge = mask & 16 != 0;
    let mut given = Guarded::new::<f64>(m.len(), at_m, edge);
    given.fill(m);
    let mut l = Guarded::new::<f64>(m.len(), at_l, edge);
    let mut s = Guarded::new::<f64>(m.len(), at_s, edge);
    let pointer = given.pointer::<f64>();
    // SAFETY: every buffer holds `count` matrices or is null, and none overlap but m and s.
    let status = unsafe {
        denise_solve_batch(
            problem.method,
            problem.n as u32,
            problem.k as u32,
            problem.lambda,
            count,
            pointer,
            if without_l {
                ptr::null_mut()
            } else {
                l.pointer()
            },
            match (in_place, without_s) {
                (true, _) => pointer,
                (_, true) => ptr::null_mut(),
                _ => s.pointer(),
            },
        )
    };
    let l = if without_l { Vec::new() } else { l.values() };
    let s = match (in_place, without_s) {
        (true, _) => given.values(),
        (_, true) => Vec::new(),
        _ => s.values(),
    };
    (status, l, s)
}
