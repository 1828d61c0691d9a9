//! How the pairs of S₀ are drawn.

use rand::{Rng, RngExt};
use std::fmt;

/// How a pair (i, j) of S₀ is drawn, and what counts as a zero of S₀.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// As the code that made the paper's tables: j from 1 to n - 1, then i below j; entries up to 0.01 count as zeros.
    Authors,
    /// As the paper's text: all pairs alike. Easier to split than the authors'.
    Uniform,
}

impl Pairs {
    /// Two different rows.
    pub(super) fn draw(self, n: usize, rng: &mut impl Rng) -> (usize, usize) {
        match self {
            Pairs::Authors => {
                let j = rng.random_range(1..n);
                (rng.random_range(0..j), j)
            }
            Pairs::Uniform => {
                let i = rng.random_range(0..n);
                (i, (i + rng.random_range(1..n)) % n)
            }
        }
    }

    /// Entries of S₀ up to this count as zeros when its share of zeros is taken.
    pub(super) const fn zero(self) -> f64 {
        match self {
            Pairs::Authors => 0.01,
            Pairs::Uniform => 0.0,
        }
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pairs::Authors => "authors",
            Pairs::Uniform => "uniform",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// A statistic that is near its degrees of freedom if the counts follow the law, with variance twice those.
    fn chi_square(pairs: Pairs, law: impl Fn(usize, usize) -> f64) -> f64 {
        let (n, draws) = (8, 100_000);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [[0_u32; 8]; 8];
        for _ in 0..draws {
            let (i, j) = pairs.draw(n, &mut rng);
            counts[i.min(j)][i.max(j)] += 1;
        }
        let places = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
        let (mut all, mut sum) = (0.0, 0.0);
        for (i, j) in places {
            let expected = f64::from(draws) * law(i, j);
            all += law(i, j);
            sum += (f64::from(counts[i][j]) - expected).powi(2) / expected;
        }
        assert!((all - 1.0).abs() < 1e-12, "not a law: {all}");
        sum
    }

    #[test]
    fn pairs_follow_their_laws() {
        // 28 pairs, 27 degrees of freedom: the statistic exceeds 60 once in 4,000 seeds.
        let authors = |_, j: usize| 1.0 / (7.0 * j as f64);
        let uniform = |_, _| 1.0 / 28.0;
        assert!(chi_square(Pairs::Authors, authors) < 60.0);
        assert!(chi_square(Pairs::Uniform, uniform) < 60.0);
        // It does tell the two apart.
        assert!(chi_square(Pairs::Authors, uniform) > 1e4);
        assert!(chi_square(Pairs::Uniform, authors) > 1e4);
    }
}
