//! The classical methods.

use denise_rust::classical::Method;

/// The methods of denise_solve_batch. docs/CLASSICAL.md compares them with those of the LRS library.
///
/// Eigen-truncation: keeps the k largest eigenvalues that are positive. L is positive semidefinite with rank at most k,
/// and s = m - l. lambda is not used.
pub const DENISE_METHOD_EIGEN: i32 = 1;
/// Principal component pursuit (Candes et al. 2011) by alternating directions, until (L, S) changes by less
/// than 1e-5 in a step, at most 1000 steps. lambda weighs |S|_1 against the nuclear norm of L. The paper uses
/// 0.56/sqrt(n), and 0.64/sqrt(n) for its stocks. k is not used: the rank follows from lambda, and L need not be
/// positive semidefinite. s has exact zeros, so l + s is m only to 1e-3, usually to 1e-4; or to 4e-3 if 1000 steps do
/// not reach entries that are far below the mean.
pub const DENISE_METHOD_PCP: i32 = 2;
/// The same problem by inexact augmented Lagrange multipliers (Lin et al. 2010), until |M - L - S|_F is less
/// than 1e-7 |M|_F, at most 1000 steps. lambda, k, l and s are as for DENISE_METHOD_PCP, but l + s is m to 1e-7.
pub const DENISE_METHOD_IALM: i32 = 3;
/// Fast principal component pursuit (Rodriguez and Wohlberg 2013): k loops, in which the rank grows from 1 to at
/// most k. L need not be positive semidefinite, and s = m - l. Each loop shrinks the entries of S by lambda, which has
/// the unit of m. The paper uses 1/sqrt(n).
pub const DENISE_METHOD_FPCP: i32 = 4;
/// Robust PCA by gradient descent (Yi et al. 2016), at most 29 steps, until the error is below 2e-4 or stops
/// falling. L has rank at most k and need not be positive semidefinite; s = m - l. Here lambda is the largest share of
/// outliers in a row, less than 1. The paper uses 0.1, which allows none for n < 10.
pub const DENISE_METHOD_RPCA_GD: i32 = 5;
/// DENISE_METHOD_PCP for matrices that are not known everywhere: an m[i, j] that is NaN is not known, and no error. l is
/// complete, and s is NaN where m is NaN. Elsewhere l + s is m to 1e-3, or to 4e-3 if 1000 steps do not reach entries
/// that are far below the mean. Without a NaN, l and s are those of DENISE_METHOD_PCP to the bit; lambda and k are as
/// there.
pub const DENISE_METHOD_MASKED_PCP: i32 = 6;

// The numbers of C are those of the enum.
const _: () = {
    assert!(DENISE_METHOD_EIGEN == Method::Eigen as i32);
    assert!(DENISE_METHOD_PCP == Method::Pcp as i32);
    assert!(DENISE_METHOD_IALM == Method::Ialm as i32);
    assert!(DENISE_METHOD_FPCP == Method::Fpcp as i32);
    assert!(DENISE_METHOD_RPCA_GD == Method::RpcaGd as i32);
    assert!(DENISE_METHOD_MASKED_PCP == Method::MaskedPcp as i32);
    assert!(Method::ALL.len() == 6);
};
