//! How good a network is, measured through the library's own kernels.

use denise::{Model, Outputs};
use denise_data::generator::{Kind, samples};

/// Accuracy on one kind of matrix.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accuracy {
    /// Mean of ‖L − L₀‖_F / ‖L₀‖_F.
    pub mean: f64,
    /// The largest.
    pub worst: f64,
    /// Mean share of |S_ij| at most 0.01, of those that are known.
    pub sparsity: f64,
}

/// |S_ij| up to this counts as zero, as in the paper's tables.
const ZERO: f64 = 0.01;

/// Measures every kind on `count` matrices drawn from a seed.
pub fn measure(
    model: &Model,
    kinds: &[Kind],
    seed: u64,
    count: usize,
) -> Result<Vec<Accuracy>, denise::Error> {
    let (n, k) = (model.n(), model.k());
    let size = n * n;
    kinds
        .iter()
        .map(|&kind| {
            let data = samples(n, k, &[kind], seed, 0, count);
            let m: Vec<f32> = data.m.iter().map(|&x| x as f32).collect();
            let mut l = vec![0.0_f32; m.len()];
            let out = Outputs {
                l: Some(&mut l),
                ..Outputs::default()
            };
            model.decompose(&m, out)?;
            let mut all = Accuracy::default();
            let matrices = l.chunks_exact(size).zip(data.l.chunks_exact(size));
            for ((l, truth), m) in matrices.zip(data.m.chunks_exact(size)) {
                let (mut wrong, mut norm, mut zeros) = (0.0, 0.0, 0);
                let known = m.iter().filter(|x| !x.is_nan()).count();
                for i in 0..size {
                    wrong += (f64::from(l[i]) - truth[i]).powi(2);
                    norm += truth[i].powi(2);
                    zeros += usize::from((m[i] - f64::from(l[i])).abs() <= ZERO);
                }
                let error = (wrong / norm).sqrt();
                all.mean += error / count as f64;
                all.worst = all.worst.max(error);
                all.sparsity += zeros as f64 / known.max(1) as f64 / count as f64;
            }
            Ok(all)
        })
        .collect()
}

/// One number for all kinds: the geometric mean, in which none drowns another.
pub fn score(kinds: &[Accuracy]) -> f64 {
    let logs: f64 = kinds.iter().map(|x| x.mean.max(1e-12).ln()).sum();
    (logs / kinds.len() as f64).exp()
}
