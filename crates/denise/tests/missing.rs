//! What the network guarantees where entries are missing, over matrices and holes of many kinds.

use denise::unrolled::{File, Stages};
use denise::{Model, Options, Outputs, Report, Status};
use denise_data::matrices;
use denise_data::random::Random;
use nalgebra::{DMatrix, SymmetricEigen};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

struct Split {
    u: Vec<f64>,
    l: Vec<f64>,
    s: Vec<f64>,
    report: Report,
}

fn open(options: Options) -> Model {
    Model::builtin(&Options {
        missing: true,
        max_concurrency: 1,
        ..options
    })
    .unwrap()
}

fn split(model: &Model, m: &[f64]) -> Split {
    let (n, k) = (model.n(), model.k());
    let mut out = Split {
        u: vec![0.0; n * k],
        l: vec![0.0; n * n],
        s: vec![0.0; n * n],
        report: Report::default(),
    };
    let outputs = Outputs {
        u: Some(&mut out.u),
        l: Some(&mut out.l),
        s: Some(&mut out.s),
        reports: Some(core::slice::from_mut(&mut out.report)),
    };
    model.decompose(m, outputs).unwrap();
    out
}

/// Matrices of which some are not positive semidefinite, zero, or of very different scales.
fn matrix(kind: usize, n: usize, k: usize, random: &mut Random) -> Vec<f64> {
    match kind {
        0 | 1 => matrices::covariance(n, k, 0.1, random),
        2 => matrices::symmetric(n, |_, _| random.normal()),
        3 => vec![0.0; n * n],
        4 => matrices::symmetric(n, |i, j| {
            10_f64.powi(-((i % 7 + j % 7) as i32)) * random.normal()
        }),
        _ => matrices::symmetric(n, |i, j| if i == j { -1.0 } else { random.normal() * 1e30 }),
    }
}

/// Hides entries in both triangles: at random, whole rows, the diagonal, nearly all.
fn punch(kind: usize, n: usize, m: &mut [f64], random: &mut Random) {
    for i in 0..n {
        for j in 0..=i {
            let x = random.uniform();
            let hidden = match kind {
                0 => x < 0.1,
                1 => x < 0.5,
                2 => i % 3 == 1 || j % 3 == 1,
                3 => i == j,
                4 => x < 0.97,
                _ => i != j,
            };
            if hidden {
                m[i * n + j] = f64::NAN;
                m[j * n + i] = f64::NAN;
            }
        }
    }
}

