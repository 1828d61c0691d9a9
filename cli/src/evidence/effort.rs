//! How much is measured: all that time allows, or as much as shows that everything runs.

use super::column::Speed;

/// How many matrices there are of a kind, and which kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// For methods that take microseconds.
    pub fast: usize,
    /// For methods that take milliseconds.
    pub slow: usize,
    /// Where a dozen parameters are tried on each matrix.
    pub searched: usize,
    /// The largest n.
    pub largest: usize,
    /// Pairs of days of each panel.
    pub days: usize,
}

/// Of larger matrices there are fewer, but no fewer than this; half of it where parameters are tried.
const LEAST: usize = 4;
/// The size for which the numbers above are meant.
const USUAL: usize = 20;

impl Effort {
    /// For the page: some minutes.
    pub const FULL: Effort = Effort {
        fast: 2000,
        slow: 1000,
        searched: 200,
        largest: usize::MAX,
        days: 400,
    };
    /// Some seconds.
    pub const QUICK: Effort = Effort {
        fast: 30,
        slow: 8,
        searched: 2,
        largest: 50,
        days: 6,
    };

    /// Matrices of size n for a method.
    pub fn count(&self, speed: Speed, n: usize) -> usize {
        let (usual, least) = match speed {
            Speed::Fast => (self.fast, LEAST),
            Speed::Slow => (self.slow, LEAST),
            Speed::Searched => (self.searched, LEAST / 2),
        };
        // A step takes n³, but there are fewer steps where L is easier to find.
        let fewer = usual * USUAL * USUAL / (n * n).max(USUAL * USUAL);
        fewer.max(least).min(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_matrices_are_fewer_and_slow_methods_never_have_more_than_fast_ones() {
        for effort in [Effort::FULL, Effort::QUICK] {
            let mut before = [usize::MAX; 3];
            for n in [10, 20, 50, 450] {
                let counts = [Speed::Fast, Speed::Slow, Speed::Searched];
                let counts = counts.map(|speed| effort.count(speed, n));
                assert!(counts.is_sorted_by(|a, b| a >= b) && counts[2] >= 2);
                assert!(counts.iter().zip(before).all(|(now, then)| *now <= then));
                before = counts;
            }
        }
    }
}
