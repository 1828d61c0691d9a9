//! Dependencies point one way: between the rooms of the library in the order below, and between the files of a room.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up. A room may use those that stand before it.
const ROOMS: [&str; 28] = [
    "status",
    "modes",
    "memory",
    "wire",
    "checksum",
    "size",
    "logarithm",
    "simd",
    "zeros",
    "batch",
    "tick",
    "thread",
    "team",
    "pool",
    "worth",
    "workspaces",
    "options",
    "network",
    "covariance",
    "eigen",
    "rank",
    "classical",
    "unrolled",
    "dense",
    "model",
    "stream",
    "onnx",
    "load",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every Rust file below `directory`.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of the library") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The modules that a file is: `src/unrolled/lanes/pack.rs` is `["unrolled", "lanes", "pack"]`.
fn modules(file: &Path) -> Vec<String> {
    let path = file
        .strip_prefix(source())
        .expect("below src")
        .with_extension("");
    let mut names: Vec<String> = path
        .iter()
        .map(|name| name.to_str().expect("our own names").to_owned())
        .collect();
    if names
        .last()
        .is_some_and(|name| name == "mod" || name == "lib")
    {
        names.pop();
    }
    names
}

/// What a file uses outside of its tests and comments, as paths from the root of the library.
fn uses(file: &Path, own: &[String]) -> BTreeSet<Vec<String>> {
    let text = fs::read_to_string(file).expect("readable");
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let mut found = BTreeSet::new();
    for line in text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
    {
        for (at, start) in [("crate::", 0), ("super::", 1)]
            .into_iter()
            .flat_map(|(prefix, up)| line.match_indices(prefix).map(move |(at, _)| (at, up)))
        {
            // `super::super::x` is found at its first `super`.
            if line[..at].ends_with("::") {
                continue;
            }
            let mut base = match start {
                0 => Vec::new(),
                _ => own.to_vec(),
            };
            let mut rest = &line[at..];
            while let Some(tail) = rest.strip_prefix("super::") {
                base.pop();
                rest = tail;
            }
            rest = rest.strip_prefix("crate::").unwrap_or(rest);
            for name in rest.split("::") {
                let name: String = name
                    .chars()
                    .take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '_')
                    .collect();
                if name.is_empty() {
                    break;
                }
                base.push(name);
            }
            found.insert(base);
        }
    }
    found
}

#[test]
fn rooms_use_only_those_below() {
    let mut all = Vec::new();
    files(&source(), &mut all);
    assert!(all.len() > 50, "where is the library?");
    let rank = |room: &str| ROOMS.iter().position(|name| *name == room);
    let mut wrong = Vec::new();
    for file in &all {
        let own = modules(file);
        let Some(room) = own.first() else { continue };
        let Some(place) = rank(room) else {
            panic!("{room} has no place among the rooms of tests/house.rs");
        };
        // A file of tests may use anything.
        if own.last().is_some_and(|name| name == "tests") {
            continue;
        }
        for used in uses(file, &own) {
            let Some(other) = used.first() else { continue };
            match rank(other) {
                Some(below) if below <= place => {}
                Some(_) => wrong.push(format!("{}: {room} uses {other}", file.display())),
                None => wrong.push(format!("{}: what is {other}?", file.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Files of a room, and the folders in it, do not use each other in circles.
#[test]
fn no_circles_inside_of_a_room() {
    let mut all = Vec::new();
    files(&source(), &mut all);
    for depth in 1..4 {
        // Which child of a folder uses which other child of it.
        let mut graph: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
        for file in &all {
            let own = modules(file);
            if own.len() <= depth || own.last().is_some_and(|name| name == "tests") {
                continue;
            }
            for used in uses(file, &own) {
                let same_folder = used.len() > depth && used[..depth] == own[..depth];
                if same_folder && used[depth] != own[depth] {
                    let edges = graph.entry(own[..=depth].to_vec()).or_default();
                    edges.insert(used[..=depth].to_vec());
                }
            }
        }
        // What uses nothing that is left goes, and so does what nothing uses; a circle remains.
        loop {
            let used: BTreeSet<_> = graph.values().flatten().cloned().collect();
            let before = graph.len();
            let left: BTreeSet<_> = graph.keys().cloned().collect();
            graph.retain(|name, uses| {
                used.contains(name) && uses.iter().any(|other| left.contains(other))
            });
            if graph.len() == before {
                break;
            }
        }
        let circle: Vec<String> = graph
            .iter()
            .flat_map(|(name, uses)| {
                uses.iter()
                    .map(|other| format!("{} -> {}", name.join("/"), other.join("/")))
            })
            .collect();
        assert!(circle.is_empty(), "in circles: {circle:#?}");
    }
}
