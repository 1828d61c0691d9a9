//! What the caller is told about a decomposition.

use super::buffers::Buffers;
use super::shape::Shape;
use crate::batch::{Report, SPARSITY_EPSILON};
use crate::simd::{Real, Vector};
use fearless_simd::Select;

/// ‖U_T − U_(T−1)‖_F / ‖U_T‖_F, as long as v still is U of the layer before.
#[inline(always)]
pub(super) fn last_step<V: Vector>(shape: impl Shape<V>, buffers: &mut Buffers<'_, V>) -> V {
    let vectors = shape.vectors();
    let Buffers { u, v, sums, .. } = buffers;
    let step = sum_of_squares(
        shape,
        u.len(),
        sums,
        #[inline(always)]
        |at| vectors.load(&u[at]) - vectors.load(&v[at]),
    );
    let all = sum_of_squares(
        shape,
        u.len(),
        sums,
        #[inline(always)]
        |at| vectors.load(&u[at]),
    );
    (step / all.max(vectors.splat(V::Scalar::TINY))).sqrt()
}

/// Over the `len` entries of a factor; `sums` is scratch.
#[inline(always)]
fn sum_of_squares<V: Vector>(
    shape: impl Shape<V>,
    len: usize,
    sums: &mut [V::Array],
    entry: impl Fn(usize) -> V,
) -> V {
    let k = len / shape.rows();
    for (row, sum) in sums.iter_mut().enumerate() {
        let mut square = shape.vectors().zero();
        for at in row * k..(row + 1) * k {
            let x = entry(at);
            square = x.mul_add(x, square);
        }
        square.store_array(sum);
    }
    shape.sum(sums)
}

/// The least S_ii / M_ii over all positive M_ii; 0 if there are none.
#[inline(always)]
fn least_specific<V: Vector>(
    shape: impl Shape<V>,
    m: &[V::Array],
    r: &[V::Array],
    numbers: &mut [V::Array],
) -> V {
    let vectors = shape.vectors();
    let (zero, none) = (vectors.zero(), vectors.splat(V::Scalar::MAX));
    for (row, number) in numbers.iter_mut().enumerate() {
        let variance = shape.diagonal(m, row);
        let ratio: V = shape.diagonal(r, row) / variance;
        let ratio: V = variance.simd_gt(zero).select(ratio, none);
        ratio.max(zero - none).store_array(number);
    }
    let least = shape.least(numbers);
    // L_ii is not negative, so no ratio is above one: this is `none`.
    least.simd_gt(vectors.one()).select(zero, least)
}

/// Writes a report for every matrix of a group; w and c are overwritten.
#[inline(always)]
pub(super) fn report<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    scale: V,
    unsettled: V,
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
    let unsettled = unsettled.to_array();
    let least_specific = least_specific(shape, m, r, sums).to_array();
    for (lane, report) in reports.iter_mut().enumerate() {
        *report = Report {
            l1: l1[lane].to_f32(),
            residual: residual[lane].to_f32(),
            sparsity: sparsity[lane].to_f32(),
            unsettled: unsettled[lane].to_f32(),
            least_specific: least_specific[lane].to_f32(),
            ..Report::default()
        };
    }
}
