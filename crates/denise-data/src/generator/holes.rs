//! Entries that are hidden: NaN, as where nobody knows them.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::fmt;
use std::str::FromStr;

/// Which entries of a matrix are hidden, always in both triangles. Its text is what `FromStr` reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Holes {
    /// None.
    #[default]
    None,
    /// Pairs at random, each with the same probability: "0.10". It may be drawn for each matrix: "0.02..0.4".
    Pairs {
        /// The least probability.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// Two halves of the assets, drawn at random, that were never seen together but for so many pairs: "groups 3".
    Groups(usize),
    /// So many assets, drawn at random, of which only so many pairs with others are known: "rows 4:6".
    Rows {
        /// Assets.
        rows: usize,
        /// Pairs of each with the other assets.
        known: usize,
    },
    /// Variances at random, with this probability: "variances 0.50".
    Variances(f64),
}

impl Holes {
    /// Puts NaN into a symmetric matrix.
    pub fn punch(self, n: usize, rng: &mut ChaCha8Rng, m: &mut [f64]) {
        let mut hide = |i: usize, j: usize| {
            m[i * n + j] = f64::NAN;
            m[j * n + i] = f64::NAN;
        };
        match self {
            Holes::None => {}
            Holes::Pairs { least, most } => {
                let share = least + (most - least) * rng.random::<f64>();
                for i in 0..n {
                    for j in 0..i {
                        if rng.random::<f64>() < share {
                            hide(i, j);
                        }
                    }
                }
            }
            Holes::Groups(shared) => {
                let assets = shuffled(n, rng);
                let (one, other) = assets.split_at(n / 2);
                let pairs = one.iter().flat_map(|&i| other.iter().map(move |&j| (i, j)));
                let mut pairs: Vec<(usize, usize)> = pairs.collect();
                pairs.shuffle(rng);
                for &(i, j) in pairs.iter().skip(shared) {
                    hide(i, j);
                }
            }
            Holes::Rows { rows, known } => {
                let assets = shuffled(n, rng);
                let (few, others) = assets.split_at(rows.min(n));
                for &i in few {
                    let mut partners = others.to_vec();
                    partners.shuffle(rng);
                    for &j in partners.iter().skip(known).chain(few) {
                        if i != j {
                            hide(i, j);
                        }
                    }
                }
            }
            Holes::Variances(share) => {
                for i in 0..n {
                    if rng.random::<f64>() < share {
                        hide(i, i);
                    }
                }
            }
        }
    }
}

fn shuffled(n: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut assets: Vec<usize> = (0..n).collect();
    assets.shuffle(rng);
    assets
}

impl fmt::Display for Holes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holes::None => f.write_str("none"),
            Holes::Pairs { least, most } if least == most => write!(f, "{most:.2}"),
            Holes::Pairs { least, most } => write!(f, "{least:.2}..{most:.2}"),
            Holes::Groups(shared) => write!(f, "groups {shared}"),
            Holes::Rows { rows, known } => write!(f, "rows {rows}:{known}"),
            Holes::Variances(share) => write!(f, "variances {share:.2}"),
        }
    }
}

impl FromStr for Holes {
    type Err = String;

    fn from_str(text: &str) -> Result<Holes, String> {
        let wrong = || {
            format!(
                "\"{text}\" does not say what is missing: none, 0.1, 0.02..0.4, groups 3, rows 4:6 or variances 0.5"
            )
        };
        let share = |text: &str| {
            let share = text.parse().ok().filter(|x| (0.0..=1.0).contains(x));
            share.ok_or_else(wrong)
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["none"] => Ok(Holes::None),
            ["groups", shared] => shared.parse().map(Holes::Groups).map_err(|_| wrong()),
            ["rows", both] => {
                let (rows, known) = both.split_once(':').ok_or_else(wrong)?;
                Ok(Holes::Rows {
                    rows: rows.parse().map_err(|_| wrong())?,
                    known: known.parse().map_err(|_| wrong())?,
                })
            }
            ["variances", text] => share(text).map(Holes::Variances),
            [text] => {
                let (least, most) = text.split_once("..").unwrap_or((text, text));
                let (least, most) = (share(least)?, share(most)?);
                if least <= most {
                    Ok(Holes::Pairs { least, most })
                } else {
                    Err(wrong())
                }
            }
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const N: usize = 20;

    /// Which entries are hidden.
    fn hidden(text: &str, seed: u64) -> Vec<bool> {
        let holes: Holes = text.parse().unwrap();
        assert_eq!(holes.to_string(), text);
        let mut m = vec![1.0; N * N];
        holes.punch(N, &mut ChaCha8Rng::seed_from_u64(seed), &mut m);
        for at in 0..N * N {
            assert_eq!(m[at].is_nan(), m[at % N * N + at / N].is_nan());
        }
        m.iter().map(|x| x.is_nan()).collect()
    }

    fn on_diagonal(hidden: &[bool]) -> usize {
        hidden.iter().step_by(N + 1).filter(|&&x| x).count()
    }

    fn count(hidden: &[bool]) -> usize {
        hidden.iter().filter(|&&x| x).count()
    }

    #[test]
    fn every_kind_hides_what_it_says() {
        assert_eq!(count(&hidden("none", 1)), 0);
        for text in ["0.10", "0.02..0.40"] {
            let all: Vec<Vec<bool>> = (0..400).map(|seed| hidden(text, seed)).collect();
            assert!(all.iter().all(|x| on_diagonal(x) == 0));
            let share =
                all.iter().map(|x| count(x)).sum::<usize>() as f64 / (400 * N * (N - 1)) as f64;
            let want = if text == "0.10" { 0.1 } else { 0.21 };
            assert!((share - want).abs() < 0.02, "{text}: {share}");
        }
        let groups = hidden("groups 3", 5);
        assert_eq!((count(&groups), on_diagonal(&groups)), (2 * (100 - 3), 0));
        let rows = hidden("rows 4:6", 5);
        let full = |row: &[bool]| row.iter().filter(|&&x| !x).count();
        let mut known: Vec<usize> = rows.chunks(N).map(full).collect();
        known.sort_unstable();
        assert_eq!(known[..4], [7; 4], "six pairs and the variance");
        assert!(known[4..].iter().all(|&x| x >= 16), "{known:?}");
        let variances = hidden("variances 0.50", 5);
        assert_eq!(count(&variances), on_diagonal(&variances));
        assert!((4..17).contains(&count(&variances)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in [
            "", "x", "1.1", "-0.1", "0.4..0.1", "groups", "groups x", "rows 4", "rows 4:x",
        ] {
            assert!(text.parse::<Holes>().is_err(), "{text}");
        }
    }
}
