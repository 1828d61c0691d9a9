//! Training on matrices whose split nobody knows: the paper's finetuning.

use super::batch::{Batch, Batches};
use super::learner::Result;
use super::run::{Make, Task};
use burn::tensor::{Device, Tensor};
use denise::{Model, Outputs};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The unsupervised loss Φ_u of the paper: ‖M − L‖₁, relative to ‖M‖₁.
pub struct Unsupervised {
    n: usize,
    k: usize,
    train: Vec<f64>,
    validation: Vec<f64>,
    batch: usize,
    seed: u64,
    batches: Batches,
    none: Vec<f64>,
}

impl Unsupervised {
    /// Matrices to train on, and others to choose the best weights by.
    pub fn new(
        n: usize,
        k: usize,
        train: Vec<f64>,
        validation: Vec<f64>,
        batch: usize,
        seed: u64,
        device: &Device,
    ) -> Unsupervised {
        Unsupervised {
            n,
            k,
            train,
            validation,
            batch,
            seed,
            batches: Batches::new(n, k, device),
            none: Vec::new(),
        }
    }
}

impl Task for Unsupervised {
    fn sizes(&self) -> Vec<(usize, usize)> {
        vec![(self.n, self.k)]
    }

    fn batch(&self, step: usize) -> Result<Batch> {
        let size = self.n * self.n;
        let count = self.train.len() / size;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(step as u64);
        let mut m = Vec::with_capacity(self.batch * size);
        for _ in 0..self.batch {
            let i = rng.random_range(0..count);
            m.extend_from_slice(&self.train[i * size..(i + 1) * size]);
        }
        Ok(self.batches.make(&m, None))
    }

    fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>> {
        Ok(residual(l, batch).mean())
    }

    fn score(&self, make: Make<'_>) -> Result<f64> {
        mean_abs_s(&make(self.n, self.k)?, &self.validation)
    }

    fn memory(&mut self) -> &mut Vec<f64> {
        &mut self.none
    }
}

/// ‖M − L‖₁ / ‖M‖₁ of every matrix, B×1×1.
pub fn residual(l: Tensor<3>, batch: &Batch) -> Tensor<3> {
    let m = batch.m.clone();
    let size = m.clone().abs().sum_dim(1).sum_dim(2);
    (m - l).abs().sum_dim(1).sum_dim(2) / size
}

/// The mean |S_ij| over all matrices.
pub fn mean_abs_s(model: &Model, m: &[f64]) -> Result<f64> {
    let mut s = vec![0.0; m.len()];
    let out = Outputs {
        s: Some(&mut s),
        ..Outputs::default()
    };
    model.decompose(m, out)?;
    Ok(s.iter().map(|x| x.abs()).sum::<f64>() / s.len() as f64)
}
