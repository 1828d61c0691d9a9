//! Correlations from returns, tick by tick, as a user of streams may have them.

use super::returns::Returns;
use std::fmt;

/// Ticks before exponential weights have seen enough.
const WARM_UP: usize = 60;

/// How the past counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// The last so many ticks, and their means are subtracted.
    Window(usize),
    /// Ticks until one counts half; means are taken for zero.
    HalfLife(f64),
}

/// Those that are trained on. They take turns.
pub const ESTIMATES: [Estimate; 5] = [
    Estimate::Window(100),
    Estimate::HalfLife(60.0),
    Estimate::HalfLife(20.0),
    Estimate::Window(60),
    Estimate::Window(250),
];

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Estimate::Window(ticks) => write!(f, "window {ticks}"),
            Estimate::HalfLife(ticks) => write!(f, "half-life {ticks}"),
        }
    }
}

impl Estimate {
    /// The correlation matrices of all ticks, n×n each. A tick at which an asset has not moved at all is left out.
    pub fn correlations(&self, returns: &Returns) -> Vec<f64> {
        match *self {
            Estimate::Window(ticks) => windows(returns, ticks),
            Estimate::HalfLife(ticks) => exponential(returns, 0.5_f64.powf(ticks.recip())),
        }
    }
}

/// Each window is summed on its own: what is added and taken away again leaves roundings, and these would be the
/// variance of an asset that does not move.
fn windows(returns: &Returns, ticks: usize) -> Vec<f64> {
    let n = returns.n;
    let mut out = Vec::new();
    let mut sums = vec![0.0; n * n];
    let mut centred = vec![0.0; n];
    for rows in returns
        .values
        .chunks_exact(n)
        .collect::<Vec<_>>()
        .windows(ticks)
    {
        let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / ticks as f64;
        let means: Vec<f64> = (0..n).map(mean).collect();
        sums.fill(0.0);
        for row in rows {
            for (x, (r, mean)) in centred.iter_mut().zip(row.iter().zip(&means)) {
                *x = r - mean;
            }
            add(&centred, &mut sums);
        }
        push(n, &sums, &mut out);
    }
    out
}

fn exponential(returns: &Returns, decay: f64) -> Vec<f64> {
    let n = returns.n;
    let mut out = Vec::new();
    let mut sums = vec![0.0; n * n];
    for (tick, row) in returns.values.chunks_exact(n).enumerate() {
        sums.iter_mut().for_each(|x| *x *= decay);
        add(row, &mut sums);
        if tick >= WARM_UP {
            push(n, &sums, &mut out);
        }
    }
    out
}

/// Adds the products of a row.
fn add(row: &[f64], sums: &mut [f64]) {
    for (sums, x) in sums.chunks_exact_mut(row.len()).zip(row) {
        for (sum, y) in sums.iter_mut().zip(row) {
            *sum += x * y;
        }
    }
}

/// The correlations that sums of products stand for, if there are any.
fn push(n: usize, sums: &[f64], out: &mut Vec<f64>) {
    let root = |i: usize| sums[i * n + i].sqrt();
    let inverse: Vec<f64> = (0..n).map(|i| root(i).recip()).collect();
    if inverse.iter().all(|x| x.is_finite()) {
        let rows = sums.chunks_exact(n).zip(&inverse);
        out.extend(rows.flat_map(|(row, a)| row.iter().zip(&inverse).map(move |(x, b)| x * a * b)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns() -> Returns {
        let mut returns = Returns::simulated(4, 2, 90, 1);
        // The second asset does not move between the ticks 20 and 60.
        for tick in 20..60 {
            returns.values[tick * 4 + 1] = 0.0;
        }
        returns
    }

    #[test]
    fn windows_are_what_the_definition_says_and_still_ones_are_left_out() {
        let returns = returns();
        let all = Estimate::Window(30).correlations(&returns);
        // Of 61 windows those that begin at the ticks 20 to 30 are still.
        assert_eq!(all.len(), (61 - 11) * 16);
        let column = |i: usize| -> Vec<f64> {
            returns
                .values
                .chunks(4)
                .take(30)
                .map(|row| row[i])
                .collect()
        };
        let (a, b) = (column(0), column(2));
        let mean = |x: &[f64]| x.iter().sum::<f64>() / 30.0;
        let both = |x: &[f64], y: &[f64]| -> f64 {
            let pairs = x.iter().zip(y);
            pairs.map(|(a, b)| (a - mean(x)) * (b - mean(y))).sum()
        };
        let want = both(&a, &b) / (both(&a, &a) * both(&b, &b)).sqrt();
        assert!((all[2] - want).abs() < 1e-12);
        assert!((all[0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn exponential_weights_halve_after_the_half_life() {
        let mut values = vec![0.0; 2 * 71];
        // Twice the weight at tick 70, of the same sign; at tick 60 of the other.
        values[2 * 60..][..2].copy_from_slice(&[1.0, -1.0]);
        values[2 * 70..][..2].copy_from_slice(&[1.0, 1.0]);
        let returns = Returns { n: 2, values };
        let all = Estimate::HalfLife(10.0).correlations(&returns);
        let last = &all[all.len() - 4..];
        assert!((last[1] - (1.0 - 0.5) / 1.5).abs() < 1e-12);
        assert_eq!(all.len(), 11 * 4);
    }
}
