//! The C ABI of denise: `libdenise.so` and `libdenise.a`.
//!
//! Nothing here computes. Every function checks its arguments, turns pointers into slices and calls the Rust library,
//! `crates/denise`. cbindgen turns these files into `include/denise.h`, so comments on public items are written for C
//! programmers.
//!
//! One file per C type, in the order of the header: [`options`], [`method`], [`model`], [`report`], [`status`],
//! [`stream`]; then the functions that belong to none: [`decompose`], [`covariance`], [`rank`], [`solve`], [`version`]. Behind
//! them:
//!
//! - `buffers`: are pointers, sizes and overlaps right; buffers that are not aligned. `named`: the same for streams and
//!   covariances, whose buffers must be.
//! - `guard`: the only guard against unwinding, and the way from an error to a status.
//! - `last_error`: why the last call on a thread failed.
//! - `layout`: which header the caller was compiled with. `memory`: memory that may not be there. `pin`: stays loaded.

#![allow(non_camel_case_types)]
// Comments here are the header's, and say what a C caller must keep to.
#![allow(clippy::missing_safety_doc)]

mod buffers;
pub mod covariance;
pub mod decompose;
mod guard;
mod last_error;
mod layout;
mod memory;
pub mod method;
pub mod model;
mod named;
pub mod options;
#[cfg(windows)]
mod pin;
pub mod rank;
pub mod report;
pub mod solve;
pub mod status;
pub mod stream;
pub mod version;

pub use covariance::{
    denise_covariance_batch, denise_covariance_batch_f64, denise_covariance_from_u_batch,
    denise_covariance_from_u_batch_f64, denise_covariance_multiply_batch,
    denise_covariance_multiply_batch_f64, denise_covariance_solve_batch,
    denise_covariance_solve_batch_f64,
};
pub use decompose::{denise_decompose_batch, denise_decompose_batch_f64};
pub use method::*;
pub use model::{
    denise_free, denise_k, denise_kernel, denise_load, denise_load_memory, denise_model, denise_n,
};
pub use options::*;
pub use rank::denise_suggest_rank_batch;
pub use report::denise_report;
pub use solve::denise_solve_batch;
pub use status::*;
pub use stream::*;
pub use version::{denise_abi_version, denise_version};
