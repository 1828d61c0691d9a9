//! From the bytes of a file to a network: the one place that knows every kind of file.

#[cfg(feature = "onnx")]
use crate::batch::Outputs;
#[cfg(feature = "onnx")]
use crate::dense;
#[cfg(feature = "onnx")]
use crate::memory;
use crate::model::Model;
#[cfg(feature = "onnx")]
use crate::onnx;
use crate::options::Options;
use crate::status::{Error, Status};
use crate::unrolled;
use std::io::{self, Read};
use std::path::Path;

/// Largest model file in bytes.
const MAX_FILE: u64 = 1 << 30;

/// A network as a file describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum File {
    /// An unrolled network, as the program denise writes it.
    Unrolled(unrolled::File),
    /// A stack of dense layers.
    #[cfg(feature = "onnx")]
    Dense(dense::Network),
}

impl File {
    /// The network built into the library.
    pub fn builtin() -> Result<File, Error> {
        unrolled::File::builtin().map(File::Unrolled)
    }

    /// A network built into the library, by its name: "default", or "fast", which takes two thirds of the time and is
    /// less accurate. `None` if there is none of that name.
    pub fn named(name: &str) -> Option<Result<File, Error>> {
        let file = unrolled::File::named(name)?;
        Some(file.map(File::Unrolled))
    }

    /// A network from an ONNX file, or one that is built in if `path` is its name. (A file of such a name is "./fast".)
    pub fn open(path: impl AsRef<Path>) -> Result<File, Error> {
        let path = path.as_ref();
        if let Some(file) = path.to_str().and_then(File::named) {
            return file;
        }
        File::read(&File::bytes(path)?).map_err(|error| about(path, error))
    }

    /// The bytes of a file, which may be a network's: of a regular file that is not too large.
    pub fn bytes(path: impl AsRef<Path>) -> Result<Vec<u8>, Error> {
        let path = path.as_ref();
        whole_file(path).map_err(|error| about(path, error))
    }

