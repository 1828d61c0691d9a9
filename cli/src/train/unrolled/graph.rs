//! The layers of the network as a graph of tensors, through which gradients flow.
//!
//! It computes what `denise::unrolled::reference` specifies for balanced matrices, for a batch, from the start on, which
//! has no weights.
//! U is stored as B×k×n here, so that its columns lie side by side.

use crate::train::batch::Batch;
use burn::tensor::{Device, Int, Tensor, TensorData};
use denise::unrolled::{Curvature, Layer, RIDGE, RMS_LIMIT};

/// Added where a sum may be zero.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// Number of weights in a layer, in the order of [`denise::unrolled::Layer`]'s fields.
pub const WEIGHTS: usize = 7;

/// Constants of one size of matrix.
pub struct Graph {
    n: usize,
    k: usize,
    curvatures: Vec<Curvature>,
    /// Entries (a, b) with a ≥ b of a k×k matrix, column by column.
    rows: Tensor<1, Int>,
    columns: Tensor<1, Int>,
    /// Layers that follow and do not learn.
    fixed: Option<Fixed>,
}

/// Layers whose weights stay what they are.
struct Fixed {
    curvatures: Vec<Curvature>,
    weights: Tensor<2>,
}

/// Û, and the mean |R_ij| that the layer before saw.
struct State {
    /// B×k×n.
    u: Tensor<3>,
    /// B×1×1.
    mean: Tensor<3>,
}

impl Graph {
    /// For matrices of one size.
    pub fn new(n: usize, k: usize, curvatures: &[Curvature], device: &Device) -> Graph {
        let places: Vec<(i64, i64)> = (0..k as i64)
            .flat_map(|b| (b..k as i64).map(move |a| (a, b)))
            .collect();
        let tensor = |of: fn(&(i64, i64)) -> i64| {
            let values: Vec<i64> = places.iter().map(of).collect();
            Tensor::from_data(TensorData::new(values, [places.len()]), device)
        };
        Graph {
            n,
            k,
            curvatures: curvatures.to_vec(),
            rows: tensor(|x| x.0),
            columns: tensor(|x| x.1),
            fixed: None,
        }
    }

    /// Followed by layers that do not learn.
    pub fn with_fixed(self, layers: &[Layer], device: &Device) -> Graph {
        let weights: Vec<f32> = layers
            .iter()
            .flat_map(Layer::weights)
            .map(|x| x as f32)
            .collect();
        let data = TensorData::new(weights, [layers.len(), WEIGHTS]);
        Graph {
            fixed: Some(Fixed {
                curvatures: layers.iter().map(|x| x.curvature).collect(),
                weights: Tensor::from_data(data, device),
            }),
            ..self
        }
    }

    /// Û after all layers, B×k×n, for weights of layers × [`WEIGHTS`].
    pub fn forward(&self, batch: &Batch, weights: &Tensor<2>) -> Tensor<3> {
        let m = Matrices::new(batch.balanced.clone(), batch.known.clone());
        let u = self.run(&m, batch.start.clone(), &self.curvatures, weights);
        match &self.fixed {
            None => u,
            Some(fixed) => self.run(&m, u, &fixed.curvatures, &fixed.weights),
        }
    }

    /// Layers one after the other, the first without momentum.
    fn run(
        &self,
        m: &Matrices,
        start: Tensor<3>,
        curvatures: &[Curvature],
        weights: &Tensor<2>,
    ) -> Tensor<3> {
        let [count, ..] = start.dims();
        let mut state = State {
            mean: Tensor::zeros([count, 1, 1], &start.device()),
            u: start,
        };
        let mut momentum = None;
        for (t, &curvature) in curvatures.iter().enumerate() {
            let weight =
                |e: usize| -> Tensor<3> { weights.clone().slice([t..t + 1, e..e + 1]).unsqueeze() };
            let next = self.step(m, &state, momentum, curvature, weight);
            momentum = Some(next.u.clone() - state.u);
            state = next;
        }
        state.u
    }

