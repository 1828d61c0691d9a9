//! The kinds of matrices on which methods are compared: the paper's, and what a sceptic would ask for next.

use serde::Serialize;

/// What a kind is there to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// The paper's tables, with both ways to draw pairs.
    Paper,
    /// S₀ smaller or larger than the paper's.
    Amplitude,
    /// k is not the rank of L₀.
    Rank,
    /// Factors of unequal strength.
    Unequal,
    /// M is estimated from a sample: nothing is exactly sparse or of low rank.
    Noise,
    /// Entries are not known.
    Missing,
    /// Other n and k.
    Size,
}

/// A kind of matrices.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    pub theme: Theme,
    /// What tables call it.
    pub name: &'static str,
    /// As [`denise_data::generator::Kind`] reads it.
    pub kind: &'static str,
    /// Size of the matrices.
    pub n: usize,
    /// The rank that methods are told.
    pub k: usize,
}

/// A kind of the usual size.
const fn usual(theme: Theme, name: &'static str, kind: &'static str) -> Scenario {
    sized(theme, name, kind, 20, 3)
}

const fn sized(
    theme: Theme,
    name: &'static str,
    kind: &'static str,
    n: usize,
    k: usize,
) -> Scenario {
    Scenario {
        theme,
        name,
        kind,
        n,
        k,
    }
}

/// All of them, in the order of the table.
#[rustfmt::skip]
pub const ALL: [Scenario; 36] = [
    usual(Theme::Paper, "s₀ = .60", "normal 0.60 authors"),
    usual(Theme::Paper, "s₀ = .80", "normal 0.80 authors"),
    usual(Theme::Paper, "s₀ = .95", "normal 0.95 authors"),
    usual(Theme::Paper, "s₀ = .60, uniform pairs", "normal 0.60 uniform"),
    usual(Theme::Paper, "s₀ = .80, uniform pairs", "normal 0.80 uniform"),
    usual(Theme::Paper, "s₀ = .95, uniform pairs", "normal 0.95 uniform"),
    usual(Theme::Paper, "s₀ = .60, U Student-t", "t:5 0.60 authors"),
    usual(Theme::Paper, "s₀ = .80, U Student-t", "t:5 0.80 authors"),
    usual(Theme::Paper, "s₀ = .95, U Student-t", "t:5 0.95 authors"),
    usual(Theme::Amplitude, "s₀ = .95, S₀ × .3", "normal 0.95 authors amplitude 0.3"),
    usual(Theme::Amplitude, "s₀ = .95, S₀ × 3", "normal 0.95 authors amplitude 3"),
    usual(Theme::Amplitude, "s₀ = .95, S₀ × 10", "normal 0.95 authors amplitude 10"),
    usual(Theme::Amplitude, "s₀ = .95, S₀ × 30", "normal 0.95 authors amplitude 30"),
    usual(Theme::Amplitude, "s₀ = .80, S₀ × .3", "normal 0.80 authors amplitude 0.3"),
    usual(Theme::Amplitude, "s₀ = .80, S₀ × 3", "normal 0.80 authors amplitude 3"),
    usual(Theme::Amplitude, "s₀ = .80, S₀ × 10", "normal 0.80 authors amplitude 10"),
    usual(Theme::Rank, "k = 3, true rank 1, s₀ = .95", "normal 0.95 authors rank -2"),
    usual(Theme::Rank, "k = 3, true rank 2, s₀ = .95", "normal 0.95 authors rank -1"),
    usual(Theme::Rank, "k = 3, true rank 1, s₀ = .80", "normal 0.80 authors rank -2"),
    usual(Theme::Rank, "k = 3, true rank 5, s₀ = .95", "normal 0.95 authors rank +2"),
    usual(Theme::Unequal, "factors 10 : 1, s₀ = .95", "normal 0.95 authors strength 10"),
    usual(Theme::Unequal, "factors 100 : 1, s₀ = .95", "normal 0.95 authors strength 100"),
    usual(Theme::Unequal, "factors 100 : 1, s₀ = .80", "normal 0.80 authors strength 100"),
    usual(Theme::Noise, "sample covariance", "sampled covariance"),
    usual(Theme::Noise, "sample correlation", "sampled correlation"),
    sized(Theme::Noise, "sample correlation, n = 100, k = 5", "sampled correlation", 100, 5),
    usual(Theme::Missing, "10 % missing, s₀ = .95", "normal 0.95 authors missing 0.10"),
    usual(Theme::Missing, "30 % missing, s₀ = .95", "normal 0.95 authors missing 0.30"),
    usual(Theme::Missing, "10 % missing, s₀ = .80", "normal 0.80 authors missing 0.10"),
    usual(Theme::Missing, "30 % missing, s₀ = .80", "normal 0.80 authors missing 0.30"),
    sized(Theme::Size, "n = 10, k = 2, s₀ = .95", "normal 0.95 authors", 10, 2),
    sized(Theme::Size, "n = 50, k = 5, s₀ = .95", "normal 0.95 authors", 50, 5),
    sized(Theme::Size, "n = 50, k = 5, s₀ = .80", "normal 0.80 authors", 50, 5),
    sized(Theme::Size, "n = 100, k = 10, s₀ = .95", "normal 0.95 authors", 100, 10),
    sized(Theme::Size, "n = 200, k = 10, s₀ = .95", "normal 0.95 authors", 200, 10),
    sized(Theme::Size, "n = 450, k = 10, s₀ = .95", "normal 0.95 authors", 450, 10),
];

#[cfg(test)]
mod tests {
    use super::*;
    use denise_data::generator::{Holes, Kind};
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_is_understood_and_only_missing_entries_are_missing() {
        for scenario in ALL {
            let kind: Kind = scenario.kind.parse().unwrap();
            let missing = scenario.theme == Theme::Missing;
            assert_eq!(kind.holes != Holes::None, missing, "{}", scenario.name);
            assert!(scenario.k < scenario.n);
        }
        let names: BTreeSet<&str> = ALL.iter().map(|x| x.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.is_sorted_by_key(|x| x.theme));
    }
}
