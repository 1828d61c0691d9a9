//! Covariances and ranks of any numbers.

use crate::bytes::Bytes;
use crate::decompose::{is_symmetric, matrices};
use crate::value::Value;
use denise_rust::covariance::{self, Outputs};
use denise_rust::{Element, Error, Status, rank};

/// Makes covariances of the fuzzer's matrices and factors, and products with them.
///
/// Panics if one that is done is not positive definite, not symmetric or not finite, if one that is not done has
/// numbers, or if a matrix has other results alone than among others.
pub fn covariance(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    match bytes.below(3) {
        0 => from_u::<f32>(&mut bytes),
        1 => from_u::<f64>(&mut bytes),
        _ => ranks(&mut bytes),
    }
}

/// Columns of what is multiplied.
const COLUMNS: usize = 3;

fn from_u<F: Value + Element>(bytes: &mut Bytes<'_>) {
    let n = 2 + bytes.below(20);
    let k = 1 + bytes.below(n - 1);
    let count = bytes.below(4);
    let floor = match bytes.byte() {
        0..64 => 0.0,
        64..192 => f64::from(bytes.byte()) / 255.0,
        _ => f64::from_le_bytes(bytes.array()),
    };
    let m = matrices::<F>(bytes, n, count);
    let u = values::<F>(bytes, count * n * k);
    let allowed = floor == 0.0 || (covariance::LEAST_FLOOR..=1.0).contains(&floor);
    let all = make(n, k, &m, &u, floor);
    if !allowed {
        let status = all.status.expect_err("a floor out of range").status;
        assert_eq!(status, Status::Argument);
        return;
    }
    let mut expected = Status::Ok;
    for at in 0..count {
        let (m, u) = (&m[at * n * n..][..n * n], &u[at * n * k..][..n * k]);
        let one = make(n, k, m, u, floor);
        let bits = |x: &[F]| x.iter().map(|x| x.bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&one.d), bits(&all.d[at * n..][..n]));
        assert_eq!(bits(&one.sigma), bits(&all.sigma[at * n * n..][..n * n]));
        assert_eq!(
            bits(&one.inverse),
            bits(&all.inverse[at * n * n..][..n * n])
        );
        assert_eq!(one.log_det[0].to_bits(), all.log_det[at].to_bits());
        if let Err(error) = &one.status {
            assert!(
                [Status::NotFinite, Status::Singular].contains(&error.status),
                "{error}"
            );
            let numbers = one.d.iter().chain(&one.sigma).chain(&one.inverse);
            assert!(numbers.clone().all(|x| x.get().is_nan()) && one.log_det[0].is_nan());
            if expected != Status::NotFinite {
                expected = error.status;
            }
            continue;
        }
        check(n, &one.sigma);
        check(n, &one.inverse);
        assert!(one.d.iter().all(|d| d.get() > 0.0) && one.log_det[0].is_finite());
        let mut x = values::<F>(bytes, n * COLUMNS);
        for product in [covariance::multiply::<F>, covariance::solve::<F>] {
            let known = x.iter().all(|x| x.get().is_finite());
            let good = product(n, k, u, &one.d, COLUMNS, &mut x).is_ok();
            assert!(known || !good);
            assert!(
                x.iter()
                    .all(|x| x.get().is_finite() == good && x.get().is_nan() != good)
            );
        }
    }
    let status = all
        .status
        .map_or_else(|error| error.status, |()| Status::Ok);
    assert_eq!(status, expected);
}

struct Made<F> {
    d: Vec<F>,
    sigma: Vec<F>,
    inverse: Vec<F>,
    log_det: Vec<f64>,
    status: Result<(), Error>,
}

fn make<F: Value + Element>(n: usize, k: usize, m: &[F], u: &[F], floor: f64) -> Made<F> {
    let count = m.len() / (n * n);
    let zeros = |len: usize| vec![F::new(0.0); len];
    let (mut d, mut sigma, mut inverse) = (zeros(count * n), zeros(m.len()), zeros(m.len()));
    let mut log_det = vec![0.0; count];
    let out = Outputs {
        d: Some(&mut d),
        sigma: Some(&mut sigma),
        inverse: Some(&mut inverse),
        log_det: Some(&mut log_det),
    };
    let status = covariance::from_u(n, k, m, u, floor, out);
    Made {
        d,
        sigma,
        inverse,
        log_det,
        status,
    }
}

/// Some of any bits, most of them ordinary numbers.
fn values<F: Value>(bytes: &mut Bytes<'_>, len: usize) -> Vec<F> {
    let palette: Vec<F> = (0..1 + bytes.below(6))
        .map(|_| F::from_bytes(bytes.array()))
        .collect();
    (0..len)
        .map(|_| match bytes.byte() {
            choice @ 0..32 => palette[usize::from(choice) % palette.len()],
            choice => F::new((f64::from(choice) - 144.0) / 64.0),
        })
        .collect()
}

/// Symmetric, finite, and positive definite in units of its own diagonal, unless something was limited to the largest
/// finite number or lost to the smallest.
fn check<F: Value>(n: usize, x: &[F]) {
    is_symmetric(x, n);
    assert!(x.iter().all(|x| x.get().is_finite()));
    let at = |i: usize, j: usize| x[i * n + j].get();
    let limited = |i: usize| {
        let d = at(i, i);
        d >= F::MAX / 2.0 || d < 1e30 * F::TINY
    };
    if (0..n).any(limited) {
        return;
    }
    let mut c = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|e| c[i * n + e] * c[j * n + e]).sum();
            let left = at(i, j) / at(i, i).sqrt() / at(j, j).sqrt() - known;
            if i == j {
                assert!(left > 0.0, "pivot {i} is {left:e}");
                c[i * n + i] = left.sqrt();
            } else {
                c[i * n + j] = left / c[j * n + j];
            }
        }
    }
}

fn ranks(bytes: &mut Bytes<'_>) {
    let n = 2 + bytes.below(24);
    let most = bytes.below(34);
    let observations = match bytes.byte() {
        0..96 => 0.0,
        96..224 => f64::from(bytes.byte()) * 10.0,
        _ => f64::from_le_bytes(bytes.array()),
    };
    let count = bytes.below(3);
    let m = matrices::<f64>(bytes, n, count);
    let mut k = vec![77; count];
    match rank::suggest(n, most, observations, &m, &mut k) {
        Ok(()) => {}
        Err(error) if error.status == Status::NotFinite => {}
        Err(error) => {
            let expected = if most > 32 {
                Status::Unsupported
            } else {
                Status::Argument
            };
            assert_eq!(error.status, expected, "{error}");
            assert!(k.iter().all(|&k| k == 77));
            return;
        }
    }
    let most = if most == 0 { rank::DEFAULT_MOST } else { most };
    assert!(k.iter().all(|&k| k as usize <= most.min(n)), "{k:?}");
    for (m, &k) in m.chunks_exact(n * n).zip(&k) {
        let mut one = [77];
        let _ = rank::suggest(n, most, observations, m, &mut one);
        assert_eq!(one[0], k);
    }
}
