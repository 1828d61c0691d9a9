//! Where matrices come from: the program, the fuzzer and the tests of `denise` share it.
//!
//! - `files` (a feature): matrices as NumPy arrays and CSV, tables of prices and their windows.
//! - `generator` (a feature): the paper's synthetic matrices, of which the true split is known.

#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "generator")]
pub mod generator;
