//! The forward pass, written once for both kernel shapes. `reference.rs` says what it computes.

use super::ahead::Ahead;
use super::balance::{balance, restore};
use super::buffers::{Buffers, width};
use super::layers::{Curvature, Layer};
use super::missing::{self, Holes};
use super::report::last_step;
use super::rows::{self, Moving, Step, Unsolved};
use super::shape::{Influence, Made, Shape, Summed, Terms};
use super::start::start;
use super::triangle::triangle;
use super::{Bounds, CAREFUL, CUT, LEAST_THRESHOLD, RMS_LIMIT};
use crate::simd::{Real, Vector, Vectors};
use fearless_simd::Select;

/// What a forward pass needs beside the matrices.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a, F> {
    pub(super) k: usize,
    pub(super) bounds: Bounds,
    /// For `start`, and in its first column for `balance`.
    pub(super) directions: &'a [F],
    pub(super) layers: &'a [Layer<F>],
    /// Layers that come first where entries are missing.
    pub(super) mend: &'a [Layer<F>],
    /// Layers that follow U from one tick of a stream to the next.
    pub(super) follow: &'a [Layer<F>],
    /// What is asked for on the way, if that is worth while.
    pub(super) ahead: Option<Ahead<'a, F>>,
}

/// From M̂ in `buffers.m` to U, in units of √s, in `buffers.u`. `buffers.m` is overwritten.
///
/// Gives the size of the last step, if that is to be `told`.
#[inline(always)]
pub(super) fn forward<V: Vector>(
    shape: impl Shape<V>,
    weights: Weights<'_, V::Scalar>,
    holes: Option<Holes<V>>,
    told: bool,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    balance(shape, weights.bounds, buffers);
    note_variances(shape, holes, buffers);
    run(shape, weights, holes, 1.0, buffers);
    let unsettled = if told {
        last_step(shape, weights.k, buffers)
    } else {
        vectors.zero()
    };
    restore(vectors, weights.k, buffers.sizes, buffers.u);
    unsettled
}

/// The same from several starts, each of which goes through all layers: what leaves the least unexplained is kept.
#[inline(always)]
pub(super) fn forward_careful<V: Vector>(
    shape: impl Shape<V>,
    weights: Weights<'_, V::Scalar>,
    holes: Option<Holes<V>>,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    let k = weights.k;
    balance(shape, weights.bounds, buffers);
    note_variances(shape, holes, buffers);
    let mut least = vectors.splat(V::Scalar::MAX);
    let mut unsettled = vectors.zero();
    for factor in CAREFUL {
        run(shape, weights, holes, factor, buffers);
        let step = last_step(shape, k, buffers);
        let cut = CUT / weights.bounds.own;
        let cost = unexplained(shape, k, cut, holes.is_some(), buffers);
        let better = cost.simd_lt(least);
        least = better.select(cost, least);
        unsettled = better.select(step, unsettled);
        for (kept, u) in buffers.kept.iter_mut().zip(buffers.u.iter()) {
            let best: V = better.select(vectors.load(u), vectors.load(kept));
            best.store_array(kept);
        }
    }
    buffers.u.copy_from_slice(buffers.kept);
    restore(vectors, k, buffers.sizes, buffers.u);
    unsettled
}

impl<'a, F> Weights<'a, F> {
    /// The first column of `directions`.
    #[inline(always)]
    pub(super) fn ones<V: Vector>(&self, shape: impl Shape<V>) -> &'a [F] {
        &self.directions[..self.directions.len() / (width(shape.n(), self.k) + 1)]
    }
}

/// The diagonals of M̂ and, where entries are missing, of what is known of it, for layers.
#[inline(always)]
pub(super) fn note_variances<V: Vector>(
    shape: impl Shape<V>,
    holes: Option<Holes<V>>,
    buffers: &mut Buffers<'_, V>,
) {
    missing::diagonal(shape, buffers.m, buffers.variances);
    if holes.is_some() {
        missing::diagonal(shape, buffers.known, buffers.variances_known);
    }
}

/// A start, and layers one after the other. Gives the mean |R_ij| that the last one saw.
#[inline(always)]
pub(super) fn run<V: Vector>(
    shape: impl Shape<V>,
    weights: Weights<'_, V::Scalar>,
    holes: Option<Holes<V>>,
    factor: f64,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let k = weights.k;
    let Weights {
        bounds, directions, ..
    } = weights;
    start(shape, k, directions, bounds, factor, holes, buffers);
    if let Some(holes) = holes {
        mend(shape, weights, holes, buffers);
    }
    let zero = shape.vectors().zero();
    run_layers(shape, weights, weights.layers, zero, holes, buffers)
}

/// The first without momentum. Takes the mean |R_ij| of a layer before, zero if there was none, and gives that of the
/// last one.
#[inline(always)]
pub(super) fn run_layers<V: Vector>(
    shape: impl Shape<V>,
    weights: Weights<'_, V::Scalar>,
    layers: &[Layer<V::Scalar>],
    mut mean: V,
    holes: Option<Holes<V>>,
    buffers: &mut Buffers<'_, V>,
) -> V {
    buffers.v.copy_from_slice(buffers.u);
    let k = weights.k;
    for (at, next) in layers.iter().enumerate() {
        if let Some(ahead) = weights.ahead {
            ahead.fetch(at, layers.len());
        }
        mean = layer(shape, k, next, mean, holes, buffers);
    }
    mean
}

