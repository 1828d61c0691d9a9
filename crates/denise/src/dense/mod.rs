//! Stacks of dense layers, such as the paper's own network.
//!
//! - `network`: what such a stack is. `reference`: the specification, in `f64`.
//! - `packed`: the weights as the kernels read them; `pages`: in large pages. `stored`: the formats they are in; `half`:
//!   16-bit numbers, at half the size; `byte`: 8-bit numbers, at a quarter of it.
//! - `runs`, `rows` and `tiles`: the kernels. The first reads weights in long runs, for a few matrices. The
//!   others are for batches: `rows` adds the weights of the inputs that are not zero to the sums of one
//!   matrix; `tiles` multiplies all of them, for six matrices at once. All add in the same order, so they agree to the
//!   bit.
//! - `activation`: what happens to a finished sum.
//! - `forward`: carries a block of matrices through all layers, each of which threads may share. `engine`: walks through a batch. `shared`: for calls
//!   from many threads.

#![allow(
    clippy::needless_range_loop,
    reason = "kernels walk several arrays by one index, and iterators of vectors are not always inlined"
)]

mod activation;
mod byte;
mod engine;
mod forward;
mod half;
mod network;
mod packed;
mod pages;
mod reference;
mod rows;
mod runs;
#[cfg(test)]
mod samples;
mod shared;
mod stored;
mod tiles;

pub use network::{Activation, Layer, Network};
pub(crate) use shared::Shared;
