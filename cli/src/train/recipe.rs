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

/// What the mending layers are trained on: holes at random, in blocks, and rows of which little is known.
const MEND: [&str; 24] = [
    "normal 0.95 authors missing 0.05",
    "normal 0.95 authors missing 0.10",
    "normal 0.95 authors missing 0.20",
    "normal 0.95 authors missing 0.30",
    "normal 0.95 authors missing 0.40",
    "normal 0.80 authors missing 0.05",
    "normal 0.80 authors missing 0.10",
    "normal 0.80 authors missing 0.30",
    "normal 0.60 authors missing 0.02..0.40",
    "normal 0.90 missing 0.02..0.40",
    "t:5 0.90 authors missing 0.10",
    "t:5 0.90 authors missing 0.30",
    "normal 0.95 authors amplitude 10 missing 0.20",
    "normal 0.95 authors missing groups 3",
    "normal 0.95 authors missing groups 10",
    "normal 0.95 authors missing groups 30",
    "normal 0.95 authors missing rows 1:6",
    "normal 0.95 authors missing rows 4:6",
    "normal 0.90 authors missing rows 6:10",
    "normal 0.95 authors missing variances 0.50",
    "normal 0.90 authors rank -2 missing 0.20",
    "sampled correlation missing 0.02..0.40",
    "sampled correlation missing groups 10",
    "sampled covariance missing rows 4:6",
];

/// The same for other sizes.
const MEND_SMALL: [&str; 4] = [
    "normal 0.95 authors missing 0.10",
    "normal 0.95 missing 0.30",
    "normal 0.95 authors missing rows 2:4",
    "sampled correlation missing 0.02..0.40",
];
const MEND_LARGE: [&str; 4] = [
    "normal 0.80 authors missing 0.02..0.40",
    "normal 0.95 authors missing 0.40",
    "normal 0.95 authors missing groups 40",
    "sampled correlation missing 0.02..0.40",
];
const MEND_OTHERS: [(usize, usize, [&str; 4]); 4] = [
    (10, 2, MEND_SMALL),
    (40, 8, MEND_LARGE),
    (12, 1, MEND_SMALL),
    (30, 5, MEND_LARGE),
];

/// Sizes n and ranks k of streams beside the one that is asked for.
pub const FOLLOW_OTHERS: [(usize, usize); 4] = [(20, 1), (20, 5), (12, 2), (40, 5)];

/// Matrices of each kind in a step.
pub const EACH: usize = 10;

/// The kinds of most steps, for any size.
pub fn main() -> Vec<Kind> {
    read(&MAIN)
}

/// The other sizes.
pub fn others() -> Vec<Matrices> {
    sizes(&OTHERS)
}

/// The kinds of most steps for mending layers, for any size.
pub fn mend() -> Vec<Kind> {
    read(&MEND)
}

/// The other sizes for them.
pub fn mend_others() -> Vec<Matrices> {
    sizes(&MEND_OTHERS)
}

/// A size n, a rank k and kinds in each row.
fn sizes<const KINDS: usize>(table: &[(usize, usize, [&str; KINDS])]) -> Vec<Matrices> {
    let rows = table.iter().map(|&(n, k, ref kinds)| Matrices {
        n,
        k,
        kinds: read(kinds),
    });
    rows.collect()
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
        let lists: [&[&str]; 6] = [&MAIN, &SMALL, &LARGE, &MEND, &MEND_SMALL, &MEND_LARGE];
        for names in lists {
            for (name, kind) in names.iter().zip(read(names)) {
                assert_eq!(kind.to_string(), *name);
            }
        }
        assert_eq!(others().len(), OTHERS.len());
        assert_eq!(mend_others().len(), MEND_OTHERS.len());
    }
}
