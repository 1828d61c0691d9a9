//! Training on synthetic matrices, whose split is known, drawn anew for every step.

use super::batch::{Batch, Batches};
use super::run::Task;
use super::validate::{measure, score};
use crate::generator::{Cell, samples};
use burn::tensor::{Device, Tensor, TensorData};
use denise::unrolled::Layer;
use std::error::Error;

/// How fast the usual error of a cell follows what is seen.
const FOLLOW: f64 = 0.02;
/// From so many times the usual error on, a failure counts with a square root again.
const FAILURE: f64 = 100.0;
/// Keeps the slope of a square root finite.
const SOFTEN: f64 = 1e-3;

/// The supervised loss Φ_s of the paper, balanced between cells.
pub struct Supervised {
    n: usize,
    k: usize,
    cells: Vec<Cell>,
    batch: usize,
    validation: usize,
    seed: u64,
    batches: Batches,
    device: Device,
    /// Mean error of each cell lately.
    usual: Vec<f64>,
}

impl Supervised {
    /// `batch` matrices a step, and `validation` of each cell to measure on.
    pub fn new(
        n: usize,
        k: usize,
        cells: Vec<Cell>,
        batch: usize,
        validation: usize,
        seed: u64,
        device: &Device,
    ) -> Result<Supervised, denise::Error> {
        Ok(Supervised {
            n,
            k,
            cells,
            batch,
            validation,
            seed,
            batches: Batches::new(n, k, device)?,
            device: device.clone(),
            usual: Vec::new(),
        })
    }

    fn follow(&mut self, errors: &[f32]) {
        let mut seen = vec![(0.0, 0.0); self.cells.len()];
        for (i, &error) in errors.iter().enumerate() {
            let cell = &mut seen[i % self.cells.len()];
            *cell = (cell.0 + f64::from(error), cell.1 + 1.0);
        }
        let mean = seen.iter().map(|(sum, count)| sum / f64::max(*count, 1.0));
        if self.usual.is_empty() {
            self.usual = mean.collect();
        } else {
            for (usual, mean) in self.usual.iter_mut().zip(mean) {
                *usual += FOLLOW * (mean - *usual);
            }
        }
    }
}

impl Task for Supervised {
    fn size(&self) -> (usize, usize) {
        (self.n, self.k)
    }

    fn batch(&self, step: usize) -> Result<Batch, Box<dyn Error>> {
        let first = (step * self.batch) as u64;
        let data = samples(self.n, self.k, &self.cells, self.seed, first, self.batch);
        Ok(self.batches.make(&data.m, Some(&data.l))?)
    }

    /// A matrix counts with the square root of its error ‖L − L₀‖₁ / ‖L₀‖₁ relative to what is usual in
    /// its cell. So cells that differ by a factor of a thousand weigh the same, and one failure does not
    /// drown the rest.
    fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>, Box<dyn Error>> {
        let truth = batch.l.clone().ok_or("the low-rank parts are not known")?;
        let size = truth.clone().abs().sum_dim(1).sum_dim(2);
        let errors = (l - truth).abs().sum_dim(1).sum_dim(2) / size;
        let seen: Vec<f32> = errors.clone().into_data().try_into_vec()?;
        self.follow(&seen);
        let usual: Vec<f32> = (0..seen.len())
            .map(|i| self.usual[i % self.usual.len()].max(1e-12) as f32)
            .collect();
        let usual = TensorData::new(usual, [seen.len(), 1, 1]);
        let usual = Tensor::<3>::from_data(usual, &self.device);
        let relative = errors / usual;
        let common = relative.clone().clamp_max(1.0).add_scalar(SOFTEN).sqrt();
        let beyond = (relative - 1.0).clamp_min(0.0);
        let slower = beyond.clone().div_scalar(FAILURE).add_scalar(1.0).sqrt();
        Ok((common + beyond.mul_scalar(0.5) / slower).mean())
    }

    fn score(&self, layers: &[Layer]) -> Result<f64, Box<dyn Error>> {
        // Other numbers than those that training draws.
        let seed = !self.seed;
        let cells = measure(self.n, self.k, layers, &self.cells, seed, self.validation)?;
        Ok(score(&cells))
    }

    fn memory(&mut self) -> &mut Vec<f64> {
        &mut self.usual
    }
}
