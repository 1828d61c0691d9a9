//! A network as the optimiser sees it.

use super::batch::Batch;
use burn::tensor::Tensor;
use denise_data::files::FileError;
use std::error::Error;
use std::path::Path;

/// What training can go wrong with.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Free numbers, from which the network gets its weights, and the way back for gradients.
pub trait Learner {
    /// The numbers that training starts from.
    fn initial(&self) -> Vec<f64>;

    /// Back into the ranges that the library accepts.
    fn confine(&self, free: &mut [f64]);

    /// The loss of a batch and its gradient by the free numbers. `loss` is given L̂, in units of each
    /// matrix's scale.
    fn gradient(
        &self,
        free: &[f64],
        batch: &Batch,
        loss: &mut dyn FnMut(Tensor<3>) -> Result<Tensor<1>>,
    ) -> Result<(f64, Vec<f64>)>;

    /// The network in the library.
    fn model(&self, free: &[f64], n: usize, k: usize) -> Result<denise::Model>;

    /// Writes the network, for matrices of size n and rank k, to a model file.
    fn write(
        &self,
        free: &[f64],
        n: usize,
        k: usize,
        path: &Path,
        metadata: &[(String, String)],
    ) -> std::result::Result<(), FileError>;
}
