//! U as it is given to the caller: columns orthogonal, longest first, the entry of largest size in each positive.
//!
//! L = UUᵀ is the same for U and for U times any rotation, so one of them is chosen: U V, where V are the eigenvectors
//! of UᵀU.

use crate::simd::Real;
use crate::size::MAX_K;

/// Sweeps over all pairs of columns; five or six are usual.
const MOST_SWEEPS: usize = 16;
/// Columns whose cosine is smaller count as orthogonal.
const ORTHOGONAL: f64 = 1e-15;

type Square = [[f64; MAX_K]; MAX_K];

/// Makes an n×k table, row-major, canonical.
#[inline(never)]
pub(super) fn canonical<F: Real>(k: usize, u: &mut [F]) {
    // In units in which squares neither overflow nor vanish.
    let most = u
        .iter()
        .fold(0.0, |most, &x| f64::max(most, x.into().abs()));
    if most == 0.0 || !most.is_finite() {
        return;
    }
    let mut gram: Square = [[0.0; MAX_K]; MAX_K];
    for row in u.chunks_exact(k) {
        for a in 0..k {
            let x = row[a].into() / most;
            for b in 0..=a {
                gram[a][b] += x * (row[b].into() / most);
            }
        }
    }
    let v = eigenvectors(k, &mut gram);
    // Longest first; of equal ones the one that was first.
    let mut order: [usize; MAX_K] = core::array::from_fn(|a| a);
    order[..k].sort_unstable_by(|&a, &b| gram[b][b].total_cmp(&gram[a][a]).then(a.cmp(&b)));
    let mut largest = [0.0_f64; MAX_K];
    for row in u.chunks_exact_mut(k) {
        let mut old = [0.0; MAX_K];
        for (old, x) in old.iter_mut().zip(row.iter()) {
            *old = (*x).into();
        }
        for (a, x) in row.iter_mut().enumerate() {
            let sum: f64 = (0..k).map(|b| old[b] * v[b][order[a]]).sum();
            *x = F::from_f64(sum);
            if sum.abs() > largest[a].abs() {
                largest[a] = sum;
            }
        }
    }
    for row in u.chunks_exact_mut(k) {
        for (x, largest) in row.iter_mut().zip(&largest) {
            *x = if *largest < 0.0 { F::ZERO - *x } else { *x };
        }
    }
}

/// Jacobi's method for a symmetric matrix, of which the lower triangle counts; its diagonal becomes the eigenvalues.
fn eigenvectors(k: usize, gram: &mut Square) -> Square {
    let mut v: Square = [[0.0; MAX_K]; MAX_K];
    for (a, row) in v.iter_mut().enumerate().take(k) {
        row[a] = 1.0;
    }
    for a in 0..k {
        for b in 0..a {
            gram[b][a] = gram[a][b];
        }
    }
    for _ in 0..MOST_SWEEPS {
        let mut turned = false;
        for a in 1..k {
            for b in 0..a {
                let x = gram[a][b];
                if x.abs() > ORTHOGONAL * (gram[a][a] * gram[b][b]).max(0.0).sqrt() {
                    turned = true;
                    turn(k, gram, &mut v, a, b);
                }
            }
        }
        if !turned {
            break;
        }
    }
    v
}

/// Rotates columns and rows a and b so that entry (a, b) becomes zero.
fn turn(k: usize, gram: &mut Square, v: &mut Square, a: usize, b: usize) {
    let theta = (gram[b][b] - gram[a][a]) / (2.0 * gram[a][b]);
    let t = 1.0_f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for row in gram.iter_mut().chain(v.iter_mut()) {
        (row[a], row[b]) = (c * row[a] - s * row[b], s * row[a] + c * row[b]);
    }
    for e in 0..k {
        let (x, y) = (gram[a][e], gram[b][e]);
        (gram[a][e], gram[b][e]) = (c * x - s * y, s * x + c * y);
    }
    (gram[a][b], gram[b][a]) = (0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise_data::random::Random;

    fn check(n: usize, k: usize, mut u: Vec<f64>) {
        let product = |u: &[f64], i: usize, j: usize| -> f64 {
            (0..k).map(|a| u[i * k + a] * u[j * k + a]).sum()
        };
        let before = u.clone();
        let size = before.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        canonical(k, &mut u);
        for i in 0..n {
            for j in 0..n {
                let error = product(&u, i, j) - product(&before, i, j);
                assert!(
                    error.abs() <= 1e-13 * size * size * k as f64,
                    "{n} {k}: {error}"
                );
            }
        }
        let dot = |a: usize, b: usize| -> f64 { (0..n).map(|i| u[i * k + a] * u[i * k + b]).sum() };
        for a in 0..k {
            for b in 0..a {
                assert!(dot(a, b).abs() <= 1e-12 * dot(0, 0), "{n} {k}: {a} {b}");
                // Squares of lengths are known to a rounding of the largest.
                assert!(
                    dot(b, b) >= dot(a, a) - 1e-14 * dot(0, 0),
                    "{n} {k}: {a} {b}"
                );
            }
            let column = (0..n).map(|i| u[i * k + a]);
            let largest = column.reduce(|x, y| if y.abs() > x.abs() { y } else { x });
            assert!(largest >= Some(0.0), "{n} {k}: {a}");
        }
    }

    #[test]
    fn columns_are_orthogonal_ordered_and_have_a_sign() {
        for (n, k) in [(2, 1), (5, 2), (20, 3), (20, 7), (40, 32), (512, 32)] {
            let mut random = Random::new(n as u64);
            let table: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
            check(n, k, table.clone());
            check(n, k, table.iter().map(|x| x * 1e150).collect());
            check(n, k, table.iter().map(|x| x * 1e-150).collect());
            // Columns of very different lengths, equal ones, and none.
            let graded = |(at, x): (usize, &f64)| x * 10_f64.powi(-3 * (at % k) as i32);
            check(n, k, table.iter().enumerate().map(graded).collect());
            check(n, k, (0..n * k).map(|at| table[at / k * k]).collect());
            check(n, k, vec![0.0; n * k]);
        }
    }

    #[test]
    fn a_rotation_of_u_does_not_show() {
        let (n, k) = (12, 3);
        let mut random = Random::new(3);
        let mut u: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
        let (c, s) = (0.6, 0.8);
        let mut other: Vec<f64> = u
            .chunks_exact(k)
            .flat_map(|x| [s * x[2] + c * x[0], -x[1], c * x[2] - s * x[0]])
            .collect();
        canonical(k, &mut u);
        canonical(k, &mut other);
        for (x, y) in u.iter().zip(&other) {
            assert!((x - y).abs() < 1e-12, "{x} {y}");
        }
    }
}
