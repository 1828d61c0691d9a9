//! Training on synthetic matrices, whose split is known, drawn anew for every step.

use super::batch::{Batch, Batches};
use super::learner::Result;
use super::recipe::EACH;
use super::run::{Make, Task};
use super::unsupervised::residual;
use super::validate::{measure, score};
use burn::tensor::{Device, Tensor, TensorData};
use denise_data::generator::{Kind, samples};

/// How fast the usual error of a kind follows what is seen.
const FOLLOW: f64 = 0.02;
/// From so many times the usual error on, a failure counts with a square root again.
const FAILURE: f64 = 100.0;
/// Keeps the slope of a square root finite.
const SOFTEN: f64 = 1e-3;
/// One step in so many is on a size other than the first.
const OTHERS: usize = 4;
/// From the number of a step's first matrix to that of the next step's: more than a step has.
const STRIDE: u64 = 1 << 16;

/// Kinds of matrices of one size.
#[derive(Clone, Debug)]
pub struct Matrices {
    /// Size of the matrices.
    pub n: usize,
    /// Rank of L₀.
    pub k: usize,
    /// In equal parts.
    pub kinds: Vec<Kind>,
}

/// What is minimised. Either way the best weights are chosen by the error of L.
#[derive(Clone, Copy, Debug, Default, PartialEq, clap::ValueEnum)]
pub enum Loss {
    /// Φ_s of the paper, ‖L − L₀‖₁, balanced between kinds of matrices.
    #[default]
    Supervised,
    /// Φ_u of the paper, ‖M − L‖₁: as if L₀ were not known.
    Unsupervised,
}

/// Matrices of the generator.
pub struct Synthetic {
    sizes: Vec<Matrices>,
    loss: Loss,
    batch: Option<usize>,
    validation: usize,
    seed: u64,
    batches: Vec<Batches>,
    device: Device,
    /// Mean error lately of each kind of each size.
    usual: Vec<f64>,
}

impl Synthetic {
    /// `batch` matrices a step or, without it, [`EACH`] of each kind, and `validation` of each to measure on. Most steps
    /// are on the first size, and the others take turns in the rest.
    pub fn new(
        sizes: Vec<Matrices>,
        loss: Loss,
        batch: Option<usize>,
        validation: usize,
        seed: u64,
        device: &Device,
    ) -> Synthetic {
        let batches = sizes.iter().map(|x| Batches::new(x.n, x.k, device));
        let kinds = sizes.iter().map(|x| x.kinds.len()).sum();
        Synthetic {
            batches: batches.collect(),
            sizes,
            loss,
            batch,
            validation,
            seed,
            device: device.clone(),
            usual: vec![0.0; kinds],
        }
    }

    /// Which size a step is on.
    fn size(&self, step: usize) -> usize {
        let others = self.sizes.len() - 1;
        if others == 0 || step % OTHERS != OTHERS - 1 {
            0
        } else {
            1 + step / OTHERS % others
        }
    }

    /// Takes the errors of a batch into account, and returns what is usual for each of its matrices.
    fn follow(&mut self, size: usize, errors: &[f32]) -> Vec<f32> {
        let before: usize = self.sizes[..size].iter().map(|x| x.kinds.len()).sum();
        let kinds = self.sizes[size].kinds.len();
        let mut seen = vec![(0.0, 0.0); kinds];
        for (i, &error) in errors.iter().enumerate() {
            let kind = &mut seen[i % kinds];
            *kind = (kind.0 + f64::from(error), kind.1 + 1.0);
        }
        let usual = &mut self.usual[before..before + kinds];
        for (usual, (sum, count)) in usual.iter_mut().zip(seen) {
            let mean = sum / f64::max(count, 1.0);
            // Zero: nothing has been seen yet.
            let follow = if *usual == 0.0 { 1.0 } else { FOLLOW };
            *usual += follow * (mean - *usual);
        }
        let usual = (0..errors.len()).map(|i| usual[i % kinds].max(1e-12) as f32);
        usual.collect()
    }
}

impl Task for Synthetic {
    fn sizes(&self) -> Vec<(usize, usize)> {
        self.sizes.iter().map(|x| (x.n, x.k)).collect()
    }

    fn batch(&self, step: usize) -> Result<Batch> {
        let size = self.size(step);
        let Matrices { n, k, kinds } = &self.sizes[size];
        let count = self.batch.unwrap_or(EACH * kinds.len());
        // The same number in two steps would be the same matrix.
        let first = step as u64 * STRIDE;
        let data = samples(*n, *k, kinds, self.seed, first, count);
        let batch = self.batches[size].make(&data.m, Some(&data.l));
        Ok(Batch { size, ..batch })
    }

    /// A matrix counts with its error ‖L − L₀‖₁ / ‖L₀‖₁ relative to what is usual for its kind: below that
    /// with a square root, above it linearly, and far above it with a square root again. So kinds that
    /// differ by a factor of a thousand weigh the same, and a failure is neither forgotten nor drowns the rest.
    fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>> {
        if self.loss == Loss::Unsupervised {
            return Ok(residual(l, batch).mean());
        }
        let truth = batch.l.clone().ok_or("the low-rank parts are not known")?;
        let size = truth.clone().abs().sum_dim(1).sum_dim(2);
        let errors = (l - truth).abs().sum_dim(1).sum_dim(2) / size;
        let seen: Vec<f32> = errors.clone().into_data().try_into_vec()?;
        let usual = self.follow(batch.size, &seen);
        let usual = TensorData::new(usual, [seen.len(), 1, 1]);
        let usual = Tensor::<3>::from_data(usual, &self.device);
        let relative = errors / usual;
        let common = relative.clone().clamp_max(1.0).add_scalar(SOFTEN).sqrt();
        let beyond = (relative - 1.0).clamp_min(0.0);
        let slower = beyond.clone().div_scalar(FAILURE).add_scalar(1.0).sqrt();
        Ok((common + beyond.mul_scalar(0.5) / slower).mean())
    }

    fn score(&self, make: Make<'_>) -> Result<f64> {
        // Other numbers than those that training draws.
        let seed = !self.seed;
        let mut all = Vec::new();
        for Matrices { n, k, kinds } in &self.sizes {
            all.extend(measure(&make(*n, *k)?, kinds, seed, self.validation)?);
        }
        Ok(score(&all))
    }

    fn memory(&mut self) -> &mut Vec<f64> {
        &mut self.usual
    }
}
