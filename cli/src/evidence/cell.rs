//! One method on one kind of matrices, beside Denise on the same matrices.

use super::column::Role;
use serde::Serialize;

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The method, with its λ.
    pub method: String,
    /// What it is there for.
    pub role: Role,
    /// On how many matrices.
    pub matrices: usize,
    /// The mean of ‖L − L₀‖ / ‖L₀‖.
    pub mean: f64,
    /// Half of the matrices have less.
    pub median: f64,
    /// The mean of Denise on the same matrices.
    pub denise: f64,
    /// `mean` / `denise`: above 1 Denise is better.
    pub ratio: f64,
    /// The standard error of the mean difference, over matrices.
    pub uncertainty: f64,
}

/// Who has the smaller error of L.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Denise, clearly.
    Wins,
    /// Neither, or it cannot be told.
    Equal,
    /// Both have found L: what is left is rounding, or the rule by which one stops.
    Found,
    /// The other.
    Loses,
}

/// Errors below this are none, as in the column *exact* of TABLES.md.
const FOUND: f64 = 1e-3;
/// Less than a tenth is no difference.
const CLEAR: f64 = 1.1;
/// A win must be this many times as large as its standard error. A loss need not: doubts are for the challenger.
const SURE: f64 = 2.0;

impl Cell {
    /// From the errors of the method and of Denise on the same matrices.
    pub fn of(method: String, role: Role, errors: &[f64], denise: &[f64]) -> Cell {
        assert_eq!(errors.len(), denise.len(), "not the same matrices");
        let differences: Vec<f64> = errors.iter().zip(denise).map(|(a, b)| a - b).collect();
        let (mean, own) = (average(errors), average(denise));
        Cell {
            method,
            role,
            matrices: errors.len(),
            mean,
            median: middle(errors),
            denise: own,
            ratio: mean / own,
            uncertainty: standard_error(&differences),
        }
    }

    /// Who is better.
    pub fn verdict(&self) -> Verdict {
        match self.ratio {
            _ if self.mean.max(self.denise) < FOUND => Verdict::Found,
            ratio if ratio < CLEAR.recip() => Verdict::Loses,
            // Also where the uncertainty is not known, with a single matrix.
            ratio if ratio > CLEAR && self.mean - self.denise > SURE * self.uncertainty => {
                Verdict::Wins
            }
            _ => Verdict::Equal,
        }
    }
}

pub(super) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median.
pub(super) fn middle(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Of the mean; NaN with fewer than two values.
fn standard_error(values: &[f64]) -> f64 {
    let (mean, count) = (average(values), values.len() as f64);
    let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (squares / (count - 1.0) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(errors: &[f64], denise: &[f64]) -> Verdict {
        Cell::of(String::new(), Role::Challenger, errors, denise).verdict()
    }

    #[test]
    fn the_smaller_error_wins() {
        assert_eq!(verdict(&[0.2, 0.2, 0.21], &[0.1; 3]), Verdict::Wins);
        assert_eq!(verdict(&[0.1, 0.1, 0.1], &[0.2; 3]), Verdict::Loses);
        assert_eq!(verdict(&[0.105; 3], &[0.1; 3]), Verdict::Equal);
        assert_eq!(verdict(&[0.095; 3], &[0.1; 3]), Verdict::Equal);
        // Found by one of them is not enough.
        assert_eq!(verdict(&[1e-8; 3], &[9e-4; 3]), Verdict::Found);
        assert_eq!(verdict(&[9e-4; 3], &[1e-8; 3]), Verdict::Found);
        assert_eq!(verdict(&[1e-8; 3], &[2e-3; 3]), Verdict::Loses);
        assert_eq!(verdict(&[2e-3; 3], &[1e-8; 3]), Verdict::Wins);
        let cell = Cell::of("x".into(), Role::Bound, &[1.0, 2.0, 6.0], &[1.0; 3]);
        assert_eq!((cell.mean, cell.median, cell.ratio), (3.0, 2.0, 3.0));
        // Differences of 0, 1 and 5: a variance of 7.
        assert!((cell.uncertainty - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    /// One matrix that went wrong for the other makes no win; one that went wrong for Denise does make a loss.
    #[test]
    fn chance_counts_against_denise() {
        let mut odd = vec![0.1; 10];
        odd[3] = 9.0;
        assert_eq!(verdict(&odd, &[0.1; 10]), Verdict::Equal);
        assert_eq!(verdict(&[0.1; 10], &odd), Verdict::Loses);
        assert_eq!(verdict(&[0.2], &[0.1]), Verdict::Equal);
        assert_eq!(verdict(&[0.1], &[0.2]), Verdict::Loses);
    }

    #[test]
    #[should_panic(expected = "not the same matrices")]
    fn other_matrices_are_not_compared() {
        verdict(&[0.1, 0.2], &[0.1]);
    }
}
