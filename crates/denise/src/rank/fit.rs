//! A robust fit of correlations off the diagonal: R_il ≈ u_i · u_l, in which pairs that do not fit count little.
//!
//! Iteratively reweighted least squares with Cauchy's weights: each step solves a small system for every row, all rows
//! at once, and goes half of the way. A column is added at a time, from what the columns before it leave.

use crate::eigen::rows::{dot, square_norm};
use crate::eigen::{End, Memory, Spectrum};

/// Residuals of this size are as good as none.
pub(super) const SMALL: f64 = 1e-3;
/// What makes of a median of absolute residuals a standard deviation, if they are normal.
const NORMAL: f64 = 1.4826;
/// Cauchy's weights at this many standard deviations lose 5 % on normal residuals.
const CAUCHY: f64 = 2.385;
/// No correlation exceeds 1, but in a matrix that is no covariance anything may stand. Beyond this it counts as this.
const MOST: f64 = 100.0;
/// Steps for a rank: at most so many, or until the scale has changed by less than a thousandth in three.
const STEPS: usize = 40;
const SOONEST: usize = 6;
const SETTLED: f64 = 1e-3;

/// Working memory for matrices of one size, and the fit of the last one.
pub(super) struct Fit {
    n: usize,
    /// Correlations; 0 on the diagonal and where they are not known.
    r: Vec<f64>,
    /// 1 where they are known, off the diagonal, else 0.
    known: Vec<f64>,
    /// How many assets and pairs count.
    assets: usize,
    pairs: usize,
    /// Columns of U, n values each, and how many there are.
    u: Vec<f64>,
    j: usize,
    next: Vec<f64>,
    /// R − UUᵀ where it is known, and the weights.
    left: Vec<f64>,
    weights: Vec<f64>,
    /// Products of two columns of U.
    products: Vec<f64>,
    /// The system of one row.
    system: Vec<f64>,
    right: Vec<f64>,
    sorted: Vec<f64>,
    spectrum: Spectrum,
}

impl Fit {
    /// For matrices of size n and at most `most` columns.
    pub(super) fn new(n: usize, most: usize, memory: &mut Memory) -> Fit {
        Fit {
            n,
            r: memory.zeros(n * n),
            known: memory.zeros(n * n),
            assets: 0,
            pairs: 0,
            u: memory.zeros(n * most),
            j: 0,
            next: memory.zeros(n * most),
            left: memory.zeros(n * n),
            weights: memory.zeros(n * n),
            products: memory.zeros(n),
            system: memory.zeros(n * most * (most + 1) / 2),
            right: memory.zeros(most),
            sorted: memory.room(n * n / 2),
            spectrum: Spectrum::new(n, memory),
        }
    }

    /// Assets whose variance is positive.
    pub(super) fn assets(&self) -> usize {
        self.assets
    }

    /// Pairs of them whose covariance is known.
    pub(super) fn pairs(&self) -> usize {
        self.pairs
    }

    /// Takes the correlations of a matrix, of which the lower triangle counts. There are no columns yet.
    pub(super) fn read(&mut self, m: &[f64]) {
        let n = self.n;
        let positive = |i: usize| m[i * (n + 1)] > 0.0;
        self.assets = (0..n).filter(|&i| positive(i)).count();
        (self.pairs, self.j) = (0, 0);
        self.r.fill(0.0);
        self.known.fill(0.0);
        self.spectrum.forget();
        for i in 0..n {
            for l in 0..i {
                let r = m[i * n + l] / m[i * (n + 1)].sqrt() / m[l * (n + 1)].sqrt();
                // NaN is a pair that is not known. Infinity is what variances that are next to nothing make.
                if positive(i) && positive(l) && r.is_finite() {
                    self.pairs += 1;
                    let r = r.clamp(-MOST, MOST);
                    for at in [i * n + l, l * n + i] {
                        (self.r[at], self.known[at]) = (r, 1.0);
                    }
                }
            }
        }
        self.residuals();
    }

    /// The standard deviation of the residuals, by their median.
    pub(super) fn scale(&mut self) -> f64 {
        let n = self.n;
        self.sorted.clear();
        for i in 1..n {
            for at in i * n..i * n + i {
                if self.known[at] > 0.0 {
                    self.sorted.push(self.left[at].abs());
                }
            }
        }
        NORMAL * median(&mut self.sorted)
    }

    /// The mean square of the residuals, none of which counts with more than `most`.
    pub(super) fn mean_square(&self, most: f64) -> f64 {
        // Both triangles alike, and zeros where nothing is known.
        let sum: f64 = self.left.iter().map(|e| e.abs().min(most).powi(2)).sum();
        sum / (2 * self.pairs) as f64
    }

    /// The median share of a variance that U leaves.
    pub(super) fn median_specific(&mut self) -> f64 {
        let (n, u) = (self.n, &self.u[..self.n * self.j]);
        self.sorted.clear();
        for i in 0..n {
            // An asset that does not count has neither pairs nor a row of U.
            if self.known[i * n..][..n].contains(&1.0) {
                let explained: f64 = u.chunks_exact(n).map(|column| column[i] * column[i]).sum();
                self.sorted.push((1.0 - explained).max(0.0));
            }
        }
        median(&mut self.sorted)
    }

