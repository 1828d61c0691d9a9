//! How the entries of U are drawn.

use rand::Rng;
use rand_distr::{Distribution as _, Normal, StudentT, Uniform};
use std::fmt;
use std::str::FromStr;

/// A law of numbers. Its text is what `FromStr` reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// With this mean and standard deviation.
    Normal(f64, f64),
    /// Student's t with so many degrees of freedom.
    StudentT(f64),
    /// Between these bounds.
    Uniform(f64, f64),
}

impl Distribution {
    /// One entry.
    pub(super) fn draw(self, rng: &mut impl Rng) -> f64 {
        // `FromStr` has checked the parameters.
        const CHECKED: &str = "parameters were checked";
        match self {
            Distribution::Normal(mean, sd) => Normal::new(mean, sd).expect(CHECKED).sample(rng),
            Distribution::StudentT(degrees) => StudentT::new(degrees).expect(CHECKED).sample(rng),
            Distribution::Uniform(low, high) => Uniform::new(low, high).expect(CHECKED).sample(rng),
        }
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Distribution, String> {
        let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
        let numbers: Vec<f64> = numbers
            .split(':')
            .filter(|x| !x.is_empty())
            .map(|x| x.parse().map_err(|_| format!("\"{x}\" is not a number")))
            .collect::<Result<_, _>>()?;
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err("parameters must be finite".into());
        }
        match (name, numbers[..].as_ref()) {
            ("normal", []) => Ok(Distribution::Normal(0.0, 1.0)),
            ("normal", &[mean, sd]) if sd > 0.0 => Ok(Distribution::Normal(mean, sd)),
            ("t", &[degrees]) if degrees > 0.0 => Ok(Distribution::StudentT(degrees)),
            ("uniform", []) => Ok(Distribution::Uniform(-1.0, 1.0)),
            ("uniform", &[low, high]) if low < high => Ok(Distribution::Uniform(low, high)),
            _ => Err(format!(
                "\"{text}\" is not a distribution: use normal, normal:MEAN:SD, t:DEGREES, uniform or uniform:LOW:HIGH"
            )),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Normal(0.0, 1.0) => write!(f, "normal"),
            Distribution::Normal(mean, sd) => write!(f, "normal:{mean}:{sd}"),
            Distribution::StudentT(degrees) => write!(f, "t:{degrees}"),
            Distribution::Uniform(low, high) => write!(f, "uniform:{low}:{high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read_and_written() {
        for text in ["normal", "normal:1:2", "t:5", "uniform:-1:2"] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "t",
            "t:-1",
            "normal:1",
            "normal:0:nan",
            "uniform:2:1",
            "cauchy",
            "t:x",
        ] {
            assert!(text.parse::<Distribution>().is_err(), "{text}");
        }
    }
}
