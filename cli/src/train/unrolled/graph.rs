//! The layers of the network as a graph of tensors, through which gradients flow.
//!
//! It computes what `denise::unrolled::reference` specifies, for a batch, from U₀ on; the start has no
//! weights, so the library computes it.

use burn::tensor::{Device, Tensor};
use denise::unrolled::{Curvature, RIDGE, RMS_LIMIT};

/// Added where a sum may be zero.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// Number of weights in a layer, in the order of [`denise::unrolled::Layer`]'s fields.
pub const WEIGHTS: usize = 7;

/// Constants of one size of matrix.
pub struct Graph {
    n: usize,
    k: usize,
    curvatures: Vec<Curvature>,
    /// Ones on the diagonal, and ones off it: 1×n×n.
    on: Tensor<3>,
    off: Tensor<3>,
}

impl Graph {
    /// For matrices of one size.
    pub fn new(n: usize, k: usize, curvatures: &[Curvature], device: &Device) -> Graph {
        let on: Tensor<3> = Tensor::<2>::eye(n, device).unsqueeze();
        Graph {
            n,
            k,
            curvatures: curvatures.to_vec(),
            off: on.clone().neg().add_scalar(1.0),
            on,
        }
    }

    /// Û after all layers, B×n×k, from M̂ (B×n×n), Û₀ and the weights (layers × [`WEIGHTS`]).
    pub fn forward(&self, m: Tensor<3>, start: Tensor<3>, weights: &Tensor<2>) -> Tensor<3> {
        let [batch, ..] = m.dims();
        let mut u = start.clone();
        let mut previous = start;
        let mut mean = Tensor::<3>::zeros([batch, 1, 1], &m.device());
        for (t, &curvature) in self.curvatures.iter().enumerate() {
            let weight =
                |e: usize| -> Tensor<3> { weights.clone().slice([t..t + 1, e..e + 1]).unsqueeze() };
            let r = m.clone() - u.clone().matmul(u.clone().swap_dims(1, 2));
            let next = self.step(&r, mean, &u, &previous, curvature, weight);
            let pairs = (self.n * (self.n - 1)) as f64;
            mean = total(r.abs() * self.off.clone()).div_scalar(pairs);
            previous = u;
            u = next;
        }
        u
    }

    fn step(
        &self,
        r: &Tensor<3>,
        mean: Tensor<3>,
        u: &Tensor<3>,
        previous: &Tensor<3>,
        curvature: Curvature,
        weight: impl Fn(usize) -> Tensor<3>,
    ) -> Tensor<3> {
        let [alpha, beta, gamma, delta, sigma, eta, mu] = core::array::from_fn(weight);
        let square = mean.clone() * mean;
        let scale = (alpha * square.clone() + beta) * self.off.clone();
        let diagonal = (gamma * square + delta) * self.on.clone();
        let trust = scale.clone() + diagonal.clone() * sigma;
        let w = trust / (r.clone() * r.clone() + scale + diagonal);
        let b = (w.clone() * r.clone()).matmul(u.clone());
        let d = match curvature {
            Curvature::Own => {
                let a = w.matmul(Tensor::cat(self.products(u), 2));
                let a = (0..packed(self.k))
                    .map(|e| a.clone().narrow(2, e, 1))
                    .collect();
                solve(self.k, a, &b)
            }
            Curvature::Shared => {
                let gram = self.products(u).into_iter().map(|p| p.sum_dim(1)).collect();
                solve(self.k, gram, &b) / w.mean_dim(2)
            }
        };
        let mean_square = total(u.clone() * u.clone()).div_scalar(self.n as f64);
        let limit = mean_square
            .clamp_max(RMS_LIMIT * RMS_LIMIT)
            .mul_scalar(16.0)
            .add_scalar(TINY);
        let damping = limit.clone() / (limit + (d.clone() * d.clone()).sum_dim(2));
        u.clone() + d * damping * eta + (u.clone() - previous.clone()) * mu
    }

    /// u_a u_b for a ≥ b, each B×n×1.
    fn products(&self, u: &Tensor<3>) -> Vec<Tensor<3>> {
        let column = |a: usize| u.clone().narrow(2, a, 1);
        (0..self.k)
            .flat_map(|a| (0..=a).map(move |b| (a, b)))
            .map(|(a, b)| column(a) * column(b))
            .collect()
    }
}