fn config() -> Config {
    Config {
        cases: 400,
        rng_seed: RngSeed::Fixed(18),
        failure_persistence: None,
        ..Config::default()
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter()
        .filter(|x| !x.is_nan())
        .fold(0.0, |most, x| most.max(x.abs()))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn l_is_complete_and_positive_semidefinite_and_s_is_nan_where_m_is(
        (n, k) in (3_usize..24).prop_flat_map(|n| (Just(n), 1..n.min(8))),
        kind in 0_usize..6,
        holes in 0_usize..6,
        flags in 0_usize..4,
        seed in any::<u64>(),
    ) {
        let random = &mut Random::new(seed);
        let mut m = matrix(kind, n, k, random);
        punch(holes, n, &mut m, random);
        let model = open(Options {
            correlation: flags & 1 != 0,
            careful: flags & 2 != 0,
            ..Options::size(n, k)
        });
        let got = split(&model, &m);
        prop_assert!(got.l.iter().chain(&got.u).all(|x| x.is_finite()));
        let mut lower = 0;
        for (at, m) in m.iter().enumerate() {
            let (i, j) = (at / n, at % n);
            prop_assert_eq!(got.l[at].to_bits(), got.l[j * n + i].to_bits());
            prop_assert_eq!(got.s[at].is_nan(), m.is_nan());
            if m.is_nan() {
                lower += u32::from(j <= i);
            } else {
                let error = (got.l[at] + got.s[at] - m).abs();
                prop_assert!(error <= 1e-15 * (got.l[at].abs() + m.abs()), "{error}");
            }
        }
        prop_assert_eq!(got.report.missing, lower);
        prop_assert_eq!((got.report.status, got.report.first_bad), (0, Report::NONE));
        prop_assert!(got.report.sparsity >= 0.0 && got.report.sparsity <= 1.0);
        prop_assert!(got.report.residual.is_finite() && got.report.l1.is_finite());
        // Rank at most k, no negative eigenvalue; a row of which nothing is known is zero.
        let size = largest(&got.l);
        if size > 0.0 {
            let scaled = DMatrix::from_row_slice(n, n, &got.l) / size;
            let mut values: Vec<f64> = SymmetricEigen::new(scaled).eigenvalues.iter().copied().collect();
            values.sort_by(|a, b| b.total_cmp(a));
            prop_assert!(values[n - 1] > -1e-12 * n as f64, "{:?}", values);
            prop_assert!(values[k].abs() < 1e-12 * n as f64, "{:?}", values);
        }
        for i in 0..n {
            if (0..n).all(|j| j == i || m[i * n + j].is_nan()) {
                prop_assert!((0..n).all(|j| got.l[i * n + j] == 0.0), "row {}", i);
            }
        }
    }

    /// Powers of two scale everything exactly.
    #[test]
    fn scale_does_not_matter(holes in 0_usize..4, power in -200_i32..200, seed in any::<u64>()) {
        let (n, k) = (11, 2);
        let random = &mut Random::new(seed);
        let mut m = matrix(0, n, k, random);
        punch(holes, n, &mut m, random);
        let model = open(Options::size(n, k));
        let factor = 2_f64.powi(power);
        let scaled: Vec<f64> = m.iter().map(|x| x * factor).collect();
        let (one, other) = (split(&model, &m), split(&model, &scaled));
        for (a, b) in one.l.iter().zip(&other.l) {
            prop_assert_eq!(a * factor, *b);
        }
    }

    /// With the flag for correlations, in which unit an asset is, whether its variance is known or not.
    #[test]
    fn units_do_not_matter_with_correlations(holes in 0_usize..4, seed in any::<u64>()) {
        let (n, k) = (14, 2);
        let random = &mut Random::new(seed);
        let mut m = matrix(0, n, k, random);
        // Not all variances: then there is no correlation.
        punch(if holes == 3 { 0 } else { holes }, n, &mut m, random);
        m[0] = f64::NAN;
        m[n + 1] = 3.0;
        let units: Vec<f64> = (0..n).map(|_| 4_f64.powi(random.below(9) as i32 - 4)).collect();
        let both = |at: usize| units[at / n] * units[at % n];
        let scaled: Vec<f64> = (0..n * n).map(|at| m[at] * both(at)).collect();
        let model = open(Options { correlation: true, ..Options::size(n, k) });
        let (one, other) = (split(&model, &m), split(&model, &scaled));
        let size = largest(&one.l);
        for at in 0..n * n {
            let error = (one.l[at] - other.l[at] / both(at)).abs();
            prop_assert!(error <= 1e-9 * size, "{}: {}", at, error);
        }
    }

    /// Neither does the upper triangle, nor what other matrices of the batch hold.
    #[test]
    fn a_matrix_is_split_the_same_in_any_company(seed in any::<u64>()) {
        let (n, k, count) = (9, 2, 21);
        let random = &mut Random::new(seed);
        let mut all = Vec::new();
        for _ in 0..count {
            let mut m = matrix(random.below(6), n, k, random);
            if random.below(2) == 0 {
                punch(random.below(6), n, &mut m, random);
            }
            for i in 0..n {
                for j in i + 1..n {
                    m[i * n + j] = random.normal();
                }
            }
            all.extend(m);
        }
        let model = open(Options::size(n, k));
        let mut l = vec![0.0; all.len()];
        let mut reports = vec![Report::default(); count];
        let out = Outputs { l: Some(&mut l), reports: Some(&mut reports), ..Outputs::default() };
        model.decompose(&all, out).unwrap();
        let plain = Model::builtin(&Options::size(n, k)).unwrap();
        for i in 0..count {
            let m = &all[i * n * n..][..n * n];
            let alone = split(&model, m);
            prop_assert_eq!(&l[i * n * n..][..n * n], &alone.l[..]);
            prop_assert_eq!(reports[i], alone.report);
            if reports[i].missing == 0 {
                prop_assert_eq!(split(&plain, m).l, alone.l);
            }
        }
    }
}

/// A permutation of the assets permutes L: what is left of the fixed directions is little.
#[test]
fn the_order_of_the_assets_does_not_matter() {
    let (n, k) = (20, 3);
    let model = open(Options::size(n, k));
    let mut errors = Vec::new();
    for seed in 0..60 {
        let random = &mut Random::new(seed);
        let mut m = matrix(0, n, k, random);
        punch(0, n, &mut m, random);
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, random.below(last + 1));
        }
        let other: Vec<f64> = (0..n * n)
            .map(|at| m[order[at / n] * n + order[at % n]])
            .collect();
        let (one, other) = (split(&model, &m), split(&model, &other));
        let size = largest(&one.l);
        let error = (0..n * n).map(|at| {
            let there = order[at / n] * n + order[at % n];
            (other.l[at] - one.l[there]).abs() / size
        });
        errors.push(error.fold(0.0, f64::max));
    }
    errors.sort_by(f64::total_cmp);
    assert!(errors[30] < 1e-4, "median {}", errors[30]);
    assert!(errors[57] < 1e-2, "95 %: {}", errors[57]);
}

