//! Every input that is kept, through the same functions as the fuzzer's.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder beside this crate, in the order of their names.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    files
}

fn replay(target: fn(&[u8]), folders: &[&str]) {
    for folder in folders {
        for file in files(folder) {
            // Shown if the test fails: the last is the one to blame.
            println!("{}", file.display());
            target(&fs::read(file).unwrap());
        }
    }
}

/// One test, since the targets count the memory that the process uses.
#[test]
fn every_kept_input_passes() {
    let files = ["../tests/data/onnx", "../models"];
    replay(denise_fuzz::load, &files);
    replay(denise_fuzz::load, &["corpus/load", "regressions/load"]);
    replay(
        denise_fuzz::decompose,
        &["corpus/decompose", "regressions/decompose"],
    );
    replay(
        denise_fuzz::covariance,
        &["corpus/covariance", "regressions/covariance"],
    );
    replay(
        denise_fuzz::stream,
        &["corpus/stream", "regressions/stream"],
    );
    replay(
        denise_fuzz::tables,
        &["corpus/tables", "regressions/tables"],
    );
}
