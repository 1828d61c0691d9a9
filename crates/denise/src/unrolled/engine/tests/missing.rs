//! Entries that are not known: against the reference, in both shapes, and beside matrices without holes.

use super::*;
use crate::unrolled::{File, Layer};

/// What a model is loaded for.
#[derive(Clone, Copy, Debug)]
struct How {
    missing: bool,
    careful: bool,
    correlation: bool,
}

const WAYS: [How; 3] = [
    How {
        missing: true,
        careful: false,
        correlation: false,
    },
    How {
        missing: true,
        careful: true,
        correlation: false,
    },
    How {
        missing: true,
        careful: false,
        correlation: true,
    },
];

fn weights() -> (Vec<Layer>, Vec<Layer>) {
    let file = File::builtin().unwrap();
    assert!(!file.mend.is_empty());
    (file.layers, file.mend)
}

fn split<F: Real>(
    how: How,
    isa: Isa,
    shapes: Shapes,
    n: usize,
    k: usize,
    m: &[F],
) -> (Results<F>, Result<(), Status>) {
    let mut status = Ok(());
    let results = run(n, k, m, |engine, batch| {
        let (layers, mend) = weights();
        let mut other = Engine::new(
            n,
            k,
            Stages {
                layers: &layers,
                mend: &mend,
                ..Stages::default()
            },
        )
        .unwrap();
        core::mem::swap(engine, &mut other);
        engine.missing = how.missing;
        engine.careful = how.careful;
        engine.correlation = how.correlation;
        let mut workspace = engine.workspace(isa).unwrap();
        status = engine.run(isa, &Team::alone(), &mut workspace, batch, shapes);
    });
    (results, status)
}

/// Which entries a case hides.
const CASES: [&str; 7] = [
    "a few",
    "a fifth",
    "variances",
    "all variances",
    "a row",
    "two groups",
    "all",
];

/// Whether entry (i, j) is missing, for i ≥ j.
fn hidden(case: &str, n: usize, i: usize, j: usize, random: &mut Random) -> bool {
    let at_random = random.uniform();
    match case {
        "a few" => (i, j) == (n - 1, 0) || (i, j) == (1, 0),
        "a fifth" => i != j && at_random < 0.2,
        "variances" => i == j && i % 3 == 1,
        "all variances" => i == j,
        // Its variance is known; that does not help.
        "a row" => i != j && (i == n / 2 || j == n / 2),
        "two groups" => i >= n / 2 && j < n / 2 && !(i + j).is_multiple_of(4),
        "all" => true,
        _ => unreachable!(),
    }
}

fn with_holes(case: &str, n: usize, k: usize, seed: u64) -> Vec<f64> {
    let mut m = matrix(n, k, seed);
    let mut random = Random::new(seed + 1000);
    for i in 0..n {
        for j in 0..=i {
            if hidden(case, n, i, j, &mut random) {
                m[i * n + j] = f64::NAN;
                m[j * n + i] = f64::NAN;
            }
        }
    }
    m
}

fn specified(how: How, n: usize, k: usize, m: &[f64]) -> reference::Decomposition {
    let (layers, mend) = weights();
    let network = reference::Network {
        layers: &layers,
        mend: &mend,
        follow: &[],
        careful: how.careful,
        correlation: how.correlation,
    };
    network.decompose(&DMatrix::from_row_slice(n, n, m), k)
}

#[test]
fn f64_kernels_match_the_reference() {
    for isa in Isa::all() {
        for shapes in [Shapes::Lanes, Shapes::Single] {
            for (n, k) in [(4, 1), (9, 3), (16, 5), (20, 3), (23, 6), (33, 4)] {
                for (case, how) in CASES.iter().flat_map(|&case| WAYS.map(|how| (case, how))) {
                    let name = format!(
                        "{:?} {shapes:?} n = {n}, k = {k}, {case}, {how:?}",
                        kernel(isa)
                    );
                    let m = with_holes(case, n, k, n as u64);
                    let (got, status) = split(how, isa, shapes, n, k, &m);
                    status.unwrap();
                    let want = specified(how, n, k, &m);
                    let size = want.l.amax().max(f64::MIN_POSITIVE);
                    let error = largest_difference(&got.l, want.l.as_slice()) / size;
                    assert!(error < 1e-8, "{name}: L differs by {error}");
                    assert!(got.l.iter().all(|x| x.is_finite()), "{name}");
                    let mut known = 0;
                    let mut sum = 0.0;
                    for at in 0..n * n {
                        assert_eq!(got.s[at].is_nan(), m[at].is_nan(), "{name}: {at}");
                        if !m[at].is_nan() {
                            assert_eq!(got.s[at], m[at] - got.l[at], "{name}");
                            known += 1;
                            sum += got.s[at].abs();
                        }
                    }
                    let lower = (0..n * n).filter(|at| at % n <= at / n && m[*at].is_nan());
                    let report = got.reports[0];
                    assert_eq!(report.missing as usize, lower.count(), "{name}");
                    assert_eq!(
                        (report.status, report.first_bad),
                        (0, Report::NONE),
                        "{name}"
                    );
                    let error = (f64::from(report.l1) - sum).abs() / sum.max(1e-9);
                    assert!(error < 1e-6, "{name}: l1 {} is not {sum}", report.l1);
                    let whole = DMatrix::from_row_slice(n, n, &m);
                    let most = 0.01 * reference::scale(&whole);
                    let small = got.s.iter().filter(|x| x.abs() <= most).count();
                    let share = if known == 0 {
                        1.0
                    } else {
                        small as f64 / f64::from(known)
                    };
                    assert!((f64::from(report.sparsity) - share).abs() < 1e-6, "{name}");
                    let norm = |x: &[f64]| -> f64 {
                        x.iter().filter(|x| !x.is_nan()).map(|x| x * x).sum()
                    };
                    let residual = (norm(&got.s) / norm(&m).max(f64::MIN_POSITIVE)).sqrt();
                    let error = f64::from(report.residual) - residual;
                    assert!(error.abs() < 1e-6, "{name}: {error}");
                    assert!(report.unsettled.is_finite() && report.least_specific.is_finite());
                }
            }
        }
    }
}