#[test]
fn nan_without_the_flag_is_an_error() {
    let m = [1.0, 0.0, f64::NAN, 1.0];
    let plain = Model::builtin(&Options::size(2, 1)).unwrap();
    let mut l = [0.0; 4];
    let out = Outputs {
        l: Some(&mut l),
        ..Outputs::default()
    };
    assert_eq!(
        plain.decompose(&m, out).unwrap_err().status,
        Status::NotFinite
    );
    assert!(l.iter().all(|x| x.is_nan()));
    let got = split(&open(Options::size(2, 1)), &m);
    assert_eq!(got.report.missing, 1);
    assert_eq!(
        got.l, [0.0; 4],
        "nothing is known of either asset but its variance"
    );
}

/// Weights that could blow up are refused, and counted where they are.
#[test]
fn a_mending_layer_that_is_not_sound_is_named() {
    let file = File::builtin().unwrap();
    let mut mend = file.mend.clone();
    mend[1].eta = f64::NAN;
    let error = Model::unrolled(
        Stages {
            mend: &mend,
            ..file.stages()
        },
        &Options::size(5, 1),
    );
    let error = error.err().expect("refused");
    assert_eq!(error.status, Status::Argument);
    assert!(error.to_string().contains("mending layer 1 "), "{error}");
}

/// Assets that have not been listed yet, or are not any more, do not change the split of the others.
#[test]
fn assets_of_which_nothing_is_known_change_nothing() {
    let mut random = Random::new(21);
    for (n, k, absent) in [(20, 3, 1), (20, 3, 20), (12, 2, 5), (40, 5, 15)] {
        for flags in 0..4 {
            let m = matrices::covariance(n, k, 0.1, &mut random);
            let all = n + absent;
            // Spread among the others; of every second the variance is known, which says nothing about L.
            let place = |i: usize| i + i * absent / n;
            let mut wide = vec![f64::NAN; all * all];
            for i in (0..all).step_by(2) {
                wide[i * (all + 1)] = 7.0;
            }
            for i in 0..n {
                for j in 0..n {
                    wide[place(i) * all + place(j)] = m[i * n + j];
                }
            }
            let options = |n| Options {
                correlation: flags & 1 != 0,
                careful: flags & 2 != 0,
                ..Options::size(n, k)
            };
            let alone = split(&open(options(n)), &m);
            let among = split(&open(options(all)), &wide);
            let size: f64 = alone.l.iter().map(|x| x * x).sum::<f64>().sqrt();
            let mut error = 0.0;
            for i in 0..n {
                for j in 0..n {
                    error += (among.l[place(i) * all + place(j)] - alone.l[i * n + j]).powi(2);
                }
            }
            let error = error.sqrt() / size;
            assert!(
                error < 1e-4,
                "n = {n}, k = {k}, {absent} absent, flags {flags}: {error:e}"
            );
        }
    }
}
