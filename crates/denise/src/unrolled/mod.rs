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
//! - `scale`, `units`, `start`, `fork`, `forward`, `report`: the way of one group of matrices, written once for both shapes.
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
mod fork;
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
/// Added to every threshold e², so that some weight is left even where L is zero.
pub const LEAST_THRESHOLD: f64 = 1e-20;
/// Layers that run on both starts, before these become one.
pub const FORKED: usize = 2;
/// Columns of the start beyond k: the eigenvalue after them, and not the one after k, decides how well the first k are
/// found.
pub const EXTRA: usize = 2;
/// How much of Ω is in the first directions: enough for what rounding leaves of it where M alone gives too few, and so
/// little that the order of the assets changes L by less than a thousandth.
pub const DIRECTION: f64 = 1.0 / 4096.0;
/// The eigenvalues that the start need not find reach so many standard deviations from their mean.
pub const SPREAD: f64 = 2.0;
/// No entry of the clipped M exceeds so many times the typical one.
pub const BOUND: f64 = 2.0;
/// The same bound for each of the further starts of the careful mode.
pub const CAREFUL: [f64; 3] = [4.0, 2.0, 1.0];
/// Where starts are compared, no |R_ij| counts with more than this share of a typical entry of M.
pub const CUT: f64 = 0.3;
/// A start that explains M better than the other by this share is taken alone.
pub const GATE: f64 = 0.1;
/// Least pivot of the Nyström core, relative to the sum of its diagonal's absolute values.
pub const NYSTROM_PIVOT: f64 = 1e-3;
/// Largest root-mean-square row norm of U that the start and the step limit allow; it is about 1 for any covariance.
pub const RMS_LIMIT: f64 = 2.5;