    /// From the bytes of a file. What the library will compute is compared with what the graph in the file
    /// computes, on a few matrices; a file in which the two differ is refused. (Without the feature `onnx` there is
    /// nothing to compare with, and dense networks are not read.)
    pub fn read(bytes: &[u8]) -> Result<File, Error> {
        match unrolled::File::read(bytes) {
            Ok(file) => {
                compare_unrolled(bytes, &file)?;
                Ok(File::Unrolled(file))
            }
            // An ONNX model of another kind.
            Err(error) if error.status == Status::Unsupported => read_dense(bytes, error),
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
    let model = Model::unrolled(file.stages(), &options)?;
    let mut enough = Ok(());
    let outcome = onnx::check_unrolled(bytes, file.n, file.k, |m| {
        let mut l = zeros(m.len(), &mut enough);
        let out = Outputs {
            l: Some(&mut l),
            ..Outputs::default()
        };
        // The samples are finite and of the right size.
        let _ = model.decompose(m, out);
        l
    });
    // A graph too large to be compared within a second is taken at its word.
    enough.and(outcome.map(drop))
}

/// `len` zeros; none, and an error to be returned, if there is no memory for them.
#[cfg(feature = "onnx")]
fn zeros(len: usize, enough: &mut Result<(), Error>) -> Vec<f32> {
    memory::filled(len, 0.0).unwrap_or_else(|error| {
        *enough = Err(error);
        Vec::new()
    })
}

#[cfg(not(feature = "onnx"))]
fn compare_unrolled(_bytes: &[u8], _file: &unrolled::File) -> Result<(), Error> {
    Ok(())
}

#[cfg(feature = "onnx")]
fn read_dense(bytes: &[u8], _reason: Error) -> Result<File, Error> {
    let found = onnx::read(bytes)?;
    let options = Options {
        max_concurrency: 1,
        ..Options::default()
    };
    let model = Model::dense(found.network(), &options)?;
    let mut enough = Ok(());
    let outcome = found.check(|m| {
        let mut u = zeros(model.n() * model.k(), &mut enough);
        let out = Outputs {
            u: Some(&mut u),
            ..Outputs::default()
        };
        let _ = model.decompose(m, out);
        u
    });
    enough.and(outcome)?;
    Ok(File::Dense(found.into_network()))
}

#[cfg(not(feature = "onnx"))]
fn read_dense(_bytes: &[u8], reason: Error) -> Result<File, Error> {
    let message = format_args!("{reason}; this build reads no others (feature onnx)");
    Err(Error::format(Status::Unsupported, message))
}

impl Model {
    /// A network from an ONNX file, or by its name; [`File::open`] says which.
    pub fn load(path: impl AsRef<Path>, options: &Options) -> Result<Model, Error> {
        Model::new(&File::open(path)?, options)
    }

    /// A network from the bytes of a file.
    pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Model, Error> {
        Model::new(&File::read(bytes)?, options)
    }

    /// A network that a file describes.
    pub fn new(file: &File, options: &Options) -> Result<Model, Error> {
        match file {
            File::Unrolled(file) => {
                // Any size will do; the file's own is what it was trained for.
                let or = |size: usize, own: usize| if size == 0 { own } else { size };
                let options = Options {
                    n: or(options.n, file.n),
                    k: or(options.k, file.k),
                    ..*options
                };
                Model::unrolled(file.stages(), &options)
            }
            #[cfg(feature = "onnx")]
            File::Dense(network) => Model::dense(network, options),
        }
    }
}

/// An error, with the file that it is about.
fn about(path: &Path, error: Error) -> Error {
    Error::format(error.status, format_args!("{}: {error}", path.display()))
}

/// The bytes of a file. They are read, not mapped: a file that shrinks meanwhile is a shorter one, and no fault.
/// What is not a regular file may have no end, and is refused.
fn whole_file(path: &Path) -> Result<Vec<u8>, Error> {
    let file = open(path)?;
    let about = file.metadata().map_err(io_error)?;
    if !about.is_file() {
        return Err(not_regular());
    }
    if about.len() > MAX_FILE {
        let message = format_args!("{} bytes; the most is {MAX_FILE}", about.len());
        return Err(Error::format(Status::Unsupported, message));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(about.len() as usize)?;
    // It may grow meanwhile.
    file.take(about.len())
        .read_to_end(&mut bytes)
        .map_err(io_error)?;
    Ok(bytes)
}

fn not_regular() -> Error {
    Error::new(Status::Io, "not a regular file")
}

/// In words that need no memory, which the standard library's do.
fn io_error(error: io::Error) -> Error {
    let reason = match error.kind() {
        io::ErrorKind::OutOfMemory => return Error::from(Status::Memory),
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::PermissionDenied => "this user may not read the file",
        _ => "the file cannot be read",
    };
    let code = error.raw_os_error().unwrap_or(0);
    Error::format(Status::Io, format_args!("{reason} (system error {code})"))
}

/// Opens a regular file. By the system's own call: the standard library's allocates for long names.
#[cfg(all(target_os = "linux", not(miri)))]
fn open(path: &Path) -> Result<std::fs::File, Error> {
    use std::os::{fd::FromRawFd, unix::ffi::OsStrExt};
    let path = path.as_os_str().as_bytes();
    let mut name = Vec::new();
    name.try_reserve_exact(path.len() + 1)?;
    name.extend_from_slice(path);
    name.push(0);
    let name = core::ffi::CStr::from_bytes_with_nul(&name)
        .map_err(|_| Error::new(Status::Argument, "the file's name has a zero byte"))?;
    // SAFETY: a terminated string, and a structure of which every bit pattern is valid.
    let (outcome, about) = unsafe {
        let mut about: libc::stat64 = core::mem::zeroed();
        (libc::stat64(name.as_ptr(), &mut about), about)
    };
    if outcome != 0 {
        return Err(io_error(io::Error::last_os_error()));
    }
    // Asked before it is opened, which wakes whoever is at the other end of a pipe.
    if about.st_mode & libc::S_IFMT != libc::S_IFREG {
        return Err(not_regular());
    }
    // Without waiting, should it have become a pipe since.
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
    // SAFETY: a terminated string.
    let file = unsafe { libc::open64(name.as_ptr(), flags) };
    if file < 0 {
        return Err(io_error(io::Error::last_os_error()));
    }
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { std::fs::File::from_raw_fd(file) })
}

#[cfg(all(windows, not(miri)))]
mod windows;
#[cfg(all(windows, not(miri)))]
use windows::open;

/// Opens a regular file.
#[cfg(any(not(any(target_os = "linux", windows)), miri))]
fn open(path: &Path) -> Result<std::fs::File, Error> {
    // Asked before it is opened, which can block.
    if !std::fs::metadata(path).map_err(io_error)?.is_file() {
        return Err(not_regular());
    }
    std::fs::File::open(path).map_err(io_error)
}
