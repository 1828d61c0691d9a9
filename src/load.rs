//! From the bytes of a file to a network: the one place that knows every kind of file.

#[cfg(feature = "onnx")]
use crate::batch::Outputs;
use crate::dense;
#[cfg(feature = "onnx")]
use crate::model::{Model, Options};
#[cfg(feature = "onnx")]
use crate::onnx;
use crate::status::{Error, Status};
use crate::unrolled;
use std::io::Read;
use std::path::Path;

/// Largest model file in bytes.
const MAX_FILE: u64 = 1 << 30;

/// A network as a file describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum File {
    /// An unrolled network, as the program denise writes it.
    Unrolled(unrolled::File),
    /// A stack of dense layers.
    Dense(dense::Network),
}

impl File {
    /// The network built into the library.
    pub fn builtin() -> Result<File, Error> {
        unrolled::File::builtin().map(File::Unrolled)
    }

    /// From the bytes of a file. What the library will compute is compared with what the graph in the file
    /// computes, on a few matrices; a file in which the two differ is refused. (Without the feature `onnx` there is nothing
    /// to compare with, and dense networks are not read.)
    pub fn read(bytes: &[u8]) -> Result<File, Error> {
        match unrolled::File::read(bytes) {
            Ok(file) => {
                compare_unrolled(bytes, &file)?;
                Ok(File::Unrolled(file))
            }
            // An ONNX model of another kind.
            Err(error) if error.status == Status::Unsupported => {
                read_dense(bytes, error).map(File::Dense)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(feature = "onnx")]
fn compare_unrolled(bytes: &[u8], file: &unrolled::File) -> Result<(), Error> {
    let options = Options {
        n: file.n,
        k: file.k,
        max_concurrency: 1,
        ..Options::default()
    };
    let model = Model::unrolled(&file.layers, &options)?;
    // A graph too large to be compared within a second is taken at its word.
    onnx::check_unrolled(bytes, file.n, file.k, |m| {
        let mut l = vec![0.0; m.len()];
        let out = Outputs {
            l: Some(&mut l),
            ..Outputs::default()
        };
        // The samples are finite and of the right size.
        let _ = model.decompose(m, out);
        l
    })?;
    Ok(())
}

#[cfg(not(feature = "onnx"))]
fn compare_unrolled(_bytes: &[u8], _file: &unrolled::File) -> Result<(), Error> {
    Ok(())
}

#[cfg(feature = "onnx")]
fn read_dense(bytes: &[u8], _reason: Error) -> Result<dense::Network, Error> {
    let found = onnx::read(bytes)?;
    let options = Options {
        max_concurrency: 1,
        ..Options::default()
    };
    let model = Model::dense(found.network(), &options)?;
    found.check(|m| {
        let mut u = vec![0.0; model.n() * model.k()];
        let out = Outputs {
            u: Some(&mut u),
            ..Outputs::default()
        };
        let _ = model.decompose(m, out);
        u
    })?;
    Ok(found.into_network())
}

#[cfg(not(feature = "onnx"))]
fn read_dense(_bytes: &[u8], reason: Error) -> Result<dense::Network, Error> {
    let message = format!("{reason}; this build reads no others (feature onnx)");
    Err(Error::new(Status::Unsupported, message))
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