#[test]
fn f32_kernels_match_the_reference() {
    for isa in Isa::all() {
        for shapes in [Shapes::Lanes, Shapes::Single] {
            for (n, k) in [(9, 1), (20, 3), (33, 2)] {
                for case in ["a few", "a fifth", "variances", "a row"] {
                    let m = with_holes(case, n, k, 7);
                    let small: Vec<f32> = m.iter().map(|&x| x as f32).collect();
                    let (got, status) = split(WAYS[0], isa, shapes, n, k, &small);
                    status.unwrap();
                    let want = specified(WAYS[0], n, k, &m);
                    let got: Vec<f64> = got.l.iter().map(|&x| f64::from(x)).collect();
                    let error = largest_difference(&got, want.l.as_slice()) / want.l.amax();
                    let name = kernel(isa);
                    assert!(
                        error < 2e-4,
                        "{name:?} {shapes:?} n = {n}, k = {k}, {case}: {error}"
                    );
                }
            }
        }
    }
}

/// Bits, so that NaN equals itself.
fn bits<F: Real>(values: &[F]) -> Vec<u64> {
    let bits = |&x: &F| -> u64 {
        let x: f64 = x.into();
        if x.is_nan() { u64::MAX } else { x.to_bits() }
    };
    values.iter().map(bits).collect()
}

fn assert_same<F: Real>(a: &Results<F>, b: &Results<F>, case: &str) {
    assert_eq!(bits(&a.u), bits(&b.u), "{case}: U");
    assert_eq!(bits(&a.l), bits(&b.l), "{case}: L");
    assert_eq!(bits(&a.s), bits(&b.s), "{case}: S");
    assert_eq!(a.reports, b.reports, "{case}");
}

/// Matrices with and without holes, side by side.
fn mixed<F: Real>(n: usize, k: usize) -> Vec<F> {
    (0..19)
        .flat_map(|seed| match seed % 5 {
            0 | 3 => matrix(n, k, seed),
            1 => with_holes("a fifth", n, k, seed),
            2 => with_holes("a row", n, k, seed),
            _ => with_holes("variances", n, k, seed),
        })
        .map(F::from_f64)
        .collect()
}

