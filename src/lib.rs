//! Splits covariance matrices into a low-rank and a sparse part, in a few microseconds each.
//!
//! Map of the crate:
//! - [`Model`] is a loaded network, [`Outputs`] says what to compute, [`Error`] what went wrong.
//! - [`unrolled`] is the network: its specification in code, its weights, its kernels.
//! - `ffi` is the C ABI, in which everything above is `include/denise.h`.

mod batch;
mod challengers;
pub mod ffi;
mod model;
mod pool;
mod simd;
mod status;
pub mod unrolled;
mod workspaces;

pub use batch::{Outputs, Report};
pub use model::{Element, InstructionSet, MAX_K, MAX_N, Model, Options};
pub use status::{Error, Status};
