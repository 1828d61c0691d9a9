//! U₀, where the layers start: a factor of M in the span of nearly its leading eigenvectors.
//!
//! M is multiplied five times, whatever it holds. The first directions are made from M itself, so that they are
//! permuted when the assets are: then so is everything that follows.

use super::super::omega::omega;
use super::super::{DIRECTION, EXTRA, NYSTROM_PIVOT, RMS_LIMIT, SPREAD, SWEEPS};
use nalgebra::{DMatrix, DVector};

/// A column of which less than the root of this is left counts as parallel to those before it.
const PARALLEL: f64 = 1e-18;

/// U₀ of rank at most `k` for a symmetric M. `there` is 1 for the assets that count, and 0 for those of which nothing is
/// known, whose rows are zero.
pub fn start(m: &DMatrix<f64>, k: usize, there: &DVector<f64>) -> DMatrix<f64> {
    let n = m.nrows();
    let width = (k + EXTRA).min(n);
    let q = orthonormalise(m * directions(m, width, there));
    let y = m * &q;
    // Twice, since the filter leaves columns nearly parallel.
    let q = orthonormalise(orthonormalise(filter(m, q, &y, there.sum())));
    let y = m * &q;
    // M is symmetric, and so is the core but for rounding; its lower triangle is read.
    let mut core = q.transpose() * &y;
    let turn = leading(&mut core, k);
    let y = y * turn.columns(0, k);
    let core = core.view((0, 0), (k, k)).into_owned();
    let least = NYSTROM_PIVOT * core.diagonal().abs().sum();
    let u = substitute(&cholesky(&core, least), y);
    // Indefinite input can make U₀ large.
    let mean_square = u.norm_squared() / n as f64;
    u * (RMS_LIMIT.powi(2) / mean_square.max(RMS_LIMIT.powi(2))).sqrt()
}

/// Chebyshev polynomials of what sets the rows of M apart, their sums. A little of Ω is added, for matrices in which
/// rows cannot be told apart.
fn directions(m: &DMatrix<f64>, width: usize, there: &DVector<f64>) -> DMatrix<f64> {
    let n = m.nrows();
    let assets = there.sum().max(1.0);
    let sums = m.column_sum();
    // Differences that may be roundings do not count.
    let rounding = 1e-10 * sums.norm_squared() / assets;
    let sums = &sums - there * (sums.sum() / assets);
    let variance = sums.norm_squared() / assets;
    let place = sums.map(|x| x / (x * x + variance + rounding + f64::MIN_POSITIVE).sqrt());
    let omega = DMatrix::from_row_iterator(n, width, omega(n, width));
    let mut polynomials = vec![DVector::from_element(n, 1.0), place.clone()];
    for a in 2..width {
        let next = 2.0 * place.component_mul(&polynomials[a - 1]) - &polynomials[a - 2];
        polynomials.push(next);
    }
    DMatrix::from_fn(n, width, |i, a| {
        polynomials[a][i] + DIRECTION * omega[(i, a)]
    })
}

/// Modified Gram–Schmidt. A column that the others explain all but a rounding of stays short.
fn orthonormalise(mut y: DMatrix<f64>) -> DMatrix<f64> {
    let width = y.ncols();
    let least: Vec<f64> = (0..width)
        .map(|a| PARALLEL * y.column(a).norm_squared() + f64::MIN_POSITIVE)
        .collect();
    for a in 0..width {
        let length = (y.column(a).norm_squared() + least[a]).sqrt();
        let direction = y.column(a) / length;
        y.set_column(a, &direction);
        for c in a + 1..width {
            let share = direction.dot(&y.column(c));
            y.column_mut(c).axpy(-share, &direction, 1.0);
        }
    }
    y
}

/// The Chebyshev polynomial of degree three of M, times Q; Y is M Q. It is small where the eigenvalues are that Q has
/// not found, and grows fast above them.
fn filter(m: &DMatrix<f64>, q: DMatrix<f64>, y: &DMatrix<f64>, assets: f64) -> DMatrix<f64> {
    // Mean and standard deviation of the eigenvalues that are left.
    let left = (assets - q.ncols() as f64).max(1.0);
    let mean = (m.trace() - q.dot(y)) / left;
    let square = (m.norm_squared() - y.norm_squared()) / left;
    let deviation = (square - mean * mean).max(0.0).sqrt();
    let spread = SPREAD.mul_add(-5.0 / left, SPREAD).max(0.0) * deviation;
    // Not so small that powers of the largest eigenvalue would drown all others.
    let top = (mean + spread).max(y.norm() / 200.0) + 8.0 * f64::MIN_POSITIVE;
    let bottom = (mean - spread).min(0.0);
    let (half, centre) = ((top - bottom) / 2.0, (top + bottom) / 2.0);
    let first = (y - centre * &q) / half;
    let second = (m * &first - centre * &first) * (2.0 / half) - q;
    (m * &second - centre * &second) * (2.0 / half) - first
}

