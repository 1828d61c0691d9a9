//! Networks and matrices to test with; the same ones every time.

use super::network::{Activation, Layer, Network};

/// A generator of numbers that depends on nothing but its seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let x = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (x >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A network with hidden layers of these widths, weights of such a size that values keep theirs, and biases.
pub(super) fn network(n: usize, k: usize, hidden: &[usize], activation: Activation) -> Network {
    let random = &mut Random(n as u64 * 1000 + k as u64);
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

/// U Uᵀ plus a few entries off and on the diagonal.
pub(super) fn matrices(n: usize, k: usize, count: usize, seed: u64) -> Vec<f64> {
    let random = &mut Random(seed);
    let mut all = Vec::new();
    for _ in 0..count {
        let u: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
        let mut m = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let mut x: f64 = (0..k).map(|a| u[i * k + a] * u[j * k + a]).sum();
                if random.uniform() < 0.1 {
                    x += random.uniform() - 0.5;
                }
                (m[i * n + j], m[j * n + i]) = (x, x);
            }
        }
        all.extend(m);
    }
    all
}
