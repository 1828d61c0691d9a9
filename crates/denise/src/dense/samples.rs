//! Networks and matrices to test with; the same ones every time.

use super::network::{Activation, Layer, Network};
use denise_data::matrices::low_rank_plus_sparse;
use denise_data::random::Random;

/// A network with hidden layers of these widths, weights of such a size that values keep theirs, and biases.
pub(super) fn network(n: usize, k: usize, hidden: &[usize], activation: Activation) -> Network {
    let random = &mut Random::new(n as u64 * 1000 + k as u64);
    let mut widths = vec![n * (n + 1) / 2];
    widths.extend(hidden);
    widths.push(n * k);
    let last = widths.len() - 2;
    let layers = widths.windows(2).enumerate().map(|(t, pair)| {
        let (inputs, outputs) = (pair[0], pair[1]);
        let size = (2.0 / inputs as f64).sqrt();
        let mut numbers = |len: usize, size: f64| -> Vec<f32> {
            (0..len).map(|_| (random.normal() * size) as f32).collect()
        };
        Layer {
            inputs,
            outputs,
            weights: numbers(inputs * outputs, size),
            bias: numbers(outputs, 0.1),
            activation: if t == last {
                Activation::Identity
            } else {
                activation
            },
        }
    });
    let layers = layers.collect();
    Network { n, k, layers }
}

/// Low-rank plus sparse ones, one after the other.
pub(super) fn matrices(n: usize, k: usize, count: usize, seed: u64) -> Vec<f64> {
    let random = &mut Random::new(seed);
    (0..count)
        .flat_map(|_| low_rank_plus_sparse(n, k, 0.1, random))
        .collect()
}
