//! Why a file cannot be read or written.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// What is wrong with a file, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    pub(super) path: PathBuf,
    /// Line and, if one cell is to blame, its number in the line. Both count from 1.
    pub(super) place: Option<(usize, Option<usize>)>,
    pub(super) message: String,
}

impl FileError {
    /// About the whole file.
    pub fn new(path: &Path, message: impl Into<String>) -> FileError {
        FileError {
            path: path.to_owned(),
            place: None,
            message: message.into(),
        }
    }

    /// What the system said while doing something, such as "read".
    pub fn io(path: &Path, doing: &str, error: &io::Error) -> FileError {
        FileError::new(path, format!("cannot {doing}: {error}"))
    }

    pub(super) fn at_line(self, line: usize) -> FileError {
        FileError {
            place: Some((line, None)),
            ..self
        }
    }

    pub(super) fn at_cell(self, line: usize, cell: usize) -> FileError {
        FileError {
            place: Some((line, Some(cell))),
            ..self
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match self.place {
            Some((line, Some(cell))) => write!(f, ":{line}:{cell}")?,
            Some((line, None)) => write!(f, ":{line}")?,
            None => {}
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for FileError {}
