//! Writes a network as an ONNX file that any runtime can run.
//!
//! The graph reads like the network: one node for the scale, one for rows of equal size, one for the start, one per
//! layer, one for the result. These nodes are of the project's own domain, and the file defines each of them as a
//! function of standard operators, which a runtime expands. The library reads only the metadata.
//!
//! - `write`: the file and its metadata. `graph`: the graph. `functions`: what its nodes mean.
//!   `balance` and `start`: those before the layers.
//! - `body`: builds a list of nodes. `proto`: the messages of the format.
//! - `dense`: the same for a stack of dense layers.
//! - `constants`: numbers that the library keeps to itself.

mod balance;
mod body;
mod constants;
mod dense;
mod functions;
mod graph;
mod proto;
mod start;
pub(crate) mod write;

pub(crate) use dense::write_dense;
pub(crate) use write::write;

#[cfg(test)]
mod tests;
