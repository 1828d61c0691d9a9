//! Synthetic matrices of which the true split is known: the paper's M = L₀ + S₀ with L₀ = U Uᵀ, and wider kinds.

mod amplitude;
mod cell;
mod distribution;
mod holes;
mod pairs;
mod sampled;

pub use amplitude::Amplitude;
pub use cell::Cell;
pub use distribution::Distribution;
pub use holes::Holes;
pub use pairs::Pairs;
pub use sampled::Units;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// A kind of matrix. Its text is what `FromStr` reads: what it is, and, after "missing", what is hidden of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// How it comes about.
    pub source: Source,
    /// What is hidden of it.
    pub holes: Holes,
}

/// How a matrix comes about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// Exactly L₀ + S₀.
    Sum(Cell),
    /// Estimated from a sample of a factor model.
    Sampled(Units),
}

impl From<Source> for Kind {
    fn from(source: Source) -> Kind {
        let holes = Holes::None;
        Kind { source, holes }
    }
}

impl From<Cell> for Kind {
    fn from(cell: Cell) -> Kind {
        Source::Sum(cell).into()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Source::Sum(cell) => write!(f, "{cell}")?,
            Source::Sampled(units) => write!(f, "sampled {units}")?,
        }
        match self.holes {
            Holes::None => Ok(()),
            holes => write!(f, " missing {holes}"),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        let (source, holes) = match text.split_once(" missing ") {
            None => (text, Holes::None),
            Some((source, holes)) => (source, holes.parse()?),
        };
        let source = match source.trim() {
            "sampled covariance" => Source::Sampled(Units::Covariance),
            "sampled correlation" => Source::Sampled(Units::Correlation),
            text => Source::Sum(text.parse()?),
        };
        Ok(Kind { source, holes })
    }
}

/// Matrices with their true low-rank parts, row-major, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// L₀ + S₀, NaN where it is hidden.
    pub m: Vec<f64>,
    /// L₀.
    pub l: Vec<f64>,
}

/// Draws `count` matrices, number i of kind `i mod kinds`. Matrix i depends on the seed and i only.
///
/// Panics if there is no kind, n is less than 2, or a distribution has parameters that its `FromStr` would refuse.
pub fn samples<K: Copy + Into<Kind> + Sync>(
    n: usize,
    k: usize,
    kinds: &[K],
    seed: u64,
    first: u64,
    count: usize,
) -> Samples {
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
            let Kind { source, holes } = kinds[i % kinds.len()].into();
            match source {
                Source::Sum(cell) => cell.sample(n, k, &mut rng, m, l),
                Source::Sampled(units) => units.sample(n, k, None, &mut rng, m, l),
            }
            holes.punch(n, &mut rng, m);
        });
    out
}

/// `count` matrices estimated from so many observations each, more than n of them, of factor models with k factors;
/// k may be 0.
pub fn sampled(
    n: usize,
    k: usize,
    units: Units,
    observations: usize,
    seed: u64,
    count: usize,
) -> Vec<f64> {
    let mut all = vec![0.0; count * n * n];
    let matrices = all.par_chunks_exact_mut(n * n).enumerate();
    matrices.for_each(|(i, m)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(i as u64);
        units.sample(n, k, Some(observations), &mut rng, m, &mut vec![0.0; n * n]);
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(sparsity: f64) -> Cell {
        Cell {
            sparsity,
            pairs: Pairs::Uniform,
            ..Cell::default()
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

    #[test]
    fn kinds_are_read_and_written() {
        for text in [
            "normal 0.60",
            "t:5 0.95 authors",
            "normal 0.95 authors amplitude 10",
            "normal 0.80 amplitude 0.3..30 strength 100 rank -2",
            "normal 0.90 rank +1",
            "sampled covariance",
            "sampled correlation",
            "normal 0.95 authors missing 0.10",
            "sampled correlation missing groups 3",
        ] {
            assert_eq!(text.parse::<Kind>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "normal",
            "normal 1",
            "normal x",
            "normal 0.9 rank",
            "normal 0.9 strength 0.5",
            "normal 0.9 sometimes",
            "sampled",
            "normal 0.95 missing",
            "normal 0.95 missing rows",
        ] {
            assert!(text.parse::<Kind>().is_err(), "{text}");
        }
    }

    /// Holes hide entries and change no other bit.
    #[test]
    fn what_is_not_hidden_stays() {
        let kind: Kind = "normal 0.80 missing 0.30".parse().unwrap();
        let plain = samples(
            9,
            2,
            &[Kind {
                holes: Holes::None,
                ..kind
            }],
            3,
            0,
            20,
        );
        let holed = samples(9, 2, &[kind], 3, 0, 20);
        assert_eq!(plain.l, holed.l);
        let mut hidden = 0;
        for (plain, holed) in plain.m.iter().zip(&holed.m) {
            assert!(holed.is_nan() || plain == holed);
            hidden += usize::from(holed.is_nan());
        }
        assert!(hidden > 200, "{hidden}");
    }

    /// Amplitude and strength change what they say and no other bit.
    #[test]
    fn amplitude_scales_s_and_strength_scales_columns() {
        let n = 12;
        let plain = samples(n, 3, &[cell(0.8)], 1, 0, 5);
        let amplitude = Amplitude::Fixed(8.0);
        let loud = Cell {
            amplitude,
            ..cell(0.8)
        };
        let loud = samples(n, 3, &[loud], 1, 0, 5);
        assert_eq!(plain.l, loud.l);
        for i in 0..plain.m.len() {
            let s = [&plain, &loud].map(|x| x.m[i] - x.l[i]);
            assert!((8.0 * s[0] - s[1]).abs() < 1e-12, "{s:?}");
        }
        // One row: L is the sum of the squares of the columns.
        let trace = |strength, beyond| {
            let cell = Cell {
                strength,
                beyond,
                ..cell(0.8)
            };
            let count = 4000;
            let l = samples(2, 3, &[cell], 1, 0, count).l;
            let sum: f64 = l.chunks_exact(4).map(|x| x[0] + x[3]).sum();
            sum / (2 * count) as f64
        };
        for (strength, beyond, want) in [
            (1.0, 0, 3.0),
            (100.0, 0, 1.11),
            (1.0, 1, 4.0),
            (1.0, -2, 1.0),
            (1.0, -9, 1.0),
        ] {
            let got = trace(strength, beyond);
            assert!((got / want - 1.0).abs() < 0.05, "{got} {want}");
        }
    }

    #[test]
    fn samples_surround_the_truth() {
        let (n, k, count) = (12, 2, 2000);
        for units in [Units::Covariance, Units::Correlation] {
            let all = samples(n, k, &[Kind::from(Source::Sampled(units))], 1, 0, count);
            let (mut left, mut pairs) = (0.0, 0.0);
            for (m, l) in all.m.chunks(n * n).zip(all.l.chunks(n * n)) {
                for i in 0..n {
                    if units == Units::Correlation {
                        assert!((m[i * n + i] - 1.0).abs() < 1e-12);
                    }
                    for j in 0..i {
                        assert_eq!(m[i * n + j], m[j * n + i]);
                        left += m[i * n + j] - l[i * n + j];
                        pairs += 1.0;
                    }
                }
            }
            let mean: f64 = left / pairs;
            assert!(mean.abs() < 0.005, "{units}: {mean}");
        }
        // Never a factor of less than full rank, even where assets are many.
        let all = samples(
            70,
            2,
            &[Kind::from(Source::Sampled(Units::Covariance))],
            1,
            0,
            20,
        );
        assert!(all.m.iter().all(|x| x.is_finite()));
    }
}
