use super::*;
use denise_data::random::Random;
use nalgebra::{DMatrix, SymmetricEigen};

struct Case {
    n: usize,
    k: usize,
    m: Vec<f64>,
    u: Vec<f64>,
}

/// A covariance UUᵀ + diag(d), and its U.
fn case(n: usize, k: usize, random: &mut Random) -> Case {
    let u: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
    let mut m = product(n, k, &u);
    for i in 0..n {
        m[i * (n + 1)] += 0.1 + random.uniform();
    }
    Case { n, k, m, u }
}

fn product(n: usize, k: usize, u: &[f64]) -> Vec<f64> {
    let entry = |at: usize| {
        (0..k)
            .map(|c| u[at / n * k + c] * u[at % n * k + c])
            .sum::<f64>()
    };
    (0..n * n).map(entry).collect()
}

struct Made<F> {
    d: Vec<F>,
    sigma: Vec<F>,
    inverse: Vec<F>,
    log_det: Vec<f64>,
    status: Status,
}

fn make<F: Real>(n: usize, k: usize, m: &[F], u: &[F], floor: f64) -> Made<F> {
    let count = m.len() / (n * n);
    let mut made = Made {
        d: vec![F::ZERO; count * n],
        sigma: vec![F::ZERO; m.len()],
        inverse: vec![F::ZERO; m.len()],
        log_det: vec![0.0; count],
        status: Status::Ok,
    };
    let out = Outputs {
        d: Some(&mut made.d),
        sigma: Some(&mut made.sigma),
        inverse: Some(&mut made.inverse),
        log_det: Some(&mut made.log_det),
    };
    if let Err(error) = from_u(n, k, m, u, floor, out) {
        made.status = error.status;
    }
    made
}

fn dense(n: usize, values: &[f64]) -> DMatrix<f64> {
    DMatrix::from_row_slice(n, n, values)
}

const SIZES: [(usize, usize); 9] = [
    (2, 1),
    (5, 2),
    (20, 3),
    (31, 5),
    (32, 4),
    (33, 32),
    (64, 7),
    (100, 10),
    (130, 1),
];

/// Σ, its inverse and its determinant are those of textbooks.
#[test]
fn sigma_inverse_and_determinant() {
    let random = &mut Random::new(1);
    for (n, k) in SIZES {
        let Case { m, u, .. } = case(n, k, random);
        let made = make(n, k, &m, &u, 0.05);
        assert_eq!(made.status, Status::Ok);
        let mut right = dense(n, &product(n, k, &u));
        for i in 0..n {
            let specific = (m[i * (n + 1)] - right[(i, i)]).max(0.05 * m[i * (n + 1)]);
            assert!((made.d[i] - specific).abs() <= 1e-12 * m[i * (n + 1)]);
            right[(i, i)] += made.d[i];
        }
        let sigma = dense(n, &made.sigma);
        assert!((&sigma - &right).amax() <= 1e-13 * right.amax(), "{n} {k}");
        let inverse = dense(n, &made.inverse);
        assert_eq!(inverse, inverse.transpose());
        assert_eq!(sigma, sigma.transpose());
        let unit = &sigma * &inverse - DMatrix::identity(n, n);
        assert!(unit.amax() < 1e-11, "{n} {k}: {}", unit.amax());
        let log_det = 2.0 * right.cholesky().unwrap().l().diagonal().map(f64::ln).sum();
        assert!((made.log_det[0] - log_det).abs() < 1e-10 * n as f64);
    }
}

/// Products without Σ are those with it, for any number of columns, and solving undoes multiplying.
#[test]
fn products() {
    let random = &mut Random::new(2);
    for (n, k) in SIZES {
        let two = [case(n, k, random), case(n, k, random)];
        let m = [two[0].m.clone(), two[1].m.clone()].concat();
        let u = [two[0].u.clone(), two[1].u.clone()].concat();
        assert_eq!((two[0].n, two[0].k), (n, k));
        let made = make(n, k, &m, &u, 0.0);
        for columns in [1, 2, 15, 16, 17, 40] {
            let x: Vec<f64> = (0..2 * n * columns).map(|_| random.normal()).collect();
            let mut y = x.clone();
            multiply(n, k, &u, &made.d, columns, &mut y).unwrap();
            let mut back = y.clone();
            solve(n, k, &u, &made.d, columns, &mut back).unwrap();
            for at in 0..2 {
                let part = at * n * columns..(at + 1) * n * columns;
                let sigma = dense(n, &made.sigma[at * n * n..][..n * n]);
                let rows = |x: &[f64]| DMatrix::from_row_slice(n, columns, &x[part.clone()]);
                let wrong = (&sigma * rows(&x) - rows(&y)).amax();
                assert!(wrong <= 1e-12 * rows(&y).amax(), "{n} {k}");
                assert!((rows(&back) - rows(&x)).amax() < 1e-10, "{n} {k}");
            }
        }
    }
}

