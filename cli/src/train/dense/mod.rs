//! Stacks of dense layers, such as the paper's network.

mod topology;

use super::batch::Batch;
use super::learner::{Learner, Result};
use crate::onnx;
use burn::tensor::activation::{leaky_relu, relu, sigmoid, tanh};
use burn::tensor::{Device, Int, Tensor, TensorData};
use denise::dense::{Activation, Layer, Network};
use denise::{Model, Options};
use denise_data::files::FileError;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};
use std::path::Path;

pub use topology::Topology;

/// Learns all weights and biases, for matrices of one size.
pub struct Dense {
    start: Network,
    /// Places of the lower triangle in a matrix, row by row.
    triangle: Tensor<1, Int>,
    device: Device,
}

impl Dense {
    /// From a network to start with.
    pub fn new(start: Network, device: &Device) -> Dense {
        let (n, device) = (start.n, device.clone().autodiff());
        let triangle = (0..n).flat_map(|i| (0..=i).map(move |j| i * n + j));
        let triangle: Vec<i64> = triangle.map(|at| at as i64).collect();
        let length = triangle.len();
        Dense {
            start,
            triangle: Tensor::from_data(TensorData::new(triangle, [length]), &device),
            device,
        }
    }

    /// The network that the numbers stand for.
    fn network(&self, free: &[f64]) -> Network {
        let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect();
        let layers = self.parts(free).map(|(layer, weights, bias)| Layer {
            weights: narrow(weights),
            bias: narrow(bias),
            ..*layer
        });
        Network {
            layers: layers.collect(),
            ..self.start
        }
    }

    /// Each layer with the numbers of its weights and of its bias.
    fn parts<'a>(
        &'a self,
        mut free: &'a [f64],
    ) -> impl Iterator<Item = (&'a Layer, &'a [f64], &'a [f64])> {
        self.start.layers.iter().map(move |layer| {
            let (weights, rest) = free.split_at(layer.inputs * layer.outputs);
            let (bias, rest) = rest.split_at(layer.outputs);
            free = rest;
            (layer, weights, bias)
        })
    }
}

/// A network with ReLU between its layers and random weights, drawn as He et al. (2015) do for ReLU. The
/// last layer's are a tenth of that: L is quadratic in U, and a start far above its scale is hard to come
/// back from.
pub fn random(n: usize, k: usize, widths: &[usize], seed: u64) -> Network {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let layers = widths.windows(2).enumerate().map(|(t, pair)| {
        let (inputs, outputs) = (pair[0], pair[1]);
        let last = t + 2 == widths.len();
        let spread = (2.0 / inputs as f64).sqrt() * if last { 0.1 } else { 1.0 };
        let normal = Normal::new(0.0, spread).expect("positive");
        let weight = |_| normal.sample(&mut rng) as f32;
        Layer {
            inputs,
            outputs,
            weights: (0..inputs * outputs).map(weight).collect(),
            bias: vec![0.0; outputs],
            activation: if last {
                Activation::Identity
            } else {
                Activation::Relu
            },
        }
    });
    Network {
        n,
        k,
        layers: layers.collect(),
    }
}

fn activate(activation: Activation, x: Tensor<2>) -> Tensor<2> {
    match activation {
        Activation::Identity => x,
        Activation::Relu => relu(x),
        Activation::LeakyRelu(slope) => leaky_relu(x, f64::from(slope)),
        Activation::Elu(factor) => {
            let below = x.clone().clamp_max(0.0).exp().sub_scalar(1.0);
            relu(x) + below.mul_scalar(factor)
        }
        Activation::Tanh => tanh(x),
        Activation::Sigmoid => sigmoid(x),
    }
}

impl Learner for Dense {
    fn initial(&self) -> Vec<f64> {
        let layers = self.start.layers.iter();
        let numbers = layers.flat_map(|layer| layer.weights.iter().chain(&layer.bias));
        numbers.map(|&x| f64::from(x)).collect()
    }

    fn confine(&self, _free: &mut [f64]) {}

    fn gradient(
        &self,
        free: &[f64],
        batch: &Batch,
        loss: &mut dyn FnMut(Tensor<3>) -> Result<Tensor<1>>,
    ) -> Result<(f64, Vec<f64>)> {
        let [count, n, _] = batch.m.dims();
        // The paper's network sees M as it is, not at unit scale.
        let m = (batch.m.clone() * batch.scale.clone()).reshape([count, n * n]);
        let mut x = m.select(1, self.triangle.clone());
        let mut leaves = Vec::new();
        for (layer, weights, bias) in self.parts(free) {
            let leaf = |values: &[f64], rows: usize| {
                let values: Vec<f32> = values.iter().map(|&x| x as f32).collect();
                let data = TensorData::new(values, [rows, layer.outputs]);
                Tensor::<2>::from_data(data, &self.device).require_grad()
            };
            let (weights, bias) = (leaf(weights, layer.inputs), leaf(bias, 1));
            x = activate(layer.activation, x.matmul(weights.clone()) + bias.clone());
            leaves.extend([weights, bias]);
        }
        let u = x.reshape([count, n, self.start.k]);
        let l = u.clone().matmul(u.swap_dims(1, 2)) / batch.scale.clone();
        let loss = loss(l)?;
        let value: Vec<f32> = loss.clone().into_data().try_into_vec()?;
        let gradients = loss.backward();
        let mut gradient = Vec::with_capacity(free.len());
        for leaf in leaves {
            let of = leaf.grad(&gradients).ok_or("no gradient reached a layer")?;
            let of: Vec<f32> = of.into_data().try_into_vec()?;
            gradient.extend(of.iter().map(|&x| f64::from(x)));
        }
        Ok((f64::from(value[0]), gradient))
    }

    fn model(&self, free: &[f64], n: usize, k: usize) -> Result<Model> {
        let options = Options {
            n,
            k,
            ..Options::default()
        };
        Ok(Model::dense(&self.network(free), &options)?)
    }

    fn write(
        &self,
        free: &[f64],
        _n: usize,
        _k: usize,
        path: &Path,
        metadata: &[(String, String)],
    ) -> std::result::Result<(), FileError> {
        onnx::write_dense(path, &self.network(free), metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::batch::Batches;
    use denise_data::generator::{Cell, samples};

    #[test]
    fn the_graph_computes_what_the_library_does() {
        let device = Device::flex();
        let (n, k, count) = (8, 2, 40);
        let dense = Dense::new(random(n, k, &[36, 50, 30, 16], 5), &device);
        let m = samples(n, k, &[Cell::default()], 1, 0, count).m;
        let batch = Batches::new(n, k, &device.clone().autodiff());
        let batch = batch.make(&m, None);
        let mut got: Vec<f32> = Vec::new();
        let mut loss = |l: Tensor<3>| -> Result<Tensor<1>> {
            got = (l.clone() * batch.scale.clone())
                .into_data()
                .try_into_vec()?;
            Ok(l.mean())
        };
        let free = dense.initial();
        dense.gradient(&free, &batch, &mut loss).unwrap();
        let mut want = vec![0.0; m.len()];
        let out = denise::Outputs {
            l: Some(&mut want),
            ..denise::Outputs::default()
        };
        dense
            .model(&free, n, k)
            .unwrap()
            .decompose(&m, out)
            .unwrap();
        let largest = want.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(largest > 1e-3);
        for (got, want) in got.iter().zip(&want) {
            assert!(
                (f64::from(*got) - want).abs() < 1e-5 * largest,
                "{got} {want}"
            );
        }
    }
}