    fn step(
        &self,
        m: &Matrices,
        state: &State,
        momentum: Option<Tensor<3>>,
        curvature: Curvature,
        weight: impl Fn(usize) -> Tensor<3>,
    ) -> State {
        let [alpha, beta, gamma, delta, sigma, eta, mu] = core::array::from_fn(weight);
        let State { u, mean } = state;
        let n = self.n as f64;
        let squares = u.clone() * u.clone();
        let size = total(squares.clone()).div_scalar(n);
        let (mean, size_square) = (mean.clone() * mean.clone(), size.clone() * size.clone());
        let threshold = |of_mean: Tensor<3>, of_size: Tensor<3>| {
            (of_mean * mean.clone() + of_size * size_square.clone()).add_scalar(TINY)
        };
        let scale = threshold(alpha, beta);
        let diagonal_scale = threshold(gamma, delta);
        let Residual { r, diagonal } = m.residual(u);
        let mut w = scale.clone() / (r.clone() * r.clone() + scale.clone());
        // All of w is made with the scale of pairs; `beyond` is what the diagonal has beyond that.
        let square = diagonal.clone() * diagonal.clone();
        let negative = diagonal.clone().clamp_max(0.0) * m.variance.clone();
        let trust = sigma * diagonal_scale.clone() + negative.clone() * negative;
        let own = trust / (square.clone() + diagonal_scale);
        let beyond = match &m.known {
            None => own - scale.clone() / (square + scale),
            // Nothing is taken away again: where few weights are left, that could be all but a rounding.
            Some(known) => {
                w = w * known.pairs.clone();
                own * known.variances.clone()
            }
        };
        let b = u.clone().matmul(w.clone() * r.clone())
            + u.clone() * (beyond.clone() * diagonal.clone());
        let products = self.products(u);
        let nothing = m.known.as_ref().map(|known| known.nothing.clone());
        let d = match curvature {
            // W is symmetric.
            Curvature::Own => {
                let a = products.clone().matmul(w) + products * beyond;
                self.solve(&a, b, nothing)
            }
            Curvature::Shared => {
                let mut weight = (w.sum_dim(1) + beyond).div_scalar(n);
                if let Some(nothing) = nothing {
                    weight = weight + nothing;
                }
                self.solve(&products.sum_dim(2), b, None) / weight
            }
        };
        let limit = size
            .clamp_max(RMS_LIMIT * RMS_LIMIT)
            .mul_scalar(16.0)
            .add_scalar(TINY);
        let damping = limit.clone() / ((d.clone() * d.clone()).sum_dim(1) + limit);
        let mut next = u.clone() + d * (damping * eta);
        if let Some(momentum) = momentum {
            next = next + momentum * mu;
        }
        let sum = total(r.abs()) - total(diagonal.abs());
        State {
            u: next,
            mean: match &m.known {
                None => sum.div_scalar(n * (n - 1.0)),
                Some(known) => sum / known.count.clone(),
            },
        }
    }

    /// u_a u_b for a ≥ b, column by column of the matrix of them: B×k(k+1)/2×n.
    fn products(&self, u: &Tensor<3>) -> Tensor<3> {
        u.clone().select(1, self.rows.clone()) * u.clone().select(1, self.columns.clone())
    }

