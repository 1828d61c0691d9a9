use super::*;
use denise_data::random::Random;

fn suggested(n: usize, most: usize, observations: f64, m: &[f64]) -> u32 {
    let mut k = [u32::MAX];
    suggest(n, most, observations, m, &mut k).unwrap();
    k[0]
}

/// UUᵀ + diag(d), and a few pairs besides.
fn matrix(n: usize, k: usize, outliers: usize, random: &mut Random) -> Vec<f64> {
    let u: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
    let mut m = vec![0.0; n * n];
    for i in 0..n {
        for l in 0..n {
            m[i * n + l] = (0..k).map(|c| u[i * k + c] * u[l * k + c]).sum();
        }
        m[i * (n + 1)] += 0.5 + random.uniform();
    }
    for _ in 0..outliers {
        let i = 1 + (random.uniform() * (n - 1) as f64) as usize;
        let l = (random.uniform() * i as f64) as usize;
        let x = 2.0 * random.normal();
        m[i * n + l] += x;
        m[l * n + i] += x;
    }
    m
}

/// Of matrices that have a rank, off the diagonal and but for some pairs, it is found.
#[test]
fn exact_ranks_are_found() {
    let random = &mut Random::new(1);
    let (mut right, mut all) = (0, 0);
    for n in [20, 50] {
        for k in 0..=5 {
            for outliers in [0, n / 2, n] {
                let m = matrix(n, k, outliers, random);
                let found = suggested(n, 0, 0.0, &m);
                right += usize::from(found as usize == k);
                all += 1;
            }
        }
    }
    assert!(right * 100 >= 94 * all, "{right} of {all}");
}

/// Samples of so many observations of a factor model; and noise has no factors.
#[test]
fn sampled_ranks_are_found() {
    let random = &mut Random::new(2);
    let (n, observations) = (30, 500);
    let mut right = 0;
    for k in [0, 1, 2, 3].repeat(5) {
        let u: Vec<f64> = (0..n * k).map(|_| 0.6 * random.normal()).collect();
        let mut m = vec![0.0; n * n];
        for _ in 0..observations {
            let f: Vec<f64> = (0..k).map(|_| random.normal()).collect();
            let x: Vec<f64> = (0..n)
                .map(|i| random.normal() + (0..k).map(|c| u[i * k + c] * f[c]).sum::<f64>())
                .collect();
            for i in 0..n {
                for l in 0..n {
                    m[i * n + l] += x[i] * x[l] / observations as f64;
                }
            }
        }
        right += usize::from(suggested(n, 0, observations as f64, &m) as usize == k);
        assert!(suggested(n, 0, 0.0, &m).abs_diff(k as u32) <= 1);
    }
    assert!(right >= 19, "{right} of 20");
}

/// Neither units nor order nor signs nor the upper triangle matter.
#[test]
fn what_does_not_matter() {
    let random = &mut Random::new(3);
    for n in [10, 20, 33] {
        let m = matrix(n, 3, n / 3, random);
        let k = suggested(n, 0, 0.0, &m);
        let order: Vec<usize> = (0..n).map(|i| (i * 7 + 3) % n).collect();
        let unit: Vec<f64> = (0..n)
            .map(|i| 10.0_f64.powi(i as i32 % 7 - 3) * [1.0, -1.0][i % 2])
            .collect();
        let mut other = vec![f64::INFINITY; n * n];
        for i in 0..n {
            for l in 0..=i {
                other[i * n + l] = m[order[i] * n + order[l]] * unit[i] * unit[l];
            }
        }
        assert_eq!(suggested(n, 0, 0.0, &other), k);
        assert_eq!(suggested(n, n.min(32), 0.0, &m).min(10), k);
        assert!(suggested(n, 1, 0.0, &m) <= 1);
    }
}

#[test]
fn edges() {
    let eye = |n: usize| -> Vec<f64> {
        (0..n * n)
            .map(|at| f64::from(u8::from(at % (n + 1) == 0)))
            .collect()
    };
    assert_eq!(suggested(20, 0, 0.0, &eye(20)), 0);
    assert_eq!(suggested(20, 0, 100.0, &eye(20)), 0);
    assert_eq!(suggested(20, 0, 0.0, &[0.0; 400]), 0);
    assert_eq!(suggested(20, 0, 0.0, &[1.0; 400]), 1);
    assert_eq!(suggested(20, 0, 0.0, &[f64::NAN; 400]), 0);
    assert_eq!(suggested(2, 0, 0.0, &[1.0; 4]), 0);
    assert_eq!(suggested(3, 0, 0.0, &[1.0; 9]), 1);
    // An asset that never moved, and one of which nothing is known, change nothing but their number.
    let random = &mut Random::new(4);
    let mut m = matrix(24, 3, 0, random);
    for i in 0..24 {
        for at in [i * 24, i, i * 24 + 7, 7 * 24 + i] {
            m[at] = if at % 24 == 7 || at / 24 == 7 {
                f64::NAN
            } else {
                0.0
            };
        }
    }
    assert_eq!(suggested(24, 0, 0.0, &m), 3);
    // And so do some pairs that are not known.
    let mut m = matrix(20, 2, 0, random);
    for i in 3..20 {
        m[i * 20 + i / 3] = f64::NAN;
    }
    assert_eq!(suggested(20, 0, 0.0, &m), 2);
    // Covariances that variances do not allow, and entries at the ends of the range.
    let mut wild = eye(20);
    for i in 1..20 {
        wild[i * 20] = [1e300, -1e200, 1e-300][i % 3];
        wild[i * 20 + i - 1] = 1e308;
    }
    assert!(suggested(20, 0, 0.0, &wild) <= 5);
    for size in [1e-300, 1e300] {
        assert_eq!(suggested(20, 0, 0.0, &[size; 400]), 1);
    }
}

#[test]
fn what_is_refused() {
    let mut k = [7];
    for (n, most, observations, status) in [
        (1, 0, 0.0, Status::Argument),
        (513, 0, 0.0, Status::Unsupported),
        (20, 33, 0.0, Status::Unsupported),
        (20, 0, -1.0, Status::Argument),
        (20, 0, f64::NAN, Status::Argument),
        (20, 0, f64::INFINITY, Status::Argument),
        (21, 0, 0.0, Status::Shape),
    ] {
        let error = suggest(n, most, observations, &[1.0; 400], &mut k).unwrap_err();
        assert_eq!(
            (error.status, k),
            (status, [7]),
            "{n} {most} {observations}"
        );
    }
    let mut m = vec![1.0; 800];
    m[20] = f64::NEG_INFINITY;
    let mut k = [7, 7];
    let error = suggest(20, 0, 0.0, &m, &mut k).unwrap_err();
    assert_eq!((error.status, k), (Status::NotFinite, [0, 1]));
}
