//! The memory that loading takes is bounded by the size of the file, whatever the file says.

#![cfg(feature = "onnx")]

mod onnx_files;

use denise::onnx::read;
use denise_data::protobuf::number;
use onnx_files::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the bytes in use on all threads.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::SeqCst) + bytes;
    MOST.fetch_max(now, Ordering::SeqCst);
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that reading a file takes at once.
fn peak(bytes: &[u8]) -> usize {
    let before = NOW.load(Ordering::SeqCst);
    MOST.store(before, Ordering::SeqCst);
    drop(read(bytes));
    MOST.load(Ordering::SeqCst) - before
}

/// A network with one hidden layer.
fn wide(n: i64, width: i64) -> Vec<u8> {
    let triangle = n * (n + 1) / 2;
    model(&[
        node("MatMul", "first", &["x", "w"], &["p"], &[]),
        node("Relu", "relu", &["p"], &["h"], &[]),
        node("MatMul", "second", &["h", "v"], &["y"], &[]),
        floats("w", &[triangle, width]),
        floats("v", &[width, n * 2]),
        port(11, "x", &[0, triangle]),
        port(12, "y", &[0, n, 2]),
    ])
}

/// What tract takes for itself, and small files may take.
const FLOOR: usize = 8 << 20;
const SHARE: usize = 12;

#[test]
fn memory_is_bounded_by_the_size_of_the_file() {
    // What is made once and kept.
    drop(read(&fixture("keras_paper")));
    let mut files: Vec<(String, Vec<u8>)> = FIXTURES
        .iter()
        .map(|name| (name.to_string(), fixture(name)))
        .collect();
    files.push(("large".to_owned(), wide(60, 2000)));
    files.push(("largest n".to_owned(), wide(512, 8)));
    let mut hostile =
        |name: &str, graph: Vec<Vec<u8>>| files.push((name.to_owned(), model(&graph)));
    // Many small parts of each kind.
    for tag in [1, 5, 11, 12, 13, 14, 15, 16] {
        let mut graph = small();
        graph.push(
            number(tag << 3 | 2)
                .into_iter()
                .chain([0])
                .collect::<Vec<u8>>()
                .repeat(500_000),
        );
        hostile(&format!("parts {tag}"), graph);
    }
    for tag in [1, 2, 5, 9] {
        let mut graph = small();
        graph.push(field(1, [(tag << 3 | 2) as u8, 0].repeat(500_000)));
        hostile(&format!("parts of a node {tag}"), graph);
    }
    let mut graph = small();
    let list = [
        field(1, "axes"),
        field(8, vec![1; 1_000_000]),
        int_field(20, 7),
    ]
    .concat();
    graph.push(node("Transpose", "t", &["p"], &["q"], &field(5, list)));
    hostile("a long list", graph);
    // Tensors that grow in every node, and many that stay.
    let mut graph = small();
    for i in 0..40 {
        let (from, to) = (format!("v{i}"), format!("v{}", i + 1));
        graph.push(node(
            "Concat",
            &to,
            &[&from, &from],
            &[&to],
            &int("axis", 0),
        ));
    }
    graph.push(floats("v0", &[10_000]));
    hostile("growing", graph);
    let mut graph = vec![
        port(11, "x", &[0, 512, 512]),
        port(12, "c0", &[0, 512, 512]),
        floats("w", &[300, 300]),
    ];
    for i in 0..1000 {
        let from = if i == 0 {
            "x".to_owned()
        } else {
            format!("c{}", i - 1)
        };
        graph.push(node("Identity", "", &[&from], &[&format!("c{i}")], &[]));
    }
    let names: Vec<String> = (0..1000).map(|i| format!("c{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    graph.push(node("Concat", "all", &names, &["z"], &int("axis", 0)));
    hostile("staying", graph);
    let mut graph = vec![
        port(11, "x", &[0, 512, 512]),
        port(12, "c999", &[0, 512, 512]),
        floats("w", &[300, 300]),
    ];
    for i in 0..1000 {
        let from = if i == 0 {
            "x".to_owned()
        } else {
            format!("c{}", i - 1)
        };
        graph.push(node("Relu", "", &[&from], &[&format!("c{i}")], &[]));
    }
    hostile("many functions", graph);
    let mut graph = small();
    graph.push(node("MatMul", "outer", &["column", "row"], &["q"], &[]));
    graph.push(floats("column", &[50_000, 1]));
    graph.push(floats("row", &[1, 50_000]));
    hostile("outer", graph);
    let mut graph = small();
    graph.push(node("Gather", "many", &["v", "i"], &["q"], &[]));
    graph.push(floats("v", &[1, 100_000]));
    graph.push(ints("i", &[10_000], &[0; 10_000]));
    hostile("gather", graph);

    for (name, bytes) in files {
        let peak = peak(&bytes);
        println!(
            "{name}: {} bytes, {peak} bytes at most, {:.1} times",
            bytes.len(),
            peak as f64 / bytes.len() as f64
        );
        assert!(
            peak <= FLOOR + SHARE * bytes.len(),
            "{name}: {peak} bytes for {} of a file",
            bytes.len()
        );
    }
}
