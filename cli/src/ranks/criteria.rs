//! Criteria for the number of factors: this library's, and those of the literature, which look at the eigenvalues of
//! the correlation matrix.

use denise::rank;
use nalgebra::{DMatrix, SymmetricEigen};

/// A way to choose k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// This library's.
    Denise,
    /// The same where the number of observations is kept from it.
    DeniseBlind,
    /// Eigenvalue ratio (Ahn and Horenstein 2013).
    Ratio,
    /// Growth ratio, of the same paper.
    Growth,
    /// Bai and Ng (2002), IC with the second penalty.
    BaiNg,
    /// Parallel analysis (Horn 1965): eigenvalues above those of noise, by the edge of Marchenko and Pastur.
    Parallel,
    /// Differences of eigenvalues (Onatski 2010).
    Differences,
    /// Eigenvalues above one (Kaiser 1960).
    Kaiser,
}

impl Criterion {
    /// In the order of the table.
    pub const ALL: [Criterion; 8] = [
        Criterion::Denise,
        Criterion::DeniseBlind,
        Criterion::Ratio,
        Criterion::Growth,
        Criterion::BaiNg,
        Criterion::Parallel,
        Criterion::Differences,
        Criterion::Kaiser,
    ];

    /// What the table calls it.
    pub fn label(self) -> &'static str {
        match self {
            Criterion::Denise => "this library",
            Criterion::DeniseBlind => "this library, observations not known",
            Criterion::Ratio => "eigenvalue ratio",
            Criterion::Growth => "growth ratio",
            Criterion::BaiNg => "Bai–Ng IC2",
            Criterion::Parallel => "parallel analysis",
            Criterion::Differences => "Onatski",
            Criterion::Kaiser => "Kaiser",
        }
    }

    /// Whether it has nothing to say without the number of observations, or nothing new.
    pub(super) fn needs_observations(self) -> bool {
        matches!(
            self,
            Criterion::BaiNg | Criterion::Parallel | Criterion::DeniseBlind
        )
    }

    /// For one matrix, at most `most`.
    pub(super) fn rank(
        self,
        n: usize,
        m: &[f64],
        most: usize,
        observations: usize,
    ) -> Result<usize, denise::Error> {
        let own = |observations: usize| {
            let mut k = [0];
            rank::suggest(n, most, observations as f64, m, &mut k)?;
            Ok(k[0] as usize)
        };
        Ok(match self {
            Criterion::Denise => return own(observations),
            Criterion::DeniseBlind => return own(0),
            Criterion::Ratio => ratio(&eigenvalues(n, m), most),
            Criterion::Growth => growth(&eigenvalues(n, m), most),
            Criterion::BaiNg => bai_ng(&eigenvalues(n, m), most, observations as f64),
            Criterion::Parallel => parallel(&eigenvalues(n, m), most, observations as f64),
            Criterion::Differences => differences(&eigenvalues(n, m), most),
            Criterion::Kaiser => leading(&eigenvalues(n, m), most, 1.0),
        })
    }
}

