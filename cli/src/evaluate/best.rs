//! The strongest form of a classical method: for each matrix the parameter with the smallest error of L, chosen knowing
//! L₀. Nobody can do that with real matrices; it bounds what any rule for the parameter could reach.

use super::method::Method;
use denise::Outputs;
use denise::classical::{self, Solver};
use std::error::Error;

/// How often the step is halved, around the best so far.
const HALVINGS: i32 = 4;
/// How often a best at the end of the grid is followed beyond it.
const BEYOND: i32 = 8;

/// Where a method's parameter is looked for.
#[derive(Clone, Copy)]
struct Grid {
    /// In the middle, or near it.
    unit: f64,
    /// To begin with, the unit times these powers of `ratio`.
    powers: (i32, i32),
    ratio: f64,
    /// The parameter must be below this.
    below: f64,
}

impl Grid {
    fn of(method: classical::Method, n: usize) -> Grid {
        let root = (n as f64).sqrt().recip();
        match method {
            // The largest share of outliers in a row, from 1 % to 80 %.
            classical::Method::RpcaGd => Grid {
                unit: 0.1,
                powers: (-3, 3),
                ratio: 2.0,
                below: 1.0,
            },
            // The rank is given, so λ matters less: wide steps.
            classical::Method::Fpcp => Grid {
                unit: root,
                powers: (-4, 2),
                ratio: 2.0,
                below: f64::INFINITY,
            },
            // λ·√n from .7 to 4. On the paper's matrices nearly all of the best lie between .8 and 3.
            _ => Grid {
                unit: root,
                powers: (-1, 4),
                ratio: std::f64::consts::SQRT_2,
                below: f64::INFINITY,
            },
        }
    }
}

/// L and S of the matrices of size n in `m`, whose low-rank parts are `truth`. The rank k is for methods that take one.
pub fn split(
    method: Method,
    (n, k): (usize, usize),
    m: &[f64],
    truth: &[f64],
) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let name = method.label();
    let method = method.classical();
    let method = method.ok_or_else(|| format!("{name} has no parameter to choose"))?;
    let (mut l, mut s) = (vec![0.0; m.len()], vec![0.0; m.len()]);
    let size = n * n;
    let parts = l.chunks_exact_mut(size).zip(s.chunks_exact_mut(size));
    let given = m.chunks_exact(size).zip(truth.chunks_exact(size));
    for ((m, truth), (l, s)) in given.zip(parts) {
        let search = Search {
            method,
            n,
            k,
            m,
            truth,
            best: (f64::INFINITY, f64::NAN),
            l,
            s,
            now: (vec![0.0; size], vec![0.0; size]),
        };
        search.run()?;
    }
    Ok((l, s))
}

/// The best parameter of one matrix.
struct Search<'a> {
    method: classical::Method,
    n: usize,
    k: usize,
    m: &'a [f64],
    truth: &'a [f64],
    /// The smallest error so far, and its parameter.
    best: (f64, f64),
    /// L and S of that.
    l: &'a mut [f64],
    s: &'a mut [f64],
    /// L and S of an attempt.
    now: (Vec<f64>, Vec<f64>),
}

impl Search<'_> {
    fn run(mut self) -> Result<(), denise::Error> {
        let grid = Grid::of(self.method, self.n);
        let at = |power: i32| grid.unit * grid.ratio.powi(power);
        let (first, last) = grid.powers;
        for power in first..=last {
            self.attempt(at(power), grid.below)?;
        }
        // On other matrices than the paper's the best may lie outside.
        for step in 1..=BEYOND {
            let (low, high) = (at(first - step), at(last + step));
            if self.best.1 == at(first - step + 1) {
                self.attempt(low, grid.below)?;
            } else if self.best.1 == at(last + step - 1) {
                self.attempt(high, grid.below)?;
            } else {
                break;
            }
        }
        for halving in 1..=HALVINGS {
            let ratio = grid.ratio.powf(0.5_f64.powi(halving));
            let middle = self.best.1;
            self.attempt(middle / ratio, grid.below)?;
            self.attempt(middle * ratio, grid.below)?;
        }
        Ok(())
    }

    fn attempt(&mut self, parameter: f64, below: f64) -> Result<(), denise::Error> {
        if parameter >= below {
            return Ok(());
        }
        let mut solver = Solver::new(self.method, self.n, self.k, parameter)?;
        solver.solve(self.m, Outputs::parts(&mut self.now.0, &mut self.now.1))?;
        let wrong = self.now.0.iter().zip(self.truth);
        let error = wrong.map(|(l, l0)| (l - l0).powi(2)).sum::<f64>();
        if error < self.best.0 {
            self.best = (error, parameter);
            self.l.copy_from_slice(&self.now.0);
            self.s.copy_from_slice(&self.now.1);
        }
        Ok(())
    }
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
        let (found, rest) = split(Method::Pcp, (n, 2), &data.m, &data.l).unwrap();
        let matrices = data.m.chunks_exact(size).zip(data.l.chunks_exact(size));
        for (at, (m, truth)) in matrices.enumerate() {
            let range = at * size..(at + 1) * size;
            let best = error(&found[range.clone()], truth);
            let (mut l, mut s) = (vec![0.0; size], vec![0.0; size]);
            let mut worse = 0;
            for step in -16..=32 {
                let lambda = 2.0_f64.powf(f64::from(step) / 16.0) / (n as f64).sqrt();
                let mut solver = Solver::new(classical::Method::Pcp, n, 1, lambda).unwrap();
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

    /// Whatever the method, nothing is lost beside its own parameter; and there is no best L = M.
    #[test]
    fn the_best_is_no_worse_than_the_methods_own() {
        let n = 10;
        let data = samples(n, 2, &[Cell::default()], 1, 0, 8);
        for method in [Method::Pcp, Method::Ialm, Method::Fpcp, Method::RpcaGd] {
            let (best, _) = split(method, (n, 2), &data.m, &data.l).unwrap();
            let mut own = vec![0.0; data.m.len()];
            let out = Outputs {
                l: Some(&mut own[..]),
                ..Outputs::default()
            };
            let mut solver = Solver::new(method.classical().unwrap(), n, 2, 0.0).unwrap();
            solver.solve(&data.m, out).unwrap();
            let matrices = best.chunks(n * n).zip(own.chunks(n * n));
            for ((best, own), truth) in matrices.zip(data.l.chunks(n * n)) {
                assert!(
                    error(best, truth) <= 1.001 * error(own, truth),
                    "{method:?}"
                );
            }
        }
        assert!(split(Method::Identity, (n, 2), &data.m, &data.l).is_err());
    }
}
