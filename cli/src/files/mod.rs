//! Matrices from files, and files written whole or not at all.

pub(crate) mod csv;
pub(crate) mod npy;
pub(crate) mod prices;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A stack of square matrices, row-major, one after the other. All values that [`read`] and
/// [`prices::windows`] return are finite, and there is at least one matrix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stack {
    /// Rows and columns of each matrix.
    pub(crate) n: usize,
    /// All entries.
    pub(crate) values: Vec<f64>,
}

impl Stack {
    /// How many matrices there are.
    pub(crate) fn count(&self) -> usize {
        self.iter().len()
    }

    /// The matrices, each as n·n entries.
    pub(crate) fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        // A chunk must not be empty; n = 0 has no entries, hence no chunks.
        self.values.chunks_exact((self.n * self.n).max(1))
    }
}

/// Reads one matrix or a stack of them from a `.npy`, `.csv` or `.csv.gz` file.
pub(crate) fn read(path: &Path) -> Result<Stack, FileError> {
    if Format::of(path).is_none() {
        return Err(unknown(path));
    }
    parse(path, contents(path)?)
}

/// The same from what the file holds; its name tells the format.
pub(crate) fn parse(path: &Path, bytes: Vec<u8>) -> Result<Stack, FileError> {
    match Format::of(path) {
        Some(Format::Npy) => npy::parse(path, &bytes),
        Some(Format::Csv | Format::CsvGz) => csv::parse(path, bytes),
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

/// What is wrong with a file, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileError {
    path: PathBuf,
    /// Line and, if one cell is to blame, its number in the line. Both count from 1.
    place: Option<(usize, Option<usize>)>,
    message: String,
}

impl FileError {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> FileError {
        FileError {
            path: path.to_owned(),
            place: None,
            message: message.into(),
        }
    }

    pub(crate) fn io(path: &Path, doing: &str, error: &io::Error) -> FileError {
        FileError::new(path, format!("cannot {doing}: {error}"))
    }

    fn at_line(self, line: usize) -> FileError {
        FileError {
            place: Some((line, None)),
            ..self
        }
    }

    fn at_cell(self, line: usize, cell: usize) -> FileError {
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

/// Writes a file through a temporary one beside it, so that nobody ever sees half a file.
pub(crate) fn replace(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    let result = match fs::metadata(path) {
        // A pipe or a device such as /dev/stdout is written to; it must not be renamed away.
        Ok(meta) if !meta.is_file() => File::create(path).and_then(|file| finish(file, fill)),
        // The file behind a symbolic link is replaced, not the link.
        Ok(_) => fs::canonicalize(path).and_then(|target| swap(&target, fill)),
        Err(_) => swap(path, fill),
    };
    result.map_err(|error| FileError::io(path, "write", &error))
}

fn swap(target: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::other("this is not the name of a file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    let temporary = target.with_file_name(hidden);
    let result = File::create(&temporary)
        .and_then(|file| {
            let written = finish(&file, fill);
            // Without this a power cut can leave the new name on an empty file.
            written.and_then(|()| file.sync_all())
        })
        .and_then(|()| fs::rename(&temporary, target));
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn finish(file: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    fill(&mut out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of its own for one test, removed at the end.
    pub(super) struct Scratch(PathBuf);

    impl Scratch {
        pub(super) fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("denise-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }

        pub(super) fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        pub(super) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
            let path = self.path(name);
            fs::write(&path, bytes).unwrap();
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// The message without the directory, which differs between runs.
    pub(super) fn message(error: &FileError) -> String {
        let short = FileError {
            path: error.path.file_name().unwrap().into(),
            ..error.clone()
        };
        short.to_string()
    }

    /// Texts that are nearly tables.
    pub(super) fn garbage() -> impl Iterator<Item = String> {
        let pieces = [
            "1", "-2.5", ",", ";", "\t", " ", "\n", "\n\n", "\"", "\"\"", "#", "é", "nan", "a",
            "\r", "a,b\n",
        ];
        let mut state = 1_u64;
        let mut piece = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            pieces[(state >> 60) as usize]
        };
        (0..20_000).map(move |_| (0..12).map(|_| piece()).collect())
    }

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

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let scratch = Scratch::new("replace");
        let path = scratch.file("a.txt", "old");
        let failed = replace(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("on purpose"))
        });
        assert!(failed.unwrap_err().to_string().contains("on purpose"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        replace(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn links_and_devices_survive_a_write() {
        let scratch = Scratch::new("links");
        let path = scratch.file("real", "old");
        let link = scratch.path("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        replace(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
