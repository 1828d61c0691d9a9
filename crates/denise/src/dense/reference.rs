//! The network in plain `f64`: what every kernel is compared with.

use super::network::{Activation, Network};

impl Network {
    /// U for one matrix (n×n, row-major, lower triangle read).
    pub fn reference(&self, m: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x: Vec<f64> = (0..n)
            .flat_map(|i| &m[i * n..i * n + i + 1])
            .copied()
            .collect();
        for layer in &self.layers {
            x = (0..layer.outputs)
                .map(|j| {
                    let column = layer.weights[j..].iter().step_by(layer.outputs);
                    let dot: f64 = x.iter().zip(column).map(|(x, &w)| x * f64::from(w)).sum();
                    layer.activation.apply(dot + f64::from(layer.bias[j]))
                })
                .collect();
        }
        x
    }
}

impl Activation {
    pub(crate) fn apply(self, x: f64) -> f64 {
        match self {
            Activation::Identity => x,
            Activation::Relu => x.max(0.0),
            Activation::LeakyRelu(slope) if x < 0.0 => x * f64::from(slope),
            Activation::Elu(factor) if x < 0.0 => f64::from(factor) * x.exp_m1(),
            Activation::LeakyRelu(_) | Activation::Elu(_) => x,
            Activation::Tanh => x.tanh(),
            Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Layer;
    use super::*;

    #[test]
    fn reads_the_lower_triangle_row_by_row() {
        let network = Network {
            n: 2,
            k: 1,
            layers: vec![Layer {
                inputs: 3,
                outputs: 2,
                weights: vec![1.0, 0.0, 10.0, 0.0, 100.0, -1.0],
                bias: vec![0.5, 0.0],
                activation: Activation::LeakyRelu(0.5),
            }],
        };
        network.check().unwrap();
        assert_eq!(network.reference(&[1.0, 77.0, 2.0, 3.0]), [321.5, -1.5]);
    }
}
