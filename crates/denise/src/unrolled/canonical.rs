//! U as it is given to the caller: columns orthogonal, longest first, the entry of largest size in each positive.
//!
//! L = UUᵀ is the same for U and for U times any rotation, so one of them is chosen: U V, where V are the eigenvectors
//! of UᵀU.

use crate::simd::Real;
use crate::size::MAX_K;

/// Sweeps over all pairs of columns; five or six are usual.
const MOST_SWEEPS: usize = 16;
/// Columns whose cosine is smaller count as orthogonal: below a rounding of U.
const ORTHOGONAL_F64: f64 = 1e-15;
const ORTHOGONAL_F32: f64 = 1e-8;

/// Makes an n×k table, row-major, canonical.
pub(super) fn canonical<F: Real>(k: usize, u: &mut [F]) {
    // Small matrices for small ranks: most of the time goes into filling them.
    match k {
        1 => turn_to_canonical::<F, 1>(k, u),
        2 => turn_to_canonical::<F, 2>(k, u),
        3 => turn_to_canonical::<F, 3>(k, u),
        4 | 5 => turn_to_canonical::<F, 5>(k, u),
        6..=10 => turn_to_canonical::<F, 10>(k, u),
        _ => turn_to_canonical::<F, MAX_K>(k, u),
    }
}

/// For k up to `MOST`.
#[inline(never)]
fn turn_to_canonical<F: Real, const MOST: usize>(k: usize, u: &mut [F]) {
    let k = k.min(MOST);
    // In units in which squares neither overflow nor vanish.
    let mut most = 0.0_f64;
    for &x in u.iter() {
        most = most.max(x.into().abs());
    }
    if most == 0.0 || !most.is_finite() {
        return;
    }
    let unit = 1.0 / most.max(f64::MIN_POSITIVE);
    let mut gram = [[0.0; MOST]; MOST];
    for row in u.chunks_exact(k) {
        let mut x = [0.0; MOST];
        for a in 0..k {
            x[a] = row[a].into() * unit;
        }
        for a in 0..k {
            for b in 0..=a {
                gram[a][b] += x[a] * x[b];
            }
        }
    }
    let orthogonal = match size_of::<F>() {
        4 => ORTHOGONAL_F32,
        _ => ORTHOGONAL_F64,
    };
    let v = eigenvectors(k, &mut gram, orthogonal);
    let order = longest_first(k, &gram);
    let mut largest = [0.0_f64; MOST];
    for row in u.chunks_exact_mut(k) {
        let mut old = [0.0; MOST];
        for a in 0..k {
            old[a] = row[a].into();
        }
        for a in 0..k {
            let mut sum = 0.0;
            for b in 0..k {
                sum += old[b] * v[order[a]][b];
            }
            row[a] = F::from_f64(sum);
            if sum.abs() > largest[a].abs() {
                largest[a] = sum;
            }
        }
    }
    for a in 0..k {
        if largest[a] < 0.0 {
            for row in u.chunks_exact_mut(k) {
                row[a] = F::ZERO - row[a];
            }
        }
    }
}

/// Jacobi's method for a symmetric matrix, of which the lower triangle counts; its diagonal becomes the eigenvalues.
/// The eigenvectors are the rows of the result.
pub(super) fn eigenvectors<const MOST: usize>(
    k: usize,
    gram: &mut [[f64; MOST]; MOST],
    orthogonal: f64,
) -> [[f64; MOST]; MOST] {
    let mut v = [[0.0; MOST]; MOST];
    for a in 0..k {
        v[a][a] = 1.0;
        for b in 0..a {
            gram[b][a] = gram[a][b];
        }
    }
    for _ in 0..MOST_SWEEPS {
        let mut turned = false;
        for a in 1..k {
            for b in 0..a {
                let x = gram[a][b];
                if x * x > orthogonal * orthogonal * gram[a][a] * gram[b][b] {
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

/// The places of the diagonal's entries, the largest first; of equal ones the one that was first.
pub(super) fn longest_first<const MOST: usize>(
    k: usize,
    gram: &[[f64; MOST]; MOST],
) -> [usize; MOST] {
    let mut order: [usize; MOST] = core::array::from_fn(|a| a);
    // By insertion: there are few, and the standard library's sort is much code.
    for end in 1..k {
        let mut at = end;
        while at > 0 && gram[order[at]][order[at]] > gram[order[at - 1]][order[at - 1]] {
            order.swap(at, at - 1);
            at -= 1;
        }
    }
    order
}

/// Rotates rows and columns a and b so that entry (a, b) becomes zero.
#[inline(always)]
fn turn<const MOST: usize>(
    k: usize,
    gram: &mut [[f64; MOST]; MOST],
    v: &mut [[f64; MOST]; MOST],
    a: usize,
    b: usize,
) {
    let theta = (gram[b][b] - gram[a][a]) / (2.0 * gram[a][b]);
    let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for e in 0..k {
        let (x, y) = (gram[a][e], gram[b][e]);
        (gram[a][e], gram[b][e]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (v[a][e], v[b][e]);
        (v[a][e], v[b][e]) = (c * x - s * y, s * x + c * y);
    }
    for row in gram.iter_mut().take(k) {
        (row[a], row[b]) = (c * row[a] - s * row[b], s * row[a] + c * row[b]);
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
