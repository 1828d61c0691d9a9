//! Kernels against the reference and against each other, at every size at which something ends.

use super::super::network::{Activation, Layer};
use super::super::samples::{matrices, network};
use super::*;
use crate::batch::{Outputs, Report};
use crate::pool::Pool;
use denise_data::random::Random;

const ACTIVATIONS: [Activation; 7] = [
    Activation::Identity,
    Activation::Relu,
    Activation::LeakyRelu(0.2),
    Activation::LeakyRelu(0.0),
    Activation::Elu(1.5),
    Activation::Tanh,
    Activation::Sigmoid,
];

const FORMATS: [Format; 3] = [Format::Single, Format::Half, Format::Byte];

#[derive(PartialEq, Debug)]
struct Results<F> {
    u: Vec<F>,
    l: Vec<F>,
    s: Vec<F>,
    reports: Vec<Report>,
    status: Result<(), Status>,
}

fn run<F: Real>(isa: Isa, engine: &Engine, m: &[F]) -> Results<F> {
    run_with(&Team::alone(), isa, engine, m)
}

fn run_with<F: Real>(team: &Team<'_>, isa: Isa, engine: &Engine, m: &[F]) -> Results<F> {
    let (n, k) = (engine.n, engine.k);
    let count = m.len() / (n * n);
    let mut workspace = engine.workspace(team.threads()).unwrap();
    // What an earlier call left there must not matter.
    for block in workspace.values.iter_mut().flatten() {
        block.0.fill(f32::NAN);
    }
    let mut results = Results {
        u: vec![F::NAN; count * n * k],
        l: vec![F::NAN; count * n * n],
        s: vec![F::NAN; count * n * n],
        reports: vec![Report::default(); count],
        status: Ok(()),
    };
    let out = Outputs {
        u: Some(&mut results.u[..]),
        l: Some(&mut results.l),
        s: Some(&mut results.s),
        reports: Some(&mut results.reports),
    };
    let m = Some(m);
    let batch = Batch {
        n,
        k,
        count,
        m,
        out,
    };
    results.status = engine.decompose(isa, team, &mut workspace, batch);
    results
}

