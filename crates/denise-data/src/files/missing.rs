//! Numbers that a file does not have.

/// What stands in a cell whose number is missing.
const WORDS: [&str; 6] = ["", "NA", "NaN", "null", "N/A", "#N/A"];

/// Whether a cell says that its number is missing.
pub(super) fn is_missing(cell: &str) -> bool {
    WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// What a reader of matrices does with a number that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gaps {
    /// Reports it as an error.
    Refuse,
    /// Takes it as NaN: not known.
    Keep,
}
