//! What a dense network loses if its weights are rounded.

use denise::dense::Network;
use denise::{Error, Model, Options, Outputs};
use denise_data::matrices::covariance;
use denise_data::random::Random;

/// Matrices that are tried.
pub const MATRICES: usize = 200;

/// ‖L − L'‖_F / ‖L‖_F over [`MATRICES`] covariance matrices of the paper's kind, where L' is that of the same network with weights
/// of 16 bits, and of 8.
pub fn errors(network: &Network) -> Result<[f64; 2], Error> {
    let (n, k) = (network.n, network.k);
    let random = &mut Random::new(1);
    let m: Vec<f64> = (0..MATRICES)
        .flat_map(|_| covariance(n, k, 0.1, random))
        .collect();
    let low_rank = |half_weights, byte_weights| -> Result<Vec<f64>, Error> {
        let options = Options {
            max_concurrency: 1,
            half_weights,
            byte_weights,
            ..Options::default()
        };
        let mut l = vec![0.0; m.len()];
        let out = Outputs {
            l: Some(&mut l[..]),
            ..Outputs::default()
        };
        Model::dense(network, &options)?.decompose(&m, out)?;
        Ok(l)
    };
    let exact = low_rank(false, false)?;
    let error = |rounded: Vec<f64>| {
        let squares = exact.iter().zip(&rounded).map(|(a, b)| (a - b) * (a - b));
        let norm: f64 = exact.iter().map(|x| x * x).sum();
        (squares.sum::<f64>() / norm).sqrt()
    };
    Ok([error(low_rank(true, false)?), error(low_rank(false, true)?)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise::dense::{Activation, Layer};

    #[test]
    fn eight_bits_lose_more_than_sixteen() {
        let random = &mut Random::new(3);
        let mut layer = |inputs, outputs, activation| Layer {
            inputs,
            outputs,
            weights: (0..inputs * outputs)
                .map(|_| random.normal() as f32)
                .collect(),
            bias: vec![0.1; outputs],
            activation,
        };
        let network = Network {
            n: 5,
            k: 2,
            layers: vec![
                layer(15, 60, Activation::Relu),
                layer(60, 10, Activation::Identity),
            ],
        };
        let [half, byte] = errors(&network).unwrap();
        assert!(0.0 < half && half < 1e-3, "{half}");
        assert!(4.0 * half < byte && byte < 0.1, "{byte}");
    }
}
