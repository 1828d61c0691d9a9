//! How long a method takes, on one core.

use super::method::Splitter;
use super::pace::Pace;
use serde::Serialize;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Seconds a matrix.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Times {
    /// In one call for all.
    pub batch: f64,
    /// In a call for each, the median.
    pub single: f64,
}

/// Times the method on some of the matrices, each of `size` values.
///
/// The network is timed in `f32` on memory of its own, as a program would call it.
pub fn time(
    splitter: &mut Splitter<'_>,
    m: &[f64],
    size: usize,
    pace: Pace,
) -> Result<Times, Box<dyn Error>> {
    if matches!(splitter, Splitter::Identity) {
        return Ok(Times::default());
    }
    let count = m.len() / size;
    let narrow: Vec<f32> = m.iter().map(|&x| x as f32).collect();
    let mut out = (vec![0.0_f32; m.len()], vec![0.0_f32; m.len()]);
    let mut wide = (vec![0.0_f64; m.len()], vec![0.0_f64; m.len()]);
    let mut call = |first: usize, count: usize| -> Result<(), denise::Error> {
        let range = first * size..(first + count) * size;
        match splitter {
            Splitter::Network(model) => {
                let out = denise::Outputs {
                    l: Some(&mut out.0[range.clone()]),
                    s: Some(&mut out.1[range.clone()]),
                    ..denise::Outputs::default()
                };
                model.decompose(black_box(&narrow[range]), out)
            }
            Splitter::Solver(solver) => solver.solve(
                black_box(&m[range.clone()]),
                denise::Outputs::parts(&mut wide.0[range.clone()], &mut wide.1[range]),
            ),
            Splitter::Identity => Ok(()),
        }
    };
    // One matrix at a time, each once or until the time is up.
    let mut singles = Vec::new();
    let start = Instant::now();
    for i in 0..count {
        let before = Instant::now();
        call(i, 1)?;
        singles.push(before.elapsed().as_secs_f64());
        if start.elapsed() > pace.budget() {
            break;
        }
    }
    // As many in one call as the time allows, three times; the median.
    let together = singles.len();
    let mut batches: Vec<f64> = (0..3)
        .map(|_| {
            let before = Instant::now();
            call(0, together)?;
            Ok(before.elapsed().as_secs_f64() / together as f64)
        })
        .collect::<Result<_, denise::Error>>()?;
    batches.sort_by(f64::total_cmp);
    singles.sort_by(f64::total_cmp);
    Ok(Times {
        batch: batches[1],
        single: singles[singles.len() / 2],
    })
}
