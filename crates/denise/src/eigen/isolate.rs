//! The largest eigenvalues of a symmetric tridiagonal matrix, each in an interval of its own.
//!
//! Bisection with Sylvester's law of inertia: how many eigenvalues lie beyond a number is how many pivots
//! are positive.

use super::rows::largest;
use super::twisted::pivot;

/// Which end of the spectrum.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// The largest eigenvalues, as long as they are positive.
    Positive,
    /// The largest magnitudes: the singular values.
    Both,
}

/// Numbers tried for each eigenvalue; six or so are usual.
const MOST_TRIES: usize = 20;

/// What is known of one eigenvalue: its size is above `low` and at most `high`.
#[derive(Clone, Copy)]
pub(crate) struct Bracket {
    low: f64,
    high: f64,
    /// How many eigenvalues are above `low` and above `high` themselves, whatever their size.
    above_low: usize,
    above_high: usize,
}

impl Bracket {
    /// The middle, with the sign of the eigenvalue.
    pub(crate) fn middle(&self) -> f64 {
        let middle = 0.5 * (self.low + self.high);
        if self.above_low > self.above_high {
            middle
        } else {
            -middle
        }
    }

    /// Whether this is the eigenvalue.
    pub(crate) fn holds(&self, a: f64) -> bool {
        a.abs() > self.low
            && a.abs() <= self.high
            && (a > 0.0) == (self.above_low > self.above_high)
    }
}

/// How many eigenvalues are above `x`, and how many above −`x`.
pub(crate) fn above(d: &[f64], e: &[f64], x: f64) -> [usize; 2] {
    let mut counts = [0; 2];
    let mut taken = [0.0; 2];
    for (&d, &e) in d.iter().zip(e) {
        for (side, x) in [x, -x].into_iter().enumerate() {
            let p = pivot(d - x - taken[side]);
            counts[side] += usize::from(p > 0.0);
            taken[side] = e * e / p;
        }
    }
    counts
}

/// Brackets the `count` largest sizes, largest first. False if two of them are too near each other.
pub(crate) fn isolate(
    d: &[f64],
    e: &[f64],
    count: usize,
    end: End,
    brackets: &mut Vec<Bracket>,
) -> bool {
    let n = d.len();
    // No eigenvalue is further out (Gershgorin), but for roundings.
    let most = largest(d) + 2.0 * largest(e);
    brackets.clear();
    // One more than asked for: it must be known to lie below.
    brackets.resize(
        count + 1,
        Bracket {
            low: 0.0,
            high: 1.01 * most,
            above_low: n,
            above_high: 0,
        },
    );
    for j in 0..count {
        let mut tries = 0;
        loop {
            let Bracket { low, high, .. } = brackets[j];
            let alone = (j == 0 || high <= brackets[j - 1].low) && brackets[j + 1].high <= low;
            // Narrow enough for a good guess.
            if alone && high - low <= 0.25 * high {
                break;
            }
            tries += 1;
            if tries > MOST_TRIES {
                return false;
            }
            let x = 0.5 * (low + high);
            let [positive, not_negative] = above(d, e, x);
            let beyond = match end {
                End::Positive => positive,
                End::Both => positive + (n - not_negative),
            };
            for (i, bracket) in brackets.iter_mut().enumerate() {
                if i < beyond && x > bracket.low {
                    (bracket.low, bracket.above_low) = (x, positive);
                } else if i >= beyond && x < bracket.high {
                    (bracket.high, bracket.above_high) = (x, positive);
                }
            }
        }
    }
    brackets.truncate(count);
    true
}