/// Those of the correlation matrix, largest first.
fn eigenvalues(n: usize, m: &[f64]) -> Vec<f64> {
    let unit = |i: usize| m[i * (n + 1)].max(f64::MIN_POSITIVE).sqrt();
    let correlation = DMatrix::from_fn(n, n, |i, j| m[i * n + j] / unit(i) / unit(j));
    let mut values: Vec<f64> = SymmetricEigen::new(correlation)
        .eigenvalues
        .iter()
        .copied()
        .collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// The j from `first` on for which the criterion is largest; the first of equals.
fn largest(first: usize, most: usize, of: impl Fn(usize) -> f64) -> usize {
    (first..=most)
        .fold((first, f64::NEG_INFINITY), |best, j| {
            let x = of(j);
            if x > best.1 { (j, x) } else { best }
        })
        .0
}

/// What is left after j factors. Indefinite matrices have negative eigenvalues, which count as none.
fn left(values: &[f64], j: usize) -> f64 {
    let rest: f64 = values[j..].iter().map(|x| x.max(0.0)).sum();
    rest.max(f64::MIN_POSITIVE)
}

fn ratio(values: &[f64], most: usize) -> usize {
    let most = most.min(values.len() - 2);
    largest(1, most, |j| values[j - 1] / values[j].max(1e-12))
}

fn growth(values: &[f64], most: usize) -> usize {
    let most = most.min(values.len() - 2);
    let growth = |j: usize| (1.0 + values[j - 1].max(1e-12) / left(values, j)).ln();
    largest(1, most, |j| growth(j) / growth(j + 1))
}

fn bai_ng(values: &[f64], most: usize, observations: f64) -> usize {
    let n = values.len() as f64;
    let penalty = (n + observations) / (n * observations) * n.min(observations).ln();
    let most = most.min(values.len() - 1);
    largest(0, most, |j| {
        -((left(values, j) / n).ln() + j as f64 * penalty)
    })
}

fn parallel(values: &[f64], most: usize, observations: f64) -> usize {
    let edge = (1.0 + (values.len() as f64 / observations).sqrt()).powi(2);
    leading(values, most, edge)
}

/// How many there are above the bound, one after another.
fn leading(values: &[f64], most: usize, bound: f64) -> usize {
    let above = values.iter().take_while(|&&x| x > bound).count();
    above.min(most)
}

/// Onatski's difference must be twice the slope of the five eigenvalues after the last factor, over the places to the
/// power 2/3; which factor is the last is found in four rounds.
fn differences(values: &[f64], most: usize) -> usize {
    const FIVE: usize = 5;
    let most = most.min(values.len().saturating_sub(FIVE + 1));
    let (mut k, mut first) = (0, most);
    for _ in 0..4 {
        let x: Vec<f64> = (0..FIVE)
            .map(|i| ((first + i) as f64).powf(2.0 / 3.0))
            .collect();
        let y = &values[first..first + FIVE];
        let mean = |of: &[f64]| of.iter().sum::<f64>() / FIVE as f64;
        let (mean_x, mean_y) = (mean(&x), mean(y));
        let both: f64 = x
            .iter()
            .zip(y)
            .map(|(x, y)| (x - mean_x) * (y - mean_y))
            .sum();
        let square: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let bound = 2.0 * (both / square).abs();
        k = (1..=most)
            .rev()
            .find(|&i| values[i - 1] - values[i] >= bound)
            .unwrap_or(0);
        first = k.min(most);
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three factors and noise, as no criterion can miss it.
    #[test]
    fn clear_cases_are_clear_to_all() {
        let mut values = vec![12.0, 8.0, 6.0];
        values.extend((0..17).map(|i| 0.9 - 0.01 * f64::from(i)));
        assert_eq!(ratio(&values, 8), 3);
        assert_eq!(growth(&values, 8), 3);
        assert_eq!(bai_ng(&values, 8, 500.0), 3);
        assert_eq!(parallel(&values, 8, 500.0), 3);
        assert_eq!(differences(&values, 8), 3);
        assert_eq!(leading(&values, 8, 1.0), 3);
        assert_eq!(leading(&values, 2, 1.0), 2);
        let noise: Vec<f64> = (0..20).map(|i| 1.2 - 0.02 * f64::from(i)).collect();
        assert_eq!(parallel(&noise, 8, 500.0), 0);
        assert_eq!(bai_ng(&noise, 8, 500.0), 0);
        assert_eq!(differences(&noise, 8), 0);
    }

    #[test]
    fn eigenvalues_are_of_correlations_and_sorted() {
        let values = eigenvalues(2, &[4.0, 1.0, 1.0, 1.0]);
        assert!((values[0] - 1.5).abs() < 1e-12 && (values[1] - 0.5).abs() < 1e-12);
    }
}
