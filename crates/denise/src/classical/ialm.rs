//! Inexact augmented Lagrange multipliers for the same problem as [`pcp`](super::pcp): minimise
//! ‖L‖_* + λ‖S‖₁ subject to L + S = M
//! (Lin, Chen and Ma, "The augmented Lagrange multiplier method for exact recovery of corrupted low-rank
//! matrices", 2010, algorithm 5).
//!
//! Here the penalty grows with every step. Start, growth and stopping rule are the paper's, with the numbers of
//! the authors' code, which the LRS library carries.

use super::alternate::Iterate;
use crate::eigen::End;
use crate::eigen::Spectrum;
use crate::eigen::rows::{largest, square_norm};

const MOST_STEPS: usize = 1000;
const TOLERANCE: f64 = 1e-7;
/// Of the penalty μ = 1/τ: the start times the norm of M, the factor a step, and the end over the start.
const START: f64 = 1.25;
const GROWTH: f64 = 1.5;
const RANGE: f64 = 1e7;

pub(super) fn solve(mut iterate: Iterate<'_>, lambda: f64, spectrum: &mut Spectrum) {
    let m = iterate.m;
    spectrum.largest(m, 1, End::Both);
    let norm = largest(spectrum.values());
    // The multiplier starts as M over its dual norm.
    let dual = norm.max(largest(m) / lambda);
    let target = TOLERANCE * square_norm(m).sqrt();
    let mut tau = norm / START;
    let least = tau / RANGE;
    iterate.l.fill(0.0);
    iterate.y.copy_from_slice(m);
    iterate.multiply(tau / dual);
    for _ in 0..MOST_STEPS {
        iterate.step(lambda, tau, spectrum);
        let next = (tau / GROWTH).max(least);
        iterate.multiply(next / tau);
        tau = next;
        if iterate.gap().sqrt() < target {
            break;
        }
    }
}
