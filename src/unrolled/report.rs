//! What the caller is told about a decomposition.

use super::buffers::Buffers;
use super::shape::Shape;
use crate::batch::{Report, SPARSITY_EPSILON};
use crate::simd::{Real, Vector};
use crate::status::Status;
use fearless_simd::Select;

/// Writes a report for every matrix of a group; w and c are overwritten.
#[inline(always)]
pub(super) fn report<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    scale: V,
    buffers: &mut Buffers<'_, V>,
    reports: &mut [Report],
) {
    let Buffers {
        m, w, c, u, sums, ..
    } = buffers;
    let vectors = shape.vectors();
    let (zero, one) = (vectors.zero(), vectors.one());
    // In units of s, where squares do not overflow: S is R there.
    shape.split(k, one, m, u, w, c);
    let r = &*c;
    let epsilon = vectors.number(SPARSITY_EPSILON);
    let square = |x: V| x * x;
    let l1 = shape.sum_entries(sums, |at| vectors.load(&r[at]).abs());
    let r_square = shape.sum_entries(sums, |at| square(vectors.load(&r[at])));
    let m_square = shape.sum_entries(sums, |at| square(vectors.load(&m[at])));
    let dense: V = shape.sum_entries(sums, |at| {
        vectors
            .load(&r[at])
            .abs()
            .simd_gt(epsilon)
            .select(one, zero)
    });
    let entries = V::Scalar::from_f64((shape.n() * shape.n()) as f64);
    let l1 = (l1 * scale).to_array();
    let residual = (r_square / m_square.max(vectors.splat(V::Scalar::TINY)))
        .sqrt()
        .to_array();
    let sparsity = (one - dense / entries).to_array();
    for (lane, report) in reports.iter_mut().enumerate() {
        *report = Report {
            l1: l1[lane].to_f32(),
            residual: residual[lane].to_f32(),
            sparsity: sparsity[lane].to_f32(),
            status: Status::Ok as i32,
        };
    }
}
