//! What a run needs to go on as if it had never stopped.

use super::adam::Adam;
use super::weights::Free;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// The state after some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The options of the run: another run's checkpoint is refused.
    pub config: String,
    /// Steps done.
    pub step: usize,
    /// The weights.
    pub free: Vec<Free>,
    /// The optimiser.
    pub adam: Adam,
    /// What the loss remembers.
    pub memory: Vec<f64>,
    /// Best validation score, the weights that had it, and when.
    pub best: (f64, Vec<Free>, usize),
    /// Steps and losses so far.
    pub losses: Vec<(f64, f64)>,
    /// Steps and validation scores so far.
    pub scores: Vec<(f64, f64)>,
}

impl Checkpoint {
    /// Writes it beside the old one, then replaces that.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let beside = path.with_extension("new");
        std::fs::write(&beside, serde_json::to_vec(self)?)?;
        std::fs::rename(beside, path)
    }

    /// Reads one, if there is one.
    pub fn load(path: &Path) -> io::Result<Option<Checkpoint>> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
