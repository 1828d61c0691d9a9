//! Which network a command uses.

use crate::train::{Dense, Learner, Unrolled};
use burn::tensor::Device;
use denise::unrolled::{self, Curvature, Layer};
use denise::{File, Options};
use std::error::Error;
use std::path::{Path, PathBuf};

/// The network.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Model {
    /// A model file, or the name of a network that is built in: "fast", or "default", which is used without this.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
}

/// A network that is ready to learn.
pub struct Pupil {
    /// The network.
    pub learner: Box<dyn Learner>,
    /// Rank of L: its own if no other was asked for.
    pub k: usize,
    /// A learning rate that suits it.
    pub rate: f64,
}

/// Largest learning rates for finetuning.
const UNROLLED_RATE: f64 = 0.03;
const DENSE_RATE: f64 = 1e-4;

impl Model {
    /// What the file says.
    pub fn read(&self) -> Result<File, Box<dyn Error>> {
        match &self.model {
            None => Ok(File::builtin()?),
            Some(path) => read(path),
        }
    }

    /// Ready for matrices of size n and rank k; without them, for the network's own.
    pub fn open(
        &self,
        n: Option<usize>,
        k: Option<usize>,
    ) -> Result<denise::Model, Box<dyn Error>> {
        self.open_for(&Options {
            n: n.unwrap_or(0),
            k: k.unwrap_or(0),
            ..Options::default()
        })
    }

    /// Ready for what the options say.
    pub fn open_for(&self, options: &Options) -> Result<denise::Model, Box<dyn Error>> {
        Ok(match &self.model {
            None => denise::Model::builtin(options)?,
            Some(path) => denise::Model::load(path, options)?,
        })
    }

    /// Ready to learn from matrices of size n.
    pub fn learner(
        &self,
        n: usize,
        k: Option<usize>,
        device: &Device,
    ) -> Result<Pupil, Box<dyn Error>> {
        let pupil = |learner, k, rate| Pupil { learner, k, rate };
        Ok(match self.read()? {
            File::Unrolled(file) => {
                let k = k.unwrap_or(file.k);
                let learner = Unrolled::new(file.stages(), &[(n, k)], device);
                pupil(Box::new(learner), k, UNROLLED_RATE)
            }
            File::Dense(network) => {
                let k = k.unwrap_or(network.k);
                pupil(Box::new(Dense::new(network, device)), k, DENSE_RATE)
            }
        })
    }
}

fn read(path: &Path) -> Result<File, Box<dyn Error>> {
    Ok(File::open(path)?)
}

/// An unrolled network in a file.
pub fn file_of(path: &Path) -> Result<unrolled::File, Box<dyn Error>> {
    match read(path)? {
        File::Unrolled(file) => Ok(file),
        File::Dense(_) => Err(format!("{}: not an unrolled network", path.display()).into()),
    }
}

/// "5 shared + 5 own".
pub fn describe(layers: &[Layer]) -> String {
    let shared = layers
        .iter()
        .filter(|x| x.curvature == Curvature::Shared)
        .count();
    format!("{shared} shared + {} own", layers.len() - shared)
}
