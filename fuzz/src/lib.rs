//! What the fuzzer runs: one function per target, which takes any bytes and panics where the library breaks a promise.
//!
//! - [`load`]: model files through `denise_load_memory`.
//! - [`decompose`]: `denise_decompose_batch`, its double, and `denise_solve_batch`, with any numbers and buffers.
//! - [`covariance`]: covariances that can be inverted, products with them, and suggested ranks.
//! - [`stream`]: streams, with any returns, matrices and states.
//! - [`tables`]: the readers of CSV, NPY and price files of the program `denise`.
//!
//! The programs in `fuzz_targets` hand them libFuzzer's inputs; `tests/replay.rs` hands them every input that is kept.

mod abi;
mod bytes;
mod covariance;
mod decompose;
mod guarded;
mod load;
mod memory;
mod solve;
mod stream;
mod tables;
mod value;

pub use covariance::covariance;
pub use decompose::decompose;
pub use load::load;
pub use stream::stream;
pub use tables::tables;
