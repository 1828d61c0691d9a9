//! The network as a specification: plain `f64`, one matrix at a time, slow and readable.
//!
//! The kernels compute the same function in another order; tests hold them to this one.

mod balance;
mod start;

pub use balance::{balanced, clipped, row_sizes};
use start::cholesky;
pub use start::start;

use super::{
    CAREFUL, CUT, Curvature, LEAST_THRESHOLD, Layer, RIDGE, RMS_LIMIT, USUAL_CORRELATION, bounds,
};
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

/// The weights of a network, and how it is asked to work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Network<'a> {
    /// For every matrix.
    pub layers: &'a [Layer],
    /// Layers that come first where entries are missing.
    pub mend: &'a [Layer],
    /// Layers that take U from one tick of a stream to the next.
    pub follow: &'a [Layer],
    /// Several starts, each of which goes through all layers; the result is the one that leaves the least unexplained.
    /// It jumps where two of them are equally good.
    pub careful: bool,
    /// Splits D^(−1/2) M D^(−1/2) with D = diag M, and scales back.
    pub correlation: bool,
}

/// What a stream keeps from one tick to the next.
#[derive(Clone, Debug)]
pub struct Track {
    /// n×k, of the balanced matrix: its rows are in units of r_i √s, so that a change of a variance does not move them.
    pub u: DMatrix<f64>,
    /// The mean |R_ij| over i ≠ j that the last layer saw.
    pub mean: f64,
}

/// A matrix as the layers see it.
struct Balanced {
    m: DMatrix<f64>,
    known: DMatrix<f64>,
    /// r_i √s: what row i of U is multiplied by in the end.
    units: DVector<f64>,
    /// Assets of which something is known beside their own variance. The others are nothing to the network.
    live: f64,
}

/// Splits `m`, of which the lower triangle is read, into L of rank at most `k` and S.
pub fn decompose(m: &DMatrix<f64>, k: usize, layers: &[Layer]) -> Decomposition {
    let network = Network {
        layers,
        ..Network::default()
    };
    network.decompose(m, k)
}

impl Network<'_> {
    /// Splits `m`, of which the lower triangle is read, into L of rank at most `k` and S. An entry that is NaN is not
    /// known: L is complete, and S is NaN there.
    pub fn decompose(&self, m: &DMatrix<f64>, k: usize) -> Decomposition {
        self.split(m, |m| self.factor(m, k))
    }

    /// The first tick of a stream: the same split, and what the next tick needs.
    pub fn begin(&self, m: &DMatrix<f64>, k: usize) -> (Decomposition, Track) {
        self.tick(m, k, |balanced| self.run(balanced, k, 1.0))
    }

    /// Another tick: U of the tick before goes through the layers that follow, on the new `m`. The first of them has no
    /// momentum, and its thresholds are made with the mean |R_ij| of the tick before. A row of U of which nothing is
    /// known any more becomes zero.
    ///
    /// A stream of the library also starts again from scratch now and then, and takes what is better; that is not part
    /// of this.
    pub fn follow(&self, m: &DMatrix<f64>, k: usize, track: &Track) -> (Decomposition, Track) {
        self.tick(m, k, |balanced| {
            let mut next = run_layers(balanced, track.clone(), self.follow);
            for i in 0..m.nrows() {
                if balanced.known.row(i).sum() == 0.0 {
                    next.u.row_mut(i).fill(0.0);
                }
            }
            next
        })
    }

    /// A split by a U of the balanced matrix.
    fn tick(
        &self,
        m: &DMatrix<f64>,
        k: usize,
        layers: impl FnOnce(&Balanced) -> Track,
    ) -> (Decomposition, Track) {
        let mut track = Track {
            u: DMatrix::zeros(m.nrows(), k),
            mean: 0.0,
        };
        let split = self.split(m, |m| {
            let balanced = Balanced::new(m, k);
            track = layers(&balanced);
            DMatrix::from_diagonal(&balanced.units) * &track.u
        });
        (split, track)
    }

    /// L and S, where `factor` gives U of the matrix that the network sees.
    fn split(
        &self,
        m: &DMatrix<f64>,
        factor: impl FnOnce(&DMatrix<f64>) -> DMatrix<f64>,
    ) -> Decomposition {
        let n = m.nrows();
        let m = DMatrix::from_fn(n, n, |i, j| m[(i.max(j), i.min(j))]);
        let u = if self.correlation {
            let units = units(&m);
            let inverse = units.map(|unit| if unit > 0.0 { unit.recip() } else { 0.0 });
            let correlation = DMatrix::from_fn(n, n, |i, j| {
                (m[(i, j)] * inverse[i] * inverse[j]).clamp(-1.0, 1.0)
            });
            DMatrix::from_diagonal(&units) * factor(&correlation)
        } else {
            factor(&m)
        };
        let l = &u * u.transpose();
        Decomposition { s: m - &l, l, u }
    }

    /// U of a symmetric matrix, which is brought to unit scale and its rows to about the same size for that.
    fn factor(&self, m: &DMatrix<f64>, k: usize) -> DMatrix<f64> {
        let balanced = Balanced::new(m, k);
        let u = if self.careful {
            let each = CAREFUL.map(|factor| {
                let u = self.run(&balanced, k, factor).u;
                (unexplained(&balanced, &u), u)
            });
            let best = each
                .into_iter()
                .reduce(|best, x| if x.0 < best.0 { x } else { best });
            best.map_or_else(|| DMatrix::zeros(m.nrows(), k), |best| best.1)
        } else {
            self.run(&balanced, k, 1.0).u
        };
        DMatrix::from_diagonal(&balanced.units) * u
    }

    /// A start with bounds that are `factor` times the usual ones, and the layers.
    fn run(&self, balanced: &Balanced, k: usize, factor: f64) -> Track {
        let from = |u| Track { u, mean: 0.0 };
        let mut u = start(&clipped(&balanced.m, k, factor), k, &there(&balanced.known));
        // The start has taken holes for zeros, which is right for assets that are not there.
        if balanced.known.sum() < balanced.live.powi(2) {
            u = run_layers(balanced, from(u), self.mend).u;
        }
        run_layers(balanced, from(u), self.layers)
    }
}

