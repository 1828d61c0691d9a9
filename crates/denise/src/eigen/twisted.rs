//! One eigenpair of a symmetric tridiagonal matrix from a guess at the eigenvalue.
//!
//! T − μI is factored from the top and from the bottom; where the two meet is chosen so that the vector that
//! solves all equations but that one has the smallest residual γ/‖z‖ (Dhillon and Parlett, "Multiple
//! representations to compute orthogonal eigenvectors of symmetric tridiagonal matrices", 2004, section 3).
//! Then μ + γ/‖z‖² is its Rayleigh quotient: the next guess, and convergence is cubic.

use super::memory::Memory;

/// Guesses; from a good first one three are usual.
const MOST_GUESSES: usize = 8;
/// Instead of a pivot of zero.
const TINY: f64 = 1e-290;

/// Working memory: pivots from the top and from the bottom, and multipliers e/pivot.
pub(super) struct Twisted {
    down: Vec<(f64, f64)>,
    up: Vec<(f64, f64)>,
    /// The eigenvector, of length one.
    pub(super) z: Vec<f64>,
}

/// A pivot that can be divided by.
#[inline(always)]
pub(super) fn pivot(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

impl Twisted {
    pub(super) fn new(n: usize, memory: &mut Memory) -> Twisted {
        Twisted {
            down: memory.zeros(n),
            up: memory.zeros(n),
            z: memory.zeros(n),
        }
    }

    /// The eigenvalue, with its vector in `z`; `None` if the residual does not come below `tolerance`.
    pub(super) fn refine(
        &mut self,
        d: &[f64],
        e: &[f64],
        guess: f64,
        tolerance: f64,
    ) -> Option<f64> {
        let mut mu = guess;
        for _ in 0..MOST_GUESSES {
            let (gamma, square) = self.solve(d, e, mu);
            if gamma.abs() <= tolerance * square.sqrt() {
                let scale = 1.0 / square.sqrt();
                for z in &mut self.z {
                    *z *= scale;
                }
                return (square < f64::INFINITY).then_some(mu + gamma / square);
            }
            mu += gamma / square;
        }
        None
    }

    /// γ and ‖z‖² for the best twist.
    fn solve(&mut self, d: &[f64], e: &[f64], mu: f64) -> (f64, f64) {
        let n = d.len();
        // Two chains of divisions, side by side.
        let (mut from_top, mut from_bottom) = (0.0, 0.0);
        for i in 0..n {
            let j = n - 1 - i;
            let p = pivot(d[i] - mu - from_top);
            let q = pivot(d[j] - mu - from_bottom);
            let (above, below) = (e[i], if j > 0 { e[j - 1] } else { 0.0 });
            let (l, u) = (above / p, below / q);
            self.down[i] = (p, l);
            self.up[j] = (q, u);
            from_top = above * l;
            from_bottom = below * u;
        }
        let mut best = (f64::INFINITY, 0.0, 0);
        for (i, ((&(p, _), &(q, _)), &d)) in self.down.iter().zip(&self.up).zip(d).enumerate() {
            let gamma = p + q - (d - mu);
            if gamma.abs() < best.0 {
                best = (gamma.abs(), gamma, i);
            }
        }
        let (_, gamma, twist) = best;
        let mut square = 1.0;
        self.z[twist] = 1.0;
        let mut x = 1.0;
        for (z, &(_, l)) in self.z[..twist].iter_mut().zip(&self.down[..twist]).rev() {
            x *= -l;
            *z = x;
            square += x * x;
        }
        let mut x = 1.0;
        for (z, &(_, u)) in self.z[twist + 1..].iter_mut().zip(&self.up[twist + 1..]) {
            x *= -u;
            *z = x;
            square += x * x;
        }
        (gamma, square)
    }
}
