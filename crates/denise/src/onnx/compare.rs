//! Whether two ways to compute a network agree.

use super::outputs::Kind;
use crate::dense::{Activation, Layer, Network};
use crate::memory::{collected, copied, filled, push};
use crate::status::Error;

/// How many times the error that is expected of 32-bit arithmetic is allowed. Kernels differ in the order in
/// which they add and in how they compute exponentials, and some inputs are unlucky.
const SLACK: f64 = 16.0;
/// Error of tanh, sigmoid and exponentials in 32 bits, as kernels approximate them.
const FUNCTION_ERROR: f64 = 1e-6;
const EPSILON: f64 = f32::EPSILON as f64;

/// A computed value with the size of the error that 32-bit arithmetic makes in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) error: f64,
}

impl Estimate {
    pub(super) fn agrees(self, other: f32) -> bool {
        (self.value - f64::from(other)).abs() <= SLACK * self.error + f64::from(f32::MIN_POSITIVE)
    }
}

/// The outputs of each layer in double precision.
pub(super) fn layers(network: &Network, m: &[f32]) -> Result<Vec<Vec<Estimate>>, Error> {
    let n = network.n;
    let lower = (0..n).flat_map(|i| &m[i * n..i * n + i + 1]);
    let input = collected(lower.map(|&x| Estimate {
        value: f64::from(x),
        error: 0.0,
    }))?;
    let mut all: Vec<Vec<Estimate>> = Vec::new();
    for layer in &network.layers {
        let x = outputs(layer, all.last().unwrap_or(&input))?;
        push(&mut all, x)?;
    }
    Ok(all)
}

fn outputs(layer: &Layer, x: &[Estimate]) -> Result<Vec<Estimate>, Error> {
    let mut sums = collected(layer.bias.iter().map(|&b| f64::from(b)))?;
    // Squares of the terms, and of the errors that come in.
    let mut squares = collected(sums.iter().map(|b| b * b))?;
    let mut errors = filled(layer.outputs, 0.0)?;
    for (x, row) in x.iter().zip(layer.weights.chunks_exact(layer.outputs)) {
        let columns = sums.iter_mut().zip(&mut squares).zip(&mut errors);
        for (((sum, square), error), &w) in columns.zip(row) {
            let w = f64::from(w);
            let term = x.value * w;
            *sum += term;
            *square += term * term;
            *error += (x.error * w).powi(2);
        }
    }
    // A partial sum is about as large as the sum or as the root of the squares. Each is rounded once, and the
    // roundings add up like steps in random directions.
    let steps = (layer.inputs + 2) as f64;
    let (steepest, function) = match layer.activation {
        Activation::Identity | Activation::Relu => (1.0, 0.0),
        Activation::LeakyRelu(slope) => (f64::from(slope).abs().max(1.0), 0.0),
        Activation::Elu(factor) => (f64::from(factor).abs().max(1.0), f64::from(factor).abs()),
        Activation::Tanh | Activation::Sigmoid => (1.0, 1.0),
    };
    let estimates = sums.into_iter().zip(squares).zip(errors);
    collected(estimates.map(|((sum, square), error)| {
        let rounding = EPSILON * EPSILON * steps * (sum * sum + square);
        let value = layer.activation.apply(sum);
        Estimate {
            value,
            error: steepest * (error + rounding).sqrt()
                + function * FUNCTION_ERROR
                + EPSILON * value.abs(),
        }
    }))
}

/// Whether a value comes so near to the largest of 32 bits that kernels may cut it, to keep sums and L finite.
pub(super) fn is_cut(network: &Network, m: &[f32], layers: &[Vec<Estimate>]) -> bool {
    let most = f64::from(f32::MAX);
    let largest = |x: &[Estimate]| x.iter().fold(0.0, |most: f64, x| most.max(x.value.abs()));
    let mut x = m.iter().fold(0.0, |most: f64, &x| most.max(x.abs().into()));
    for (layer, outputs) in network.layers.iter().zip(layers) {
        let mut sums = vec![0.0; layer.outputs];
        for row in layer.weights.chunks_exact(layer.outputs) {
            for (sum, &w) in sums.iter_mut().zip(row) {
                *sum += f64::from(w.abs());
            }
        }
        let sum = sums.iter().fold(0.0, |most: f64, &sum| most.max(sum));
        // Half of where it begins, which is a quarter of what a sum can hold.
        if x * sum > most / 8.0 {
            return true;
        }
        x = largest(outputs);
    }
    // L is a sum of k products.
    x * x * network.k as f64 > most / 2.0
}

/// U, L or S from U.
pub(super) fn output(
    kind: Kind,
    u: &[Estimate],
    m: &[f32],
    n: usize,
    k: usize,
) -> Result<Vec<Estimate>, Error> {
    if kind == Kind::U {
        return copied(u);
    }
    let row = |i: usize| &u[i * k..(i + 1) * k];
    let entry = |e: usize| {
        let (mut value, mut error) = (0.0, 0.0);
        for (x, y) in row(e / n).iter().zip(row(e % n)) {
            value += x.value * y.value;
            error += x.value.abs() * y.error
                + x.error * y.value.abs()
                + EPSILON * (x.value * y.value).abs();
        }
        if kind == Kind::S {
            let m = f64::from(m[e]);
            error += EPSILON * (m.abs() + value.abs());
            value = m - value;
        }
        Estimate { value, error }
    };
    collected((0..n * n).map(entry))
}
