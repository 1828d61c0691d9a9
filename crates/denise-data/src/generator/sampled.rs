//! Matrices with the noise of a sample: nothing about them is exactly sparse or of low rank.

use rand::{Rng, RngExt};
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};
use std::fmt;

/// What is estimated from the observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Covariances.
    Covariance,
    /// Correlations.
    Correlation,
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Units::Covariance => "covariance",
            Units::Correlation => "correlation",
        })
    }
}

/// Fewest and most observations of a sample.
const OBSERVATIONS: (f64, f64) = (60.0, 2000.0);

impl Units {
    /// M is the sample's matrix and L₀ the true common part in the same units. The model: a factor that moves all
    /// assets one way and k − 1 weaker ones, specific variances, and a few pairs of assets that move together. Without
    /// a number of `observations` it is drawn too.
    pub(super) fn sample(
        self,
        n: usize,
        k: usize,
        observations: Option<usize>,
        rng: &mut impl Rng,
        m: &mut [f64],
        l: &mut [f64],
    ) {
        let normal = |rng: &mut _| -> f64 { StandardNormal.sample(rng) };
        let beta: Vec<f64> = (0..n * k)
            .map(|at| {
                let x = normal(rng);
                match at % k {
                    0 => 0.6 * (1.0 + 0.3 * x).abs(),
                    a => x * 0.3_f64.powf(0.5 * a as f64),
                }
            })
            .collect();
        let specific: Vec<f64> = (0..n).map(|_| rng.random_range(0.3..1.2)).collect();
        let volatility: Vec<f64> = (0..n)
            .map(|_| rng.random_range(-1.0_f64..1.0).exp2())
            .collect();
        for i in 0..n {
            for j in 0..n {
                l[i * n + j] = (0..k).map(|a| beta[i * k + a] * beta[j * k + a]).sum();
            }
        }
        m.copy_from_slice(l);
        for i in 0..n {
            m[i * n + i] += specific[i];
        }
        for _ in 0..rng.random_range(0..n.div_ceil(2)) {
            let i = rng.random_range(0..n);
            let j = (i + rng.random_range(1..n)) % n;
            let x = rng.random_range(-0.8..0.8) * (specific[i] * specific[j]).sqrt();
            for (at, x) in [
                (i * n + j, x),
                (j * n + i, x),
                (i * n + i, x.abs()),
                (j * n + j, x.abs()),
            ] {
                m[at] += x;
            }
        }
        let (fewest, most) = OBSERVATIONS;
        // With fewer than n, M would have no inverse, and Bartlett's way does not hold.
        let fewest = fewest.max((n + 2) as f64);
        let observations = match observations {
            Some(observations) => observations as f64,
            None => rng
                .random_range(fewest.ln()..=most.max(fewest).ln())
                .exp()
                .floor(),
        };
        let truth = lower_factor(n, m);
        let noise = bartlett(n, observations - 1.0, rng);
        // The product of two lower factors is one.
        let mut factor = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                factor[i * n + j] = (j..=i).map(|e| truth[i * n + e] * noise[e * n + j]).sum();
            }
        }
        for i in 0..n {
            for j in 0..=i {
                let x: f64 = (0..=j).map(|e| factor[i * n + e] * factor[j * n + e]).sum();
                m[i * n + j] = x / (observations - 1.0);
                m[j * n + i] = m[i * n + j];
            }
        }
        let unit: Vec<f64> = match self {
            Units::Covariance => volatility,
            Units::Correlation => (0..n).map(|i| 1.0 / m[i * n + i].sqrt()).collect(),
        };
        for i in 0..n {
            for j in 0..n {
                m[i * n + j] *= unit[i] * unit[j];
                l[i * n + j] *= unit[i] * unit[j];
            }
        }
    }
}

/// C, lower triangular, with C Cᵀ the positive definite matrix.
fn lower_factor(n: usize, m: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|e| c[i * n + e] * c[j * n + e]).sum();
            let left = m[i * n + j] - known;
            c[i * n + j] = if i == j {
                left.sqrt()
            } else {
                left / c[j * n + j]
            };
        }
    }
    c
}

/// B, lower triangular, so that B Bᵀ is distributed as the sum of x xᵀ over so many standard normal x (Bartlett 1933).
fn bartlett(n: usize, count: f64, rng: &mut impl Rng) -> Vec<f64> {
    let mut b = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..i {
            b[i * n + j] = StandardNormal.sample(rng);
        }
        let squares = ChiSquared::new(count - i as f64).expect("more observations than assets");
        b[i * n + i] = squares.sample(rng).sqrt();
    }
    b
}
