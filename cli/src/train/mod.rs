//! Training: gradient descent on the weights of a network.
//!
//! - A `Learner` is a network with free numbers: [`Unrolled`] or [`Dense`].
//! - A `Task` gives matrices and a loss: [`Synthetic`] or [`Unsupervised`].
//! - [`run()`] brings the two together.
//! - [`Following`] has sequences of matrices instead, through which the layers that follow a stream learn.

mod adam;
mod batch;
mod checkpoint;
mod dense;
mod follow;
mod learner;
pub mod recipe;
mod run;
mod synthetic;
mod unrolled;
mod unsupervised;
mod validate;

pub use dense::{Dense, Topology, random};
pub use follow::{Following, Sources, Trial, measure as measure_following, tables};
pub use learner::Learner;
pub use run::{Config, Keep, Outcome, Task, run, run_course};
pub use synthetic::{Loss, Matrices, Synthetic};
pub use unrolled::{Unrolled, initial, initial_follow, initial_mend, taking_back};
pub use unsupervised::{Unsupervised, mean_abs_s};
pub use validate::{Accuracy, measure};
