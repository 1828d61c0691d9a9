//! Where matrices come from: the program, the fuzzer and the tests of `denise` share it.
//!
//! - `files` (a feature): matrices as NumPy arrays and CSV, tables of prices and their windows.
//! - `generator` (a feature): the paper's synthetic matrices, of which the true split is known.
//! - [`random`], [`matrices`], [`protobuf`]: numbers, matrices and messages for tests, without dependencies.

#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "generator")]
pub mod generator;
pub mod matrices;
pub mod protobuf;
pub mod random;