/// From the start of a matrix whose holes count as zeros to one that has seen what is known only. A matrix without holes
/// between assets that are there keeps its start.
#[inline(never)]
fn mend<V: Vector>(
    shape: impl Shape<V>,
    weights: Weights<'_, V::Scalar>,
    holes: Holes<V>,
    buffers: &mut Buffers<'_, V>,
) {
    let vectors = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            buffers.first.copy_from_slice(buffers.u);
            let zero = vectors.zero();
            run_layers(shape, weights, weights.mend, zero, Some(holes), buffers);
            for (first, u) in buffers.first.iter().zip(buffers.u.iter_mut()) {
                let u_0 = vectors.load(first);
                holes.choose(vectors, u_0, vectors.load(u)).store_array(u);
            }
            rows::squares(vectors, weights.k, buffers.u, buffers.norms);
        },
    );
}

/// Σ |R_ij| over j < i, where none counts with more than `cut`, and those that are not known not at all. w and c are
/// overwritten.
#[inline(never)]
fn unexplained<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    cut: f64,
    missing: bool,
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
                sums,
                known,
                ..
            } = buffers;
            let cut = vectors.number(cut);
            shape.split(k, vectors.one(), m, u, w, c);
            if missing {
                for (c, known) in c.iter_mut().zip(known.iter()) {
                    (vectors.load(c) * vectors.load(known)).store_array(c);
                }
            }
            shape.sum_pairs(
                sums,
                #[inline(always)]
                |at| vectors.load(&c[at]).abs().min(cut),
            )
        },
    )
}

/// One layer. Takes the mean |R_ij| that the layer before saw, and gives the one that this layer saw.
#[inline(never)]
fn layer<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    layer: &Layer<V::Scalar>,
    mean: V,
    holes: Option<Holes<V>>,
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
                small,
                known,
                variances,
                variances_known,
                ..
            } = buffers;
            let (p, a) = room.split_at_mut(shape.rows() * triangle(k));
            let a = &mut a[..shape.rows() * triangle(k)];
            let mut size = shape.mean(norms);
            if let Some(holes) = holes {
                size *= holes.stretch(shape);
            }
            let influence = influence(shape, layer, mean, size);
            let limit = size.min(vectors.number(RMS_LIMIT * RMS_LIMIT));
            let limit = limit.mul_add(vectors.number(16.0), vectors.splat(V::Scalar::TINY));
            let own = layer.curvature == Curvature::Own;
            let within = layer.nu != V::Scalar::ZERO;
            if !own || within {
                shape.gram(k, u, u, g);
                // Now, so that its chain of divisions is over when the weights have been summed.
                rows::factor_gram(vectors, k, g);
            }
            let p = own.then_some(p);
            let terms = Terms {
                w,
                c,
                a: &mut *a,
                b,
                sums,
                trust,
            };
            // A step that takes back needs those of all rows first. What it takes is put together here, where it is used:
            // what was written a moment ago is slow to copy.
            let step = {
                let (u, shared, limit, n) = (&**u, (!own).then_some(&**g), &limit, shape.n());
                #[inline(always)]
                move |first: usize, summed: Summed<'_, V>, made: Made<'_, V>| {
                    let Summed { a, b, trust } = summed;
                    let systems = rows::Systems {
                        vectors,
                        k,
                        n,
                        limit: *limit,
                        shared,
                    };
                    systems.solve(Unsolved { a, trust, b });
                    if !within {
                        let u = &u[first * k..][..b.len()];
                        advance(vectors, k, layer, None).rows(Moving {
                            d: b,
                            u,
                            previous: made.u,
                            norms: made.norms,
                        });
                    }
                }
            };
            // The sum over pairs j < i is divided by n, and then by the rest of how many there are.
            let (sum, share) = match holes {
                None => {
                    let made = Made { u: v, norms };
                    let m = (&**m, &**variances);
                    let sum = shape.accumulate(k, influence, m, u, p, terms, made, &step);
                    (sum, vectors.number(2.0 / (shape.n() as f64 - 1.0)))
                }
                Some(holes) => {
                    let holed = missing::Holed {
                        m,
                        known,
                        variances,
                        variances_known,
                        stretch: holes.stretch(shape),
                    };
                    missing::accumulate(shape, k, influence, holed, u, p, terms);
                    let sum = shape.sum(sums);
                    shape.share_rows(
                        [
                            (a, triangle(k)),
                            (b, k),
                            (trust, 1),
                            (&mut *v, k),
                            (norms, 1),
                        ],
                        #[inline(always)]
                        |first, [a, b, trust, u, norms]| {
                            step(first, Summed { a, b, trust }, Made { u, norms });
                        },
                    );
                    (sum, holes.share_of_pairs(shape))
                }
            };
            let mean = sum * vectors.number(1.0 / shape.n() as f64) * share;
            if within {
                shape.cross(k, u, b, small);
                rows::within(vectors, k, vectors.splat(layer.nu), g, small);
                let advance = advance(vectors, k, layer, Some(&**small));
                shape.share_rows(
                    [(b, k), (&mut *v, k), (norms, 1)],
                    #[inline(always)]
                    |first, [d, previous, norms]| {
                        let u = &u[first * k..][..d.len()];
                        advance.rows(Moving {
                            d,
                            u,
                            previous,
                            norms,
                        });
                    },
                );
            }
            core::mem::swap(u, v);
            mean
        },
    )
}

/// What takes the steps of rows.
#[inline(always)]
fn advance<'a, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    layer: &Layer<V::Scalar>,
    c: Option<&'a [V::Array]>,
) -> rows::Advance<'a, V> {
    let step = Step {
        eta: layer.eta,
        mu: layer.mu,
    };
    rows::Advance {
        vectors,
        k,
        step,
        c,
    }
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
