//! All eigenvalues of a symmetric tridiagonal matrix by the implicitly shifted QR iteration.
//!
//! The rotations are written down rather than multiplied up: played backwards on unit vectors they
//! give any eigenvector that is asked for, and the others cost nothing.

use super::memory::Memory;
use super::rows::largest;

/// Rotations over n², and sweeps over n: about one and two are usual.
const MOST_TURNS: usize = 3;
const MOST_SWEEPS: usize = 10;
/// Squares of what is smaller are lost, which is nothing beside a matrix of unit scale.
const NEGLIGIBLE: f64 = 1e-290;

/// The rotations of one decomposition.
pub(super) struct Rotations {
    /// Planes (k, k + 1) from the first to before the second number.
    sweeps: Vec<(usize, usize)>,
    /// Cosine and sine, in the order in which they were applied.
    turns: Vec<(f64, f64)>,
}

impl Rotations {
    pub(super) fn new(n: usize, memory: &mut Memory) -> Rotations {
        Rotations {
            sweeps: memory.room(MOST_SWEEPS * n),
            turns: memory.room(MOST_TURNS * n * n),
        }
    }

    /// Makes `d` the eigenvalues, in no order, of the matrix with diagonal `d` and `e` beside it. Should the sweeps
    /// run out, `d` is as near as they got.
    pub(super) fn diagonalise(&mut self, d: &mut [f64], e: &mut [f64]) {
        self.sweeps.clear();
        self.turns.clear();
        // What is lost is a rounding of the norm: these methods have no use for more.
        let negligible = largest(d).max(largest(e)) * f64::EPSILON;
        let mut high = d.len() - 1;
        let (sweeps, turns) = (MOST_SWEEPS * d.len(), MOST_TURNS * d.len() * d.len());
        loop {
            while high > 0 && e[high - 1].abs() <= negligible {
                high -= 1;
            }
            if high == 0 {
                break;
            }
            let mut low = high - 1;
            while low > 0 && e[low - 1].abs() > negligible {
                low -= 1;
            }
            // The memory is all there is: bounded work, and no allocation.
            if self.sweeps.len() == sweeps || self.turns.len() + (high - low) > turns {
                break;
            }
            self.sweeps.push((low, high));
            self.sweep(&mut d[low..=high], &mut e[low..high]);
        }
    }

    /// One step with Wilkinson's shift on a block without zeros beside its diagonal.
    fn sweep(&mut self, d: &mut [f64], e: &mut [f64]) {
        let last = e.len();
        let half = 0.5 * (d[last - 1] - d[last]);
        let b = e[last - 1];
        let root = (half * half + b * b).sqrt();
        let shift = d[last] - b * (b / (half + root.copysign(half)));
        // (x, z) is what the next rotation turns into (r, 0).
        let (mut x, mut z) = (d[0] - shift, e[0]);
        for k in 0..last {
            let square = x * x + z * z;
            let r = square.sqrt();
            if k > 0 {
                e[k - 1] = r;
            }
            let (top, beside, bottom) = (d[k], e[k], d[k + 1]);
            let (mut c, mut s, mut next) = (1.0, 0.0, beside);
            if square > NEGLIGIBLE {
                (c, s) = (x / r, z / r);
                // c s (bottom − top) + (c² − s²) beside, without waiting for the root: this loop is one
                // chain of dependences.
                next = (x * z * (bottom - top) + (x * x - z * z) * beside) / square;
            }
            let moved = s * (s * (bottom - top) + 2.0 * c * beside);
            d[k] = top + moved;
            d[k + 1] = bottom - moved;
            x = next;
            e[k] = x;
            if k + 1 < last {
                z = s * e[k + 1];
                e[k + 1] *= c;
            }
            self.turns.push((c, s));
        }
    }

    /// Turns four vectors in the eigenbasis, side by side, into the basis of the tridiagonal matrix.
    pub(super) fn play_back(&self, z: &mut [[f64; 4]]) {
        let mut end = self.turns.len();
        for &(low, high) in self.sweeps.iter().rev() {
            let start = end - (high - low);
            let turns = &self.turns[start..end];
            end = start;
            let mut below = z[high];
            for (k, &(c, s)) in (low..high).zip(turns).rev() {
                let above = z[k];
                for lane in 0..4 {
                    z[k + 1][lane] = s * above[lane] + c * below[lane];
                    below[lane] = c * above[lane] - s * below[lane];
                }
            }
            z[low] = below;
        }
    }
}
