//! How long networks take beside each other.

use super::pace::Pace;
use denise::{Error, Model, Outputs};
use std::hint::black_box;
use std::time::Instant;

/// Matrices of a call, and calls of one matrix that are timed together: over in a fraction of a millisecond, so that many
/// are not interrupted on a busy machine. A matrix of a larger batch takes as long.
pub const BATCH: usize = 128;
const SINGLES: usize = 64;

/// Seconds a matrix of each model, in calls of [`BATCH`] and in calls of one.
///
/// They take turns, so that whatever else the machine does slows all of them down, and the fastest hundredth counts.
pub fn side_by_side(models: &[&Model], m: &[f32], pace: Pace) -> Result<Vec<[f64; 2]>, Error> {
    let size = m.len() / BATCH;
    let (mut l, mut s) = (vec![0.0_f32; m.len()], vec![0.0_f32; m.len()]);
    let mut call = |model: &Model, first: usize, count: usize| {
        let range = first * size..(first + count) * size;
        let out = Outputs {
            l: Some(&mut l[range.clone()]),
            s: Some(&mut s[range.clone()]),
            ..Outputs::default()
        };
        model.decompose(black_box(&m[range]), out)
    };
    let mut all = vec![[Vec::new(), Vec::new()]; models.len()];
    for _ in 0..pace.of(3000, 3) {
        for (model, [batch, single]) in models.iter().zip(&mut all) {
            // Once for the caches, which the model before has filled.
            call(model, 0, BATCH)?;
            let before = Instant::now();
            call(model, 0, BATCH)?;
            batch.push(before.elapsed().as_secs_f64() / BATCH as f64);
            let before = Instant::now();
            for i in 0..SINGLES {
                call(model, i, 1)?;
            }
            single.push(before.elapsed().as_secs_f64() / SINGLES as f64);
        }
    }
    let fast = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 100]
    };
    Ok(all.into_iter().map(|x| x.map(fast)).collect())
}
