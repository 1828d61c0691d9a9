//! d: what each asset does on its own.

use crate::simd::Real;
use crate::status::{Error, Status};
use core::marker::PhantomData;

/// The floor if nobody says: d_i is at least a twentieth of the variance M_ii. Of the round numbers that were tried on
/// seven panels it is the largest that made the likelihood of later returns smaller on none (docs/COVARIANCE.md).
pub const DEFAULT_FLOOR: f64 = 0.05;
/// The least that may be asked for. Below it rounding alone could make Σ singular.
pub const LEAST_FLOOR: f64 = 1e-6;

/// How d follows from variances and U.
pub(super) struct Rule<F> {
    floor: f64,
    /// Of L_ii: what d_i must be so that Σ and Σ⁻¹ stay positive definite when they are rounded to F. It matters only
    /// where L_ii is many times M_ii, which no covariance matrix makes it.
    guard: f64,
    real: PhantomData<F>,
}

impl<F: Real> Rule<F> {
    pub(super) fn new(n: usize, floor: f64) -> Result<Rule<F>, Error> {
        let floor = if floor == 0.0 { DEFAULT_FLOOR } else { floor };
        if !(LEAST_FLOOR..=1.0).contains(&floor) {
            let message = "floor is a share of the variance, from 1e-6 to 1; 0 for the default";
            return Err(Error::new(Status::Argument, message));
        }
        let n = n as f64;
        // Rounding moves an eigenvalue of the scaled inverse by up to √n ulps, and the least is guard/n.
        let ulps = 4.0 * n * n.sqrt() * F::ULP;
        Ok(Rule {
            floor,
            guard: ulps.max(LEAST_FLOOR),
            real: PhantomData,
        })
    }

    /// Writes d. An error if U or a variance is not finite, or if no variance is positive. NaN is one that is not
    /// known.
    pub(super) fn specific(
        &self,
        k: usize,
        u: &[F],
        variance: impl Fn(usize) -> f64,
        d: &mut [F],
    ) -> Result<(), Status> {
        let mut positive = false;
        for i in 0..d.len() {
            let m = variance(i);
            if m.is_infinite() {
                return Err(Status::NotFinite);
            }
            positive |= m > 0.0;
        }
        let explained = |i: usize| -> f64 {
            let row = u[i * k..][..k].iter();
            row.map(|&u| u.into() * u.into()).sum::<f64>()
        };
        if !(0..d.len()).all(|i| explained(i).is_finite()) {
            return Err(Status::NotFinite);
        }
        if !positive {
            return Err(Status::Singular);
        }
        let most: f64 = F::MAX.into();
        let round = |x: f64, l: f64| {
            let x = x.max(self.guard * l).clamp(F::TINY.into(), most);
            F::from_f64(x)
        };
        // A running mean: a sum could overflow.
        let (mut mean, mut count) = (0.0, 0.0);
        for (i, d) in d.iter_mut().enumerate() {
            let (m, l) = (variance(i), explained(i));
            if m > 0.0 {
                let specific = (m - l).max(self.floor * m);
                *d = round(specific, l);
                count += 1.0;
                mean += (specific - mean) / count;
            }
        }
        for (i, d) in d.iter_mut().enumerate() {
            // Not known, or of an asset that has not moved, or no variance at all.
            let m = variance(i);
            if m.is_nan() || m <= 0.0 {
                let l = explained(i);
                *d = round(mean.max(self.floor * l), l);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(variances: &[f64], u: &[f64], floor: f64) -> Result<Vec<f64>, Status> {
        let mut d = vec![0.0; variances.len()];
        let rule = Rule::new(d.len(), floor).unwrap();
        rule.specific(1, u, |i| variances[i], &mut d).map(|()| d)
    }

    #[test]
    fn the_rule() {
        // S_ii; the floor where S_ii is below it, and where it is negative.
        assert_eq!(
            d(&[4.0, 1.0, 1.0], &[1.0, 0.995, 1.5], 0.1).unwrap(),
            [3.0, 0.1, 0.1]
        );
        // A variance that is not known or not positive gets the mean d of the others, or the floor of what L says.
        assert_eq!(
            d(&[2.0, 0.0, -1.0, f64::NAN, 4.0], &[0.0; 5], 0.1).unwrap(),
            [2.0, 3.0, 3.0, 3.0, 4.0]
        );
        assert_eq!(d(&[1.0, f64::NAN], &[0.0, 10.0], 0.1).unwrap(), [1.0, 10.0]);
        // The default.
        assert_eq!(d(&[1.0, 1.0], &[1.0, 0.0], 0.0).unwrap(), [0.05, 1.0]);
    }

    #[test]
    fn what_has_no_covariance() {
        for variances in [[0.0, 0.0], [-1.0, 0.0], [f64::NAN; 2]] {
            assert_eq!(d(&variances, &[1.0, 1.0], 0.1), Err(Status::Singular));
        }
        for u in [[1.0, f64::NAN], [f64::INFINITY, 1.0], [1e200, 0.0]] {
            assert_eq!(d(&[1.0, 1.0], &u, 0.1), Err(Status::NotFinite));
        }
        let infinite = [1.0, f64::INFINITY];
        assert_eq!(d(&infinite, &[1.0, 1.0], 0.1), Err(Status::NotFinite));
        for floor in [-0.1, 1.1, f64::NAN, 1e-7] {
            assert!(Rule::<f64>::new(3, floor).is_err(), "{floor}");
        }
    }

    /// Variances at both ends of the range.
    #[test]
    fn extremes_stay_positive_and_finite() {
        let tiny = d(&[f64::MIN_POSITIVE, 5e-324], &[0.0; 2], 0.01).unwrap();
        assert!(tiny.iter().all(|&d| d >= f64::MIN_POSITIVE), "{tiny:?}");
        let huge = d(&[f64::MAX, f64::MAX], &[0.0; 2], 0.01).unwrap();
        assert_eq!(huge, [f64::MAX; 2]);
    }
}