fn to_f32(m: &[f64]) -> Vec<f32> {
    m.iter().map(|&x| x as f32).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// |u − reference| that rounding may cause: `unit` for each of the additions, on sums of magnitudes.
fn bound(network: &Network, m: &[f64], unit: f64) -> f64 {
    let largest = m.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let (mut size, mut error) = (largest, unit * largest);
    for layer in &network.layers {
        let sums = (0..layer.outputs).map(|j| {
            let column = layer.weights[j..].iter().step_by(layer.outputs);
            column.map(|w| f64::from(w.abs())).sum::<f64>()
        });
        let sum = sums.fold(0.0, f64::max);
        let bias = layer.bias.iter().fold(0.0_f32, |a, x| a.max(x.abs()));
        // No activation here is steeper than 1.5, and all are accurate to eight units.
        let reach = size * sum + f64::from(bias);
        error = 1.5 * (error * sum + unit * (layer.inputs + 2) as f64 * reach) + 8.0 * unit * reach;
        size = 1.5 * reach + 1.0;
    }
    error
}

#[test]
fn kernels_agree_with_the_reference() {
    let unit = f64::from(f32::EPSILON) / 2.0;
    for isa in Isa::all() {
        for activation in ACTIVATIONS {
            for hidden in [&[][..], &[1], &[15, 16], &[17, 33], &[49, 97], &[130]] {
                let network = network(6, 2, hidden, activation);
                let engine = Engine::new(&network, Format::Single).unwrap();
                let m: Vec<f64> = matrices(6, 2, 13, 7)
                    .iter()
                    .map(|&x| f64::from(x as f32))
                    .collect();
                let got = run(isa, &engine, &to_f32(&m));
                assert_eq!(got.status, Ok(()));
                let (mut worst, mut most) = (0.0_f64, 0.0_f64);
                for (m, u) in m.chunks(36).zip(got.u.chunks(12)) {
                    let bound = bound(&network, m, unit);
                    for (&u, want) in u.iter().zip(network.reference(m)) {
                        let error = (f64::from(u) - want).abs();
                        assert!(
                            error <= bound,
                            "{activation:?} {hidden:?}: {error} > {bound}"
                        );
                        worst = worst.max(error);
                        most = most.max(want.abs());
                    }
                }
                // The bound is for the worst of all networks; these are far better.
                assert!(
                    worst <= 3e-6 * most.max(1.0),
                    "{activation:?} {hidden:?}: {worst}"
                );
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_the_batch() {
    for isa in Isa::all() {
        for format in FORMATS {
            for activation in [
                Activation::Relu,
                Activation::Tanh,
                Activation::LeakyRelu(0.0),
            ] {
                // Wide enough for two panels in both formats.
                let network = network(7, 2, &[1000, 50], activation);
                let engine = Engine::new(&network, format).unwrap();
                let count = 2 * MATRICES + 9;
                let mut m = to_f32(&matrices(7, 2, count, 3));
                // Few zeros make tiles, many make rows.
                for x in &mut m[count / 2 * 49..] {
                    *x *= f32::from(u8::from(x.to_bits() % 3 == 0));
                }
                let all = run(isa, &engine, &m);
                assert_eq!(all.status, Ok(()));
                for i in (0..count).step_by(3).chain(count - 3..count) {
                    let one = run(isa, &engine, &m[i * 49..][..49]);
                    assert_eq!(bits(&one.u), bits(&all.u[i * 14..][..14]), "matrix {i}");
                    assert_eq!(bits(&one.l), bits(&all.l[i * 49..][..49]));
                    assert_eq!(bits(&one.s), bits(&all.s[i * 49..][..49]));
                    assert_eq!(one.reports[0], all.reports[i]);
                }
                for batch in 1..40 {
                    let first = batch * 4;
                    let some = run(isa, &engine, &m[first * 49..][..batch * 49]);
                    assert_eq!(bits(&some.u), bits(&all.u[first * 14..][..batch * 14]));
                }
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_the_threads() {
    // Layers that are shared, in pieces that do not come out even, and one that is too small for it.
    let network = network(8, 3, &[1500, 400, 30], Activation::Relu);
    let m = to_f32(&matrices(8, 3, 70, 3));
    for isa in Isa::all() {
        for format in FORMATS {
            let engine = Engine::new(&network, format).unwrap();
            let alone = run(isa, &engine, &m);
            for helpers in [1, 2, 4] {
                let pool = Pool::new(helpers).unwrap();
                for count in [1, 2, 4, 5, 8, 13, 70] {
                    let some = &m[..count * 64];
                    let got = pool.lead(|team| run_with(team, isa, &engine, some));
                    assert_eq!(bits(&got.u), bits(&alone.u[..count * 24]), "{count}");
                    assert_eq!(bits(&got.s), bits(&alone.s[..count * 64]));
                    assert_eq!(got.reports, alone.reports[..count]);
                }
            }
        }
    }
}

#[test]
fn instruction_sets_agree() {
    let network = network(20, 3, &[420, 84], Activation::Relu);
    let m = to_f32(&matrices(20, 3, 30, 11));
    for format in FORMATS {
        let engine = Engine::new(&network, format).unwrap();
        let results: Vec<_> = Isa::all()
            .iter()
            .map(|&isa| run(isa, &engine, &m))
            .collect();
        let largest = results[0].u.iter().fold(0.0_f32, |a, x| a.max(x.abs()));
        for other in &results {
            for (a, b) in results[0].u.iter().zip(&other.u) {
                assert!((a - b).abs() <= 1e-5 * largest);
            }
        }
    }
}

/// Both fuse multiply and add. Widths at which the last group, block or vector is not full; counts with and without
/// tiles.
#[test]
#[cfg(target_arch = "x86_64")]
fn avx2_and_avx512_agree_to_the_bit() {
    let (Some(avx2), Some(avx512)) = (Isa::avx2(), Isa::avx512()) else {
        return;
    };
    for activation in ACTIVATIONS {
        for hidden in [&[1][..], &[16, 30], &[60], &[90], &[130]] {
            let network = network(8, 2, hidden, activation);
            for format in FORMATS {
                let engine = Engine::new(&network, format).unwrap();
                for count in [1, 5, 13] {
                    let m = to_f32(&matrices(8, 2, count, 5));
                    let [narrow, wide] = [avx2, avx512].map(|isa| run(isa, &engine, &m));
                    assert_eq!(narrow, wide, "{activation:?} {hidden:?} {format:?} {count}");
                    assert_eq!(bits(&narrow.u), bits(&wide.u));
                }
            }
        }
    }
    println!(
        "compared: {:?} and {:?}",
        kernel(avx2, Format::Single),
        kernel(avx512, Format::Single)
    );
}

#[test]
fn activations_are_accurate() {
    // One layer that hands the diagonal entry through to the activation.
    for isa in Isa::all() {
        for activation in ACTIVATIONS {
            let mut weights = vec![0.0; 6];
            weights[0] = 1.0;
            let layer = Layer {
                inputs: 3,
                outputs: 2,
                weights,
                bias: vec![0.0; 2],
                activation,
            };
            let network = Network {
                n: 2,
                k: 1,
                layers: vec![layer],
            };
            let engine = Engine::new(&network, Format::Single).unwrap();
            let mut inputs = vec![0.0_f32, 1e-30, 1e-8, 87.0, 88.0, 104.0, 1e4, 1e15];
            inputs.extend((1..20_000).map(|i| i as f32 * 1e-3));
            inputs.extend((1..2_000).map(|i| 2_f32.powf(i as f32 * -0.01)));
            inputs.extend(inputs.clone().iter().map(|x| -x));
            let m: Vec<f32> = inputs.iter().flat_map(|&x| [x, 0.0, 0.0, 0.0]).collect();
            let got = run(isa, &engine, &m);
            for (u, &x) in got.u.chunks(2).zip(&inputs) {
                let m = [f64::from(x), 0.0, 0.0, 0.0];
                let want = network.reference(&m)[0];
                let error = (f64::from(u[0]) - want).abs();
                // Four units in the last place; a sigmoid's left tail ends at e⁻⁸⁷.
                let bound = 4.0 * f64::from(f32::EPSILON) / 2.0 * want.abs() + 2e-38;
                assert!(error <= bound, "{activation:?}({x}) = {}, not {want}", u[0]);
            }
        }
    }
}

#[test]
fn finite_input_gives_finite_output() {
    for isa in Isa::all() {
        for activation in ACTIVATIONS {
            for format in FORMATS {
                for gain in [1.0_f32, 1e10, 1e37, 1e-30] {
                    let mut network = network(6, 2, &[40, 20], activation);
                    for layer in &mut network.layers {
                        layer.weights.iter_mut().for_each(|w| *w *= gain);
                        layer
                            .bias
                            .iter_mut()
                            .for_each(|w| *w = (*w * 1e38).clamp(f32::MIN, f32::MAX));
                    }
                    let engine = Engine::new(&network, format).unwrap();
                    let random = &mut Random::new(5);
                    let m: Vec<f32> = (0..36 * 20)
                        .map(|i| match i % 3 {
                            0 => f32::MAX,
                            1 => f32::MIN,
                            _ => (random.normal() * 1e38) as f32,
                        })
                        .collect();
                    let got = run(isa, &engine, &m);
                    assert_eq!(got.status, Ok(()));
                    let all = [&got.u, &got.l, &got.s];
                    assert!(
                        all.iter()
                            .all(|values| values.iter().all(|x| x.is_finite()))
                    );
                    let finite = |r: &Report| {
                        r.l1.is_finite() && r.residual.is_finite() && r.sparsity.is_finite()
                    };
                    assert!(got.reports.iter().all(finite));
                    let alone = run(isa, &engine, &m[36 * 7..][..36]);
                    assert_eq!(bits(&alone.u), bits(&got.u[12 * 7..][..12]));
                    let wide: Vec<f64> = m.iter().map(|&x| f64::from(x) * 1e200).collect();
                    let got = run(isa, &engine, &wide);
                    let all = [&got.u, &got.l, &got.s];
                    assert!(
                        all.iter()
                            .all(|values| values.iter().all(|x| x.is_finite()))
                    );
                    assert!(got.reports.iter().all(finite));
                }
            }
        }
    }
}

#[test]
fn a_matrix_that_is_not_finite_stays_alone() {
    let network = network(6, 2, &[40], Activation::Relu);
    let engine = Engine::new(&network, Format::Single).unwrap();
    for isa in Isa::all() {
        for count in [1, 5, 14] {
            let clean = to_f32(&matrices(6, 2, count, 9));
            let want = run(isa, &engine, &clean);
            for (bad, value) in [
                (0, f32::NAN),
                (count / 2, f32::INFINITY),
                (count - 1, f32::NEG_INFINITY),
            ] {
                let mut m = clean.clone();
                m[bad * 36 + 7] = value;
                let got = run(isa, &engine, &m);
                assert_eq!(got.status, Err(Status::NotFinite));
                for i in 0..count {
                    let (u, l) = (&got.u[i * 12..][..12], &got.l[i * 36..][..36]);
                    if i == bad {
                        assert!(u.iter().chain(l).all(|x| x.is_nan()));
                        assert!(got.s[i * 36..][..36].iter().all(|x| x.is_nan()));
                        assert_eq!(got.reports[i].status, Status::NotFinite as i32);
                        assert_eq!(got.reports[i].first_bad, 7);
                    } else {
                        assert_eq!(bits(u), bits(&want.u[i * 12..][..12]));
                        assert_eq!(bits(l), bits(&want.l[i * 36..][..36]));
                        assert_eq!(got.reports[i], want.reports[i]);
                    }
                }
                // What stands above the diagonal is not read.
                let mut m = clean.clone();
                m[bad * 36 + 1] = value;
                assert_eq!(run(isa, &engine, &m), want);
            }
        }
    }
}

#[test]
fn l_is_u_times_its_transpose_and_s_the_rest() {
    let network = network(6, 2, &[40], Activation::Relu);
    let engine = Engine::new(&network, Format::Single).unwrap();
    let m = matrices(6, 2, 9, 1);
    let single = run(Isa::best(), &engine, &to_f32(&m));
    let double = run(Isa::best(), &engine, &m);
    // M is rounded for the layers, so both precisions have the same U.
    assert!(
        single
            .u
            .iter()
            .zip(&double.u)
            .all(|(&a, &b)| f64::from(a) == b)
    );
    for (((m, u), l), s) in m
        .chunks(36)
        .zip(double.u.chunks(12))
        .zip(double.l.chunks(36))
        .zip(double.s.chunks(36))
    {
        for i in 0..6 {
            for j in 0..=i {
                let want = u[2 * i] * u[2 * j] + u[2 * i + 1] * u[2 * j + 1];
                let at = i * 6 + j;
                assert!((l[at] - want).abs() <= 1e-12 * (1.0 + want.abs()));
                assert_eq!(s[at], m[at] - l[at]);
                assert_eq!(l[at].to_bits(), l[j * 6 + i].to_bits());
                assert_eq!(s[at].to_bits(), s[j * 6 + i].to_bits());
            }
        }
    }
    for (report, (m, s)) in double
        .reports
        .iter()
        .zip(m.chunks(36).zip(double.s.chunks(36)))
    {
        let l1: f64 = s.iter().map(|x| x.abs()).sum();
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = (0..6).map(|i| m[i * 7]).sum::<f64>() / 6.0;
        let sparse = s.iter().filter(|x| x.abs() <= 0.01 * scale).count();
        assert!((f64::from(report.l1) - l1).abs() <= 1e-6 * l1);
        assert!(
            (f64::from(report.residual) - norm(s) / norm(m)).abs()
                <= 1e-6 * f64::from(report.residual)
        );
        assert!((f64::from(report.sparsity) - sparse as f64 / 36.0).abs() <= 1e-6);
        let specific = (0..6).map(|i| s[i * 7] / m[i * 7]).fold(f64::MAX, f64::min);
        assert!((f64::from(report.least_specific) - specific).abs() <= 1e-6 * specific.abs());
        assert_eq!((report.unsettled, report.first_bad), (0.0, Report::NONE));
    }
}

#[test]
fn in_place_is_the_same() {
    let network = network(6, 2, &[40], Activation::Relu);
    let engine = Engine::new(&network, Format::Single).unwrap();
    let m = to_f32(&matrices(6, 2, 5, 1));
    let want = run(Isa::best(), &engine, &m);
    let mut s = m.clone();
    let mut reports = vec![Report::default(); 5];
    let batch = Batch {
        n: 6,
        k: 2,
        count: 5,
        m: None,
        out: Outputs {
            s: Some(&mut s[..]),
            reports: Some(&mut reports),
            ..Outputs::default()
        },
    };
    let mut workspace = engine.workspace(1).unwrap();
    engine
        .decompose(Isa::best(), &Team::alone(), &mut workspace, batch)
        .unwrap();
    assert_eq!(bits(&s), bits(&want.s));
    assert_eq!(reports, want.reports);
}

#[test]
fn rounded_weights_lose_little_whatever_their_size() {
    let m = to_f32(&matrices(20, 3, 20, 2));
    for gain in [1.0_f32, 1e-6, 1e6, 1e-38] {
        let mut network = network(20, 3, &[420, 84], Activation::Relu);
        // A gain of one layer that the next takes back.
        network.layers[0]
            .weights
            .iter_mut()
            .for_each(|w| *w *= gain);
        network.layers[0].bias.iter_mut().for_each(|w| *w *= gain);
        network.layers[1]
            .weights
            .iter_mut()
            .for_each(|w| *w = (*w / gain).clamp(f32::MIN, f32::MAX));
        for isa in Isa::all() {
            let [exact, half, byte] =
                FORMATS.map(|format| run(isa, &Engine::new(&network, format).unwrap(), &m).u);
            let norm = |x: &[f32]| {
                x.iter()
                    .map(|&x| f64::from(x) * f64::from(x))
                    .sum::<f64>()
                    .sqrt()
            };
            // Random errors of 2⁻¹² a weight, or of a third of 1/254 of the largest, three layers deep.
            for (rounded, most) in [(half, 1e-3), (byte, 5e-2)] {
                let rest: Vec<f32> = exact.iter().zip(&rounded).map(|(a, b)| a - b).collect();
                let error = norm(&rest) / norm(&exact);
                assert!(error > 0.0 && error <= most, "{gain}: {error}");
            }
        }
    }
}

/// Weights that a format has, and outputs that have a bias only.
#[test]
fn what_a_format_can_say_is_exact() {
    let mut network = network(6, 2, &[40], Activation::Relu);
    for layer in &mut network.layers {
        for (i, w) in layer.weights.iter_mut().enumerate() {
            *w = (i * 7 % 11) as f32 - 5.0;
        }
        // The largest of each output, of which the smaller ones are multiples.
        layer.weights[..layer.outputs].fill(127.0);
        for row in layer.weights.chunks_exact_mut(layer.outputs) {
            row[3] = 0.0;
        }
        layer.bias[3] = 5.0;
    }
    let m: Vec<f32> = (0..36 * 3).map(|i| (i % 5) as f32).collect();
    for isa in Isa::all() {
        let [single, half, byte] =
            FORMATS.map(|format| run(isa, &Engine::new(&network, format).unwrap(), &m));
        assert_eq!(single.u[3], 5.0);
        assert_eq!(single, half);
        assert_eq!(single, byte);
    }
}
