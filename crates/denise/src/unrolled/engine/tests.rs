//! Kernels against the reference, against each other, and at every width.

use super::*;
use crate::batch::{Outputs, Report};
use crate::unrolled::canonical::canonical;
use crate::unrolled::{Stages, builtin, reference};
use denise_data::matrices::covariance;
use denise_data::random::Random;
use nalgebra::DMatrix;

mod missing;

fn matrix(n: usize, k: usize, seed: u64) -> Vec<f64> {
    covariance(n, k, 0.1, &mut Random::new(seed))
}

struct Results<F> {
    u: Vec<F>,
    l: Vec<F>,
    s: Vec<F>,
    reports: Vec<Report>,
}

fn run<F: Real>(
    n: usize,
    k: usize,
    m: &[F],
    call: impl FnOnce(&mut Engine<F>, Batch<'_, F>),
) -> Results<F> {
    let count = m.len() / (n * n);
    let mut out = Results {
        u: vec![F::ZERO; count * n * k],
        l: vec![F::ZERO; count * n * n],
        s: vec![F::ZERO; count * n * n],
        reports: vec![Report::default(); count],
    };
    let mut engine = Engine::new(n, k, Stages::only(&builtin())).unwrap();
    let outputs = Outputs {
        u: Some(&mut out.u),
        l: Some(&mut out.l),
        s: Some(&mut out.s),
        reports: Some(&mut out.reports),
    };
    call(
        &mut engine,
        Batch {
            n,
            k,
            count,
            m: Some(m),
            out: outputs,
        },
    );
    out
}

fn on<F: Real>(isa: Isa, shapes: Shapes, n: usize, k: usize, m: &[F]) -> Results<F> {
    run(n, k, m, |engine, batch| {
        let mut workspace = engine.workspace(isa).unwrap();
        engine
            .run(isa, &Team::alone(), &mut workspace, batch, shapes)
            .unwrap();
    })
}

/// The same for correlations.
fn on_correlations<F: Real>(isa: Isa, shapes: Shapes, n: usize, k: usize, m: &[F]) -> Results<F> {
    run(n, k, m, |engine, batch| {
        engine.correlation = true;
        let mut workspace = engine.workspace(isa).unwrap();
        engine
            .run(isa, &Team::alone(), &mut workspace, batch, shapes)
            .unwrap();
    })
}

/// In units of its own for every asset; the third has none.
fn in_units(n: usize, m: &[f64]) -> Vec<f64> {
    let unit = |i: usize| {
        if i == 2 {
            0.0
        } else {
            10_f64.powi(i as i32 % 7 - 3)
        }
    };
    (0..n * n)
        .map(|at| m[at] * unit(at / n) * unit(at % n))
        .collect()
}

/// Among them some whose last vector of rows has few rows in it, for every width.
const SIZES: [(usize, usize); 14] = [
    (2, 1),
    (3, 2),
    (5, 1),
    (7, 4),
    (8, 2),
    (9, 3),
    (16, 5),
    (19, 2),
    (20, 3),
    (23, 6),
    (33, 4),
    (50, 5),
    (51, 3),
    (41, 32),
];

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

/// What the last layer of the reference changes.
fn unsettled(m: &[f64], n: usize, k: usize) -> f64 {
    let m = DMatrix::from_row_slice(n, n, m);
    let layers = builtin();
    let last = reference::decompose(&m, k, &layers).u;
    let before = reference::decompose(&m, k, &layers[..layers.len() - 1]).u;
    (&last - before).norm() / last.norm()
}

/// To 1e-8, as promised: with 34 directions in 41 dimensions some are nearly parallel, and roundings grow.
#[test]
fn f64_kernels_match_the_reference() {
    for isa in Isa::all() {
        for shapes in [Shapes::Lanes, Shapes::Single] {
            for (n, k) in SIZES {
                let m = matrix(n, k, n as u64);
                let got = on(isa, shapes, n, k, &m);
                let want = reference::decompose(&DMatrix::from_row_slice(n, n, &m), k, &builtin());
                let scale = want.l.amax();
                let name = kernel(isa);
                let error = largest_difference(&got.l, want.l.as_slice()) / scale;
                assert!(
                    error < 1e-8,
                    "{name:?} {shapes:?} n = {n}, k = {k}: L differs by {error}"
                );
                let error = largest_difference(&got.s, want.s.as_slice()) / scale;
                assert!(
                    error < 1e-8,
                    "{name:?} {shapes:?} n = {n}, k = {k}: S differs by {error}"
                );
                let mut expected = want.u.transpose().as_slice().to_vec();
                canonical(k, &mut expected);
                let error = largest_difference(&got.u, &expected) / scale.sqrt();
                assert!(
                    error < 1e-6,
                    "{name:?} {shapes:?} n = {n}, k = {k}: U differs by {error}"
                );
                let report = got.reports[0];
                let residual = want.s.norm() / DMatrix::from_row_slice(n, n, &m).norm();
                assert!((f64::from(report.residual) - residual).abs() < 1e-6);
                let error = (f64::from(report.l1) - want.s.abs().sum()).abs() / want.l.abs().sum();
                assert!(
                    error < 1e-6,
                    "{name:?} {shapes:?} n = {n}, k = {k}: l1 differs by {error}"
                );
                let threshold = 0.01 * (0..n).map(|i| m[i * n + i]).sum::<f64>() / n as f64;
                let small = got.s.iter().filter(|x| x.abs() <= threshold).count();
                assert!((f64::from(report.sparsity) - small as f64 / (n * n) as f64).abs() < 1e-6);
                let case = format!("{name:?} {shapes:?} n = {n}, k = {k} {report:?}");
                let error = f64::from(report.unsettled) - unsettled(&m, n, k);
                assert!(error.abs() < 1e-5, "{case}");
                let specific = (0..n).map(|i| want.s[(i, i)] / m[i * n + i]);
                let error = f64::from(report.least_specific) - specific.fold(f64::MAX, f64::min);
                assert!(error.abs() < 1e-6, "{case}");
                assert_eq!(
                    (report.missing, report.first_bad),
                    (0, Report::NONE),
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn correlations_match_the_reference_in_any_units() {
    for isa in Isa::all() {
        for shapes in [Shapes::Lanes, Shapes::Single] {
            for (n, k) in SIZES {
                // With as many columns as assets are left, nothing decides between many L.
                if n > 2 && k == n - 1 {
                    continue;
                }
                let case = format!("{:?} {shapes:?} n = {n}, k = {k}", kernel(isa));
                let m = in_units(n, &matrix(n, k, n as u64));
                let roots: Vec<f64> = (0..n).map(|i| m[i * n + i].max(0.0).sqrt()).collect();
                // Compared asset by asset, each in its own unit.
                let unit = |at: usize| (roots[at / n] * roots[at % n]).max(f64::MIN_POSITIVE);
                let got = on_correlations(isa, shapes, n, k, &m);
                let given = DMatrix::from_row_slice(n, n, &m);
                let network = reference::Network {
                    layers: &builtin(),
                    correlation: true,
                    ..reference::Network::default()
                };
                let want = network.decompose(&given, k);
                for at in 0..n * n {
                    let error = (got.l[at] - want.l.as_slice()[at]).abs() / unit(at);
                    assert!(error < 1e-8, "{case}: L differs by {error}");
                    let error = (got.l[at] + got.s[at] - m[at]).abs() / unit(at);
                    assert!(error < 1e-14, "{case}: L + S is not M by {error}");
                    let row = |i: usize| &got.u[i * k..][..k];
                    let product = row(at / n).iter().zip(row(at % n));
                    let product: f64 = product.map(|(x, y)| x * y).sum();
                    let error = (got.l[at] - product).abs() / unit(at);
                    assert!(error < 1e-9, "{case}: L is not U U' by {error}");
                }
                let residual = want.s.norm() / given.norm();
                let error = f64::from(got.reports[0].residual) - residual;
                assert!(error.abs() < 1e-5, "{case}: {error}");
                let narrow: Vec<f32> = m.iter().map(|&x| x as f32).collect();
                let got = on_correlations(isa, shapes, n, k, &narrow);
                if k <= 3 {
                    for at in 0..n * n {
                        let error = (f64::from(got.l[at]) - want.l.as_slice()[at]).abs() / unit(at);
                        assert!(error < 2e-3, "{case}: L differs by {error} in f32");
                    }
                }
            }
        }
    }
}

#[test]
fn f32_kernels_match_the_reference() {
    for isa in Isa::all() {
        for shapes in [Shapes::Lanes, Shapes::Single] {
            for (n, k) in [(2, 1), (5, 2), (9, 3), (20, 3), (33, 4), (50, 5)] {
                let m = matrix(n, k, 7);
                let small: Vec<f32> = m.iter().map(|&x| x as f32).collect();
                let got: Vec<f64> = on(isa, shapes, n, k, &small)
                    .l
                    .iter()
                    .map(|&x| f64::from(x))
                    .collect();
                let want = reference::decompose(&DMatrix::from_row_slice(n, n, &m), k, &builtin());
                let error = largest_difference(&got, want.l.as_slice()) / want.l.amax();
                assert!(
                    error < 2e-4,
                    "{:?} {shapes:?} n = {n}, k = {k}: {error}",
                    kernel(isa)
                );
            }
        }
    }
}

#[test]
fn both_shapes_agree_to_the_bit() {
    fn check<F: Real>() {
        for isa in Isa::all() {
            for (n, k) in SIZES {
                let m: Vec<F> = (0..19)
                    .flat_map(|seed| matrix(n, k, seed))
                    .map(F::from_f64)
                    .collect();
                let lanes = on(isa, Shapes::Lanes, n, k, &m);
                let single = on(isa, Shapes::Single, n, k, &m);
                let both = on(isa, Shapes::Both, n, k, &m);
                for other in [single, both] {
                    let name = kernel(isa);
                    assert_eq!(lanes.u, other.u, "{name:?} n = {n}, k = {k}");
                    assert_eq!(lanes.l, other.l, "{name:?} n = {n}, k = {k}");
                    assert_eq!(lanes.s, other.s, "{name:?} n = {n}, k = {k}");
                    assert_eq!(lanes.reports, other.reports, "{name:?} n = {n}, k = {k}");
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

/// With vectors of this type, whatever the machine has.
fn at_width<V: Vector>(
    vectors: Vectors<V>,
    shapes: Shapes,
    n: usize,
    k: usize,
    m: &[V::Scalar],
) -> Results<V::Scalar> {
    run(n, k, m, |engine, batch| {
        let mut workspace = Workspace::new(
            engine.workspace_len_for(vectors) * size_of::<V::Scalar>(),
            true,
        )
        .unwrap();
        engine
            .walk(vectors, &Team::alone(), &mut workspace, batch, shapes)
            .unwrap();
    })
}

/// Both fuse multiply and add, so results are the same in every shape. The counts leave every kind of rest.
#[test]
#[cfg(target_arch = "x86_64")]
fn avx2_and_avx512_agree_to_the_bit() {
    fn check<F: Real>(avx2: Isa, avx512: Isa) {
        for (n, k) in SIZES {
            // An emulator takes minutes for the large ones.
            let counts = if n * k > 100 {
                &[1, 6][..]
            } else {
                &[1, 6, 19]
            };
            for &count in counts {
                let m: Vec<F> = (0..count)
                    .flat_map(|seed| matrix(n, k, seed))
                    .map(F::from_f64)
                    .collect();
                let narrow = on(avx2, Shapes::Both, n, k, &m);
                for shapes in [Shapes::Both, Shapes::Lanes, Shapes::Single] {
                    let wide = on(avx512, shapes, n, k, &m);
                    let case = format!("{shapes:?} n = {n}, k = {k}, {count} matrices");
                    assert_eq!(narrow.u, wide.u, "{case}");
                    assert_eq!(narrow.l, wide.l, "{case}");
                    assert_eq!(narrow.s, wide.s, "{case}");
                    assert_eq!(narrow.reports, wide.reports, "{case}");
                }
            }
        }
    }
    let (Some(avx2), Some(avx512)) = (Isa::avx2(), Isa::avx512()) else {
        return;
    };
    check::<f32>(avx2, avx512);
    check::<f64>(avx2, avx512);
    println!("compared: {:?} and {:?}", kernel(avx2), kernel(avx512));
}

/// The widths of AVX-512, from the same source, on vectors made of narrower ones.
#[test]
#[cfg_attr(not(target_arch = "x86_64"), allow(irrefutable_let_patterns))]
fn every_width_gives_the_same_bits() {
    use fearless_simd::{f32x4, f32x8, f32x16, f64x2, f64x4, f64x8};
    let Isa::Portable(simd) = Isa::portable() else {
        unreachable!()
    };
    for (n, k) in SIZES {
        let m: Vec<f64> = (0..19).flat_map(|seed| matrix(n, k, seed)).collect();
        let m32: Vec<f32> = m.iter().map(|&x| x as f32).collect();
        for shapes in [Shapes::Lanes, Shapes::Single] {
            let narrow = at_width(Vectors::<f32x4<_>>::new(simd), shapes, n, k, &m32);
            let middle = at_width(Vectors::<f32x8<_>>::new(simd), shapes, n, k, &m32);
            let wide = at_width(Vectors::<f32x16<_>>::new(simd), shapes, n, k, &m32);
            assert_eq!(narrow.l, middle.l, "{shapes:?} n = {n}, k = {k}");
            assert_eq!(narrow.l, wide.l, "{shapes:?} n = {n}, k = {k}");
            assert_eq!(narrow.reports, wide.reports, "{shapes:?} n = {n}, k = {k}");
            let narrow = at_width(Vectors::<f64x2<_>>::new(simd), shapes, n, k, &m);
            let middle = at_width(Vectors::<f64x4<_>>::new(simd), shapes, n, k, &m);
            let wide = at_width(Vectors::<f64x8<_>>::new(simd), shapes, n, k, &m);
            assert_eq!(narrow.l, middle.l, "{shapes:?} n = {n}, k = {k}");
            assert_eq!(narrow.l, wide.l, "{shapes:?} n = {n}, k = {k}");
        }
    }
}

/// 1/s is no normal number at the largest of these scales.
#[test]
fn scaling_is_exact_up_to_the_largest_numbers() {
    let (n, k) = (20, 3);
    let m: Vec<f32> = matrix(n, k, 5).iter().map(|&x| x as f32).collect();
    for isa in Isa::all() {
        for shapes in [Shapes::Lanes, Shapes::Single] {
            let plain = on(isa, shapes, n, k, &m);
            for power in [-110, -60, 60, 110, 116, 117, 118, 119, 120, 121] {
                let factor = 2_f32.powi(power);
                let large: Vec<f32> = m.iter().map(|x| x * factor).collect();
                let got = on(isa, shapes, n, k, &large);
                let name = kernel(isa);
                for (a, b) in plain.l.iter().zip(&got.l) {
                    assert_eq!(a * factor, *b, "{name:?} {shapes:?} 2^{power}");
                }
                assert_eq!(plain.reports[0].residual, got.reports[0].residual);
            }
        }
    }
}

/// A few entries ten times larger than all others.
fn with_outliers(n: usize, k: usize, seed: u64) -> Vec<f64> {
    let mut m = matrix(n, k, seed);
    let largest = m.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for (i, j) in [(0, n - 1), (1, n / 2), (n / 3, n - 2)] {
        m[i * n + j] += 10.0 * largest;
        m[j * n + i] = m[i * n + j];
    }
    m
}

#[test]
fn careful_kernels_match_the_reference() {
    for isa in Isa::all() {
        for shapes in [Shapes::Lanes, Shapes::Single] {
            for (n, k) in [(5, 1), (8, 2), (20, 3), (33, 4)] {
                for m in [matrix(n, k, 1), with_outliers(n, k, 2)] {
                    let got = run(n, k, &m, |engine, batch| {
                        engine.careful = true;
                        let mut workspace = engine.workspace(isa).unwrap();
                        engine
                            .run(isa, &Team::alone(), &mut workspace, batch, shapes)
                            .unwrap();
                    });
                    let whole = DMatrix::from_row_slice(n, n, &m);
                    let network = reference::Network {
                        layers: &builtin(),
                        careful: true,
                        ..reference::Network::default()
                    };
                    let want = network.decompose(&whole, k);
                    let error = largest_difference(&got.l, want.l.as_slice()) / want.l.amax();
                    assert!(error < 1e-7, "{shapes:?} n = {n}, k = {k}: {error}");
                    assert!(got.reports[0].unsettled.is_finite());
                }
            }
        }
    }
}

/// Rows have a size there only because of the diagonal, or none at all.
#[test]
fn matrices_with_nothing_off_the_diagonal_are_split() {
    for (n, k) in [(2, 1), (5, 5), (20, 3)] {
        for diagonal in [|_| 0.0, |_| 1.0, |i| i as f64, |i: usize| -(i as f64)] {
            let whole = DMatrix::from_fn(n, n, |i, j| if i == j { diagonal(i) } else { 0.0 });
            let want = reference::decompose(&whole, k, &builtin());
            assert!(want.l.iter().all(|x| x.is_finite()), "{n} {k}");
            let m: Vec<f32> = whole.iter().map(|&x| x as f32).collect();
            for isa in Isa::all() {
                for shapes in [Shapes::Lanes, Shapes::Single] {
                    let got = on(isa, shapes, n, k, &m);
                    assert!(got.l.iter().all(|x| x.is_finite()), "{n} {k} {shapes:?}");
                }
            }
        }
    }
}

/// No reciprocal of a size, and no product of two, overflows, even if entries are subnormal.
#[test]
fn rows_of_any_size_are_balanced() {
    let (n, k) = (9, 2);
    let plain = matrix(n, k, 3);
    for small in [0.0, 1e-22, 1e-19, 1e-10] {
        let unit = |i: usize| if i % 4 == 1 { small } else { 1.0 };
        let m: Vec<f32> = (0..n * n)
            .map(|at| (plain[at] * unit(at / n) * unit(at % n)) as f32)
            .collect();
        for isa in Isa::all() {
            for shapes in [Shapes::Lanes, Shapes::Single] {
                let got = on(isa, shapes, n, k, &m);
                for (at, &l) in got.l.iter().enumerate() {
                    let largest = 10.0 * unit(at / n) * unit(at % n);
                    let name = kernel(isa);
                    assert!(
                        f64::from(l.abs()) <= largest,
                        "{name:?} {shapes:?} {small}: {l} at {at}"
                    );
                }
            }
        }
    }
}

/// Pairs say nothing about some directions of U if k is too large, and the diagonal must.
#[test]
fn no_variance_is_exceeded_by_much_if_k_is_too_large() {
    let n = 20;
    let m: Vec<f64> = (0..400).flat_map(|seed| matrix(n, 1, seed)).collect();
    let got = on(Isa::portable(), Shapes::Both, n, 3, &m);
    let least = got.reports.iter().map(|report| report.least_specific);
    let least = least.fold(f32::MAX, f32::min);
    assert!(least > -0.5, "{least}");
}
