//! Splits covariance matrices into a low-rank and a sparse part, in a few microseconds each.
//!
//! M = L + S, where L = UUᵀ has rank at most k and is positive semidefinite by construction, and S is sparse. A small
//! frozen network does it, whose layers are steps of a robust solver: the same weights for every n and k, and once a
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
//! C and C++ programmers use the same as `libdenise.so`, whose reference is `include/denise.h`.
//!
//! # Map
//!
//! From the bottom up; nothing uses what stands after it, and a test sees to that.
//!
//! - `status`, `memory`, `wire` and `size`: errors, memory that may not be there, protobuf, limits.
//! - `simd`: vectors and instruction sets. `zeros`: working memory, touched now or later. `batch`: matrices and where their results go, cut in one place.
//! - `thread`, `pool` and `workspaces`: the threads and the memory of a model. `options`: what it is loaded for.
//!   `network`: what a model asks of a network. `tick`: a tick of streams. `checksum`: whether bytes are what they were.
//! - [`covariance`]: Σ = UUᵀ + diag(d), which can be inverted.
//! - `eigen`: the symmetric eigensolver. [`classical`]: methods to compare with. [`rank`]: which k.
//! - [`unrolled`]: the network: its specification in code, its weights, its kernels. [`dense`]: the other kind of
//!   network, stacks of dense layers, such as the paper's.
//! - `model`: a loaded network, [`Model`]. `stream`: returns in, splits out, [`Stream`].
//! - `onnx`: reads files of other programs, and compares every file's graph with what will run.
//! - `load`: tells files apart, [`File`].
//! - [`modes`], for bindings: the floating-point modes of a host. `zeros` is theirs to use as well.
//!
//! # Features
//!
//! - `onnx`, on by default: reads dense networks from ONNX files of other programs, and compares files with what will
//!   run. Without it the crate has three dependencies, and still runs the built-in network and files that the program
//!   denise wrote.

mod batch;
mod checksum;
pub mod classical;
pub mod covariance;
pub mod dense;
mod eigen;
mod load;
mod logarithm;
mod memory;
mod model;
pub mod modes;
mod network;
#[cfg(feature = "onnx")]
pub mod onnx;
mod options;
mod pool;
pub mod rank;
mod simd;
mod size;
mod status;
mod stream;
mod team;
mod thread;
mod tick;
pub mod unrolled;
mod wire;
mod workspaces;
mod worth;
#[doc(hidden)]
pub mod zeros;

pub use batch::{Outputs, Report};
pub use load::File;
pub use model::{Element, Model};
pub use options::{InstructionSet, Options};
pub use size::{MAX_K, MAX_N};
pub use status::{Error, Status};
pub use stream::{Stream, StreamOptions};
