//! The network as a specification: plain `f64`, one matrix at a time, slow and readable.
//!
//! The kernels compute the same function in another order; tests hold them to this one.

mod balance;
mod start;

pub use balance::{balanced, clipped, row_sizes};
use start::cholesky;
pub use start::start;

use super::{CAREFUL, CUT, Curvature, LEAST_THRESHOLD, Layer, RIDGE, RMS_LIMIT, bounds};
use nalgebra::{DMatrix, DVector};

/// M = L + S with L = U Uᵀ.
#[derive(Clone, Debug)]
pub struct Decomposition {
    /// n×k.
    pub u: DMatrix<f64>,
    /// Low rank, positive semidefinite.
    pub l: DMatrix<f64>,
    /// Sparse.
    pub s: DMatrix<f64>,
}

/// Splits `m`, of which the lower triangle is read, into L of rank at most `k` and S.
pub fn decompose(m: &DMatrix<f64>, k: usize, layers: &[Layer]) -> Decomposition {
    split(m, k, |m| run(m, start(&clipped(m, k, 1.0), k), layers))
}

/// The same from several starts, each of which goes through all layers; the result is the one that leaves the least
/// unexplained. It jumps where two of them are equally good.
pub fn decompose_careful(m: &DMatrix<f64>, k: usize, layers: &[Layer]) -> Decomposition {
    split(m, k, |m| {
        let mut best = (f64::INFINITY, DMatrix::zeros(m.nrows(), k));
        for factor in CAREFUL {
            let u = run(m, start(&clipped(m, k, factor), k), layers);
            let cost = unexplained(m, &u);
            if cost < best.0 {
                best = (cost, u);
            }
        }
        best.1
    })
}

/// Σ |R_ij| over i ≠ j of a balanced matrix, where none counts with more than a share of a typical entry: how large an
/// outlier is does not matter.
fn unexplained(m: &DMatrix<f64>, u: &DMatrix<f64>) -> f64 {
    let cut = CUT / bounds(u.ncols()).own;
    let sizes = (m - u * u.transpose()).map(|r| r.abs().min(cut));
    sizes.sum() - sizes.trace()
}

/// Brings M to unit scale and its rows to about the same size for `factor`, which gives a factor of L there, and back.
fn split(
    m: &DMatrix<f64>,
    k: usize,
    factor: impl Fn(&DMatrix<f64>) -> DMatrix<f64>,
) -> Decomposition {
    let n = m.nrows();
    let m = DMatrix::from_fn(n, n, |i, j| m[(i.max(j), i.min(j))]);
    let scale = scale(&m);
    let normal = if scale > 0.0 {
        &m / scale
    } else {
        DMatrix::zeros(n, n)
    };
    let sizes = row_sizes(&normal, k);
    let u = DMatrix::from_diagonal(&sizes) * factor(&balanced(&normal, &sizes));
    let l = scale * &u * u.transpose();
    Decomposition {
        u: scale.sqrt() * u,
        s: m - &l,
        l,
    }
}

/// Layers one after the other, the first without momentum.
fn run(m: &DMatrix<f64>, start: DMatrix<f64>, layers: &[Layer]) -> DMatrix<f64> {
    let mut u = start;
    let mut previous = u.clone();
    let mut mean = 0.0;
    for layer in layers {
        let r = m - &u * u.transpose();
        let next = step(m, &r, mean, &u, &previous, layer);
        mean = off_diagonal_mean(&r);
        previous = u;
        u = next;
    }
    u
}

