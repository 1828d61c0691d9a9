//! What is known of a decomposition.

use core::mem::offset_of;
use denise_rust::Report;

/// Figures about the split of one matrix. They can be had without l and s.
#[repr(C)]
pub struct denise_report {
    /// Sum of |S_ij|, at most FLT_MAX.
    pub l1: f32,
    /// ||M - L||_F / ||M||_F: 0 if L is all of M, and for the zero matrix.
    pub residual: f32,
    /// Share of entries with |S_ij| <= 0.01 * tr(M)/n, from 0 to 1.
    pub sparsity: f32,
    /// DENISE_OK, or DENISE_ERR_NOT_FINITE if this matrix contains infinity, or NaN without DENISE_FLAG_MISSING. All
    /// floats here are then NaN.
    pub status: i32,
    /// Size of the last step, ||U_T - U_(T-1)||_F / ||U_T||_F. Small means that more layers would not change the
    /// answer. 0 if U is zero, and for a dense network, which takes no steps.
    pub unsettled: f32,
    /// Smallest S_ii / M_ii, over all i with M_ii > 0. Negative means that L explains more than all of a variance. 0 if
    /// no M_ii is positive. To invert, call denise_covariance_batch, which lifts such an S_ii to a floor. If it is often
    /// negative, or below -0.1, k is too large for these matrices: denise_suggest_rank_batch suggests another one.
    pub least_specific: f32,
    /// Entries of the lower triangle that were NaN and taken as not known; 0 without DENISE_FLAG_MISSING. The figures
    /// above are about the known entries: l1, residual and sparsity count those only, tr(M)/n is the mean of the known
    /// variances, and least_specific is over them.
    pub missing: u32,
    /// i*n + j of the first entry M_ij, row by row in the lower triangle, that made the status DENISE_ERR_NOT_FINITE.
    /// UINT32_MAX if there is none.
    pub first_bad: u32,
}

// denise_report is the C name of Report: the same fields at the same places.
const _: () = {
    assert!(size_of::<denise_report>() == size_of::<Report>());
    assert!(offset_of!(denise_report, l1) == offset_of!(Report, l1));
    assert!(offset_of!(denise_report, residual) == offset_of!(Report, residual));
    assert!(offset_of!(denise_report, sparsity) == offset_of!(Report, sparsity));
    assert!(offset_of!(denise_report, status) == offset_of!(Report, status));
    assert!(offset_of!(denise_report, unsettled) == offset_of!(Report, unsettled));
    assert!(offset_of!(denise_report, least_specific) == offset_of!(Report, least_specific));
    assert!(offset_of!(denise_report, missing) == offset_of!(Report, missing));
    assert!(offset_of!(denise_report, first_bad) == offset_of!(Report, first_bad));
    assert!(Report::NONE == u32::MAX);
};
