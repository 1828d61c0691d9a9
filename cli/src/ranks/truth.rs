//! Matrices whose rank is known.

use denise_data::generator::{Amplitude, Cell, Units, sampled, samples};

/// A kind of matrices.
pub(super) struct Truth {
    /// Under which heading it counts.
    pub(super) group: &'static str,
    pub(super) n: usize,
    /// The right answer.
    pub(super) k: usize,
    /// 0 if nobody knows.
    pub(super) observations: usize,
    source: Source,
}

enum Source {
    /// L₀ + S₀, as the authors draw it.
    Sum {
        sparsity: f64,
        amplitude: f64,
    },
    Sampled,
}

const PAPER: &str = "L₀ + S₀, zeros in S₀ ≥ 80 %";
const DENSE: &str = "L₀ + S₀, zeros in S₀ 60 %";
const LARGE: &str = "L₀ + 5 S₀, zeros in S₀ ≥ 80 %";
const FEW: &str = "samples, 100 observations";
const MANY: &str = "samples, 1000 observations";
const NOISE: &str = "samples without factors";

impl Truth {
    pub(super) fn all() -> Vec<Truth> {
        let mut all = Vec::new();
        for (group, sparsity, amplitude) in [
            (PAPER, 0.8, 1.0),
            (PAPER, 0.95, 1.0),
            (DENSE, 0.6, 1.0),
            (LARGE, 0.8, 5.0),
            (LARGE, 0.95, 5.0),
        ] {
            for (n, k) in [
                (20, 1),
                (20, 2),
                (20, 3),
                (20, 5),
                (50, 1),
                (50, 3),
                (50, 8),
            ] {
                all.push(Truth {
                    group,
                    n,
                    k,
                    observations: 0,
                    source: Source::Sum {
                        sparsity,
                        amplitude,
                    },
                });
            }
        }
        for (group, observations) in [(FEW, 100), (MANY, 1000)] {
            for (n, k) in [
                (20, 1),
                (20, 2),
                (20, 3),
                (20, 4),
                (50, 1),
                (50, 2),
                (50, 3),
                (50, 5),
            ] {
                all.push(Truth::sampled(group, n, k, observations));
            }
        }
        for (n, observations) in [(20, 100), (50, 100), (20, 1000), (50, 1000)] {
            all.push(Truth::sampled(NOISE, n, 0, observations));
        }
        all
    }

    fn sampled(group: &'static str, n: usize, k: usize, observations: usize) -> Truth {
        Truth {
            group,
            n,
            k,
            observations,
            source: Source::Sampled,
        }
    }

    /// The largest rank that criteria may choose.
    pub(super) fn most(&self) -> usize {
        if self.n < 50 { 8 } else { 12 }
    }

    pub(super) fn matrices(&self, count: usize, seed: u64) -> Vec<f64> {
        match self.source {
            Source::Sum {
                sparsity,
                amplitude,
            } => {
                let cell = Cell {
                    sparsity,
                    amplitude: Amplitude::Fixed(amplitude),
                    ..Cell::default()
                };
                samples(self.n, self.k, &[cell], seed, 0, count).m
            }
            Source::Sampled => sampled(
                self.n,
                self.k,
                Units::Correlation,
                self.observations,
                seed,
                count,
            ),
        }
    }
}
