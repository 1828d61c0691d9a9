//! The strongest form of principal component pursuit: for each matrix the λ with the smallest error of L, chosen
//! knowing L₀. Nobody can do that with real matrices; it bounds what any rule for λ could reach.

use denise::Outputs;
use denise::classical::{Method, Solver};
use std::error::Error;

/// λ·√n to begin with: these powers of RATIO, from .7 to 4. Nearly all of the best lie between .8 and 3.
const POWERS: std::ops::RangeInclusive<i32> = -1..=4;
const RATIO: f64 = std::f64::consts::SQRT_2;
/// How often the step is halved, around the best so far.
const HALVINGS: i32 = 4;

/// L and S of the matrices of size n in `m`, whose low-rank parts are `truth`.
pub fn split(n: usize, m: &[f64], truth: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let (mut l, mut s) = (vec![0.0; m.len()], vec![0.0; m.len()]);
    let size = n * n;
    let parts = l.chunks_exact_mut(size).zip(s.chunks_exact_mut(size));
    let given = m.chunks_exact(size).zip(truth.chunks_exact(size));
    for ((m, truth), (l, s)) in given.zip(parts) {
        search(n, m, truth, l, s)?;
    }
    Ok((l, s))
}

/// Leaves the best L and S of one matrix, and returns their λ·√n.
fn search(
    n: usize,
    m: &[f64],
    truth: &[f64],
    l: &mut [f64],
    s: &mut [f64],
) -> Result<f64, denise::Error> {
    let mut now = (vec![0.0; m.len()], vec![0.0; m.len()]);
    let mut best = (f64::INFINITY, f64::NAN);
    let mut attempt = |times: f64, best: &mut (f64, f64)| -> Result<(), denise::Error> {
        let lambda = times / (n as f64).sqrt();
        Solver::new(Method::Pcp, n, 1, lambda)?.solve(m, Outputs::parts(&mut now.0, &mut now.1))?;
        let wrong = now.0.iter().zip(truth).map(|(l, l0)| (l - l0).powi(2));
        let error = wrong.sum::<f64>();
        if error < best.0 {
            *best = (error, times);
            l.copy_from_slice(&now.0);
            s.copy_from_slice(&now.1);
        }
        Ok(())
    };
    for power in POWERS {
        attempt(RATIO.powi(power), &mut best)?;
    }
    for halving in 1..=HALVINGS {
        let ratio = RATIO.powf(0.5_f64.powi(halving));
        let middle = best.1;
        attempt(middle / ratio, &mut best)?;
        attempt(middle * ratio, &mut best)?;
    }
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise_data::generator::{Cell, samples};

    fn error(l: &[f64], truth: &[f64]) -> f64 {
        let wrong = l.iter().zip(truth).map(|(l, l0)| (l - l0).powi(2));
        wrong.sum::<f64>().sqrt()
    }

    /// No λ of a fine grid is much better than the one that is found, and most are worse.
    #[test]
    fn the_best_lambda_is_found() {
        let (n, size) = (10, 100);
        let data = samples(n, 2, &[Cell::default()], 1, 0, 8);
        let (found, rest) = split(n, &data.m, &data.l).unwrap();
        let matrices = data.m.chunks_exact(size).zip(data.l.chunks_exact(size));
        for (at, (m, truth)) in matrices.enumerate() {
            let range = at * size..(at + 1) * size;
            let best = error(&found[range.clone()], truth);
            let (mut l, mut s) = (vec![0.0; size], vec![0.0; size]);
            let mut worse = 0;
            for step in -16..=32 {
                let lambda = 2.0_f64.powf(f64::from(step) / 16.0) / (n as f64).sqrt();
                let mut solver = Solver::new(Method::Pcp, n, 1, lambda).unwrap();
                solver.solve(m, Outputs::parts(&mut l, &mut s)).unwrap();
                assert!(
                    best < 1.05 * error(&l, truth) + 1e-3,
                    "matrix {at}, step {step}"
                );
                worse += usize::from(error(&l, truth) > 1.1 * best + 1e-3);
            }
            assert!(worse > 10, "matrix {at}: {worse}");
            // They belong together: L + S is M, to PCP's own stopping rule.
            let parts = found[range.clone()].iter().zip(&rest[range]);
            let gap = parts.zip(m).map(|((l, s), m)| (l + s - m).powi(2));
            assert!(gap.sum::<f64>().sqrt() <= 1.1e-3 * error(m, &[0.0; 100]));
        }
    }
}
