//! Every input that is kept, through the same functions as the fuzzer's.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder beside this crate, in the order of their names.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// One test, since the targets count the memory that the process uses.
#[test]
fn every_kept_input_passes() {
    let load = [
        "corpus/load",
        "regressions/load",
        "../tests/data/onnx",
        "../models",
    ];
    let decompose = ["corpus/decompose", "regressions/decompose"];
    let tables = ["corpus/tables", "regressions/tables"];
    let targets: [(fn(&[u8]), &[&str]); 3] = [
        (denise_fuzz::load, &load),
        (denise_fuzz::decompose, &decompose),
        (denise_fuzz::tables, &tables),
    ];
    for (target, folders) in targets {
        for folder in folders {
            let files = files(folder);
            for file in &files {
                // Shown if the test fails: the last is the one to blame.
                println!("{}", file.display());
                target(&fs::read(file).unwrap());
            }
            println!("{folder}: {} files", files.len());
        }
    }
}