/// `f32` is `f64` rounded, and nothing depends on the instruction set or on the place in the batch.
#[test]
fn precision_and_place() {
    let random = &mut Random::new(3);
    let (n, k) = (20, 3);
    let Case { m, u, .. } = case(n, k, random);
    let narrow = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    let (m, u) = (narrow(&m), narrow(&u));
    let small = make(n, k, &m, &u, 0.0);
    let large = make(n, k, &wide(&m), &wide(&u), 0.0);
    for (small, large) in [
        (&small.sigma, &large.sigma),
        (&small.inverse, &large.inverse),
    ] {
        let most = large.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let pairs = small.iter().zip(large);
        assert!(
            pairs
                .clone()
                .all(|(a, b)| (f64::from(*a) - b).abs() <= 1e-6 * most)
        );
        assert!(pairs.clone().any(|(a, b)| f64::from(*a) != *b));
    }
    let three = make(n, k, &m.repeat(3), &u.repeat(3), 0.0);
    assert_eq!(three.inverse, small.inverse.repeat(3));
    assert_eq!(three.sigma, small.sigma.repeat(3));
    assert_eq!(three.log_det, small.log_det.repeat(3));
}

/// A matrix that has no Σ is marked, and its neighbours are not.
#[test]
fn one_bad_matrix_among_good_ones() {
    let random = &mut Random::new(4);
    let (n, k) = (5, 2);
    let Case { m, u, .. } = case(n, k, random);
    let alone = make(n, k, &m, &u, 0.0);
    let zero = vec![0.0; n * n];
    let mut nan = u.clone();
    nan[3] = f64::NAN;
    for (second_m, second_u, status) in
        [(&zero, &u, Status::Singular), (&m, &nan, Status::NotFinite)]
    {
        let made = make(
            n,
            k,
            &[&m[..], second_m, &m].concat(),
            &[&u[..], second_u, &u].concat(),
            0.0,
        );
        assert_eq!(made.status, status);
        for (all, alone, each) in [
            (&made.d, &alone.d, n),
            (&made.sigma, &alone.sigma, n * n),
            (&made.inverse, &alone.inverse, n * n),
            (&made.log_det, &alone.log_det, 1),
        ] {
            assert_eq!(all[..each], alone[..]);
            assert!(all[each..2 * each].iter().all(|x| x.is_nan()));
            assert_eq!(all[2 * each..], alone[..]);
        }
        // And so it is with products.
        let (u, mut x) = ([&u[..], second_u, &u].concat(), vec![1.0; 3 * n]);
        let error = solve(n, k, &u, &made.d, 1, &mut x).unwrap_err();
        assert_eq!(error.status, Status::NotFinite);
        assert!(x[n..2 * n].iter().all(|x| x.is_nan()));
        assert!(x[..n].iter().chain(&x[2 * n..]).all(|x| x.is_finite()));
    }
    let mut x = vec![1.0; n];
    let mut d = alone.d.clone();
    d[2] = 0.0;
    let error = solve(n, k, &u, &d, 1, &mut x).unwrap_err();
    assert_eq!(error.status, Status::Singular);
    multiply(n, k, &u, &d, 1, &mut [1.0; 5]).unwrap();
}

#[test]
fn lengths_are_checked_before_anything_is_written() {
    let (m, u) = ([1.0; 9], [1.0; 3]);
    let mut d = [7.0; 4];
    let out = Outputs {
        d: Some(&mut d),
        ..Outputs::default()
    };
    let error = from_u(3, 1, &m, &u, 0.0, out).unwrap_err();
    assert_eq!((error.status, d), (Status::Shape, [7.0; 4]));
    assert!(from_u(3, 1, &m[1..], &u, 0.0, Outputs::default()).is_err());
    assert!(from_u(3, 1, &m, &u[1..], 0.0, Outputs::default()).is_err());
    assert!(from_u(3, 3, &m, &m, 0.0, Outputs::default()).is_err());
    assert!(multiply(3, 1, &u, &u, 2, &mut [0.0; 5]).is_err());
    multiply(3, 1, &u, &u, 0, &mut []).unwrap();
    assert!(multiply(3, 1, &u, &u, usize::MAX, &mut [0.0; 3]).is_err());
}

