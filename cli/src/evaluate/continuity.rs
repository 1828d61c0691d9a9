//! How much L changes when M changes a little: the paper asks for a continuous decomposition.

use super::contender::Contender;
use denise_data::generator::{Cell, samples};
use serde::Serialize;
use std::error::Error;

/// Points on each way.
const POINTS: usize = 200;

/// The ratio ‖ΔL‖_F / ‖ΔM‖_F on straight ways from one matrix to another.
#[derive(Clone, Debug, Serialize)]
pub struct Continuity {
    /// The method.
    pub method: String,
    /// Half of the ways have a smaller largest ratio.
    pub median: f64,
    /// The largest of all.
    pub largest: f64,
}

/// Measures it on `ways` ways between matrices of one kind.
pub fn continuity(
    contender: &Contender<'_>,
    cell: Cell,
    seed: u64,
    ways: usize,
) -> Result<Continuity, Box<dyn Error>> {
    let (n, k) = (contender.model.n(), contender.model.k());
    let size = n * n;
    let ends = samples(n, k, &[cell], seed, 0, 2 * ways).m;
    let mut splitter = contender.splitter()?;
    let mut ratios = Vec::new();
    for ends in ends.chunks_exact(2 * size) {
        let (from, to) = ends.split_at(size);
        let at = |point: usize| {
            let part = point as f64 / POINTS as f64;
            let between = from.iter().zip(to);
            between.map(move |(a, b)| a + part * (b - a))
        };
        let m: Vec<f64> = (0..=POINTS).flat_map(at).collect();
        let (l, _) = splitter.split(&m)?;
        let distance = |x: &[f64], i: usize| {
            let (a, b) = (&x[i * size..(i + 1) * size], &x[(i + 1) * size..]);
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let ratio = (0..POINTS).map(|i| distance(&l, i) / distance(&m, i));
        ratios.push(ratio.fold(0.0, f64::max));
    }
    ratios.sort_by(f64::total_cmp);
    Ok(Continuity {
        method: contender.label.clone(),
        median: ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN),
        largest: ratios.last().copied().unwrap_or(f64::NAN),
    })
}
