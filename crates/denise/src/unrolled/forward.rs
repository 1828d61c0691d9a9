//! The forward pass, written once for both kernel shapes. `reference.rs` says what it computes.

use super::buffers::Buffers;
use super::fork::{blend, share, typical, unexplained};
use super::layers::{Curvature, Layer};
use super::report::last_step;
use super::rows::{self, Step};
use super::shape::{Influence, Shape, Terms};
use super::start::{From, start};
use super::triangle::triangle;
use super::{BOUND, CAREFUL, FORKED, LEAST_THRESHOLD, RMS_LIMIT};
use crate::simd::{Real, Vector, Vectors};
use fearless_simd::Select;

/// What a forward pass needs beside the matrices.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a, F> {
    pub(super) k: usize,
    /// For `start`.
    pub(super) directions: &'a [F],
    /// For `blend`.
    pub(super) join: &'a [F],
    pub(super) layers: &'a [Layer<F>],
}

/// From M̂ in `buffers.m` to U, in units of √s, in `buffers.u`; U of the layer before is in `buffers.v`.
#[inline(always)]
pub(super) fn forward<V: Vector>(
    shape: impl Shape<V>,
    weights: Weights<'_, V::Scalar>,
    buffers: &mut Buffers<'_, V>,
) {
    let vectors = shape.vectors();
    let Weights {
        k,
        directions,
        join,
        layers,
    } = weights;
    let (both, rest) = layers.split_at(FORKED.min(layers.len()));
    let zero = vectors.zero();
    let usual = typical(shape, buffers);

    start(shape, k, directions, From::Plain, buffers);
    let plain_mean = run(shape, k, both, zero, buffers);
    let plain_cost = unexplained(shape, k, usual, buffers);
    buffers.kept.copy_from_slice(buffers.u);

    let bound = usual * vectors.number(BOUND);
    start(shape, k, directions, From::Clipped(bound), buffers);
    let mean = run(shape, k, both, zero, buffers);
    let cost = unexplained(shape, k, usual, buffers);

    let share = share(shape, plain_cost, cost);
    blend(shape, k, join, share, buffers);
    let mean = (mean - plain_mean).mul_add(share, plain_mean);
    run(shape, k, rest, mean, buffers);
}

/// The same from several starts, each of which goes through all layers: what leaves the least unexplained is kept.
/// Gives the size of its last step.
#[inline(always)]
pub(super) fn forward_careful<V: Vector>(
    shape: impl Shape<V>,
    weights: Weights<'_, V::Scalar>,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    let Weights {
        k,
        directions,
        layers,
        ..
    } = weights;
    let (both, rest) = layers.split_at(FORKED.min(layers.len()));
    let usual = typical(shape, buffers);
    let mut least = vectors.splat(V::Scalar::MAX);
    let mut unsettled = vectors.zero();
    for candidate in 0..=CAREFUL.len() {
        let from = match candidate.checked_sub(1) {
            None => From::Plain,
            Some(at) => From::Clipped(usual * vectors.number(CAREFUL[at])),
        };
        start(shape, k, directions, from, buffers);
        let mean = run(shape, k, both, vectors.zero(), buffers);
        run(shape, k, rest, mean, buffers);
        let step = last_step(shape, k, buffers);
        let cost = unexplained(shape, k, usual, buffers);
        let better = cost.simd_lt(least);
        least = better.select(cost, least);
        unsettled = better.select(step, unsettled);
        for (kept, u) in buffers.kept.iter_mut().zip(buffers.u.iter()) {
            let best: V = better.select(vectors.load(u), vectors.load(kept));
            best.store_array(kept);
        }
    }
    buffers.u.copy_from_slice(buffers.kept);
    unsettled
}

/// Layers one after the other, the first without momentum. Takes the mean |R_ij| that the layer before saw, and gives
/// the one that the last layer saw.
#[inline(always)]
fn run<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    layers: &[Layer<V::Scalar>],
    mut mean: V,
    buffers: &mut Buffers<'_, V>,
) -> V {
    buffers.v.copy_from_slice(buffers.u);
    for weights in layers {
        mean = layer(shape, k, weights, mean, buffers);
    }
    mean
}

/// One layer. Takes the mean |R_ij| that the layer before saw, and gives the one that this layer saw.
#[inline(never)]
fn layer<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    layer: &Layer<V::Scalar>,
    mean: V,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            let Buffers {
                m,
                w,
                c,
                u,
                v,
                room,
                b,
                sums,
                trust,
                norms,
                g,
                ..
            } = buffers;
            let (p, a) = room.split_at_mut(shape.rows() * triangle(k));
            let size = shape.mean(norms);
            let influence = influence(shape, layer, mean, size);
            let limit = size.min(vectors.number(RMS_LIMIT * RMS_LIMIT));
            let step = Step {
                eta: vectors.splat(layer.eta),
                mu: vectors.splat(layer.mu),
                limit: limit.mul_add(vectors.number(16.0), vectors.splat(V::Scalar::TINY)),
            };
            let mut own = None;
            if layer.curvature == Curvature::Own {
                rows::products(vectors, k, u, p);
                own = Some(&*p);
            } else {
                shape.gram(k, u, u, g);
            }
            let terms = Terms {
                w,
                c,
                a,
                b,
                sums,
                trust,
            };
            shape.accumulate(k, influence, m, u, own, terms);
            // The sum over pairs j < i, divided by n and by the rest of n (n − 1) / 2.
            let mean = shape.mean(sums) * vectors.number(2.0 / (shape.n() as f64 - 1.0));
            if own.is_some() {
                rows::step_own(vectors, k, step, a, b, u, v, norms);
            } else {
                rows::step_shared(vectors, k, shape.n(), step, g, trust, b, u, v, norms);
            }
            core::mem::swap(u, v);
            mean
        },
    )
}

/// The weight function, whose scales follow the mean |R_ij| and the size of L.
#[inline(always)]
fn influence<V: Vector>(
    shape: impl Shape<V>,
    layer: &Layer<V::Scalar>,
    mean: V,
    size: V,
) -> Influence<V> {
    let vectors = shape.vectors();
    let (mean, size) = (mean * mean, size * size);
    let diagonal_scale = threshold(vectors, layer.gamma, mean, layer.delta, size);
    Influence {
        scale: threshold(vectors, layer.alpha, mean, layer.beta, size),
        diagonal_scale,
        diagonal_trust: vectors.splat(layer.sigma) * diagonal_scale,
    }
}

/// e².
#[inline(always)]
fn threshold<V: Vector>(
    vectors: Vectors<V>,
    of_mean: V::Scalar,
    mean: V,
    of_size: V::Scalar,
    size: V,
) -> V {
    let least = vectors.number(LEAST_THRESHOLD);
    let fixed = vectors.splat(of_size).mul_add(size, least);
    vectors.splat(of_mean).mul_add(mean, fixed)
}
