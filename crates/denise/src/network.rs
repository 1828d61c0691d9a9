//! What a model asks of a network, whatever its kind.

use crate::batch::Batch;
use crate::status::Status;
use core::ffi::CStr;

/// A network for one n and k, with working memory for as many calls at once as it was made for.
///
/// A model has one behind a pointer, so that a library that never makes a network of some kind has no code of it.
pub(crate) trait Network: Send + Sync {
    /// Splits a batch whose lengths have been checked.
    fn run_f32(&self, batch: Batch<'_, f32>) -> Result<(), Status>;
    /// The same in double precision.
    fn run_f64(&self, batch: Batch<'_, f64>) -> Result<(), Status>;
    /// Its kind, and the instruction set it runs on.
    fn kernel(&self) -> &'static CStr;
    /// How many matrices of a batch a thread should take at a time, if so many threads share it.
    fn share(&self, count: usize, threads: usize) -> usize;
}
