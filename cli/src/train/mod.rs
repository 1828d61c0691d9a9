//! Training: gradient descent on the weights of the layers.

mod adam;
mod batch;
mod checkpoint;
mod graph;
mod run;
mod synthetic;
mod unsupervised;
mod validate;
mod weights;

pub use run::{Config, Keep, Outcome, run};
pub use synthetic::{Loss, Matrices, Synthetic};
pub use unsupervised::{Unsupervised, mean_abs_s};
pub use validate::{Accuracy, measure};
pub use weights::initial;
