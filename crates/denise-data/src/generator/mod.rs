//! The paper's synthetic matrices: M = L₀ + S₀ with L₀ = U Uᵀ, of which the true split is known.

mod distribution;
mod pairs;

pub use distribution::Distribution;
pub use pairs::Pairs;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::fmt;

/// A kind of matrix: one cell of the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Share of zeros in S₀ at which no more pairs are added.
    pub sparsity: f64,
    /// Of the entries of U.
    pub distribution: Distribution,
    /// Of S₀.
    pub pairs: Pairs,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.2}", self.distribution, self.sparsity)?;
        // Model files of old say nothing about pairs, and mean these.
        match self.pairs {
            Pairs::Uniform => Ok(()),
            pairs => write!(f, " {pairs}"),
        }
    }
}

/// Matrices with their true low-rank parts, row-major, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// L₀ + S₀.
    pub m: Vec<f64>,
    /// L₀.
    pub l: Vec<f64>,
}

/// Draws `count` matrices, number i from cell `i mod cells`. Matrix i depends on the seed and i only.
///
/// Panics if there is no cell, n is less than 2, or a distribution has parameters that its `FromStr` would refuse.
pub fn samples(n: usize, k: usize, cells: &[Cell], seed: u64, first: u64, count: usize) -> Samples {
    let size = n * n;
    let mut out = Samples {
        m: vec![0.0; count * size],
        l: vec![0.0; count * size],
    };
    out.m
        .par_chunks_exact_mut(size)
        .zip(out.l.par_chunks_exact_mut(size))
        .enumerate()
        .for_each(|(i, (m, l))| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(first + i as u64);
            sample(n, k, cells[i % cells.len()], &mut rng, m, l);
        });
    out
}

fn sample(n: usize, k: usize, cell: Cell, rng: &mut ChaCha8Rng, m: &mut [f64], l: &mut [f64]) {
    let u: Vec<f64> = (0..n * k).map(|_| cell.distribution.draw(rng)).collect();
    for i in 0..n {
        for j in 0..n {
            l[i * n + j] = (0..k).map(|a| u[i * k + a] * u[j * k + a]).sum();
        }
    }
    // S₀ is built in m. Later pairs replace what earlier ones put on the diagonal: the paper's text
    // leaves this open, and only this way gives its tables.
    m.fill(0.0);
    let zero = cell.pairs.zero();
    let mut zeros = n * n;
    while zeros as f64 > cell.sparsity * (n * n) as f64 {
        let (i, j) = cell.pairs.draw(n, rng);
        let b: f64 = rng.random_range(-1.0..=1.0);
        let a = rng.random_range(b.abs()..=1.0);
        for (at, x) in [
            (i * n + j, b),
            (j * n + i, b),
            (i * n + i, a),
            (j * n + j, a),
        ] {
            zeros += usize::from(m[at].abs() > zero);
            zeros -= usize::from(x.abs() > zero);
            m[at] = x;
        }
    }
    for (m, l) in m.iter_mut().zip(l) {
        *m += *l;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(sparsity: f64) -> Cell {
        Cell {
            sparsity,
            distribution: Distribution::Normal(0.0, 1.0),
            pairs: Pairs::Uniform,
        }
    }

    /// Shipped weights were trained on these bits. The digest is that of what version 0.1.0 wrote for `denise generate
    /// -n 12 -k 3 --count 20 --seed 1 --sparsity 0.6,0.9 --distribution normal,t:5`.
    #[test]
    fn uniform_matrices_are_those_of_version_0_1_0() {
        let student = |sparsity| Cell {
            distribution: Distribution::StudentT(5.0),
            ..cell(sparsity)
        };
        let cells = [cell(0.6), cell(0.9), student(0.6), student(0.9)];
        let samples = samples(12, 3, &cells, 1, 0, 20);
        // FNV-1a over 64-bit words.
        let digest = samples.m.iter().chain(&samples.l);
        let digest = digest.fold(0xcbf2_9ce4_8422_2325, |hash: u64, x| {
            (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3)
        });
        assert_eq!(digest, 0x158a_07f6_50ae_0419, "{digest:#x}");
    }

    #[test]
    fn small_entries_of_the_authors_count_as_zeros() {
        let (n, sparsity) = (20, 0.6);
        let authors = Cell {
            pairs: Pairs::Authors,
            ..cell(sparsity)
        };
        let samples = samples(n, 3, &[authors], 1, 0, 200);
        let mut small = 0;
        let matrices = samples.m.chunks_exact(n * n);
        for (m, l) in matrices.zip(samples.l.chunks_exact(n * n)) {
            let s = || m.iter().zip(l).map(|(m, l)| (m - l).abs());
            let zeros = s().filter(|&x| x <= 0.01).count();
            let share = zeros as f64 / (n * n) as f64;
            assert!(
                share <= sparsity && share > sparsity - 4.0 / (n * n) as f64,
                "{share}"
            );
            small += s().filter(|&x| x > 1e-9 && x <= 0.01).count();
        }
        assert!(small > 100, "{small}");
    }

    #[test]
    fn sparsity_is_reached_and_not_overshot_by_more_than_a_pair() {
        for sparsity in [0.6, 0.8, 0.95] {
            let n = 20;
            let samples = samples(n, 3, &[cell(sparsity)], 1, 0, 50);
            for (m, l) in samples
                .m
                .chunks_exact(n * n)
                .zip(samples.l.chunks_exact(n * n))
            {
                let zeros = m.iter().zip(l).filter(|(m, l)| m == l).count();
                let share = zeros as f64 / (n * n) as f64;
                assert!(
                    share <= sparsity && share > sparsity - 4.0 / (n * n) as f64,
                    "{share}"
                );
                for i in 0..n {
                    for j in 0..n {
                        assert_eq!(m[i * n + j], m[j * n + i]);
                        assert!((m[i * n + j] - l[i * n + j]).abs() <= 1.0);
                    }
                }
            }
        }
    }

    #[test]
    fn a_matrix_depends_on_seed_and_number_only() {
        let cells = [cell(0.8), cell(0.9)];
        let all = samples(6, 2, &cells, 7, 0, 10);
        let some = samples(6, 2, &cells, 7, 4, 2);
        assert_eq!(all.m[4 * 36..6 * 36], some.m[..]);
        let other = samples(6, 2, &cells, 8, 4, 2);
        assert_ne!(some.m, other.m);
    }
}
