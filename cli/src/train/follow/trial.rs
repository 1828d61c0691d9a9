//! How well a network follows, measured through the library's own streams.

use super::{POWER, SOFTEN};
use crate::train::learner::Result;
use crate::train::run::Make;
use denise::{Outputs, StreamOptions};
use rayon::prelude::*;

/// |S_ij| up to this counts as zero: matrices have ones on the diagonal.
const ZERO: f64 = 0.01;

/// Correlation matrices of successive ticks.
pub struct Trial {
    /// Where they come from.
    pub name: String,
    /// Assets.
    pub n: usize,
    /// Rank of L.
    pub k: usize,
    /// The matrices.
    pub m: Vec<f64>,
}

/// How well a network follows them, against the same network from scratch at every tick.
#[derive(Clone, Copy, Debug, Default)]
pub struct Followed {
    /// What training minimises, but in units of M.
    pub loss: f64,
    /// The mean |S_ij|, by that from scratch.
    pub ratio: f64,
    /// The share of |S_ij| up to 0.01.
    pub zeros: f64,
    /// The same from scratch.
    pub zeros_from_scratch: f64,
    /// The median of ‖L_t − L_t₋₁‖_F / ‖M_t − M_t₋₁‖_F.
    pub moved: f64,
    /// The same from scratch.
    pub moved_from_scratch: f64,
}

impl Trial {
    /// How many matrices there are.
    pub fn ticks(&self) -> usize {
        self.m.len() / (self.n * self.n)
    }
}

/// Of every trial.
pub fn measure(make: Make<'_>, trials: &[Trial]) -> Result<Vec<Followed>> {
    let models = trials.iter().map(|x| make(x.n, x.k));
    let models: Vec<denise::Model> = models.collect::<Result<_>>()?;
    let pairs = trials.par_iter().zip(&models);
    let all: core::result::Result<Vec<Followed>, denise::Error> =
        pairs.map(|(trial, model)| one(model, trial)).collect();
    Ok(all?)
}

fn one(model: &denise::Model, trial: &Trial) -> core::result::Result<Followed, denise::Error> {
    let size = trial.n * trial.n;
    let mut scratch = vec![0.0; trial.m.len()];
    let out = Outputs {
        s: Some(&mut scratch),
        ..Outputs::default()
    };
    model.decompose(&trial.m, out)?;
    let mut followed = vec![0.0; trial.m.len()];
    let mut stream = model.stream(&StreamOptions::default())?;
    for (m, s) in trial
        .m
        .chunks_exact(size)
        .zip(followed.chunks_exact_mut(size))
    {
        let out = Outputs {
            s: Some(s),
            ..Outputs::default()
        };
        stream.push_matrices(m, out)?;
    }
    let mean = |s: &[f64]| s.iter().map(|x| x.abs()).sum::<f64>() / s.len() as f64;
    let zeros = |s: &[f64]| s.iter().filter(|x| x.abs() <= ZERO).count() as f64 / s.len() as f64;
    let ticks = followed.chunks_exact(size).zip(scratch.chunks_exact(size));
    let losses = ticks.map(|(s, scratch)| {
        let usual = mean(scratch).max(1e-12);
        let each = s
            .iter()
            .map(|x| ((x / usual).powi(2) + SOFTEN).powf(0.5 * POWER));
        each.sum::<f64>() / size as f64
    });
    Ok(Followed {
        loss: losses.sum::<f64>() / trial.ticks() as f64,
        ratio: mean(&followed) / mean(&scratch),
        zeros: zeros(&followed),
        zeros_from_scratch: zeros(&scratch),
        moved: moved(size, &trial.m, &followed),
        moved_from_scratch: moved(size, &trial.m, &scratch),
    })
}

/// The median over ticks of how far L moves, by how far M does.
fn moved(size: usize, m: &[f64], s: &[f64]) -> f64 {
    let count = m.len() / size;
    let mut all: Vec<f64> = (1..count)
        .map(|tick| {
            let (mut of_l, mut of_m) = (0.0, 0.0);
            for e in tick * size..(tick + 1) * size {
                let change = m[e] - m[e - size];
                of_m += change.powi(2);
                of_l += (change - (s[e] - s[e - size])).powi(2);
            }
            (of_l / f64::max(of_m, f64::MIN_POSITIVE)).sqrt()
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}