/// Whatever U and M are: rounded to the caller's type, Σ and Σ⁻¹ are positive definite, and no worse conditioned than
/// the floor allows.
#[test]
fn positive_definite_on_adversarial_input() {
    fn smallest<F: Real>(n: usize, values: &[F]) -> f64 {
        let x = DMatrix::from_fn(n, n, |i, j| Into::<f64>::into(values[i * n + j]));
        let scaled = DMatrix::from_fn(n, n, |i, j| x[(i, j)] / x[(i, i)].sqrt() / x[(j, j)].sqrt());
        SymmetricEigen::new(scaled).eigenvalues.min()
    }
    fn check<F: Real>(n: usize, k: usize, m: &[f64], u: &[f64], floor: f64, what: &str) {
        let narrow = |x: &[f64]| x.iter().map(|&x| F::from_f64(x)).collect::<Vec<F>>();
        let made = make(n, k, &narrow(m), &narrow(u), floor);
        assert_eq!(made.status, Status::Ok, "{what}");
        assert!(made.d.iter().all(|&d| d.into() > 0.0), "{what}");
        let least = [smallest(n, &made.sigma), smallest(n, &made.inverse)];
        assert!(least.iter().all(|&x| x > 0.0), "{what} {n} {k}: {least:?}");
        assert!(made.log_det[0].is_finite());
        // Where L explains no more than there is, the condition number in units of the variances is at most
        // n (1 + floor) / floor.
        let explained = product(n, k, u);
        if (0..n).all(|i| explained[i * (n + 1)] <= m[i * (n + 1)]) {
            // Of Σ, and of the eigensolver here.
            let size = n as f64;
            let rounding = 2.0 * size * F::ULP + 4.0 * size * size * f64::EPSILON;
            assert!(
                least[0] >= floor / (1.0 + floor) - rounding,
                "{what}: {least:?}"
            );
        }
    }
    let random = &mut Random::new(5);
    for (n, k) in [(2, 1), (20, 3), (33, 32), (100, 10)] {
        let normal = |random: &mut Random, size: f64| -> Vec<f64> {
            (0..n * k).map(|_| size * random.normal()).collect()
        };
        let ones = vec![1.0; n * n];
        // All assets are one factor, exactly; then U far too long for M; then of very different lengths.
        let mut same = vec![0.0; n * k];
        for row in same.chunks_exact_mut(k) {
            row[0] = 1.0;
        }
        let long = normal(random, 1e4);
        let mut graded = normal(random, 1.0);
        for (i, row) in graded.chunks_exact_mut(k).enumerate() {
            for x in row {
                *x *= 10.0_f64.powi(i as i32 % 13 - 6);
            }
        }
        let zero = vec![0.0; n * k];
        let mut variances = vec![0.0; n * n];
        for i in 0..n {
            variances[i * (n + 1)] = [1e-8, 1.0, 1e8, 0.0, f64::NAN][(i + 1) % 5];
        }
        for floor in [1e-6, 1e-3, 0.01, 0.5] {
            for (u, what) in [
                (&same, "one factor"),
                (&long, "long"),
                (&graded, "graded"),
                (&zero, "zero"),
            ] {
                check::<f64>(n, k, &ones, u, floor, what);
                check::<f32>(n, k, &ones, u, floor.max(4e-3), what);
                check::<f64>(n, k, &variances, u, floor, what);
                check::<f32>(n, k, &variances, u, floor, what);
            }
        }
    }
}

/// At the ends of the range nothing overflows to infinity, and nothing becomes NaN.
#[test]
fn extremes_are_finite() {
    let (n, k) = (4, 2);
    let shape = [1.0, 0.5, -0.5, 1.0, 0.25, 0.75, 1.0, 1.0];
    for size in [1e-19_f32, 1e-12, 1e-3, 1.0, 1e3, 1e18] {
        let u: Vec<f32> = shape.iter().map(|x| x * size).collect();
        let m: Vec<f32> = (0..n * n).map(|_| 2.0 * size * size).collect();
        let made = make(n, k, &m, &u, 0.0);
        assert_eq!(made.status, Status::Ok, "{size}");
        let all = made.d.iter().chain(&made.sigma).chain(&made.inverse);
        assert!(all.clone().all(|x| x.is_finite()), "{size}");
        // A product that is too large is NaN, and says so.
        let mut x = vec![f32::MAX; n];
        let outcome = multiply(n, k, &u, &made.d, 1, &mut x);
        let status = outcome.map_or_else(|error| error.status, |()| Status::Ok);
        let good = status == Status::Ok;
        assert!(good || status == Status::NotFinite);
        assert!(
            x.iter()
                .all(|x| x.is_finite() == good && x.is_nan() != good),
            "{size}"
        );
        assert_eq!(good, size < 1e-2, "{size}");
    }
    for size in [1e-150, 1e-100, 1e100, 1e150_f64] {
        let u: Vec<f64> = shape.iter().map(|&x| f64::from(x) * size).collect();
        let m: Vec<f64> = (0..n * n).map(|_| 2.0 * size * size).collect();
        let made = make(n, k, &m, &u, 0.0);
        let unit = dense(n, &made.sigma) * dense(n, &made.inverse) - DMatrix::identity(n, n);
        assert!(unit.amax() < 1e-12, "{size}: {}", unit.amax());
    }
}

#[test]
fn variances_alone_give_the_same_bits() {
    let mut random = Random::new(11);
    let Case { n, k, m, u } = case(9, 2, &mut random);
    let variances: Vec<f64> = (0..n).map(|i| m[i * (n + 1)]).collect();
    let made = make(n, k, &m, &u, 0.1);
    let (mut d, mut sigma) = (vec![0.0; n], vec![0.0; n * n]);
    let out = Outputs {
        d: Some(&mut d),
        sigma: Some(&mut sigma),
        ..Outputs::default()
    };
    from_diagonal(n, k, &variances, &u, 0.1, out).unwrap();
    assert_eq!((d, sigma), (made.d, made.sigma));
    let error = from_diagonal(n, k, &variances[1..], &u, 0.1, Outputs::default()).unwrap_err();
    assert_eq!(error.status, Status::Shape);
}
