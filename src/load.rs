//! From the bytes of a file to a network: the one place that knows every kind of file.

use crate::dense;
use crate::status::{Error, Status};
use crate::unrolled;
use std::io::Read;
use std::path::Path;

/// Largest model file in bytes.
const MAX_FILE: u64 = 1 << 30;

/// A network as a file describes it.
pub(crate) enum Loaded {
    Unrolled(unrolled::File),
    /// No file of this kind can be read yet.
    #[allow(dead_code, reason = "what the loader of foreign files will give")]
    Dense(dense::Network),
}

impl Loaded {
    /// The network built into the library.
    pub(crate) fn builtin() -> Result<Loaded, Error> {
        unrolled::File::builtin().map(Loaded::Unrolled)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Loaded, Error> {
        unrolled::File::read(bytes).map(Loaded::Unrolled)
    }
}

/// Reads a file. What is not a regular file may have no end, and is refused.
pub(crate) fn whole_file(path: &Path) -> Result<Vec<u8>, Error> {
    let io = |reason| Error::new(Status::Io, format!("{reason}"));
    // Asked before it is opened, which can block.
    let about = std::fs::metadata(path).map_err(io)?;
    if !about.is_file() {
        return Err(Error::new(Status::Io, "not a regular file"));
    }
    if about.len() > MAX_FILE {
        let message = format!("{} bytes; the most is {MAX_FILE}", about.len());
        return Err(Error::new(Status::Unsupported, message));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(about.len() as usize)?;
    let file = std::fs::File::open(path).map_err(io)?;
    // It may have grown since.
    let most = about.len();
    file.take(most).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}