#[test]
fn both_shapes_agree_to_the_bit() {
    fn check<F: Real>() {
        for isa in Isa::all() {
            for (n, k) in SIZES {
                for how in WAYS {
                    let m: Vec<F> = mixed(n, k);
                    let lanes = split(how, isa, Shapes::Lanes, n, k, &m).0;
                    let single = split(how, isa, Shapes::Single, n, k, &m).0;
                    let both = split(how, isa, Shapes::Both, n, k, &m).0;
                    let case = format!("{:?} n = {n}, k = {k}, {how:?}", kernel(isa));
                    assert_same(&lanes, &single, &case);
                    assert_same(&lanes, &both, &case);
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

/// Those without holes, whatever is beside them, and all of them alone.
#[test]
fn matrices_without_holes_have_the_bits_that_they_have_without_the_flag() {
    fn check<F: Real>() {
        for isa in Isa::all() {
            for (n, k) in SIZES {
                for how in WAYS {
                    let without = How {
                        missing: false,
                        ..how
                    };
                    let m: Vec<F> = mixed(n, k);
                    let all = split(how, isa, Shapes::Lanes, n, k, &m).0;
                    for (i, one) in m.chunks_exact(n * n).enumerate() {
                        let complete = one.iter().all(|x| x.finite());
                        let how = if complete { without } else { how };
                        let alone = split(how, isa, Shapes::Both, n, k, one).0;
                        let part = Results {
                            u: all.u[i * n * k..][..n * k].to_vec(),
                            l: all.l[i * n * n..][..n * n].to_vec(),
                            s: all.s[i * n * n..][..n * n].to_vec(),
                            reports: vec![all.reports[i]],
                        };
                        let name = kernel(isa);
                        let case = format!("{name:?} n = {n}, k = {k}, {how:?}, {i}");
                        assert_same(&part, &alone, &case);
                    }
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn infinities_stay_errors_and_are_named() {
    let (n, k) = (9, 2);
    let mut m = mixed::<f32>(n, k);
    let clean = m.clone();
    let (bad, at) = (6, 4 * n + 2);
    m[bad * n * n + at] = f32::NEG_INFINITY;
    m[bad * n * n + 8 * n + 8] = f32::INFINITY;
    for isa in Isa::all() {
        for shapes in [Shapes::Lanes, Shapes::Single] {
            let (got, status) = split(WAYS[0], isa, shapes, n, k, &m);
            assert_eq!(status, Err(Status::NotFinite));
            let (mut want, status) = split(WAYS[0], isa, shapes, n, k, &clean);
            assert_eq!(status, Ok(()));
            let report = got.reports[bad];
            assert_eq!(report.status, Status::NotFinite as i32);
            assert_eq!(report.first_bad as usize, at);
            want.l[bad * n * n..][..n * n].fill(f32::NAN);
            want.s[bad * n * n..][..n * n].fill(f32::NAN);
            want.u[bad * n * k..][..n * k].fill(f32::NAN);
            assert_eq!(bits(&got.l), bits(&want.l));
            assert_eq!(bits(&got.s), bits(&want.s));
            assert_eq!(bits(&got.u), bits(&want.u));
        }
    }
}

/// Without the flag one NaN is an error, as ever.
#[test]
fn without_the_flag_nan_is_an_error() {
    let (n, k) = (9, 2);
    let m = with_holes("a few", n, k, 1);
    let how = How {
        missing: false,
        ..WAYS[0]
    };
    for shapes in [Shapes::Lanes, Shapes::Single] {
        let (got, status) = split(how, Isa::best(), shapes, n, k, &m);
        assert_eq!(status, Err(Status::NotFinite));
        assert_eq!(got.reports[0].first_bad as usize, n);
        assert!(got.l.iter().all(|x| x.is_nan()));
    }
}

#[test]
fn what_is_not_known_of_an_asset_is_zero() {
    let (n, k) = (20, 3);
    for how in WAYS {
        let m = with_holes("a row", n, k, 3);
        let (got, _) = split(how, Isa::best(), Shapes::Both, n, k, &m);
        let lost = n / 2;
        assert!((0..n).all(|j| got.l[lost * n + j] == 0.0), "{how:?}");
        assert_eq!(got.s[lost * n + lost], m[lost * n + lost]);
        // The others have what they have without it.
        let keep: Vec<usize> = (0..n).filter(|&i| i != lost).collect();
        let few: Vec<f64> = keep
            .iter()
            .flat_map(|&i| keep.iter().map(move |&j| (i, j)))
            .map(|(i, j)| m[i * n + j])
            .collect();
        let (want, _) = split(how, Isa::best(), Shapes::Both, n - 1, k, &few);
        let size = want.l.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (a, &i) in keep.iter().enumerate() {
            for (b, &j) in keep.iter().enumerate() {
                let error = (got.l[i * n + j] - want.l[a * (n - 1) + b]).abs() / size;
                assert!(error < 1e-3, "{how:?} {i} {j}: {error}");
            }
        }
        let all = with_holes("all", n, k, 3);
        let (got, status) = split(how, Isa::best(), Shapes::Both, n, k, &all);
        assert_eq!(status, Ok(()));
        assert!(got.l.iter().chain(&got.u).all(|&x| x == 0.0));
        assert_eq!(got.reports[0].missing as usize, n * (n + 1) / 2);
        assert_eq!((got.reports[0].l1, got.reports[0].residual), (0.0, 0.0));
        assert_eq!(got.reports[0].sparsity, 1.0);
    }
}

/// What the network is for: L is found where nothing says what it is.
#[test]
fn hidden_entries_are_found() {
    let (n, k) = (20, 3);
    for case in ["a few", "a fifth", "variances"] {
        let m: Vec<f64> = (0..50)
            .flat_map(|seed| with_holes(case, n, k, seed))
            .collect();
        let whole: Vec<f64> = (0..50).flat_map(|seed| matrix(n, k, seed)).collect();
        let want = on(Isa::best(), Shapes::Both, n, k, &whole).l;
        let (got, _) = split(WAYS[0], Isa::best(), Shapes::Both, n, k, &m);
        let each = got.l.chunks_exact(n * n).zip(want.chunks_exact(n * n));
        let mut errors: Vec<f64> = each
            .map(|(got, want)| {
                let size = want.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                largest_difference(got, want) / size
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors[25] < 0.01, "{case}: {}", errors[25]);
    }
}
