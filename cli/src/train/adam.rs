//! Adam (Kingma and Ba, 2015), in `f64` so that even the smallest step counts.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const FIRST: f64 = 0.9;
const SECOND: f64 = 0.99;
const EPSILON: f64 = 1e-8;
/// Fewer numbers than this are not worth a thread.
const PART: usize = 1 << 14;

/// The optimiser's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    steps: u32,
    /// Means of the gradient and of its square.
    #[serde(skip)]
    pub first: Vec<f64>,
    /// See `first`.
    #[serde(skip)]
    pub second: Vec<f64>,
}

impl Adam {
    /// For so many numbers.
    pub fn new(len: usize) -> Adam {
        Adam {
            steps: 0,
            first: vec![0.0; len],
            second: vec![0.0; len],
        }
    }

    /// Moves `x` against the gradient.
    pub fn step(&mut self, rate: f64, gradient: &[f64], x: &mut [f64]) {
        self.steps += 1;
        let correct = |decay: f64| 1.0 - decay.powi(self.steps as i32);
        let (first_part, second_part) = (correct(FIRST), correct(SECOND));
        let numbers = x.par_iter_mut().zip(gradient).with_min_len(PART);
        let memory = self.first.par_iter_mut().zip(&mut self.second);
        numbers
            .zip(memory)
            .for_each(|((x, gradient), (first, second))| {
                *first = FIRST * *first + (1.0 - FIRST) * gradient;
                *second = SECOND * *second + (1.0 - SECOND) * gradient.powi(2);
                let spread = (*second / second_part).sqrt();
                *x -= rate * (*first / first_part) / (spread + EPSILON);
            });
    }
}

/// Scales the gradient to a norm of at most `most`; the norm it had.
pub fn clip(gradient: &mut [f64], most: f64) -> f64 {
    let norm = gradient.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > most {
        gradient.iter_mut().for_each(|x| *x *= most / norm);
    }
    norm
}

/// The learning rate: a linear rise over the first 100 steps or tenth of them, then half a cosine down
/// to a hundredth of `peak`.
pub fn rate(peak: f64, step: usize, steps: usize) -> f64 {
    let rise = (steps / 10).clamp(1, 100);
    if step < rise {
        return peak * (0.05 + 0.95 * step as f64 / rise as f64);
    }
    let progress = (step - rise) as f64 / (steps - rise).max(1) as f64;
    let cosine = 0.5 * (1.0 + (std::f64::consts::PI * progress.min(1.0)).cos());
    peak * (0.01 + 0.99 * cosine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_a_parabola() {
        let (mut adam, mut x) = (Adam::new(2), [3.0, -4.0]);
        for step in 0..2000 {
            let gradient = [2.0 * (x[0] - 1.0), 20.0 * (x[1] - 2.0)];
            adam.step(rate(0.1, step, 2000), &gradient, &mut x);
        }
        assert!(
            (x[0] - 1.0).abs() < 1e-3 && (x[1] - 2.0).abs() < 1e-3,
            "{x:?}"
        );
    }

    #[test]
    fn clipping_keeps_the_direction() {
        let mut gradient = [3.0, 4.0];
        assert_eq!(clip(&mut gradient, 1.0), 5.0);
        assert!((gradient[0] - 0.6).abs() < 1e-15 && (gradient[1] - 0.8).abs() < 1e-15);
        assert_eq!(clip(&mut gradient, 2.0), 1.0);
    }

    #[test]
    fn the_rate_rises_then_falls_to_a_hundredth() {
        assert!(rate(1.0, 0, 1000) < 0.1);
        assert_eq!(rate(1.0, 100, 1000), 1.0);
        assert!((rate(1.0, 1000, 1000) - 0.01).abs() < 1e-12);
    }
}
