//! Dense networks through the public interface: what is accepted, what is refused, and with which words.

use denise::dense::{Activation, Layer, Network};
use denise::{InstructionSet, Model, Options, Outputs, Status};
use denise_data::random::Random;
use proptest::prelude::*;

/// A network with hidden layers of these widths; numbers depend on nothing but the seed.
fn network(n: usize, k: usize, hidden: &[usize], activation: Activation, seed: u64) -> Network {
    let mut random = Random::new(seed);
    let mut widths = vec![n * (n + 1) / 2];
    widths.extend(hidden);
    widths.push(n * k);
    let mut numbers = |len: usize, size: f32| -> Vec<f32> {
        let mut next = || (random.uniform() as f32 - 0.5) * size;
        (0..len).map(|_| next()).collect()
    };
    let layers = widths.windows(2).map(|pair| Layer {
        inputs: pair[0],
        outputs: pair[1],
        weights: numbers(pair[0] * pair[1], (24.0 / pair[0] as f32).sqrt()),
        bias: numbers(pair[1], 0.2),
        activation,
    });
    let layers = layers.collect();
    Network { n, k, layers }
}

fn u_of(model: &Model, m: &[f32]) -> Vec<u32> {
    let count = m.len() / (model.n() * model.n());
    let mut u = vec![0.0; count * model.n() * model.k()];
    let out = Outputs {
        u: Some(&mut u[..]),
        ..Outputs::default()
    };
    model.decompose(m, out).expect("finite");
    u.iter().map(|x| x.to_bits()).collect()
}

fn status(result: Result<Model, denise::Error>) -> (Status, String) {
    let error = result.err().expect("refused");
    (error.status, error.message.into_owned())
}

#[test]
fn sizes_are_the_networks_own() {
    let network = network(6, 2, &[20], Activation::Relu, 1);
    for (n, k) in [(0, 0), (6, 0), (0, 2), (6, 2)] {
        let options = Options {
            n,
            k,
            ..Options::default()
        };
        let model = Model::dense(&network, &options).expect("its own sizes");
        assert_eq!((model.n(), model.k()), (6, 2));
    }
    for (n, k) in [(7, 2), (6, 3), (5, 0), (0, 1)] {
        let options = Options {
            n,
            k,
            ..Options::default()
        };
        let (status, message) = status(Model::dense(&network, &options));
        assert_eq!(status, Status::Shape);
        assert!(message.contains("n = 6, k = 2"), "{message}");
    }
}

#[test]
fn layers_that_do_not_fit_are_refused() {
    let good = network(6, 2, &[20], Activation::Relu, 1);
    let refused = |change: &dyn Fn(&mut Network)| {
        let mut bad = good.clone();
        change(&mut bad);
        status(Model::dense(&bad, &Options::default())).0
    };
    assert_eq!(refused(&|x| x.layers.clear()), Status::Unsupported);
    assert_eq!(refused(&|x| x.layers[1].inputs = 19), Status::Shape);
    assert_eq!(refused(&|x| x.k = 3), Status::Shape);
    assert_eq!(
        refused(&|x| x.layers[0].weights[3] = f32::NAN),
        Status::Shape
    );
    assert_eq!(
        refused(&|x| x.layers[0].bias[0] = f32::INFINITY),
        Status::Shape
    );
}

#[test]
fn kernels_have_names() {
    let network = network(6, 2, &[20], Activation::Relu, 1);
    let name = |bits, instruction_set| {
        let options = Options {
            half_weights: bits == 16,
            byte_weights: bits == 8,
            instruction_set,
            ..Options::default()
        };
        let model = Model::dense(&network, &options).expect("supported");
        model.kernel().to_str().expect("ASCII").to_owned()
    };
    if cfg!(target_arch = "x86_64") {
        assert_eq!(name(32, InstructionSet::Portable), "dense sse2");
        assert_eq!(name(16, InstructionSet::Portable), "dense sse2 f16");
        assert_eq!(name(8, InstructionSet::Portable), "dense sse2 int8");
        let best = name(32, InstructionSet::Best);
        assert!(["dense avx512", "dense avx2", "dense sse2"].contains(&best.as_str()));
    }
}

