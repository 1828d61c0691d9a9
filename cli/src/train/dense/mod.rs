//! Stacks of dense layers with ReLU between them, such as the paper's network.

mod topology;

use super::batch::Batch;
use super::learner::{Learner, Result};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};
use denise::dense::{Activation, Layer, Network};
use denise::{Model, Options};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};

pub use topology::Topology;

/// Learns all weights and biases, for matrices of one size.
pub struct Dense {
    n: usize,
    k: usize,
    widths: Vec<usize>,
    seed: u64,
    /// Places of the lower triangle in a matrix, row by row.
    triangle: Tensor<1, burn::tensor::Int>,
    device: Device,
}

impl Dense {
    /// With so many values between layers; `seed` draws the first weights.
    pub fn new(n: usize, k: usize, widths: Vec<usize>, seed: u64, device: &Device) -> Dense {
        let device = device.clone().autodiff();
        let triangle = (0..n).flat_map(|i| (0..=i).map(move |j| i * n + j));
        let triangle: Vec<i64> = triangle.map(|at| at as i64).collect();
        let length = triangle.len();
        Dense {
            n,
            k,
            widths,
            seed,
            triangle: Tensor::from_data(TensorData::new(triangle, [length]), &device),
            device,
        }
    }

    /// The network that the numbers stand for.
    pub fn network(&self, free: &[f64]) -> Network {
        let layers = self.parts(free).map(|(inputs, outputs, weights, bias)| {
            let last =
                outputs == self.n * self.k && bias.as_ptr_range().end == free.as_ptr_range().end;
            Layer {
                inputs,
                outputs,
                weights: weights.iter().map(|&x| x as f32).collect(),
                bias: bias.iter().map(|&x| x as f32).collect(),
                activation: if last {
                    Activation::Identity
                } else {
                    Activation::Relu
                },
            }
        });
        Network {
            n: self.n,
            k: self.k,
            layers: layers.collect(),
        }
    }

    /// Inputs, outputs, weights and bias of each layer.
    fn parts<'a>(
        &'a self,
        mut free: &'a [f64],
    ) -> impl Iterator<Item = (usize, usize, &'a [f64], &'a [f64])> {
        self.widths.windows(2).map(move |pair| {
            let (inputs, outputs) = (pair[0], pair[1]);
            let (weights, rest) = free.split_at(inputs * outputs);
            let (bias, rest) = rest.split_at(outputs);
            free = rest;
            (inputs, outputs, weights, bias)
        })
    }
}

impl Learner for Dense {
    /// Weights as He et al. (2015) draw them for ReLU. The last layer's are a tenth of that: the loss is
    /// quadratic in U, and a start far above the scale of L is hard to come back from.
    fn initial(&self) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let layers = self.widths.len() - 1;
        let mut free = Vec::new();
        for (t, pair) in self.widths.windows(2).enumerate() {
            let spread = (2.0 / pair[0] as f64).sqrt() * if t + 1 == layers { 0.1 } else { 1.0 };
            let normal = Normal::new(0.0, spread).expect("positive");
            free.extend((0..pair[0] * pair[1]).map(|_| normal.sample(&mut rng)));
            free.extend((0..pair[1]).map(|_| 0.0));
        }
        free
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
        for (t, (inputs, outputs, weights, bias)) in self.parts(free).enumerate() {
            let leaf = |values: &[f64], rows: usize| {
                let values: Vec<f32> = values.iter().map(|&x| x as f32).collect();
                let data = TensorData::new(values, [rows, outputs]);
                Tensor::<2>::from_data(data, &self.device).require_grad()
            };
            let (weights, bias) = (leaf(weights, inputs), leaf(bias, 1));
            x = x.matmul(weights.clone()) + bias.clone();
            if t + 2 < self.widths.len() {
                x = relu(x);
            }
            leaves.extend([weights, bias]);
        }
        let u = x.reshape([count, n, self.k]);
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

    fn model(&self, free: &[f64], _n: usize, _k: usize) -> Result<Model> {
        let _ = (free, Options::default());
        Err("not yet".into())
    }
}
