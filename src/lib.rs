//! Splits covariance matrices into a low-rank and a sparse part, in a few microseconds each.
//!
//! M = L + S, where L = UUᵀ has rank at most k and is positive semidefinite by construction, and S is sparse. A small frozen
//! network does it, whose layers are steps of a robust solver: the same weights for every n and k, and once a
//! [`Model`] is loaded, a call never allocates.
//!
//! ```
//! use denise::{Model, Options, Outputs};
//!
//! // Twenty assets that move as one, but for one pair. Only the lower triangle is read.
//! let mut m = [1.0_f32; 400];
//! m[5 * 20 + 2] = 1.5;
//! let (mut l, mut s) = ([0.0; 400], [0.0; 400]);
//! let model = Model::builtin(&Options::size(20, 1))?;
//! model.decompose(&m, Outputs::parts(&mut l, &mut s))?;
//! assert!((l[5 * 20 + 2] - 1.0).abs() < 1e-3);
//! assert!((s[5 * 20 + 2] - 0.5).abs() < 1e-3);
//! # Ok::<(), denise::Error>(())
//! ```
//!
//! Several matrices, one after another in a slice, are a batch, and cost less each. Networks of your own come from
//! files, [`Model::load`], or from weights, [`Model::unrolled`]. A model may be shared by any number of threads.
//!
//! The crate is first of all `libdenise.so`, a library with a C interface. C programmers read `include/denise.h`.
//!
//! # Map
//!
//! - [`Model`] is a loaded network, [`File`] what a model file says, [`Outputs`] says what to compute, [`Error`] what went wrong.
//! - [`unrolled`] is the network: its specification in code, its weights, its kernels.
//! - [`dense`] is the other kind of network: stacks of dense layers, such as the paper's.
//! - [`challengers`] are classical methods to compare with.
//! - `load` tells files apart; `onnx` reads those of other programs, and compares every file's graph with what will run.
//! - `memory` and `thread` are what loading uses in place of the standard library, which ends the process when memory
//!   runs out.
//! - [`mod@ffi`] is the C ABI, in which everything above is `include/denise.h`; `modes` are the host's floating-point
//!   modes, `last_error` why its last call failed.
//! - `pool` and `workspaces` are the threads and the memory of a model; `simd` is vectors and instruction sets.
//!
//! # Features
//!
//! - `onnx`, on by default: reads dense networks from ONNX files of other programs, and compares files with what will run. Without it
//!   the crate has three dependencies, and still runs the built-in network and files that the program denise wrote.

mod batch;
pub mod challengers;
pub mod dense;
pub mod ffi;
mod last_error;
mod load;
mod memory;
mod model;
mod modes;
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
