//! The eigensolver against nalgebra's.

use super::isolate::End;
use super::memory::Memory;
use super::spectrum::Spectrum;
use denise_data::random::Random;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Symmetric, with the given eigenvalues and random eigenvectors.
fn with_spectrum(values: &[f64], seed: u64) -> DMatrix<f64> {
    let n = values.len();
    let mut random = Random::new(seed);
    let q = DMatrix::from_fn(n, n, |_, _| random.signed()).qr().q();
    let a = &q * DMatrix::from_diagonal(&DVector::from_row_slice(values)) * q.transpose();
    (&a + a.transpose()) * 0.5
}

/// Matrices that eigensolvers find hard, of unit scale.
fn matrices() -> Vec<DMatrix<f64>> {
    let mut all = Vec::new();
    for n in [2, 3, 4, 5, 8, 13, 20, 37, 64] {
        let mut random = Random::new(n as u64);
        let square = DMatrix::from_fn(n, n, |_, _| random.signed());
        all.push((&square + square.transpose()) * 0.5);
        all.push(DMatrix::identity(n, n));
        all.push(DMatrix::from_element(n, n, 1.0));
        all.push(DMatrix::from_fn(n, n, |i, j| {
            f64::from(u8::from(i.abs_diff(j) == 1))
        }));
        // Wilkinson's: pairs of eigenvalues that agree to many digits.
        let middle = (n / 2) as f64;
        all.push(DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => (i as f64 - middle).abs() / n as f64,
            1 => 1.0 / n as f64,
            _ => 0.0,
        }));
        let spectra: [fn(usize) -> f64; 6] = [
            |i| 1.0 / (1 + i) as f64,
            |i| 10_f64.powi(-(i as i32)),
            |i| if i < 2 { 1.0 - 1e-9 * i as f64 } else { 0.0 },
            |i| if i % 2 == 0 { 1.0 } else { -1.0 },
            |i| if i == 0 { 1.0 } else { 1e-3 + 1e-14 * i as f64 },
            |i| if i < 3 { 1.0 - 0.2 * i as f64 } else { 0.3 },
        ];
        for (seed, value) in spectra.into_iter().enumerate() {
            let values: Vec<f64> = (0..n).map(value).collect();
            all.push(with_spectrum(&values, seed as u64 + 1));
        }
    }
    all
}

fn sum_of(a: &DMatrix<f64>, f: impl Fn(f64) -> f64) -> DMatrix<f64> {
    let eigen = SymmetricEigen::new(a.clone());
    let values = eigen.eigenvalues.map(f);
    &eigen.eigenvectors * DMatrix::from_diagonal(&values) * eigen.eigenvectors.transpose()
}

fn spectrum(n: usize) -> Spectrum {
    let mut memory = Memory::new();
    let spectrum = Spectrum::new(n, &mut memory);
    memory.check(spectrum).expect("memory")
}

#[test]
fn thresholding_agrees_with_nalgebra() {
    for a in matrices() {
        let n = a.nrows();
        let mut spectrum = spectrum(n);
        let mut l = vec![0.0; n * n];
        for tau in [0.0, 1e-6, 0.05, 0.299, 0.5, 0.999_999, 3.0, 100.0] {
            let shrunk = |x: f64| (x.abs() - tau).max(0.0).copysign(x);
            let expected = sum_of(&a, shrunk);
            // Twice: from nothing, and from the eigenvalues of the time before.
            spectrum.forget();
            for _ in 0..2 {
                spectrum.beyond(a.as_slice(), tau);
                spectrum.sum(shrunk, &mut l);
                let error = (DMatrix::from_row_slice(n, n, &l) - &expected).amax();
                assert!(
                    error < 1e-11 * n as f64,
                    "n = {n}, tau = {tau}: {error:e}\n{a}"
                );
            }
        }
    }
}

#[test]
fn follows_a_path_of_matrices() {
    let (start, end) = (
        with_spectrum(&[3.0, 2.0, -1.5, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0, -0.3], 1),
        with_spectrum(&[1.0, 0.9, 0.9, 0.9, 0.8, 0.2, 0.1, 0.0, -0.7, -3.0], 2),
    );
    let mut spectrum = spectrum(10);
    let mut l = vec![0.0; 100];
    for step in 0..=200 {
        let t = f64::from(step) / 200.0;
        let a = &start * (1.0 - t) + &end * t;
        let shrunk = |x: f64| (x.abs() - 0.5).max(0.0).copysign(x);
        spectrum.beyond(a.as_slice(), 0.5);
        spectrum.sum(shrunk, &mut l);
        let error = (DMatrix::from_row_slice(10, 10, &l) - sum_of(&a, shrunk)).amax();
        assert!(error < 1e-11, "step {step}: {error:e}");
    }
}

#[test]
fn the_largest_agree_with_nalgebra() {
    for a in matrices() {
        let n = a.nrows();
        let mut spectrum = spectrum(n);
        for (end, size) in [
            (End::Positive, (|x| x) as fn(f64) -> f64),
            (End::Both, f64::abs),
        ] {
            let mut expected: Vec<f64> = SymmetricEigen::new(a.clone())
                .eigenvalues
                .iter()
                .map(|&x| size(x))
                .collect();
            expected.sort_by(|x, y| y.total_cmp(x));
            for count in 1..n.min(6) {
                spectrum.largest(a.as_slice(), count, end);
                let values = spectrum.values().to_vec();
                for (i, &x) in expected.iter().take(count).enumerate() {
                    let found = values.get(i).map_or(0.0, |&x| size(x));
                    assert!(
                        (found - x.max(0.0)).abs() < 1e-12 * n as f64,
                        "{found} for {x}\n{a}"
                    );
                }
                // Orthonormal, and eigenvectors.
                let v = DMatrix::from_row_slice(values.len(), n, spectrum.factors(|_| 1.0));
                let gram =
                    (&v * v.transpose() - DMatrix::identity(values.len(), values.len())).amax();
                assert!(gram < 1e-10, "{gram:e}\n{a}");
                let image = DMatrix::from_diagonal(&DVector::from_vec(values)) * &v;
                assert!((&v * &a - image).amax() < 1e-12 * n as f64);
            }
        }
    }
}
