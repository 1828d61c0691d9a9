//! Returns: of a market that changes, and of tables of prices.

use denise_data::files::prices::{self, Missing};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use std::path::{Path, PathBuf};

/// Returns of n assets, day by day.
#[derive(Clone, Debug)]
pub struct Returns {
    /// Assets.
    pub n: usize,
    /// A row of n values for every day.
    pub values: Vec<f64>,
}

/// A table of real returns.
pub struct Table {
    /// The name of its file.
    pub name: String,
    /// The days to learn from.
    pub learn: Returns,
    /// Those after them, for the result.
    pub test: Returns,
}

/// Reads tables of prices; of their days, this share from the first is to learn from.
pub fn tables(paths: &[PathBuf], share: f64) -> Result<Vec<Table>, String> {
    let each = paths.iter().map(|path| table(path, share));
    each.collect()
}

fn table(path: &Path, share: f64) -> Result<Table, String> {
    let table = prices::read(path, Missing::Refuse).map_err(|e| e.to_string())?;
    let n = table.names.len();
    let rows: Vec<&[f64]> = table.values.chunks_exact(n).collect();
    let pairs = rows.windows(2).map(|days| days[1].iter().zip(days[0]));
    let values: Vec<f64> = pairs
        .flatten()
        .map(|(now, before)| now / before - 1.0)
        .collect();
    if let Some(bad) = values.iter().position(|x| !x.is_finite()) {
        let (row, name) = (bad / n + 1, path.display());
        return Err(format!(
            "{name}: row {row} has a price of zero in column {}",
            bad % n + 1
        ));
    }
    let all = Returns { n, values };
    let (learn, test) = all.split((share * all.days() as f64) as usize);
    let name = path.file_name().unwrap_or_default();
    Ok(Table {
        name: name.to_string_lossy().into_owned(),
        learn,
        test,
    })
}

impl Returns {
    /// How many days there are.
    pub fn days(&self) -> usize {
        self.values.len() / self.n
    }

    /// The first days, and the rest.
    pub fn split(&self, first: usize) -> (Returns, Returns) {
        let (a, b) = self.values.split_at(first * self.n);
        let some = |values: &[f64]| Returns {
            n: self.n,
            values: values.to_vec(),
        };
        (some(a), some(b))
    }

    /// So many of the assets, in the order of the table.
    pub fn some(&self, n: usize, rng: &mut impl Rng) -> Returns {
        let mut chosen: Vec<usize> = (0..self.n).collect();
        while chosen.len() > n {
            chosen.remove(rng.random_range(0..chosen.len()));
        }
        let rows = self.values.chunks_exact(self.n);
        let values = rows.flat_map(|row| chosen.iter().map(|&i| row[i]));
        Returns {
            n,
            values: values.collect(),
        }
    }

    /// A market of k factors. Loadings drift and jump, volatilities of factors move, pairs of assets have something in
    /// common for a while, and now and then a single return is far off. How fast all this happens differs from seed to
    /// seed.
    pub fn simulated(n: usize, k: usize, days: usize, seed: u64) -> Returns {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut market = Market::new(n, k, &mut rng);
        let mut values = Vec::with_capacity(n * days);
        for _ in 0..days {
            market.day(&mut rng, &mut values);
        }
        Returns { n, values }
    }
}

/// Days until pairs change, on average, and how many there are at most, for 20 assets.
const PAIRS_LAST: f64 = 100.0;
const MOST_PAIRS: usize = 12;
/// Of the noise that two assets of a pair have in common.
const COMMON: f64 = 0.8;
/// How often a single return is far off, and how far.
const OUTLYING: f64 = 0.02;
const FAR: f64 = 4.0;
/// How much of a factor's logarithm of volatility is left after a day, and what is new.
const STAYS: f64 = 0.98;
const NEW: f64 = 0.1;

/// What decides the returns of a day.
struct Market {
    k: usize,
    /// n×k.
    loadings: Vec<f64>,
    /// The usual size of a factor's loadings.
    strengths: Vec<f64>,
    /// Of each asset alone.
    noise: Vec<f64>,
    /// Logarithms of the factors' volatilities.
    volatilities: Vec<f64>,
    /// Two assets, and the sign with which the second has what they have in common.
    pairs: Vec<(usize, usize, f64)>,
    drift: f64,
    jumps: f64,
}

