//! The unrolled network: each layer is one damped step of a robust factorisation of M.
//!
//! What it is:
//! - [`reference`](mod@reference): the specification, readable, in `f64` on nalgebra.
//! - `layers`: the seven scalars of a layer. `omega`: the start directions. `file`: model files, and the built-in
//!   network.
//!
//! How it is computed:
//! - `network`: both precisions, for calls from many threads.
//! - `engine`: chooses the shape and the instruction set, and walks through a batch. `buffers`: the memory for that.
//! - `scale`, `units`, `start`, `forward`, `report`: the way of one group of matrices, written once for both shapes.
//!   `canonical`: U as the caller gets it.
//! - `shape`: what a shape must do. `lanes` and `single`: the two shapes. One puts a matrix in each vector lane, the
//!   other puts a row in each lane. Both add in the same order, so they agree to the bit.
//! - `rows`: algebra on rows of U, which both shapes share. `rank`: loops for small k. `triangle` and `partial`: how
//!   triangles are stored and in which order sums are added, the same everywhere.

#![allow(
    clippy::needless_range_loop,
    reason = "kernels walk several arrays by one index, and iterators of vectors are not always inlined"
)]

mod buffers;
mod canonical;
mod engine;
mod file;
mod forward;
mod lanes;
mod layers;
mod network;
mod omega;
mod partial;
mod rank;
pub mod reference;
mod report;
mod rows;
mod scale;
mod shape;
mod single;
mod start;
mod triangle;
mod units;

pub use file::File;
#[cfg(test)]
pub(crate) use layers::builtin;
pub use layers::{Curvature, Layer};
pub(crate) use network::Network;
pub use omega::omega;

/// Added to A_i on the diagonal, relative to its trace: keeps the row systems well posed.
pub const RIDGE: f64 = 1e-4;
/// Rounds of orthogonal iteration before the first layer. With two, the start misses a direction of L in one
/// matrix out of a few hundred, from which layers rarely recover; from four on, more rounds change little.
pub const ROUNDS: usize = 4;
/// Added to the Gram matrix on the diagonal, relative to its trace, before its Cholesky factor is taken.
pub const GRAM_RIDGE: f64 = 1e-6;
/// Least pivot of the Nyström core, relative to the sum of its diagonal's absolute values.
pub const NYSTROM_PIVOT: f64 = 1e-3;
/// Largest root-mean-square row norm of U that the start and the step limit allow; it is about 1 for any covariance.
pub const RMS_LIMIT: f64 = 2.5;