    /// Solves (A + ridge·tr(A)·I) x = b for each row of U, through L D Lᵀ. The lower triangle of A, column by column, is
    /// B×k(k+1)/2×n, or B×k(k+1)/2×1 if all rows share it; b and x are B×k×n.
    /// Rows of which `nothing` is known have a system of zeros; with one on its diagonal their slopes are finite.
    fn solve(&self, a: &Tensor<3>, mut b: Tensor<3>, nothing: Option<Tensor<3>>) -> Tensor<3> {
        let k = self.k;
        let begin = |j: usize| j * k - j * j.saturating_sub(1) / 2;
        let mut columns: Vec<Tensor<3>> = (0..k)
            .map(|j| a.clone().narrow(1, begin(j), k - j))
            .collect();
        let pivot = |column: &Tensor<3>| column.clone().narrow(1, 0, 1);
        let trace = columns.iter().map(pivot).reduce(|sum, x| sum + x);
        let trace = trace.expect("k is at least 1");
        let mut shift = trace.clone().mul_scalar(RIDGE).add_scalar(TINY);
        if let Some(nothing) = nothing {
            shift = shift + nothing;
        }
        let least = trace.mul_scalar(0.1 * RIDGE).add_scalar(TINY);
        // What L D z = b gives, and for each column but the last what is below the diagonal of L.
        let (mut z, mut below) = (Vec::new(), Vec::new());
        for j in 0..k {
            let inverse = (pivot(&columns[j]) + shift.clone())
                .max_pair(least.clone())
                .recip();
            let first = b.clone().narrow(1, 0, 1);
            z.push(first.clone() * inverse.clone());
            let rest = k - 1 - j;
            if rest == 0 {
                break;
            }
            let under = columns[j].clone().narrow(1, 1, rest);
            let l = under.clone() * inverse;
            b = b.narrow(1, 1, rest) - l.clone() * first;
            for c in 0..rest {
                let (from, height) = (l.clone().narrow(1, c, rest - c), under.clone());
                let change = from * height.narrow(1, c, 1);
                columns[j + 1 + c] = columns[j + 1 + c].clone() - change;
            }
            below.push(l);
        }
        let mut x = z.pop().expect("k is at least 1");
        while let (Some(z), Some(l)) = (z.pop(), below.pop()) {
            let first = z - (l * x.clone()).sum_dim(1);
            x = Tensor::cat(vec![first, x], 1);
        }
        x
    }
}

/// Balanced matrices, with their diagonal.
struct Matrices {
    m: Tensor<3>,
    /// B×1×n.
    diagonal: Tensor<3>,
    /// 1 where that is positive, else 0.
    variance: Tensor<3>,
    /// Where entries are missing.
    known: Option<Known>,
}

/// What is known: 1 where it is, else 0.
struct Known {
    entries: Tensor<3>,
    /// Without the diagonal.
    pairs: Tensor<3>,
    /// Of the diagonal, B×1×n.
    variances: Tensor<3>,
    /// 1 for rows of which nothing is known, B×1×n.
    nothing: Tensor<3>,
    /// How many pairs i ≠ j are, B×1×1.
    count: Tensor<3>,
}

/// R = M − U Uᵀ, with its diagonal.
struct Residual {
    r: Tensor<3>,
    /// B×1×n.
    diagonal: Tensor<3>,
}

impl Matrices {
    fn new(m: Tensor<3>, known: Option<Tensor<3>>) -> Matrices {
        let [_, n, _] = m.dims();
        let eye: Tensor<3> = Tensor::<2>::eye(n, &m.device()).unsqueeze();
        let diagonal = (m.clone() * eye.clone()).sum_dim(1);
        let variance = diagonal.clone().greater_elem(0.0).float();
        let known = known.map(|entries| {
            let variances = (entries.clone() * eye.clone()).sum_dim(1);
            let pairs = entries.clone() - entries.clone() * eye;
            Known {
                nothing: entries.clone().sum_dim(1).lower_elem(0.5).float(),
                count: total(pairs.clone()).clamp_min(1.0),
                pairs,
                variances,
                entries,
            }
        });
        Matrices {
            m,
            diagonal,
            variance,
            known,
        }
    }

    fn residual(&self, u: &Tensor<3>) -> Residual {
        let squares = (u.clone() * u.clone()).sum_dim(1);
        let r = self.m.clone() - u.clone().swap_dims(1, 2).matmul(u.clone());
        let diagonal = self.diagonal.clone() - squares;
        match &self.known {
            None => Residual { r, diagonal },
            Some(known) => Residual {
                r: r * known.entries.clone(),
                diagonal: diagonal * known.variances.clone(),
            },
        }
    }
}

/// Σ over a matrix, B×1×1.
fn total(x: Tensor<3>) -> Tensor<3> {
    x.sum_dim(1).sum_dim(2)
}

#[cfg(test)]
mod tests {
    use super::super::Unrolled;
    use super::super::weights::{free, initial, layer};
    use super::*;
    use crate::train::Learner;
    use crate::train::batch::Batches;
    use denise::unrolled::reference;
    use denise_data::generator::{Amplitude, Cell, Kind, samples};
    use nalgebra::DMatrix;

