//! The network as a specification: plain `f64`, one matrix at a time, slow and readable.
//!
//! The kernels compute the same function in another order; tests hold them to this one.

use super::omega::omega;
use super::{Curvature, GRAM_RIDGE, Layer, NYSTROM_PIVOT, RIDGE, RMS_LIMIT, ROUNDS};
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
    let n = m.nrows();
    let m = DMatrix::from_fn(n, n, |i, j| m[(i.max(j), i.min(j))]);
    let scale = scale(&m);
    let normal = if scale > 0.0 {
        &m / scale
    } else {
        DMatrix::zeros(n, n)
    };
    let mut u = start(&normal, k);
    let mut previous = u.clone();
    let mut mean = 0.0;
    for layer in layers {
        let r = &normal - &u * u.transpose();
        let next = step(&r, mean, &u, &previous, layer);
        mean = off_diagonal_mean(&r);
        previous = u;
        u = next;
    }
    let l = scale * &u * u.transpose();
    Decomposition {
        u: scale.sqrt() * u,
        s: m - &l,
        l,
    }
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

/// U₀: orthogonal iteration from Ω, then the Nyström factor of M in the subspace found.
fn start(m: &DMatrix<f64>, k: usize) -> DMatrix<f64> {
    let n = m.nrows();
    let mut q = DMatrix::from_row_iterator(n, k, omega(n, k));
    for _ in 0..ROUNDS {
        q = orthonormalise(m * q);
    }
    let y = m * &q;
    // M is symmetric, and so is the core but for rounding; its lower triangle is read.
    let core = q.transpose() * &y;
    let least = NYSTROM_PIVOT * core.diagonal().abs().sum();
    let u = substitute(&cholesky(&core, least), y);
    // Indefinite input can make U₀ large.
    let mean_square = u.norm_squared() / n as f64;
    u * (RMS_LIMIT.powi(2) / mean_square.max(RMS_LIMIT.powi(2))).sqrt()
}

/// Cholesky-QR, with a ridge so that dependent columns do no harm.
fn orthonormalise(y: DMatrix<f64>) -> DMatrix<f64> {
    let gram = y.transpose() * &y;
    let ridge = GRAM_RIDGE * gram.trace();
    let k = gram.nrows();
    substitute(
        &cholesky(&(gram + DMatrix::identity(k, k) * ridge), 0.1 * ridge),
        y,
    )
}

/// The lower factor of a symmetric matrix, pivots raised to at least `least`.
///
/// No entry exceeds what is left of its row's diagonal. That is so by itself for a positive semidefinite
/// matrix, and keeps the factor of any other bounded.
fn cholesky(g: &DMatrix<f64>, least: f64) -> DMatrix<f64> {
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
    r: &DMatrix<f64>,
    mean: f64,
    u: &DMatrix<f64>,
    previous: &DMatrix<f64>,
    layer: &Layer,
) -> DMatrix<f64> {
    let (n, k) = u.shape();
    let scale = layer.alpha * mean * mean + layer.beta;
    let diagonal_scale = layer.gamma * mean * mean + layer.delta;
    let w = DMatrix::from_fn(n, n, |i, j| {
        if i == j {
            layer.sigma * diagonal_scale / (diagonal_scale + r[(i, i)].powi(2))
        } else {
            scale / (scale + r[(i, j)].powi(2))
        }
    });
    let gram = u.transpose() * u;
    // A step is shortened smoothly, to at most twice the usual length of a row.
    let limit = 16.0 * (gram.trace() / n as f64).min(RMS_LIMIT.powi(2)) + f64::MIN_POSITIVE;
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
