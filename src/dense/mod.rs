//! Stacks of dense layers, such as the paper's own network.

mod network;
mod reference;

pub use network::{Activation, Layer, Network};
