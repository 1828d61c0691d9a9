//! Matrices that are exactly M = L₀ + S₀.

use super::{Amplitude, Distribution, Pairs};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::fmt;
use std::str::FromStr;

/// A cell of the paper's tables, and what may differ from these: the last three fields, which have defaults. Its text,
/// such as "t:5 0.90 authors amplitude 10", is what `FromStr` reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Share of zeros in S₀ at which no more pairs are added.
    pub sparsity: f64,
    /// Of the entries of U.
    pub distribution: Distribution,
    /// Of S₀.
    pub pairs: Pairs,
    /// What S₀ is multiplied by.
    pub amplitude: Amplitude,
    /// How many times stronger the first column of U is than the last, squared; those between fall geometrically.
    pub strength: f64,
    /// Columns of U beyond k: then k is wrong by so many. One at least is left.
    pub beyond: i32,
}

impl Default for Cell {
    /// The hardest of the paper that can be split exactly.
    fn default() -> Cell {
        Cell {
            sparsity: 0.8,
            distribution: Distribution::Normal(0.0, 1.0),
            pairs: Pairs::Authors,
            amplitude: Amplitude::default(),
            strength: 1.0,
            beyond: 0,
        }
    }
}

impl Cell {
    pub(super) fn sample(
        self,
        n: usize,
        k: usize,
        rng: &mut ChaCha8Rng,
        m: &mut [f64],
        l: &mut [f64],
    ) {
        let k = k.saturating_add_signed(self.beyond as isize).max(1);
        let mut u: Vec<f64> = (0..n * k).map(|_| self.distribution.draw(rng)).collect();
        if self.strength != 1.0 {
            for (at, u) in u.iter_mut().enumerate() {
                let place = (at % k) as f64 / (k - 1).max(1) as f64;
                *u *= self.strength.powf(-0.5 * place);
            }
        }
        for i in 0..n {
            for j in 0..n {
                l[i * n + j] = (0..k).map(|a| u[i * k + a] * u[j * k + a]).sum();
            }
        }
        // S₀ is built in m. Later pairs replace what earlier ones put on the diagonal: the paper's text
        // leaves this open, and only this way gives its tables.
        m.fill(0.0);
        let zero = self.pairs.zero();
        let mut zeros = n * n;
        while zeros as f64 > self.sparsity * (n * n) as f64 {
            let (i, j) = self.pairs.draw(n, rng);
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
        let amplitude = self.amplitude.draw(rng);
        for (m, l) in m.iter_mut().zip(l) {
            *m = *m * amplitude + *l;
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.2}", self.distribution, self.sparsity)?;
        // Model files of old say nothing about pairs, and mean uniform ones.
        if self.pairs != Pairs::Uniform {
            write!(f, " {}", self.pairs)?;
        }
        if self.amplitude != Amplitude::default() {
            write!(f, " amplitude {}", self.amplitude)?;
        }
        if self.strength != 1.0 {
            write!(f, " strength {}", self.strength)?;
        }
        if self.beyond != 0 {
            write!(f, " rank {:+}", self.beyond)?;
        }
        Ok(())
    }
}

impl FromStr for Cell {
    type Err = String;

    fn from_str(text: &str) -> Result<Cell, String> {
        let wrong = |word: &str| format!("\"{word}\" in \"{text}\" is not understood");
        let mut words = text.split_whitespace();
        let distribution = words.next().unwrap_or_default().parse()?;
        let sparsity = words.next().unwrap_or_default();
        let mut cell = Cell {
            distribution,
            sparsity: number(sparsity, |x| (0.0..1.0).contains(&x))?,
            pairs: Pairs::Uniform,
            ..Cell::default()
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| wrong(word));
            match word {
                "uniform" => cell.pairs = Pairs::Uniform,
                "authors" => cell.pairs = Pairs::Authors,
                "amplitude" => cell.amplitude = value()?.parse()?,
                "strength" => cell.strength = number(value()?, |x| (1.0..1e9).contains(&x))?,
                "rank" => cell.beyond = value()?.parse().map_err(|_| wrong(word))?,
                _ => return Err(wrong(word)),
            }
        }
        Ok(cell)
    }
}

fn number(text: &str, allowed: impl Fn(f64) -> bool) -> Result<f64, String> {
    let read = text.parse().ok().filter(|&x| allowed(x));
    read.ok_or_else(|| format!("\"{text}\" is not a number in range"))
}