/// Flags that are for unrolled networks are refused, and named.
#[test]
fn a_dense_network_refuses_what_it_cannot_do() {
    let plain = Options::default();
    let wishes = [
        (
            Options {
                correlation: true,
                ..plain
            },
            "DENISE_FLAG_CORRELATION",
        ),
        (
            Options {
                careful: true,
                ..plain
            },
            "DENISE_FLAG_CAREFUL",
        ),
        (
            Options {
                missing: true,
                ..plain
            },
            "DENISE_FLAG_MISSING",
        ),
    ];
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/onnx/keras_paper.onnx"
    );
    for (options, name) in wishes {
        let (status, message) = status(Model::load(path, &options));
        assert_eq!(status, Status::Unsupported);
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn an_unrolled_network_has_no_rounded_weights() {
    let half = Options {
        half_weights: true,
        ..Options::default()
    };
    let byte = Options {
        byte_weights: true,
        ..Options::default()
    };
    for (options, name) in [(half, "half_weights"), (byte, "byte_weights")] {
        let (status, message) = status(Model::builtin(&options));
        assert_eq!(status, Status::Unsupported);
        assert!(
            message.contains("dense") && message.contains(name),
            "{message}"
        );
    }
}

#[test]
fn weights_have_one_format() {
    let options = Options {
        half_weights: true,
        byte_weights: true,
        ..Options::default()
    };
    let network = network(6, 2, &[20], Activation::Relu, 1);
    let (status, message) = status(Model::dense(&network, &options));
    assert_eq!(status, Status::Argument);
    for name in ["DENISE_FLAG_F16", "DENISE_FLAG_INT8"] {
        assert!(message.contains(name), "{message}");
    }
}

/// Few matrices are shared among the threads, many are dealt out to them, and nothing depends on it.
#[test]
fn threads_change_no_bit() {
    // Large enough that one matrix is shared.
    let network = network(8, 3, &[1500, 400], Activation::Relu, 3);
    let m: Vec<f32> = (0..64 * 150)
        .map(|i| ((i * 7919) % 101) as f32 / 50.0 - 1.0)
        .collect();
    for bits in [32, 16, 8] {
        let load = |threads| {
            let options = Options {
                half_weights: bits == 16,
                byte_weights: bits == 8,
                threads,
                ..Options::default()
            };
            Model::dense(&network, &options).expect("supported")
        };
        let alone = u_of(&load(1), &m);
        for threads in [2, 3] {
            let model = load(threads);
            for count in [1, 3, 8, 64, 65, 150] {
                assert_eq!(u_of(&model, &m[..count * 64]), alone[..count * 24]);
            }
        }
    }
}

#[test]
fn files_load_through_the_rust_interface_too() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/default.onnx");
    let model = Model::load(path, &Options::default()).expect("ships with the library");
    assert_eq!((model.n(), model.k()), (20, 3));
    let bytes = std::fs::read(path).expect("readable");
    let wide = Options {
        n: 30,
        ..Options::default()
    };
    assert_eq!(Model::from_bytes(&bytes, &wide).expect("any size").n(), 30);
    let (status, message) = status(Model::load("no/such/file.onnx", &wide));
    assert_eq!(status, Status::Io);
    assert!(message.starts_with("no/such/file.onnx: "), "{message}");
}

#[test]
fn threads_share_a_model() {
    let network = network(6, 2, &[100], Activation::Relu, 1);
    let options = Options {
        max_concurrency: 2,
        ..Options::default()
    };
    let model = Model::dense(&network, &options).expect("supported");
    let m: Vec<f32> = (0..36 * 50)
        .map(|i| ((i * 7919) % 101) as f32 / 50.0 - 1.0)
        .collect();
    let want = u_of(&model, &m);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for first in 0..40 {
                    let some = u_of(&model, &m[first * 36..][..10 * 36]);
                    assert_eq!(some, want[first * 12..][..10 * 12]);
                }
            });
        }
    });
}

fn activation() -> impl Strategy<Value = Activation> {
    prop_oneof![
        Just(Activation::Identity),
        Just(Activation::Relu),
        (-1.0_f32..2.0).prop_map(Activation::LeakyRelu),
        (-1.0_f32..2.0).prop_map(Activation::Elu),
        Just(Activation::Tanh),
        Just(Activation::Sigmoid),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any stack gives finite numbers for finite matrices, and the same ones alone as in a batch.
    #[test]
    fn any_stack_is_finite_and_does_not_depend_on_the_batch(
        n in 2_usize..12,
        hidden in prop::collection::vec(1_usize..230, 0..4),
        activation in activation(),
        bits in prop::sample::select(vec![32, 16, 8]),
        scale in -44_i32..38,
        count in 1_usize..20,
        seed: u64,
    ) {
        let network = network(n, 1, &hidden, activation, seed);
        for instruction_set in [InstructionSet::Portable, InstructionSet::Best] {
            let options = Options {
                half_weights: bits == 16,
                byte_weights: bits == 8,
                instruction_set,
                ..Options::default()
            };
            let model = Model::dense(&network, &options).expect("supported");
            let numbers = self::network(n * 2, 1, &[count * 4], Activation::Relu, seed ^ 1);
            let numbers = numbers.layers[0].weights.iter().cycle();
            let m: Vec<f32> = numbers
                .take(count * n * n)
                .map(|x| (f64::from(*x) * 10_f64.powi(scale)) as f32)
                .collect();
            let all = u_of(&model, &m);
            prop_assert!(all.iter().all(|&x| f32::from_bits(x).is_finite()));
            for i in 0..count {
                let one = u_of(&model, &m[i * n * n..][..n * n]);
                prop_assert_eq!(&one, &all[i * n..][..n]);
            }
        }
    }
}