fn normal(rng: &mut impl Rng) -> f64 {
    rng.sample(StandardNormal)
}

impl Market {
    fn new(n: usize, k: usize, rng: &mut impl Rng) -> Market {
        let strengths: Vec<f64> = (0..k).map(|a| 1.0 / (1.0 + 0.75 * a as f64)).collect();
        let mut loadings: Vec<f64> = (0..n * k).map(|e| strengths[e % k] * normal(rng)).collect();
        // The first factor moves all assets the same way at first, as a market does.
        for row in loadings.chunks_exact_mut(k) {
            row[0] = row[0].abs();
        }
        let between: f64 = rng.random_range(0.0..1.0);
        // Days between two jumps: exponential, of mean 500.
        let days = -500.0 * (1.0 - rng.random_range(0.0..1.0_f64)).ln();
        Market {
            k,
            loadings,
            strengths,
            noise: (0..n).map(|_| (0.4 * normal(rng)).exp()).collect(),
            volatilities: vec![0.0; k],
            pairs: Vec::new(),
            // From 0.002 to 0.03, all orders alike.
            drift: 0.002 * 15.0_f64.powf(between),
            jumps: days.max(20.0).recip(),
        }
    }

    fn day(&mut self, rng: &mut impl Rng, out: &mut Vec<f64>) {
        let (n, k) = (self.noise.len(), self.k);
        let jump = rng.random_bool(self.jumps);
        for (e, x) in self.loadings.iter_mut().enumerate() {
            *x += self.drift * (self.strengths[e % k] * normal(rng) - self.drift * *x);
            if jump {
                *x = 0.5 * *x + 0.8 * self.strengths[e % k] * normal(rng);
            }
        }
        if self.pairs.is_empty() || rng.random_bool(1.0 / PAIRS_LAST) {
            let most = (MOST_PAIRS * n).div_ceil(20).max(2);
            self.pairs = (0..rng.random_range(1..most))
                .map(|_| {
                    let (a, b) = (rng.random_range(0..n), rng.random_range(0..n));
                    (a, b, if rng.random_bool(0.5) { 1.0 } else { -1.0 })
                })
                .filter(|(a, b, _)| a != b)
                .collect();
        }
        let mut factors = Vec::with_capacity(k);
        for x in &mut self.volatilities {
            *x = STAYS * *x + NEW * normal(rng);
            factors.push(x.exp() * normal(rng));
        }
        let first = out.len();
        for (row, noise) in self.loadings.chunks_exact(k).zip(&self.noise) {
            let common: f64 = row.iter().zip(&factors).map(|(u, f)| u * f).sum();
            out.push(common + noise * normal(rng));
        }
        let day = &mut out[first..];
        for &(a, b, sign) in &self.pairs {
            let both = COMMON * normal(rng);
            day[a] += both;
            day[b] += sign * both;
        }
        if rng.random_bool(OUTLYING) {
            day[rng.random_range(0..n)] *= FAR;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_its_returns_and_all_are_numbers() {
        let all: Vec<Returns> = [1, 1, 2]
            .map(|seed| Returns::simulated(7, 2, 300, seed))
            .into();
        assert_eq!(all[0].values, all[1].values);
        assert_ne!(all[0].values, all[2].values);
        assert_eq!(all[0].days(), 300);
        assert!(all.iter().all(|x| x.values.iter().all(|x| x.is_finite())));
    }

    #[test]
    fn assets_and_days_are_taken_from_the_table() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let all = Returns { n: 4, values };
        let some = all.some(2, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!((some.n, some.days()), (2, 5));
        for (day, row) in some.values.chunks(2).enumerate() {
            assert!(row[0] < row[1] && row.iter().all(|&x| x as usize / 4 == day));
        }
        let (first, rest) = all.split(2);
        assert_eq!((first.days(), rest.values[0]), (2, 8.0));
    }
}