impl Balanced {
    fn new(m: &DMatrix<f64>, k: usize) -> Balanced {
        let scale = scale(m);
        let known = known(m);
        // All zeros stay zeros.
        let unit = scale.max(f64::MIN_POSITIVE);
        let normal = m.zip_map(&known, |m, known| if known > 0.0 { m / unit } else { 0.0 });
        let sizes = row_sizes(&normal, &known, k);
        Balanced {
            live: there(&known).sum(),
            m: balanced(&normal, &sizes),
            known,
            units: scale.sqrt() * sizes,
        }
    }
}

/// 1 where an entry is known, else 0. Of an asset of which nothing else is known, the variance does not count either: it
/// says nothing about L.
pub fn known(m: &DMatrix<f64>) -> DMatrix<f64> {
    let mut known = m.map(|x| if x.is_nan() { 0.0 } else { 1.0 });
    for i in 0..m.nrows() {
        if known.row(i).sum() == known[(i, i)] {
            known[(i, i)] = 0.0;
        }
    }
    known
}

/// 1 for assets of which something is known, else 0.
pub fn there(known: &DMatrix<f64>) -> DVector<f64> {
    known.column_sum().map(|count| count.min(1.0))
}

/// The roots of the variances; 0 for an asset whose variance is not positive. One whose variance is not known gets the
/// unit in which the mean |correlation| that is known of it has the usual size.
fn units(m: &DMatrix<f64>) -> DVector<f64> {
    let roots = m.diagonal().map(|x| x.max(0.0).sqrt());
    DVector::from_fn(m.nrows(), |i, _| {
        if !m[(i, i)].is_nan() {
            return roots[i];
        }
        let pairs = (0..m.nrows()).filter(|&j| roots[j] > 0.0 && !m[(i, j)].is_nan());
        let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), j| {
            (sum + m[(i, j)].abs() / roots[j], count + 1.0)
        });
        if sum > 0.0 {
            sum / count / USUAL_CORRELATION
        } else {
            0.0
        }
    })
}

/// Σ |R_ij| over i ≠ j of a balanced matrix, where none counts with more than a share of a typical entry: how large an
/// outlier is does not matter.
fn unexplained(balanced: &Balanced, u: &DMatrix<f64>) -> f64 {
    let cut = CUT / bounds(u.ncols()).own;
    let sizes = residual(balanced, u).map(|r| r.abs().min(cut));
    sizes.sum() - sizes.trace()
}