/// The same for the correlation matrix D^(−1/2) M D^(−1/2) with D = diag M, scaled back. An asset whose variance is not
/// positive gets zeros; correlations beyond one, which only an indefinite M has, count as one.
pub fn decompose_correlation(m: &DMatrix<f64>, k: usize, layers: &[Layer]) -> Decomposition {
    let n = m.nrows();
    let m = DMatrix::from_fn(n, n, |i, j| m[(i.max(j), i.min(j))]);
    let roots = m.diagonal().map(|x| x.max(0.0).sqrt());
    let inverse = |i: usize| if roots[i] > 0.0 { 1.0 / roots[i] } else { 0.0 };
    let correlation = DMatrix::from_fn(n, n, |i, j| {
        (m[(i, j)] * inverse(i) * inverse(j)).clamp(-1.0, 1.0)
    });
    let mut u = decompose(&correlation, k, layers).u;
    for (i, mut row) in u.row_iter_mut().enumerate() {
        row *= roots[i];
    }
    let l = &u * u.transpose();
    Decomposition { s: m - &l, l, u }
}

/// s, by which M is divided. For a positive semidefinite M it is tr(M)/n, since no entry of such a
/// matrix exceeds its trace. For any other, the largest entry keeps it positive, and continuous in M.
fn scale(m: &DMatrix<f64>) -> f64 {
    m.trace().max(m.amax()) / m.nrows() as f64
}

/// The mean |R_ij| over i ≠ j.
fn off_diagonal_mean(r: &DMatrix<f64>) -> f64 {
    let n = r.nrows();
    (r.abs().sum() - r.diagonal().abs().sum()) / (n * (n - 1)) as f64
}

/// One layer: a damped step of iteratively reweighted least squares, row by row.
///
/// `mean` is the mean |R_ij| that the layer before saw, zero for the first: a kernel can then weigh an
/// entry as soon as it has it.
fn step(
    m: &DMatrix<f64>,
    r: &DMatrix<f64>,
    mean: f64,
    u: &DMatrix<f64>,
    previous: &DMatrix<f64>,
    layer: &Layer,
) -> DMatrix<f64> {
    let (n, k) = u.shape();
    // How large L is: thresholds are relative to it, and not to M, which outliers may dominate.
    let size = u.norm_squared() / n as f64;
    let threshold = |of_mean: f64, of_size: f64| {
        of_mean * mean.powi(2) + of_size * size.powi(2) + LEAST_THRESHOLD
    };
    let scale = threshold(layer.alpha, layer.beta);
    let diagonal_scale = threshold(layer.gamma, layer.delta);
    let w = DMatrix::from_fn(n, n, |i, j| {
        if i == j {
            // L that explains more than all of a variance is never right: then the weight rises to one.
            let variance = m[(i, i)] > 0.0;
            let beyond = if variance {
                r[(i, i)].min(0.0).powi(2)
            } else {
                0.0
            };
            (layer.sigma * diagonal_scale + beyond) / (diagonal_scale + r[(i, i)].powi(2))
        } else {
            scale / (scale + r[(i, j)].powi(2))
        }
    });
    let gram = u.transpose() * u;
    // A step is shortened smoothly, to at most twice the usual length of a row.
    let limit = 16.0 * size.min(RMS_LIMIT.powi(2)) + f64::MIN_POSITIVE;
    let mut next = u.clone();
    for i in 0..n {
        let mut a = DMatrix::zeros(k, k);
        let mut b = DVector::zeros(k);
        for j in 0..n {
            let row = u.row(j).transpose();
            a += w[(i, j)] * &row * row.transpose();
            b += w[(i, j)] * r[(i, j)] * row;
        }
        if layer.curvature == Curvature::Shared {
            a = w.row(i).mean() * &gram;
        }
        let trace = a.trace();
        let ridge = RIDGE * trace + f64::MIN_POSITIVE;
        let factor = cholesky(&(a + DMatrix::identity(k, k) * ridge), 0.1 * RIDGE * trace);
        let d = factor
            .solve_lower_triangular(&b)
            .and_then(|z| factor.tr_solve_lower_triangular(&z))
            .unwrap_or_else(|| DVector::zeros(k));
        let damping = limit / (limit + d.norm_squared());
        for a in 0..k {
            let momentum = u[(i, a)] - previous[(i, a)];
            next[(i, a)] += layer.eta * damping * d[a] + layer.mu * momentum;
        }
    }
    next
}
