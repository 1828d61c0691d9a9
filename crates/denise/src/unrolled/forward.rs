//! The forward pass, written once for both kernel shapes. `reference.rs` says what it computes.

use super::RMS_LIMIT;
use super::buffers::Buffers;
use super::layers::{Curvature, Layer};
use super::rows::{self, Step};
use super::shape::{Influence, Shape, Terms};
use super::start::start;
use crate::simd::{Real, Vector};

/// From M̂ in `buffers.m` to U, in units of √s, in `buffers.u`. `omega` is Ω, a table for `Pack::spread`.
#[inline(always)]
pub(super) fn forward<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    omega: &[V::Scalar],
    layers: &[Layer<V::Scalar>],
    buffers: &mut Buffers<'_, V>,
) {
    start(shape, k, omega, buffers);
    // No momentum yet.
    buffers.v.copy_from_slice(buffers.u);
    let mut mean = shape.vectors().zero();
    for weights in layers {
        mean = layer(shape, k, weights, mean, buffers);
    }
}

/// One layer. Takes the mean |R_ij| that the layer before saw, and gives the one that this layer saw.
#[inline(always)]
fn layer<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    layer: &Layer<V::Scalar>,
    mean: V,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    let Buffers {
        m,
        w,
        c,
        u,
        v,
        p,
        a,
        b,
        sums,
        trust,
        norms,
        g,
        ..
    } = buffers;
    let influence = influence(shape, layer, mean);
    let limit = shape.mean(norms).min(vectors.number(RMS_LIMIT * RMS_LIMIT));
    let step = Step {
        eta: vectors.splat(layer.eta),
        mu: vectors.splat(layer.mu),
        limit: limit.mul_add(vectors.number(16.0), vectors.splat(V::Scalar::TINY)),
    };
    let mut own = None;
    if layer.curvature == Curvature::Own {
        rows::products(vectors, k, u, p);
        own = Some(&**p);
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
}

/// The weight function, whose scales follow the mean |R_ij|.
#[inline(always)]
fn influence<V: Vector>(shape: impl Shape<V>, layer: &Layer<V::Scalar>, mean: V) -> Influence<V> {
    let vectors = shape.vectors();
    let square = mean * mean;
    let diagonal_scale = vectors
        .splat(layer.gamma)
        .mul_add(square, vectors.splat(layer.delta));
    Influence {
        scale: vectors
            .splat(layer.alpha)
            .mul_add(square, vectors.splat(layer.beta)),
        diagonal_scale,
        diagonal_trust: vectors.splat(layer.sigma) * diagonal_scale,
    }
}
