//! How large S₀ is.

use rand::{Rng, RngExt};
use std::fmt;
use std::str::FromStr;

/// What S₀ is multiplied by: in the paper by 1, so that no entry exceeds 1. Its text is what `FromStr` reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amplitude {
    /// A number.
    Fixed(f64),
    /// For every matrix another one between these, all orders of magnitude alike.
    Between(f64, f64),
}

impl Default for Amplitude {
    fn default() -> Amplitude {
        Amplitude::Fixed(1.0)
    }
}

impl Amplitude {
    pub(super) fn draw(self, rng: &mut impl Rng) -> f64 {
        match self {
            Amplitude::Fixed(x) => x,
            Amplitude::Between(low, high) => rng.random_range(low.ln()..=high.ln()).exp(),
        }
    }
}

impl FromStr for Amplitude {
    type Err = String;

    fn from_str(text: &str) -> Result<Amplitude, String> {
        let number = |text: &str| text.parse().ok().filter(|&x: &f64| x > 0.0 && x < 1e9);
        let read = || match text.split_once("..") {
            None => number(text).map(Amplitude::Fixed),
            Some((low, high)) => {
                let (low, high) = (number(low)?, number(high)?);
                (low < high).then_some(Amplitude::Between(low, high))
            }
        };
        read().ok_or_else(|| {
            format!("\"{text}\" is not an amplitude: use a number above 0, or two as 0.3..30")
        })
    }
}

impl fmt::Display for Amplitude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amplitude::Fixed(x) => write!(f, "{x}"),
            Amplitude::Between(low, high) => write!(f, "{low}..{high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn amplitudes_are_read_and_written_and_stay_within_their_bounds() {
        for text in ["1", "0.3", "0.3..30"] {
            let amplitude: Amplitude = text.parse().unwrap();
            assert_eq!(amplitude.to_string(), text);
        }
        for text in ["", "0", "-1", "nan", "inf", "3..", "30..0.3", "x"] {
            assert!(text.parse::<Amplitude>().is_err(), "{text}");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draw = |_| Amplitude::Between(0.3, 30.0).draw(&mut rng);
        let all: Vec<f64> = (0..1000).map(draw).collect();
        assert!(all.iter().all(|x| (0.299..30.001).contains(x)));
        let small = all.iter().filter(|&&x| x < 3.0).count();
        assert!((430..570).contains(&small), "{small}");
    }
}