    /// Sizes n and k, layers, and shared ones among them; without a layer, too.
    const CASES: [(usize, usize, usize, usize); 6] = [
        (20, 3, 12, 6),
        (9, 2, 5, 0),
        (7, 1, 4, 4),
        (12, 5, 6, 3),
        (8, 2, 1, 0),
        (6, 2, 0, 0),
    ];

    /// Matrices of which some have outliers that own the leading eigenvectors.
    fn matrices(n: usize, k: usize, count: usize) -> Vec<f64> {
        let cells = [1.0, 2.0, 4.0, 10.0].map(|amplitude| Cell {
            amplitude: Amplitude::Fixed(amplitude),
            ..Cell::default()
        });
        samples(n, k, &cells, 1, 0, count).m
    }

    /// L of the reference in the units of the batch.
    fn specified(n: usize, k: usize, m: &[f64], layers: &[Layer]) -> Vec<DMatrix<f64>> {
        let split = |m: &[f64]| {
            let m = DMatrix::from_row_slice(n, n, m);
            let scale = m.trace().max(m.amax()) / n as f64;
            reference::decompose(&m, k, layers).l / scale
        };
        m.chunks_exact(n * n).map(split).collect()
    }

    fn numbers(layers: &[Layer], device: &Device) -> Tensor<2> {
        let weights: Vec<f32> = layers
            .iter()
            .flat_map(Layer::weights)
            .map(|x| x as f32)
            .collect();
        let weights = TensorData::new(weights, [layers.len(), WEIGHTS]);
        Tensor::from_data(weights, device)
    }

    #[test]
    fn the_graph_computes_what_is_specified() {
        let device = Device::flex().autodiff();
        for (n, k, layers, shared) in CASES {
            let layers = initial(layers, shared);
            let m = matrices(n, k, 40);
            let curvatures: Vec<Curvature> = layers.iter().map(|x| x.curvature).collect();
            let batch = Batches::new(n, k, &device).make(&m, None);
            let graph = Graph::new(n, k, &curvatures, &device);
            let u = graph.forward(&batch, &numbers(&layers, &device)) * batch.sizes;
            let l = u.clone().swap_dims(1, 2).matmul(u);
            let got: Vec<f32> = l.into_data().try_into_vec().unwrap();
            let want = specified(n, k, &m, &layers);
            for (i, (got, want)) in got.chunks(n * n).zip(want).enumerate() {
                for (got, want) in got.iter().zip(&want) {
                    let error = (f64::from(*got) - want).abs();
                    assert!(error < 1e-4, "n = {n}, k = {k}, matrix {i}: {error}");
                }
            }
        }
    }

    /// With holes: mending layers that learn, then others that do not.
    #[test]
    fn the_graph_computes_what_is_specified_where_entries_are_missing() {
        let device = Device::flex().autodiff();
        let kinds = [
            "normal 0.80 authors missing 0.20",
            "normal 0.90 authors missing variances 0.50",
            "normal 0.90 authors missing rows 2:0",
            "normal 0.90 authors missing groups 6",
        ];
        let kinds = kinds.map(|kind| kind.parse::<Kind>().unwrap());
        for (n, k) in [(20, 3), (9, 2), (12, 4)] {
            let (mend, layers) = (initial(3, 0), initial(6, 3));
            let m = samples(n, k, &kinds, 1, 0, 40).m;
            let curvatures: Vec<Curvature> = mend.iter().map(|x| x.curvature).collect();
            let batch = Batches::new(n, k, &device).make(&m, None);
            let graph = Graph::new(n, k, &curvatures, &device).with_fixed(&layers, &device);
            let u = graph.forward(&batch, &numbers(&mend, &device)) * batch.sizes;
            let l = u.clone().swap_dims(1, 2).matmul(u);
            let got: Vec<f32> = l.into_data().try_into_vec().unwrap();
            let network = reference::Network {
                layers: &layers,
                mend: &mend,
                ..reference::Network::default()
            };
            for (i, got) in got.chunks(n * n).enumerate() {
                let m = DMatrix::from_row_slice(n, n, &m[i * n * n..][..n * n]);
                let want = network.decompose(&m, k).l / reference::scale(&m);
                let largest = want.amax();
                for (got, want) in got.iter().zip(&want) {
                    let error = (f64::from(*got) - want).abs() / largest;
                    assert!(error < 1e-3, "n = {n}, k = {k}, matrix {i}: {error}");
                }
            }
        }
    }

