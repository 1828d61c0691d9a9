//! What is measured of a split.

use nalgebra::{DMatrix, SymmetricEigen};
use serde::Serialize;

/// Eigenvalues of L up to this do not count for its rank, entries of S up to this count as zero: the
/// paper's ε.
const EPSILON: f64 = 0.01;
/// Relative error of L up to which the split counts as recovered.
const EXACT: f64 = 1e-3;

/// Of one matrix.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measures {
    /// r(L): eigenvalues of L above ε in magnitude. Some methods give negative ones.
    pub rank: f64,
    /// s(S): share of |S_ij| below ε.
    pub sparsity: f64,
    /// ‖L − L₀‖_F / ‖L₀‖_F; NaN where L₀ is not known.
    pub error_l: f64,
    /// ‖S − S₀‖_F / ‖S₀‖_F; NaN where S₀ is not known.
    pub error_s: f64,
    /// ‖M − L‖_F / ‖M‖_F.
    pub residual: f64,
    /// Mean |M_ij − L_ij|.
    pub mean_abs: f64,
}

impl Measures {
    /// Of M = L + S, and of L₀ if that is known.
    pub fn of(n: usize, m: &[f64], l: &[f64], s: &[f64], truth: Option<&[f64]>) -> Measures {
        let relative = |wrong: f64, size: f64| (wrong / size).sqrt();
        let square = |x: f64| x * x;
        let sum = |of: &dyn Fn(usize) -> f64| (0..n * n).map(of).sum::<f64>();
        let residual = sum(&|i| square(m[i] - l[i]));
        let (mut error_l, mut error_s) = (f64::NAN, f64::NAN);
        if let Some(l0) = truth {
            error_l = relative(sum(&|i| square(l[i] - l0[i])), sum(&|i| square(l0[i])));
            error_s = relative(
                sum(&|i| square(s[i] - (m[i] - l0[i]))),
                sum(&|i| square(m[i] - l0[i])),
            );
        }
        let eigen = SymmetricEigen::new(DMatrix::from_row_slice(n, n, l)).eigenvalues;
        Measures {
            rank: eigen.iter().filter(|x| x.abs() > EPSILON).count() as f64,
            sparsity: sum(&|i| f64::from(u8::from(s[i].abs() < EPSILON))) / (n * n) as f64,
            error_l,
            error_s,
            residual: relative(residual, sum(&|i| square(m[i]))),
            mean_abs: sum(&|i| (m[i] - l[i]).abs()) / (n * n) as f64,
        }
    }

    /// Whether L is L₀, for practical purposes.
    pub fn is_exact(&self) -> bool {
        self.error_l < EXACT
    }
}

/// How a number varies over matrices.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub std: f64,
    /// Half of the matrices have less.
    pub median: f64,
    /// The largest.
    pub worst: f64,
}

impl Spread {
    /// Of one number of each matrix.
    pub fn of(all: &[Measures], number: impl Fn(&Measures) -> f64) -> Spread {
        let mut values: Vec<f64> = all.iter().map(number).collect();
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        values.sort_by(f64::total_cmp);
        Spread {
            mean,
            std: variance.sqrt(),
            median: values.get(values.len() / 2).copied().unwrap_or(f64::NAN),
            worst: values.last().copied().unwrap_or(f64::NAN),
        }
    }

    /// "0.05 (0.01)", as the paper's tables.
    pub fn text(&self, digits: usize) -> String {
        format!("{:.digits$} ({:.digits$})", self.mean, self.std)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_split_is_measured_as_it_is() {
        // L₀ is all ones, S₀ has one entry of 3; L misses by doubling.
        let l0 = [1.0; 4];
        let m = [4.0, 1.0, 1.0, 1.0];
        let (l, s) = ([2.0; 4], [2.0, -1.0, -1.0, -1.0]);
        let x = Measures::of(2, &m, &l, &s, Some(&l0));
        assert_eq!((x.rank, x.sparsity), (1.0, 0.0));
        assert!((x.error_l - 1.0).abs() < 1e-12);
        assert!((x.error_s - 2.0 / 3.0).abs() < 1e-12);
        assert!((x.mean_abs - 1.25).abs() < 1e-12);
        assert!((x.residual - (7.0_f64 / 19.0).sqrt()).abs() < 1e-12);
        assert!(!x.is_exact());
        let exact = Measures::of(2, &m, &l0, &[3.0, 0.0, 0.0, 0.0], Some(&l0));
        assert!(exact.is_exact() && exact.sparsity == 0.75 && exact.error_s == 0.0);
        assert!(Measures::of(2, &m, &l, &s, None).error_l.is_nan());
    }

    #[test]
    fn spreads() {
        let rows: Vec<Measures> = [1.0, 2.0, 3.0, 6.0]
            .map(|rank| Measures {
                rank,
                ..Measures::default()
            })
            .into();
        let x = Spread::of(&rows, |x| x.rank);
        assert_eq!((x.mean, x.median, x.worst), (3.0, 3.0, 6.0));
        assert!((x.std - 3.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(x.text(1), "3.0 (1.9)");
    }
}