/// R = M − U Uᵀ, and zero where M is not known.
fn residual(balanced: &Balanced, u: &DMatrix<f64>) -> DMatrix<f64> {
    (&balanced.m - u * u.transpose()).component_mul(&balanced.known)
}

/// Layers one after the other, the first without momentum.
fn run_layers(balanced: &Balanced, start: Track, layers: &[Layer]) -> Track {
    let Track { mut u, mut mean } = start;
    let mut previous = u.clone();
    for layer in layers {
        let r = residual(balanced, &u);
        let next = step(balanced, &r, mean, &u, &previous, layer);
        mean = off_diagonal_mean(&r, &balanced.known);
        previous = u;
        u = next;
    }
    Track { u, mean }
}

/// s, by which M is divided: the mean variance. No entry of a positive semidefinite matrix exceeds its trace; for any
/// other, the largest entry keeps s positive, and continuous in M.
pub fn scale(m: &DMatrix<f64>) -> f64 {
    let n = m.nrows() as f64;
    let diagonal = m.diagonal();
    let variances = diagonal.iter().filter(|x| !x.is_nan());
    let (sum, count) = variances.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    let known = m.iter().filter(|x| !x.is_nan());
    let largest = known.fold(0.0, |most: f64, x| most.max(x.abs()));
    (sum / f64::max(count, 1.0)).max(largest / n)
}

/// The mean |R_ij| over i ≠ j that are known.
fn off_diagonal_mean(r: &DMatrix<f64>, known: &DMatrix<f64>) -> f64 {
    let pairs = known.sum() - known.trace();
    (r.abs().sum() - r.diagonal().abs().sum()) / pairs.max(1.0)
}

/// One layer: a damped step of iteratively reweighted least squares, row by row.
///
/// `mean` is the mean |R_ij| that the layer before saw, zero for the first that there is: a kernel can then weigh an
/// entry as soon as it has it.
fn step(
    Balanced { m, known, live, .. }: &Balanced,
    r: &DMatrix<f64>,
    mean: f64,
    u: &DMatrix<f64>,
    previous: &DMatrix<f64>,
    layer: &Layer,
) -> DMatrix<f64> {
    let (n, k) = u.shape();
    // How large L is: thresholds are relative to it, and not to M, which outliers may dominate.
    let live = live.max(1.0);
    let size = u.norm_squared() / live;
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
    let w = w.component_mul(known);
    let gram = u.transpose() * u;
    // A step is shortened smoothly, to at most twice the usual length of a row.
    let limit = 16.0 * size.min(RMS_LIMIT.powi(2)) + f64::MIN_POSITIVE;
    let mut d = DMatrix::zeros(n, k);
    for i in 0..n {
        let mut a = DMatrix::zeros(k, k);
        let mut b = DVector::zeros(k);
        for j in 0..n {
            let row = u.row(j).transpose();
            a += w[(i, j)] * &row * row.transpose();
            b += w[(i, j)] * r[(i, j)] * row;
        }
        if layer.curvature == Curvature::Shared {
            a = w.row(i).sum() / live * &gram;
        }
        let step = solve(a, &DMatrix::from_columns(&[b]));
        let damping = limit / (limit + step.norm_squared());
        d.set_row(i, &(damping * step.column(0)).transpose());
    }
    // To first order L moves by d Uᵀ + U dᵀ. Where d = U C, both say the same, and d is twice too long.
    let within = u * solve(gram, &(u.transpose() * &d));
    u + layer.eta * d + layer.nu * within + layer.mu * (u - previous)
}

/// X with (A + ridge·tr(A)·I) X = B.
fn solve(a: DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let k = a.nrows();
    let trace = a.trace();
    let ridge = RIDGE * trace + f64::MIN_POSITIVE;
    let factor = cholesky(&(a + DMatrix::identity(k, k) * ridge), 0.1 * RIDGE * trace);
    factor
        .solve_lower_triangular(b)
        .and_then(|z| factor.tr_solve_lower_triangular(&z))
        .unwrap_or_else(|| DMatrix::zeros(k, b.ncols()))
}

#[cfg(test)]
mod tests;
