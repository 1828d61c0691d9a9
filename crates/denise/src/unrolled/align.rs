//! A factor turned to another one. L = UUᵀ is the same for U and for U times any rotation, so where a stream starts
//! again the new U is given in the rotation that is nearest to the old one: no column flips, and none changes places.

use super::canonical::{eigenvectors, longest_first};
use crate::simd::Real;
use crate::size::MAX_K;

/// A direction that is left with less than this of its length counts as one that is there already.
const LEAST_LEFT: f64 = 1e-6;
/// Columns whose cosine is smaller count as orthogonal.
const ORTHOGONAL: f64 = 1e-15;

/// Turns `u`, n×k and row-major, so that ‖u − `old`‖_F is least.
pub(super) fn align<F: Real>(k: usize, u: &mut [F], old: &[F]) {
    match k {
        1..=5 => turn_to::<F, 5>(k, u, old),
        _ => turn_to::<F, MAX_K>(k, u, old),
    }
}

/// For k up to `MOST`.
#[inline(never)]
fn turn_to<F: Real, const MOST: usize>(k: usize, u: &mut [F], old: &[F]) {
    let k = k.min(MOST);
    // In a unit in which squares neither overflow nor vanish. It is the same for both: only directions matter.
    let mut most = 0.0_f64;
    for &x in u.iter().chain(old) {
        most = most.max(x.into().abs());
    }
    if most == 0.0 || !most.is_finite() {
        return;
    }
    let unit = 1.0 / most.max(f64::MIN_POSITIVE);
    // C = uᵀ old. Its polar factor is what u is multiplied by.
    let mut c = [[0.0; MOST]; MOST];
    for (u, old) in u.chunks_exact(k).zip(old.chunks_exact(k)) {
        for a in 0..k {
            for b in 0..k {
                c[a][b] += (u[a].into() * unit) * (old[b].into() * unit);
            }
        }
    }
    let q = polar(k, &c);
    for u in u.chunks_exact_mut(k) {
        let mut row = [0.0; MOST];
        for a in 0..k {
            row[a] = u[a].into();
        }
        for b in 0..k {
            let mut sum = 0.0;
            for a in 0..k {
                sum += row[a] * q[a][b];
            }
            u[b] = F::from_f64(sum);
        }
    }
}

/// W Vᵀ for C = W Σ Vᵀ. Where C has no direction, any that is left.
fn polar<const MOST: usize>(k: usize, c: &[[f64; MOST]; MOST]) -> [[f64; MOST]; MOST] {
    let mut gram = [[0.0; MOST]; MOST];
    for a in 0..k {
        for b in 0..=a {
            for row in c.iter().take(k) {
                gram[a][b] += row[a] * row[b];
            }
        }
    }
    // The rows of v are the columns of V.
    let v = eigenvectors(k, &mut gram, ORTHOGONAL);
    let order = longest_first(k, &gram);
    let mut w = [[0.0; MOST]; MOST];
    for at in 0..k {
        let direction = &v[order[at]];
        let mut image = [0.0; MOST];
        for a in 0..k {
            for b in 0..k {
                image[a] += c[a][b] * direction[b];
            }
        }
        w[at] = orthogonal_to(k, &w[..at], image);
    }
    let mut q = [[0.0; MOST]; MOST];
    for at in 0..k {
        for a in 0..k {
            for b in 0..k {
                q[a][b] += w[at][a] * v[order[at]][b];
            }
        }
    }
    q
}

/// A unit vector orthogonal to all of `others`: in the direction of `x` if there is enough of it, else any.
fn orthogonal_to<const MOST: usize>(
    k: usize,
    others: &[[f64; MOST]],
    x: [f64; MOST],
) -> [f64; MOST] {
    let axis = |a: usize| core::array::from_fn(|b| if a == b { 1.0 } else { 0.0 });
    let tries = core::iter::once(x).chain((0..k).map(axis));
    for mut x in tries {
        let before = norm(&x);
        // Twice is enough.
        for _ in 0..2 {
            for other in others {
                let mut dot = 0.0;
                for a in 0..k {
                    dot += x[a] * other[a];
                }
                for a in 0..k {
                    x[a] -= dot * other[a];
                }
            }
        }
        let left = norm(&x);
        if left > LEAST_LEFT * before && left > f64::MIN_POSITIVE {
            for x in &mut x {
                *x /= left;
            }
            return x;
        }
    }
    // There are k axes and fewer than k others: one of them had something left.
    axis(0)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise_data::random::Random;

    /// The largest |L_ij| difference, and ‖u − old‖.
    fn check(n: usize, k: usize, u: &[f64], old: &[f64]) -> f64 {
        let mut turned = u.to_vec();
        align(k, &mut turned, old);
        let entry = |u: &[f64], i: usize, j: usize| -> f64 {
            (0..k).map(|a| u[i * k + a] * u[j * k + a]).sum()
        };
        for i in 0..n {
            for j in 0..n {
                let (before, after) = (entry(u, i, j), entry(&turned, i, j));
                assert!(
                    (before - after).abs() < 1e-12,
                    "L changes: {before} {after}"
                );
            }
        }
        let apart = |u: &[f64]| {
            let squares = u.iter().zip(old).map(|(x, y)| (x - y).powi(2));
            squares.sum::<f64>().sqrt()
        };
        assert!(apart(&turned) <= apart(u) + 1e-12);
        apart(&turned)
    }

    #[test]
    fn a_turned_factor_is_turned_back() {
        let mut random = Random::new(1);
        for (n, k) in [(2, 1), (5, 2), (20, 3), (12, 7), (40, 12)] {
            let old: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
            // Columns flipped and in another order.
            let mut u = old.clone();
            for (u, old) in u.chunks_exact_mut(k).zip(old.chunks_exact(k)) {
                for a in 0..k {
                    u[a] = if a % 2 == 0 { -1.0 } else { 1.0 } * old[(a + 1) % k];
                }
            }
            assert!(check(n, k, &u, &old) < 1e-6, "{n} {k}");
        }
    }

    #[test]
    fn factors_without_all_columns_keep_l() {
        let mut random = Random::new(2);
        let (n, k) = (8, 4);
        for missing in 0..=k {
            let mut factor = |missing: usize| -> Vec<f64> {
                let one = |at: usize| at % k >= missing;
                let some = (0..n * k).map(|at| if one(at) { random.normal() } else { 0.0 });
                some.collect()
            };
            let (u, old) = (factor(missing), factor(k - missing));
            check(n, k, &u, &old);
        }
    }
}
