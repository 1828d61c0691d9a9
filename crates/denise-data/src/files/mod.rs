//! Matrices from files, and files written whole or not at all.

mod csv;
mod error;
mod missing;
pub mod npy;
pub mod prices;
mod replace;
mod stack;
#[cfg(test)]
mod testing;

pub use error::FileError;
pub use replace::replace;
pub use stack::Stack;

use missing::Gaps;
use std::fs;
use std::path::Path;

/// Reads one matrix or a stack of them from a `.npy`, `.csv` or `.csv.gz` file.
pub fn read(path: &Path) -> Result<Stack, FileError> {
    open(path, Gaps::Refuse)
}

/// The same, but entries may be missing, and are NaN then. In a CSV file they are empty cells, or say NA, NaN, null,
/// N/A or #N/A.
pub fn read_with_gaps(path: &Path) -> Result<Stack, FileError> {
    open(path, Gaps::Keep)
}

/// [`read`] from what the file holds; its name tells the format.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Stack, FileError> {
    parse_as(path, bytes, Gaps::Refuse)
}

/// [`read_with_gaps`] from what the file holds.
pub fn parse_with_gaps(path: &Path, bytes: Vec<u8>) -> Result<Stack, FileError> {
    parse_as(path, bytes, Gaps::Keep)
}

fn open(path: &Path, gaps: Gaps) -> Result<Stack, FileError> {
    if Format::of(path).is_none() {
        return Err(unknown(path));
    }
    parse_as(path, contents(path)?, gaps)
}

fn parse_as(path: &Path, bytes: Vec<u8>, gaps: Gaps) -> Result<Stack, FileError> {
    match Format::of(path) {
        Some(Format::Npy) => npy::parse(path, &bytes, gaps),
        Some(Format::Csv | Format::CsvGz) => csv::parse(path, bytes, gaps),
        None => Err(unknown(path)),
    }
}

fn unknown(path: &Path) -> FileError {
    FileError::new(
        path,
        "cannot tell the format from the name; it must end in .npy, .csv or .csv.gz",
    )
}

fn contents(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(|error| FileError::io(path, "read", &error))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Csv,
    CsvGz,
}

impl Format {
    fn of(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        [
            (".npy", Format::Npy),
            (".csv", Format::Csv),
            (".csv.gz", Format::CsvGz),
        ]
        .into_iter()
        .find(|(end, _)| name.ends_with(end))
        .map(|(_, format)| format)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Scratch, message};
    use super::*;

    #[test]
    fn the_name_decides_the_format() {
        let scratch = Scratch::new("format");
        let path = scratch.file("m.CSV", "1,0\n0,1\n");
        assert_eq!(read(&path).unwrap().n, 2);
        let path = scratch.file("m.xlsx", "");
        let error = message(&read(&path).unwrap_err());
        assert!(error.contains("must end in .npy, .csv or .csv.gz"));
        let error = message(&read(&scratch.path("none.npy")).unwrap_err());
        assert!(error.starts_with("none.npy: cannot read: "), "{error}");
        assert!(read(Path::new("..")).is_err());
    }
}
