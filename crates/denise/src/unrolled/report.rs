//! What the caller is told about a decomposition.

use super::buffers::Buffers;
use super::missing::{Holes, or_zero};
use super::scale::Scale;
use super::shape::Shape;
use crate::batch::{Report, SPARSITY_EPSILON};
use crate::simd::{Real, Vector};
use fearless_simd::Select;

/// ‖U_T − U_(T−1)‖_F / ‖U_T‖_F in the units of M̂, as long as u and v are those of the last layer and of the one
/// before; sums and trust are overwritten.
#[inline(always)]
pub(super) fn last_step<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    let Buffers {
        u,
        v,
        sums,
        trust,
        sizes,
        ..
    } = buffers;
    let (steps, squares) = (sums, trust);
    for row in 0..shape.rows() {
        let size = vectors.load(&sizes[row]);
        let (mut step, mut square) = (vectors.zero(), vectors.zero());
        for a in 0..k {
            let now = vectors.load(&u[row * k + a]);
            let moved = (now - vectors.load(&v[row * k + a])) * size;
            let now = now * size;
            step = moved.mul_add(moved, step);
            square = now.mul_add(now, square);
        }
        step.store_array(&mut steps[row]);
        square.store_array(&mut squares[row]);
    }
    let all = shape.sum(squares).max(vectors.splat(V::Scalar::TINY));
    (shape.sum(steps) / all).sqrt()
}

/// The least S_ii / M_ii over all positive M_ii, for every matrix; 0 if there are none.
#[inline(always)]
fn least_specific<V: Vector>(
    shape: impl Shape<V>,
    raw: &[V::Array],
    s: &[V::Array],
) -> impl Fn(usize) -> V::Scalar {
    let vectors = shape.vectors();
    let none = vectors.splat(V::Scalar::MAX);
    let mut least = none;
    for row in 0..shape.rows() {
        let variance = shape.diagonal(raw, row);
        let ratio = shape.diagonal(s, row) / variance;
        let ratio: V = variance.simd_gt(vectors.zero()).select(ratio, none);
        least = least.min(ratio);
    }
    let least = least.to_array();
    move |lane| {
        let mut lowest = least[lane];
        if shape.matrices() == 1 {
            for l in 0..V::W {
                lowest = if least[l] < lowest { least[l] } else { lowest };
            }
        }
        // L_ii is not negative, so no ratio is above one: there was none.
        if lowest > V::Scalar::ONE {
            V::Scalar::ZERO
        } else {
            lowest
        }
    }
}

/// Writes a report for every matrix of a group, from M in `buffers.raw` and S in `buffers.c`, which is zero where M is
/// not known.
#[inline(always)]
pub(super) fn report<V: Vector>(
    shape: impl Shape<V>,
    scale: &Scale<V>,
    unsettled: V,
    holes: Option<Holes<V>>,
    buffers: &mut Buffers<'_, V>,
    reports: &mut [Report],
) {
    let Buffers { raw, c, room, .. } = buffers;
    let vectors = shape.vectors();
    let (zero, one) = (vectors.zero(), vectors.one());
    let mut entries = vectors.number((shape.n() * shape.n()) as f64);
    let mut missing = zero;
    if let Some(holes) = holes {
        entries = holes.known_entries(shape);
        missing = holes.count();
    }
    let (raw, s) = (&**raw, &**c);
    let epsilon = vectors.number(SPARSITY_EPSILON);
    // In units of the scale, where squares do not overflow.
    let holed = holes.is_some();
    let [l1, r_square, m_square, dense] = shape.sum_entries(
        room,
        #[inline(always)]
        |at| {
            let r = (vectors.load(&s[at]) * scale.shift) * scale.inverse;
            let mut m = (vectors.load(&raw[at]) * scale.shift) * scale.inverse;
            if holed {
                m = or_zero(vectors, m);
            }
            let size = r.abs();
            let above: V = size.simd_gt(epsilon).select(one, zero);
            [size, r * r, m * m, above]
        },
    );
    let l1 = (l1 * scale.s).to_array();
    let residual = (r_square / m_square.max(vectors.splat(V::Scalar::TINY)))
        .sqrt()
        .to_array();
    let sparsity = (one - dense / entries).to_array();
    let unsettled = unsettled.to_array();
    let missing = missing.to_array();
    let least = least_specific(shape, raw, s);
    for (lane, report) in reports.iter_mut().enumerate() {
        *report = Report {
            l1: l1[lane].to_f32(),
            residual: residual[lane].to_f32(),
            sparsity: sparsity[lane].to_f32(),
            unsettled: unsettled[lane].to_f32(),
            least_specific: least(lane).to_f32(),
            missing: missing[lane].to_f32() as u32,
            ..Report::default()
        };
    }
}
