//! Principal component pursuit: minimise ‖L‖_* + λ‖S‖₁ subject to L + S = M, by alternating directions
//! (Candès, Li, Ma and Wright, "Robust principal component analysis?", J. ACM 58(3), 2011, section 5).
//!
//! The penalty stays what it is. It and the stopping rule are those of the LRS library, which looks at how far
//! (S, L) moves; beyond it, L + S must be near M.
//!
//! With holes it is masked PCP: the sum ‖S‖₁, the condition L + S = M and the mean of |M| are over what is known.

use super::alternate::Iterate;
use crate::eigen::Spectrum;
use crate::eigen::rows::square_norm;

const MOST_STEPS: usize = 1000;
const TOLERANCE: f64 = 1e-5;
/// Of ‖M − L − S‖/‖M‖. The LRS library does not look at it, and takes a start that stands still for the end.
const MOST_GAP: f64 = 1e-3;

/// `one` is what the stopping rule adds to the norm of (S, L).
pub(super) fn solve(mut iterate: Iterate<'_>, lambda: f64, one: f64, spectrum: &mut Spectrum) {
    let m = iterate.m;
    let known = m.len() - iterate.holes.len();
    let mean = m.iter().map(|m| m.abs()).sum::<f64>() / known as f64;
    let tau = 4.0 * mean;
    iterate.l.fill(0.0);
    iterate.s.fill(0.0);
    iterate.x.copy_from_slice(m);
    let most_gap = MOST_GAP * MOST_GAP * square_norm(m);
    let mut size = 0.0_f64;
    for _ in 0..MOST_STEPS {
        let moved = iterate.step(lambda, tau, spectrum);
        let settled = moved.sqrt() / (one + size.sqrt()) < TOLERANCE;
        size = square_norm(iterate.s) + square_norm(iterate.l);
        iterate.multiply(1.0);
        if settled && iterate.gap() <= most_gap {
            break;
        }
    }
}
