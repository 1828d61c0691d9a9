//! The unrolled network: each layer is one damped step of a robust factorisation of M.
//!
//! What it is:
//! - [`reference`](mod@reference): the specification, readable, in `f64` on nalgebra.
//! - `layers`: the scalars of a layer. `omega`: the start directions. `file`: model files, and the built-in
//!   network.
//!
//! How it is computed:
//! - `network`: both precisions, for calls from many threads.
//! - `engine`: chooses the shape and the instruction set, and walks through a batch. `buffers`: the memory for that.
//!   `warm`: what the first call would otherwise wait for.
//! - `scale`, `units`, `balance`, `start`, `forward`, `report`: the way of one group of matrices, written once for both
//!   shapes.
//!   `missing`: entries that are not known. `canonical`: U as the caller gets it.
//! - `shape`: what a shape must do. `lanes` and `single`: the two shapes. One puts a matrix in each vector lane, the
//!   other puts a row in each lane. Both add in the same order, so they agree to the bit.
//! - `rows`: algebra on rows of U, which both shapes share. `rank`: loops for small k. `triangle` and `partial`: how
//!   triangles are stored and in which order sums are added, the same everywhere.

#![allow(
    clippy::needless_range_loop,
    reason = "kernels walk several arrays by one index, and iterators of vectors are not always inlined"
)]

mod ahead;
mod align;
mod balance;
mod buffers;
mod canonical;
mod engine;
mod file;
mod follow;
mod forward;
mod lanes;
mod layers;
mod missing;
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
mod warm;

pub use file::File;
pub use follow::{CHECK, CLEARLY};
#[cfg(test)]
pub(crate) use layers::builtin;
pub use layers::{Curvature, Layer, Stages};
pub(crate) use network::Network;
pub use omega::omega;

/// Added to A_i on the diagonal, relative to its trace: keeps the row systems well posed.
pub const RIDGE: f64 = 1e-4;
/// Added to every threshold e², so that some weight is left even where L is zero.
pub const LEAST_THRESHOLD: f64 = 1e-20;
/// Columns of the start beyond k: the eigenvalue after them, and not the one after k, decides how well the first k are
/// found.
pub const EXTRA: usize = 2;
/// How much of Ω is in the first directions: enough for what rounding leaves of it where M alone gives too few, and so
/// little that the order of the assets changes L by less than a thousandth.
pub const DIRECTION: f64 = 1.0 / 4096.0;
/// The eigenvalues that the start need not find reach so many standard deviations from their mean.
pub const SPREAD: f64 = 2.0;
/// Sweeps of Jacobi's rotations in the core of the start. Three give the same L to 1e-4.
pub const SWEEPS: usize = 2;
/// Where the sizes of rows are found, no entry counts with more than this: a typical one is about one there.
pub const TYPICAL: f64 = 2.0;
/// The sizes that rows are divided by are at least this, so that no product of two reciprocals overflows in `f32`. Only
/// rows of zeros, or of entries 1e-36 times smaller than others, come near it.
pub const LEAST_SIZE: f64 = 1e-18;
/// The start sees no entry that exceeds so many typical ones, for k = 3.
pub const BOUND: f64 = 1.8;
/// What the bounds of the start are multiplied by for each of the starts of the careful mode.
pub const CAREFUL: [f64; 4] = [1.0, 2.0, 0.5, 4.0];
/// Where starts are compared, no |R_ij| counts with more than this share of a typical entry.
pub const CUT: f64 = 0.3;
/// With correlations, an asset whose variance is not known gets the unit in which the mean |correlation| that is known
/// of it is this.
pub const USUAL_CORRELATION: f64 = 0.5;
/// Least pivot of the Nyström core, relative to the sum of its diagonal's absolute values.
pub const NYSTROM_PIVOT: f64 = 1e-3;
/// Largest root-mean-square row norm of U that the start and the step limit allow; it is about 1 for any covariance.
pub const RMS_LIMIT: f64 = 2.5;

/// The largest entries that the start sees, in units of a typical one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Off the diagonal.
    pub pair: f64,
    /// On it.
    pub own: f64,
}

/// The bounds for L of rank k. If rows of U have the same length and any direction, L_ii is a typical |L_ij| divided by
/// the mean |cosine| between two directions: 2 typical ones for k = 3, and more the more directions there are.
pub fn bounds(k: usize) -> Bounds {
    // To the power of 3/8, by roots: those have the same bits on every machine.
    let root = ((k + 1) as f64 / 4.0).sqrt().sqrt();
    let wide = root * root.sqrt();
    Bounds {
        pair: BOUND * wide,
        own: BOUND * wide * wide,
    }
}
