//! What the caller is told about a decomposition.

use super::balance::restore;
use super::buffers::Buffers;
use super::missing::{Holes, replace};
use super::shape::Shape;
use super::triangle::triangle;
use crate::batch::{Report, SPARSITY_EPSILON};
use crate::simd::{Real, Vector};
use fearless_simd::Select;

/// ‖U_T − U_(T−1)‖_F / ‖U_T‖_F in the units of M̂, as long as u and v are those of the last layer and of the one
/// before; b is overwritten.
#[inline(always)]
pub(super) fn last_step<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    let Buffers {
        u, v, b, g, sizes, ..
    } = buffers;
    for (b, (u, v)) in b.iter_mut().zip(u.iter().zip(v.iter())) {
        (vectors.load(u) - vectors.load(v)).store_array(b);
    }
    restore(vectors, k, sizes, b);
    let step = square_norm(shape, k, b, g);
    b.copy_from_slice(u);
    restore(vectors, k, sizes, b);
    let all = square_norm(shape, k, b, g);
    (step / all.max(vectors.splat(V::Scalar::TINY))).sqrt()
}

/// ‖x‖_F² of a factor: the trace of its Gram matrix, for which there is code already.
#[inline(always)]
fn square_norm<V: Vector>(shape: impl Shape<V>, k: usize, x: &[V::Array], g: &mut [V::Array]) -> V {
    shape.gram(k, x, x, g);
    let mut trace = shape.vectors().zero();
    for a in 0..k {
        trace += shape.vectors().load(&g[triangle(a) + a]);
    }
    trace
}

/// The least S_ii / M_ii over all positive M_ii; 0 if there are none. One number after another: it is little work, and
/// in vectors it would be much code.
#[inline(never)]
fn least_specific<V: Vector>(
    shape: impl Shape<V>,
    lane: usize,
    m: &[V::Array],
    r: &[V::Array],
) -> V::Scalar {
    let mut least = V::Scalar::MAX;
    for i in 0..shape.n() {
        let variance = shape.variance(m, lane, i);
        let ratio = shape.variance(r, lane, i) / variance;
        if variance > V::Scalar::ZERO && ratio < least {
            least = ratio;
        }
    }
    // L_ii is not negative, so no ratio is above one: there was none.
    if least > V::Scalar::ONE {
        V::Scalar::ZERO
    } else {
        least
    }
}

/// Writes a report for every matrix of a group; w and c are overwritten.
#[inline(always)]
pub(super) fn report<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    scale: V,
    unsettled: V,
    holes: Option<Holes<V>>,
    buffers: &mut Buffers<'_, V>,
    reports: &mut [Report],
) {
    let Buffers {
        raw,
        m,
        w,
        c,
        u,
        sums,
        ..
    } = buffers;
    let vectors = shape.vectors();
    let (zero, one) = (vectors.zero(), vectors.one());
    // In units of s, where squares do not overflow: S is R there.
    shape.split(k, one, m, u, w, c);
    let mut entries = vectors.number((shape.n() * shape.n()) as f64);
    let mut missing = zero;
    if let Some(holes) = holes {
        replace(vectors, raw, V::Scalar::ZERO, c);
        entries = holes.known_entries(shape);
        missing = holes.count();
    }
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
    let l1 = (l1 * scale).to_array();
    let residual = (r_square / m_square.max(vectors.splat(V::Scalar::TINY)))
        .sqrt()
        .to_array();
    let sparsity = (one - dense / entries).to_array();
    let unsettled = unsettled.to_array();
    let missing = missing.to_array();
    for (lane, report) in reports.iter_mut().enumerate() {
        *report = Report {
            l1: l1[lane].to_f32(),
            residual: residual[lane].to_f32(),
            sparsity: sparsity[lane].to_f32(),
            unsettled: unsettled[lane].to_f32(),
            least_specific: least_specific(shape, lane, m, r).to_f32(),
            missing: missing[lane].to_f32() as u32,
            ..Report::default()
        };
    }
}
