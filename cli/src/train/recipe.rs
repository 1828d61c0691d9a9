//! What `denise train` draws unless told otherwise: matrices as wide as those that a user may have.

use super::synthetic::Matrices;
use denise_data::generator::Kind;

/// Most steps are on these, n = 20 and k = 3. A kind is named as its `Display` writes it.
const MAIN: [&str; 28] = [
    // The paper's tables, with the pairs of its authors' code.
    "normal 0.60 authors",
    "normal 0.70 authors",
    "normal 0.80 authors",
    "normal 0.90 authors",
    "normal 0.95 authors",
    "t:5 0.60 authors",
    "t:5 0.70 authors",
    "t:5 0.80 authors",
    "t:5 0.90 authors",
    "t:5 0.95 authors",
    // The pairs of the paper's text.
    "normal 0.60",
    "normal 0.70",
    "normal 0.80",
    "normal 0.90",
    "normal 0.95",
    // Outliers that own the leading eigenvectors, and ones that hardly show.
    "normal 0.95 authors amplitude 2",
    "normal 0.95 authors amplitude 5",
    "normal 0.95 authors amplitude 10",
    "normal 0.95 authors amplitude 30",
    "normal 0.80 authors amplitude 2",
    "normal 0.80 authors amplitude 5",
    "normal 0.80 authors amplitude 10",
    "normal 0.70 authors amplitude 0.3",
    // Factors of unequal strength, and a k that is not the rank of L₀.
    "normal 0.90 authors strength 100",
    "normal 0.90 authors rank +1",
    "normal 0.90 authors rank -2",
    // Nothing is exact.
    "sampled correlation",
    "sampled covariance",
];

/// The other sizes, which take turns in every fourth step. A pair of S₀ fills more of a small matrix, so that small
/// ones are split well only where S₀ has few.
const SMALL: [&str; 6] = [
    "normal 0.80 authors",
    "normal 0.90 authors",
    "normal 0.95",
    "t:5 0.90",
    "normal 0.95 authors amplitude 0.3..30",
    "sampled correlation",
];
const LARGE: [&str; 6] = [
    "normal 0.60 authors",
    "normal 0.80 authors",
    "normal 0.95 authors",
    "t:5 0.70",
    "normal 0.90 authors amplitude 0.3..30",
    "sampled correlation",
];
const OTHERS: [(usize, usize, [&str; 6]); 6] = [
    (8, 2, SMALL),
    (40, 10, LARGE),
    (10, 2, SMALL),
    (30, 5, LARGE),
    (12, 1, SMALL),
    (60, 5, LARGE),
];

/// Matrices of each kind in a step.
pub const EACH: usize = 10;

/// The kinds of most steps, for any size.
pub fn main() -> Vec<Kind> {
    read(&MAIN)
}

/// The other sizes.
pub fn others() -> Vec<Matrices> {
    let matrices = |&(n, k, ref kinds): &(usize, usize, [&str; 6])| Matrices {
        n,
        k,
        kinds: read(kinds),
    };
    OTHERS.iter().map(matrices).collect()
}

fn read(names: &[&str]) -> Vec<Kind> {
    let kinds = names.iter().map(|name| name.parse());
    kinds.collect::<Result<_, _>>().expect("a test reads all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_and_written_as_in_the_table() {
        let names = MAIN.iter().chain(&SMALL).chain(&LARGE);
        for (name, kind) in names.zip(main().iter().chain(&read(&SMALL)).chain(&read(&LARGE))) {
            assert_eq!(kind.to_string(), *name);
        }
        assert_eq!(others().len(), OTHERS.len());
    }
}
