//! Classical methods on any numbers.

use crate::bytes::Bytes;
use crate::decompose::{adds_up, is_symmetric, matrices, same};
use crate::guarded::Guarded;
use denise::{
    DENISE_ERR_ARGUMENT, DENISE_ERR_NOT_FINITE, DENISE_METHOD_EIGEN, DENISE_METHOD_FPCP,
    DENISE_METHOD_IALM, DENISE_METHOD_MASKED_PCP, DENISE_METHOD_PCP, DENISE_METHOD_RPCA_GD,
    DENISE_OK, denise_solve_batch,
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
    let method = 1 + bytes.below(6) as i32;
    // Three methods take up to a thousand steps, and cannot be told to take fewer: small matrices, so that they end soon.
    let steps = [
        DENISE_METHOD_PCP,
        DENISE_METHOD_IALM,
        DENISE_METHOD_MASKED_PCP,
    ]
    .contains(&method);
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
    let all_taken = m.chunks_exact(n * n).all(|m| takes(&problem, m));
    let expected = |taken| {
        if taken {
            DENISE_OK
        } else {
            DENISE_ERR_NOT_FINITE
        }
    };
    assert_eq!(status, expected(all_taken));
    for (i, m) in m.chunks_exact(n * n).enumerate() {
        let (status, one_l, one_s) = call(&problem, m, 1, 0, [0; 3]);
        let taken = takes(&problem, m);
        assert_eq!(status, expected(taken));
        same(&l, &one_l, i, n * n);
        same(&s, &one_s, i, n * n);
        if taken {
            check(&problem, m, &one_l, &one_s);
        } else {
            assert!(one_l.iter().chain(&one_s).all(|x| x.is_nan()));
        }
    }
}

/// Whether the lower triangle is what the method takes: finite, or not known.
fn takes(problem: &Problem, m: &[f64]) -> bool {
    let good = |x: f64| x.is_finite() || x.is_nan() && problem.method == DENISE_METHOD_MASKED_PCP;
    (0..problem.n).all(|i| (0..=i).all(|j| good(m[i * problem.n + j])))
}

fn check(problem: &Problem, m: &[f64], l: &[f64], s: &[f64]) {
    let n = problem.n;
    assert!(l.iter().all(|x| x.is_finite()));
    for (at, s) in s.iter().enumerate() {
        let (i, j) = (at / n, at % n);
        let known = !m[i.max(j) * n + i.min(j)].is_nan();
        assert!(s.is_finite() == known && s.is_nan() != known, "({i}, {j})");
    }
    is_symmetric(l, n);
    is_symmetric(s, n);
    // Of the methods with an S of their own the header says how near L + S is to M.
    let share = match problem.method {
        // 1e-3, unless steps run out: an entry below 4e-3 of the mean is not reached, as its multiplier grows by it
        // in each of 1000 steps and must grow to four times the mean.
        DENISE_METHOD_PCP | DENISE_METHOD_MASKED_PCP => 4e-3,
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
            if m[lower].is_nan() {
                continue;
            }
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