const fn packed(k: usize) -> usize {
    k * (k + 1) / 2
}

/// Σ over a matrix, B×1×1.
fn total(x: Tensor<3>) -> Tensor<3> {
    x.sum_dim(1).sum_dim(2)
}

/// Solves (A + ridge·tr(A)·I) x = b row by row through L D Lᵀ, as the library does. An entry of A is
/// B×n×1, or B×1×1 if all rows share it.
fn solve(k: usize, mut a: Vec<Tensor<3>>, b: &Tensor<3>) -> Tensor<3> {
    let at = |i: usize, j: usize| packed(i) + j;
    let trace = (1..k).fold(a[0].clone(), |sum, i| sum + a[at(i, i)].clone());
    let shift = trace.clone().mul_scalar(RIDGE).add_scalar(TINY);
    let least = trace.mul_scalar(0.1 * RIDGE).add_scalar(TINY);
    let mut x: Vec<Tensor<3>> = (0..k).map(|e| b.clone().narrow(2, e, 1)).collect();
    for i in 0..k {
        for j in 0..i {
            for e in 0..j {
                a[at(i, j)] = a[at(i, j)].clone() - a[at(i, e)].clone() * a[at(j, e)].clone();
            }
        }
        let mut pivot = a[at(i, i)].clone() + shift.clone();
        for j in 0..i {
            let l = a[at(i, j)].clone() * a[at(j, j)].clone();
            pivot = pivot - a[at(i, j)].clone() * l.clone();
            x[i] = x[i].clone() - l.clone() * x[j].clone();
            a[at(i, j)] = l;
        }
        a[at(i, i)] = pivot.max_pair(least.clone()).recip();
    }
    for i in (0..k).rev() {
        x[i] = x[i].clone() * a[at(i, i)].clone();
        for e in i + 1..k {
            x[i] = x[i].clone() - a[at(e, i)].clone() * x[e].clone();
        }
    }
    Tensor::cat(x, 2)
}

#[cfg(test)]
mod tests {
    use super::super::weights::initial;
    use super::*;
    use crate::train::batch::Batches;
    use burn::tensor::TensorData;
    use denise::unrolled::Layer;
    use denise::{Model, Options, Outputs};
    use denise_data::generator::{Cell, Distribution, Pairs, samples};

    #[test]
    fn the_graph_computes_what_the_library_does() {
        let device = Device::flex().autodiff();
        for (n, k, layers, shared) in [(20, 3, 12, 6), (9, 2, 5, 0), (7, 1, 4, 4), (12, 5, 6, 3)] {
            let layers = initial(layers, shared);
            let cell = Cell {
                sparsity: 0.8,
                distribution: Distribution::Normal(0.0, 1.0),
                pairs: Pairs::Uniform,
            };
            let data = samples(n, k, &[cell], 1, 0, 40);
            let curvatures: Vec<Curvature> = layers.iter().map(|x| x.curvature).collect();
            let batch = Batches::new(n, k, &device).unwrap();
            let batch = batch.make(&data.m, None).unwrap();
            let weights: Vec<f32> = layers
                .iter()
                .flat_map(Layer::weights)
                .map(|x| x as f32)
                .collect();
            let weights = TensorData::new(weights, [layers.len(), WEIGHTS]);
            let weights = Tensor::<2>::from_data(weights, &device);
            let graph = Graph::new(n, k, &curvatures, &device);
            let u = graph.forward(batch.m, batch.start, &weights);
            let l = u.clone().matmul(u.swap_dims(1, 2));
            let got: Vec<f32> = l.into_data().try_into_vec().unwrap();
            let options = Options {
                n,
                k,
                ..Options::default()
            };
            let mut want = vec![0.0; data.m.len()];
            let out = Outputs {
                l: Some(&mut want),
                ..Outputs::default()
            };
            let model = Model::unrolled(&layers, &options).unwrap();
            model.decompose(&data.m, out).unwrap();
            for (i, (got, want)) in got.chunks(n * n).zip(want.chunks(n * n)).enumerate() {
                let m = &data.m[i * n * n..];
                let scale = (0..n).map(|j| m[j * n + j]).sum::<f64>() / n as f64;
                for (got, want) in got.iter().zip(want) {
                    let error = (f64::from(*got) - want / scale).abs();
                    assert!(error < 1e-5, "n = {n}, k = {k}, matrix {i}: {error}");
                }
            }
        }
    }
}
