//! Files written whole or not at all.

use super::FileError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file through a temporary one beside it, so that nobody ever sees half a file.
pub fn replace(
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
    use super::super::testing::Scratch;
    use super::*;

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
