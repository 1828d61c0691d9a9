//! What a run needs to go on as if it had never stopped.
//!
//! The file is a line of JSON, then the numbers of the weights and the optimiser as they are in memory.

use super::adam::Adam;
use denise_data::files::{FileError, replace};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The state after some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The options of the run: another run's checkpoint is refused.
    pub config: String,
    /// Steps done.
    pub step: usize,
    /// How many numbers the learner has.
    numbers: usize,
    /// The numbers.
    #[serde(skip)]
    pub free: Vec<f64>,
    /// The optimiser.
    pub adam: Adam,
    /// What the loss remembers.
    pub memory: Vec<f64>,
    /// Best validation score.
    pub best_score: f64,
    /// When it was reached.
    pub best_step: usize,
    /// By which numbers.
    #[serde(skip)]
    pub best: Vec<f64>,
    /// Steps and losses so far.
    pub losses: Vec<(f64, f64)>,
    /// Steps and validation scores so far.
    pub scores: Vec<(f64, f64)>,
}

impl Checkpoint {
    /// Before the first step.
    pub fn new(config: &str, free: Vec<f64>) -> Checkpoint {
        Checkpoint {
            config: config.to_owned(),
            step: 0,
            numbers: free.len(),
            adam: Adam::new(free.len()),
            memory: Vec::new(),
            best_score: f64::MAX,
            best_step: 0,
            best: free.clone(),
            free,
            losses: Vec::new(),
            scores: Vec::new(),
        }
    }

    /// Replaces the old one, at once or not at all.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        replace(path, |out| {
            serde_json::to_writer(&mut *out, self)?;
            out.write_all(b"\n")?;
            for numbers in [&self.free, &self.best, &self.adam.first, &self.adam.second] {
                for x in numbers {
                    out.write_all(&x.to_le_bytes())?;
                }
            }
            Ok(())
        })
    }

    /// Reads one, if there is one.
    pub fn load(path: &Path) -> io::Result<Option<Checkpoint>> {
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        let mut file = BufReader::new(file);
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line)?;
        let mut state: Checkpoint = serde_json::from_slice(&line)?;
        // Nothing is allocated that the file does not hold.
        if length != line.len() as u64 + 4 * 8 * state.numbers as u64 {
            let message = "the checkpoint is damaged; remove it to start again";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let mut numbers = || -> io::Result<Vec<f64>> {
            let mut bytes = vec![0; 8 * state.numbers];
            file.read_exact(&mut bytes)?;
            let numbers = bytes.as_chunks().0.iter();
            Ok(numbers.map(|&x| f64::from_le_bytes(x)).collect())
        };
        (state.free, state.best) = (numbers()?, numbers()?);
        (state.adam.first, state.adam.second) = (numbers()?, numbers()?);
        Ok(Some(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_to_the_bit_and_damage_is_noticed() {
        let path = std::env::temp_dir().join(format!("denise-checkpoint-{}", std::process::id()));
        let mut state = Checkpoint::new("options", vec![0.1, -0.0, 1e-300]);
        state
            .adam
            .step(0.1, &[1.0 / 3.0, 2.0, -1e9], &mut state.free);
        state.scores.push((1.0, 0.1 + 0.2));
        state.save(&path).unwrap();
        assert_eq!(Checkpoint::load(&path).unwrap(), Some(state));
        let bytes = std::fs::read(&path).unwrap();
        for cut in [0, 5, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(Checkpoint::load(&path).is_err());
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Checkpoint::load(&path).unwrap(), None);
    }
}
