//! Which network a command uses.

use denise::unrolled::{self, Layer};
use std::error::Error;
use std::path::PathBuf;

/// The network.
#[derive(clap::Args, Clone, Debug)]
pub struct Model {
    /// A model file; without it, the network built into the library.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
}

impl Model {
    /// Its layers, and the n and k that it was trained for.
    pub fn load(&self) -> Result<unrolled::File, Box<dyn Error>> {
        let Some(path) = &self.model else {
            return Ok(unrolled::File::builtin()?);
        };
        let name = path.display();
        let bytes = std::fs::read(path).map_err(|e| format!("{name}: {e}"))?;
        unrolled::File::read(&bytes).map_err(|e| format!("{name}: {e}").into())
    }
}

/// "5 shared + 5 own".
pub fn describe(layers: &[Layer]) -> String {
    let shared = layers
        .iter()
        .filter(|x| x.curvature == unrolled::Curvature::Shared)
        .count();
    format!("{shared} shared + {} own", layers.len() - shared)
}
