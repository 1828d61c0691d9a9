//! What a stream is made for.

use super::estimate::{Memory, Plan};
use crate::status::{Error, Status};

/// Streams of one handle.
const MAX_STREAMS: usize = 1 << 20;
/// Ticks of a moving window.
const MAX_WINDOW: usize = 1 << 20;
/// What an observation's half-life is if nobody says.
const HALF_LIFE: f64 = 60.0;

/// What a stream is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamOptions {
    /// Independent streams that advance together.
    pub streams: usize,
    /// Ticks of a moving window; 0: exponential weights, by `half_life`.
    pub window: usize,
    /// Ticks until an observation counts half; 0 with `window` 0: 60. Must be 0 with a window.
    pub half_life: f64,
    /// Split the correlation matrix and scale back: see [`crate::Options::correlation`].
    pub correlation: bool,
    /// Subtract means. Without it they count as zero, as those of returns over short times are.
    pub demean: bool,
    /// Ticks before the first split, and times that two assets must have been seen together before their covariance
    /// counts as known. 0: 2 k, or as many as the window has, if those are fewer.
    pub warm_up: usize,
}

impl Default for StreamOptions {
    fn default() -> StreamOptions {
        StreamOptions {
            streams: 1,
            window: 0,
            half_life: 0.0,
            correlation: false,
            demean: false,
            warm_up: 0,
        }
    }
}

/// Options without anything left to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settled {
    pub(super) streams: usize,
    pub(super) k: usize,
    pub(super) plan: Plan,
    /// As it was given, or by default; 0 with a window.
    pub(super) half_life: f64,
    pub(super) window: usize,
}

impl Settled {
    /// About the memory that a stream takes.
    pub(super) fn bytes_of_one(&self) -> usize {
        let n = self.plan.n;
        let windowed = 1 + usize::from(self.window > 0);
        let pairs = n * (n + 1) / 2 * (1 + windowed);
        let totals = if self.plan.demean {
            n * n * windowed
        } else {
            0
        };
        8 * (pairs + totals + n * self.window + n * self.k)
    }
}

impl StreamOptions {
    pub(super) fn settle(&self, n: usize, k: usize) -> Result<Settled, Error> {
        let refuse =
            |message: core::fmt::Arguments<'_>| Err(Error::format(Status::Argument, message));
        let StreamOptions {
            streams,
            window,
            half_life,
            warm_up,
            ..
        } = *self;
        if streams == 0 || streams > MAX_STREAMS {
            return refuse(format_args!(
                "streams is {streams}; it must be 1 to {MAX_STREAMS}"
            ));
        }
        if window == 1 || window > MAX_WINDOW {
            return refuse(format_args!(
                "window is {window}; it must be 2 to {MAX_WINDOW}, or 0 for exponential weights"
            ));
        }
        if window > 0 && half_life != 0.0 {
            return refuse(format_args!(
                "window is {window} and half_life is {half_life}: one of them must be 0"
            ));
        }
        // NaN is in no range.
        if half_life != 0.0 && !(0.1..=1e9).contains(&half_life) {
            return refuse(format_args!(
                "half_life is {half_life}; it must be 0.1 to 1e9, or 0 for {HALF_LIFE}"
            ));
        }
        let most = if window > 0 { window } else { MAX_WINDOW };
        if warm_up > most {
            return refuse(format_args!(
                "warm_up is {warm_up}; it must be at most {most}"
            ));
        }
        let warm_up = if warm_up == 0 {
            (2 * k).min(most)
        } else {
            warm_up
        };
        let half_life = match (window, half_life) {
            (0, 0.0) => HALF_LIFE,
            (_, half_life) => half_life,
        };
        let memory = match window {
            0 => Memory::Decay(decay(half_life)),
            window => Memory::Window(window),
        };
        Ok(Settled {
            streams,
            k,
            plan: Plan {
                n,
                memory,
                demean: self.demean,
                warm_up: warm_up as u64,
            },
            half_life,
            window,
        })
    }
}

/// 2^(−1/h), with the same bits on every machine: the standard library's powers are the platform's.
fn decay(half_life: f64) -> f64 {
    // By the series of e^−x with x = ln 2 / h / 2^s, squared s times.
    let mut squarings = 0;
    let mut x = core::f64::consts::LN_2 / half_life;
    while x > 0.0625 {
        x *= 0.5;
        squarings += 1;
    }
    let mut sum = 0.0;
    for order in (1..=16).rev() {
        sum = (sum + 1.0) * -x / f64::from(order);
    }
    let mut power = 1.0 + sum;
    for _ in 0..squarings {
        power *= power;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_counts_half_after_its_half_life() {
        for half_life in [0.1, 1.0, 3.0, 20.0, 60.0, 1e4, 1e9] {
            let exact = f64::exp2(-1.0 / half_life);
            let error = (decay(half_life) / exact - 1.0).abs();
            assert!(error < 1e-14, "{half_life}: {error:e}");
        }
    }
}
