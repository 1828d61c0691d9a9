//! Stacks of dense layers, such as the paper's own network.

mod network;
#[cfg(feature = "onnx")]
pub mod onnx;
mod reference;

pub use network::{Activation, Layer, Network};
