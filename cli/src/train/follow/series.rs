//! Matrices of successive ticks as the network sees them, and where it would be without a past.

use crate::train::learner::Result;
use denise::unrolled::reference::{balanced, known, row_sizes, scale};
use denise::{Model, Outputs};
use nalgebra::DMatrix;
use rayon::prelude::*;

/// A matrix that the network explains to less than this is no measure for others.
const LEAST: f64 = 1e-4;

/// Successive ticks.
pub struct Series {
    size: usize,
    /// The balanced matrices.
    m: Vec<f32>,
    /// Of each: the mean |R_ij| that the network leaves from scratch.
    usual: Vec<f32>,
    /// The same without the diagonal, and then Û, k×n.
    scratch: Vec<Vec<f64>>,
}

struct Tick {
    m: Vec<f32>,
    usual: f32,
    scratch: Vec<f64>,
}

impl Series {
    /// From correlation matrices and the network that splits them from scratch.
    pub fn new(model: &Model, m: &[f64]) -> Result<Series> {
        let (n, k) = (model.n(), model.k());
        let mut u = vec![0.0; m.len() / n * k];
        let out = Outputs {
            u: Some(&mut u),
            ..Outputs::default()
        };
        model.decompose(m, out)?;
        let ticks: Vec<Tick> = m
            .par_chunks_exact(n * n)
            .zip(u.par_chunks_exact(n * k))
            .map(|(m, u)| Tick::new(n, k, m, u))
            .collect();
        Ok(Series {
            size: n * n,
            m: ticks.iter().flat_map(|x| &x.m).copied().collect(),
            usual: ticks.iter().map(|x| x.usual).collect(),
            scratch: ticks.into_iter().map(|x| x.scratch).collect(),
        })
    }

    /// How many there are.
    pub fn ticks(&self) -> usize {
        self.usual.len()
    }

    /// The balanced matrix of a tick.
    pub fn balanced(&self, tick: usize) -> &[f32] {
        &self.m[tick * self.size..][..self.size]
    }

    /// The mean |R_ij| that is usual for it.
    pub fn usual(&self, tick: usize) -> f32 {
        self.usual[tick]
    }

    /// What a stream keeps of a tick that it has started from scratch on: the mean |R_ij|, then Û.
    pub fn begin(&self, tick: usize, kept: &mut [f64]) {
        kept.copy_from_slice(&self.scratch[tick]);
    }
}

impl Tick {
    fn new(n: usize, k: usize, m: &[f64], u: &[f64]) -> Tick {
        let m = DMatrix::from_row_slice(n, n, m);
        let scale = scale(&m).max(f64::MIN_POSITIVE);
        let normal = &m / scale;
        let sizes = row_sizes(&normal, &known(&m), k);
        let m = balanced(&normal, &sizes);
        let root = scale.sqrt();
        let u = DMatrix::from_fn(n, k, |i, a| u[i * k + a] / (root * sizes[i]));
        let r = (&m - &u * u.transpose()).abs();
        let pairs = (r.sum() - r.trace()) / (n * (n - 1)) as f64;
        // nalgebra goes column by column: that is k×n in rows.
        let scratch = core::iter::once(pairs).chain(u.iter().copied());
        Tick {
            usual: r.mean().max(LEAST) as f32,
            scratch: scratch.map(|x| f64::from(x as f32)).collect(),
            m: m.iter().map(|&x| x as f32).collect(),
        }
    }
}
