//! The paper's network (n = 20, k = 3) through the Rust API: time per matrix, next to what the machine could
//! do at best. compare/bench.py sets it beside other runtimes.
//!
//! Weights are random, of the size that keeps half of the values positive; inputs are low rank plus sparse. Rounds
//! are interleaved, and medians are shown.

mod matrices;
mod measure;

use denise_data::random::Random;
use denise_rust::dense::{Activation, Layer, Network};
use denise_rust::{Model, Options, Outputs};
use matrices::matrices;
use measure::{fma_peak, median};
use std::time::Instant;

const N: usize = 20;
const K: usize = 3;
const WIDTHS: [usize; 6] = [210, 4200, 840, 840, 840, 60];

/// After ReLU half of the values are zero, and the kernels pass over them; after tanh none is.
fn topo0(activation: Activation) -> Network {
    let mut random = Random::new(1);
    let mut normal = || random.normal() as f32;
    let last = WIDTHS.len() - 2;
    let layers = WIDTHS.windows(2).enumerate().map(|(t, pair)| {
        let size = (2.0 / pair[0] as f32).sqrt();
        Layer {
            inputs: pair[0],
            outputs: pair[1],
            weights: (0..pair[0] * pair[1]).map(|_| normal() * size).collect(),
            bias: vec![0.0; pair[1]],
            activation: if t == last {
                Activation::Identity
            } else {
                activation
            },
        }
    });
    Network {
        n: N,
        k: K,
        layers: layers.collect(),
    }
}

fn main() {
    let flop: usize = WIDTHS.windows(2).map(|pair| 2 * pair[0] * pair[1]).sum();
    let load = |activation, bits, threads| {
        let options = Options {
            max_concurrency: 1,
            threads,
            half_weights: bits == 16,
            byte_weights: bits == 8,
            ..Options::default()
        };
        Model::dense(&topo0(activation), &options).expect("supported")
    };
    let models = [
        ("ReLU, f32", 1, load(Activation::Relu, 32, 1)),
        ("ReLU, f16", 1, load(Activation::Relu, 16, 1)),
        ("ReLU, int8", 1, load(Activation::Relu, 8, 1)),
        ("tanh, f32", 1, load(Activation::Tanh, 32, 1)),
        ("ReLU, f32", 2, load(Activation::Relu, 32, 2)),
        ("ReLU, f16", 2, load(Activation::Relu, 16, 2)),
        ("ReLU, int8", 2, load(Activation::Relu, 8, 2)),
    ];
    let m = matrices(N, K, 1024);
    let (mut l, mut s) = (m.clone(), m.clone());
    println!(
        "kernel: {}; {:.1} MFLOP a matrix, L and S written\n",
        models[0].2.kernel().to_string_lossy(),
        flop as f64 / 1e6
    );
    println!("A multiplication by an activation that is zero counts, though it is passed over.");
    println!("The peak is that of as many cores as there are threads.\n");
    println!("| network | threads | batch | per matrix | GFLOP/s | share of the FMA peak |");
    println!("|---|---|---|---|---|---|");
    // As a program would make them: several calls of few matrices in a row, with the weights in the cache.
    for (batch, rounds, calls) in [(1, 101, 16), (8, 101, 2), (64, 31, 1), (1024, 9, 1)] {
        let mut peaks = Vec::new();
        let mut times = vec![Vec::new(); models.len()];
        for round in 0..rounds {
            peaks.push(fma_peak());
            for ((_, _, model), times) in models.iter().zip(&mut times) {
                for call in 0..calls {
                    let first = (round * calls + call) * batch % (1024 - batch + 1);
                    let range = first * N * N..(first + batch) * N * N;
                    let out = Outputs {
                        l: Some(&mut l[range.clone()]),
                        s: Some(&mut s[range.clone()]),
                        ..Outputs::default()
                    };
                    let start = Instant::now();
                    model.decompose(&m[range], out).expect("finite matrices");
                    times.push(start.elapsed().as_secs_f64() / batch as f64);
                }
            }
        }
        let peak = median(peaks);
        for ((name, threads, _), times) in models.iter().zip(times) {
            let time = median(times);
            let speed = flop as f64 / time / 1e9;
            println!(
                "| {name} | {threads} | {batch} | {:.1} µs | {speed:.1} | {:.0} % |",
                time * 1e6,
                100.0 * speed / (peak * f64::from(*threads))
            );
        }
    }
}