    /// Of the mean L², by all free numbers of mending layers; nothing is known of some rows.
    #[test]
    fn its_slopes_are_those_of_what_is_specified_where_entries_are_missing() {
        let device = Device::flex().autodiff();
        let kinds = ["normal 0.90 missing rows 2:0", "normal 0.80 missing 0.20"];
        let kinds = kinds.map(|kind| kind.parse::<Kind>().unwrap());
        let (n, k) = (12, 3);
        let (mend, layers) = (initial(2, 0), initial(4, 2));
        let m = samples(n, k, &kinds, 1, 0, 40).m;
        let batch = Batches::new(n, k, &device).make(&m, None);
        let learner = Unrolled::mending(&mend, &layers, &[(n, k)], &Device::flex());
        let mut squares = |l: Tensor<3>| Ok((l.clone() * l).mean());
        let slopes = learner.gradient(&learner.initial(), &batch, &mut squares);
        let slopes = slopes.unwrap().1;
        let loss = |mend: &[Layer]| {
            let network = reference::Network {
                layers: &layers,
                mend,
                ..reference::Network::default()
            };
            let each = m.chunks_exact(n * n).map(|m| {
                let m = DMatrix::from_row_slice(n, n, m);
                (network.decompose(&m, k).l / reference::scale(&m)).norm_squared()
            });
            each.sum::<f64>() / m.len() as f64
        };
        let largest = slopes.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(largest > 0.0);
        for (place, &slope) in slopes.iter().enumerate() {
            let (t, e) = (place / WEIGHTS, place % WEIGHTS);
            let at = |h: f64| {
                let mut mend = mend.clone();
                let mut numbers = free(&mend[t]);
                numbers[e] += h;
                mend[t] = layer(mend[t].curvature, &numbers);
                loss(&mend)
            };
            let want = (at(1e-4) - at(-1e-4)) / 2e-4;
            let error = (slope - want).abs() / largest;
            assert!(error < 1e-3, "layer {t}, number {e}: {slope} {want}");
        }
    }

    /// Of the mean (L − M)², by all free numbers of all layers.
    #[test]
    fn its_slopes_are_those_of_what_is_specified() {
        let device = Device::flex().autodiff();
        for (n, k, layers, shared) in [(12, 3, 5, 3), (8, 2, 2, 1)] {
            let layers = initial(layers, shared);
            let m = matrices(n, k, 40);
            let batch = Batches::new(n, k, &device).make(&m, None);
            let learner = Unrolled::new(&layers, &[], &[(n, k)], &Device::flex());
            let mut squares = |l: Tensor<3>| {
                let s = l - batch.m.clone();
                Ok((s.clone() * s).mean())
            };
            let slopes = learner.gradient(&learner.initial(), &batch, &mut squares);
            let slopes = slopes.unwrap().1;
            let scaled: Vec<f32> = batch.m.clone().into_data().try_into_vec().unwrap();
            let loss = |layers: &[Layer]| {
                let all = specified(n, k, &m, layers);
                let l = all.iter().flat_map(|l| l.iter());
                let squares = l.zip(&scaled).map(|(l, &m)| (l - f64::from(m)).powi(2));
                squares.sum::<f64>() / m.len() as f64
            };
            let largest = slopes.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for (place, &slope) in slopes.iter().enumerate() {
                let (t, e) = (place / WEIGHTS, place % WEIGHTS);
                let at = |h: f64| {
                    let mut layers = layers.clone();
                    let mut numbers = free(&layers[t]);
                    numbers[e] += h;
                    layers[t] = layer(layers[t].curvature, &numbers);
                    loss(&layers)
                };
                let want = (at(1e-4) - at(-1e-4)) / 2e-4;
                let error = (slope - want).abs() / largest;
                assert!(error < 5e-4, "layer {t}, number {e}: {slope} {want}");
            }
        }
    }
}
