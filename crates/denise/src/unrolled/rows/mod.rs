//! Algebra on rows of U, k numbers at a time.
//!
//! A "row" here is a row of vectors: row i of `W` matrices in the lanes shape, `W` rows of one matrix
//! in the single shape. The arithmetic is the same, so both shapes share this folder. Symmetric k×k
//! matrices are kept as their lower triangle.
//!
//! - `step`: how a layer moves the rows. `solve`: the k×k system of each row, of which the step is the solution.
//! - `leading`: the leading directions of a small matrix. `mix`: rows times a small matrix.
//! - `unmix`: the factor that the start ends with.
//!
//! What the network calls is not inlined: it exists once for every small k, and both shapes share that too.

mod leading;
mod mix;
mod solve;
mod step;
mod unmix;

pub(super) use leading::leading;
pub(super) use mix::mix;
pub(super) use step::{
    Advance, Moving, Step, Systems, Unsolved, factor_gram, products, squares, within,
};
pub(super) use unmix::unmix;