    /// Adds a column and fits all of them again. False if there is nothing to add. Residuals beyond `most` do not count
    /// with more in the direction of the new column.
    pub(super) fn grow(&mut self, most: f64) -> bool {
        let n = self.n;
        for (clipped, &left) in self.weights.iter_mut().zip(&self.left) {
            *clipped = left.clamp(-most, most);
        }
        self.spectrum.largest(&self.weights, 1, End::Positive);
        if self.spectrum.values().first().is_none_or(|&a| a <= 1e-12) {
            return false;
        }
        let column = self.spectrum.factors(|a| a);
        self.u[self.j * n..][..n].copy_from_slice(&column[..n]);
        self.j += 1;
        let mut scales = [0.0; STEPS];
        for step in 0..STEPS {
            self.residuals();
            let scale = self.scale();
            scales[step] = scale;
            let settled = step >= SOONEST && (scales[step - 3] - scale).abs() <= SETTLED * scale;
            if scale < SMALL || settled {
                break;
            }
            self.step(CAUCHY * scale);
        }
        self.residuals();
        true
    }

    fn residuals(&mut self) {
        let n = self.n;
        self.left.copy_from_slice(&self.r);
        for column in self.u[..n * self.j].chunks_exact(n) {
            for (row, &u) in self.left.chunks_exact_mut(n).zip(column) {
                for (left, &other) in row.iter_mut().zip(column) {
                    *left -= u * other;
                }
            }
        }
        for (left, &known) in self.left.iter_mut().zip(&self.known) {
            *left *= known;
        }
    }

    /// Every row half of the way to its own least squares, with weights 1 / (1 + (e / width)²).
    fn step(&mut self, width: f64) {
        let (n, j) = (self.n, self.j);
        for ((weight, &left), &known) in self.weights.iter_mut().zip(&self.left).zip(&self.known) {
            let e = left / width;
            *weight = known / (1.0 + e * e);
        }
        // Row i of `system` has the lower triangle of Σ_l w_il u_l u_lᵀ.
        let size = j * (j + 1) / 2;
        for a in 0..j {
            for b in 0..=a {
                let columns = self.u[a * n..][..n].iter().zip(&self.u[b * n..][..n]);
                for (product, (x, y)) in self.products.iter_mut().zip(columns) {
                    *product = x * y;
                }
                for i in 0..n {
                    self.system[i * size + a * (a + 1) / 2 + b] =
                        dot(&self.weights[i * n..][..n], &self.products);
                }
            }
        }
        for i in 0..n {
            let weights = &mut self.weights[i * n..][..n];
            let a = &mut self.system[i * size..][..size];
            let trace: f64 = (0..j).map(|c| a[c * (c + 1) / 2 + c]).sum();
            let ridge = 1e-6 * trace / j as f64 + 1e-12;
            // What was the weight of a pair is from now on its weighted correlation.
            for (weight, &r) in weights.iter_mut().zip(&self.r[i * n..][..n]) {
                *weight *= r;
            }
            for c in 0..j {
                a[c * (c + 1) / 2 + c] += ridge;
                let column = &self.u[c * n..][..n];
                self.right[c] = dot(weights, column) + ridge * column[i];
            }
            solve(a, &mut self.right[..j]);
            for c in 0..j {
                self.next[c * n + i] = 0.5 * (self.u[c * n + i] + self.right[c]);
            }
        }
        self.u[..n * j].copy_from_slice(&self.next[..n * j]);
    }
}

/// x ← A⁻¹ x, where `a` is the lower triangle of a positive definite A, and is lost (Cholesky).
fn solve(a: &mut [f64], x: &mut [f64]) {
    let row = |i: usize| i * (i + 1) / 2;
    for i in 0..x.len() {
        let (above, own) = a.split_at_mut(row(i));
        for l in 0..i {
            let other = &above[row(l)..][..l + 1];
            own[l] = (own[l] - dot(&own[..l], &other[..l])) / other[l];
        }
        own[i] = (own[i] - square_norm(&own[..i]))
            .max(f64::MIN_POSITIVE)
            .sqrt();
        x[i] = (x[i] - dot(&own[..i], &x[..i])) / own[i];
    }
    for i in (0..x.len()).rev() {
        x[i] /= a[row(i) + i];
        for l in 0..i {
            x[l] -= a[row(i) + l] * x[i];
        }
    }
}

/// Half of the values are smaller. The mean of the two in the middle, if there are two; 0 if there is none.
fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let count = values.len();
    let (low, &mut middle, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    if count % 2 == 1 {
        return middle;
    }
    let below = low.iter().fold(0.0_f64, |most, &x| most.max(x));
    0.5 * (below + middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 9.0]), 3.0);
    }

    #[test]
    fn systems_are_solved() {
        // [4 2; 2 3] x = [8; 7].
        let mut x = [8.0, 7.0];
        solve(&mut [4.0, 2.0, 3.0], &mut x);
        assert!(
            (x[0] - 1.25).abs() < 1e-12 && (x[1] - 1.5).abs() < 1e-12,
            "{x:?}"
        );
    }

    /// A rank that fits exactly is fitted, whatever a few pairs say.
    #[test]
    fn outliers_do_not_move_the_fit() {
        let n = 12;
        let mut m: Vec<f64> = (0..n * n)
            .map(|at| if at % (n + 1) == 0 { 1.0 } else { 0.5 })
            .collect();
        m[5 * n + 2] = -0.9;
        let mut memory = Memory::new();
        let mut fit = Fit::new(n, 2, &mut memory);
        fit.read(&m);
        let scale = fit.scale();
        assert!((scale - NORMAL * 0.5).abs() < 1e-12);
        assert!(fit.grow(3.0 * scale));
        assert!(fit.scale() < SMALL);
        assert!((fit.left[5 * n + 2] + 1.4).abs() < 0.05);
        assert!((fit.median_specific() - 0.5).abs() < 0.01);
    }
}