/// Turns a symmetric matrix, by Jacobi's rotations, so that its first `k` directions are the leading ones; the columns
/// of what is returned. A sweep over all pairs, then over those between the first k and the rest.
fn leading(core: &mut DMatrix<f64>, k: usize) -> DMatrix<f64> {
    let width = core.nrows();
    let mut turn = DMatrix::identity(width, width);
    for sweep in 0..SWEEPS {
        for a in 0..width {
            for c in a + 1..width {
                if sweep == 0 || (a < k && k <= c) {
                    rotate(core, &mut turn, a, c);
                }
            }
        }
    }
    turn
}

/// The rotation of columns a and c that makes entry (c, a) zero, and leaves the larger value at (a, a). The lower
/// triangle is read and written.
fn rotate(core: &mut DMatrix<f64>, turn: &mut DMatrix<f64>, a: usize, c: usize) {
    let (p, q, o) = (core[(a, a)], core[(c, c)], core[(c, a)]);
    let apart = p - q;
    let tangent =
        2.0 * o.abs() / (apart.abs() + (apart * apart + 4.0 * o * o).sqrt() + f64::MIN_POSITIVE);
    let large = 1.0 / (1.0 + tangent * tangent).sqrt();
    let small = tangent * large;
    let (cosine, sine) = if apart >= 0.0 {
        (large, small)
    } else {
        (small, large)
    };
    let sine = if o < 0.0 { -sine } else { sine };
    let width = core.nrows();
    let at = |i: usize, j: usize| (i.max(j), i.min(j));
    for i in (0..width).filter(|&i| i != a && i != c) {
        let (x, y) = (core[at(i, a)], core[at(i, c)]);
        core[at(i, a)] = cosine * x + sine * y;
        core[at(i, c)] = cosine * y - sine * x;
    }
    let (cc, ss, cs) = (cosine * cosine, sine * sine, 2.0 * cosine * sine * o);
    core[(a, a)] = cc * p + ss * q + cs;
    core[(c, c)] = ss * p + cc * q - cs;
    core[(c, a)] = 0.0;
    for i in 0..width {
        let (x, y) = (turn[(i, a)], turn[(i, c)]);
        turn[(i, a)] = cosine * x + sine * y;
        turn[(i, c)] = cosine * y - sine * x;
    }
}

/// The lower factor of a symmetric matrix, pivots raised to at least `least`.
///
/// No entry exceeds what is left of its row's diagonal. That is so by itself for a positive semidefinite
/// matrix, and keeps the factor of any other bounded.
pub(super) fn cholesky(g: &DMatrix<f64>, least: f64) -> DMatrix<f64> {
    let k = g.nrows();
    let mut factor = DMatrix::<f64>::zeros(k, k);
    for i in 0..k {
        let mut pivot: f64 = g[(i, i)];
        for j in 0..i {
            let known: f64 = (0..j).map(|e| factor[(i, e)] * factor[(j, e)]).sum();
            let most = pivot.max(0.0).sqrt();
            let x = ((g[(i, j)] - known) / factor[(j, j)]).clamp(-most, most);
            factor[(i, j)] = x;
            pivot -= x * x;
        }
        factor[(i, i)] = pivot.max(least + f64::MIN_POSITIVE).sqrt();
    }
    factor
}

/// Y C⁻ᵀ for a lower factor C, cut at ±n, which no factor of a matrix of trace n reaches.
fn substitute(factor: &DMatrix<f64>, mut y: DMatrix<f64>) -> DMatrix<f64> {
    let (n, k) = y.shape();
    for i in 0..n {
        for a in 0..k {
            let known: f64 = (0..a).map(|e| factor[(a, e)] * y[(i, e)]).sum();
            y[(i, a)] = ((y[(i, a)] - known) / factor[(a, a)]).clamp(-(n as f64), n as f64);
        }
    }
    y
}
