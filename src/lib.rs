//! Splits covariance matrices into a low-rank and a sparse part, in a few microseconds each.
//!
//! Map of the crate:
//! - [`Model`] is a loaded network, [`File`] what a model file says, [`Outputs`] says what to compute, [`Error`] what went wrong.
//! - [`unrolled`] is the network: its specification in code, its weights, its kernels.
//! - [`dense`] is the other kind of network: stacks of dense layers, such as the paper's.
//! - [`challengers`] are classical methods to compare with.
//! - `load` tells files apart; `onnx` reads those of other programs, and compares every file's graph with what will run.
//! - `memory` and `thread` are what loading uses in place of the standard library, which ends the process when memory
//!   runs out.
//! - `ffi` is the C ABI, in which everything above is `include/denise.h`.

mod batch;
pub mod challengers;
pub mod dense;
pub mod ffi;
mod load;
mod memory;
mod model;
#[cfg(feature = "onnx")]
pub mod onnx;
mod pool;
mod simd;
mod status;
mod thread;
pub mod unrolled;
mod wire;
mod workspaces;

pub use batch::{Outputs, Report};
pub use load::File;
pub use model::{Element, InstructionSet, MAX_K, MAX_N, Model, Options};
pub use status::{Error, Status};
