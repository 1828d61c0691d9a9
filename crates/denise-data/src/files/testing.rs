//! What the tests of all readers use.

use super::FileError;
use crate::random::Random;
use std::fs;
use std::path::PathBuf;

/// A directory of its own for one test, removed at the end.
pub(super) struct Scratch(pub(super) PathBuf);

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
        "1", "-2.5", ",", ";", "\t", " ", "\n", "\n\n", "\"", "\"\"", "#", "é", "nan", "a", "\r",
        "a,b\n",
    ];
    let mut random = Random::new(1);
    let mut piece = move || pieces[random.below(pieces.len())];
    (0..20_000).map(move |_| (0..12).map(|_| piece()).collect())
}
