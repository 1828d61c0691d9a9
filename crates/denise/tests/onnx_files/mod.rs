//! ONNX files for tests: the exported ones of tests/data/onnx, and a writer of small ones of any kind.

#![allow(dead_code, reason = "each test program uses a part")]

pub(crate) use denise_data::protobuf::{field, int_field};

use std::fs;
use std::path::PathBuf;

/// The names of the exported files, but for one in double precision.
pub(crate) const FIXTURES: [&str; 13] = [
    "denise_mlp",
    "half",
    "keras_flat",
    "keras_gather_nd",
    "keras_paper",
    "torch_activations_dynamo",
    "torch_activations_legacy",
    "torch_batch_norm",
    "torch_matrix_dynamo",
    "torch_matrix_legacy",
    "torch_one_matrix",
    "torch_triangle_dynamo",
    "torch_triangle_legacy",
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/onnx")
        .join(name)
}

/// An exported file.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    fs::read(path(&format!("{name}.onnx"))).unwrap()
}

/// Named values, in the order of the file: M, then what onnxruntime made of it, again and again.
pub(crate) fn expected(name: &str) -> Vec<(String, Vec<f64>)> {
    let text = fs::read_to_string(path(&format!("{name}.txt"))).unwrap();
    let line = |line: &str| {
        let (name, numbers) = line.split_once(' ').unwrap();
        let numbers = numbers.split(' ').map(|x| x.parse().unwrap()).collect();
        (name.to_owned(), numbers)
    };
    text.lines().map(line).collect()
}

/// An attribute that is a whole number.
pub(crate) fn int(name: &str, value: i64) -> Vec<u8> {
    field(
        5,
        [field(1, name), int_field(3, value), int_field(20, 2)].concat(),
    )
}

/// A node; `attributes` are encoded.
pub(crate) fn node(
    op: &str,
    name: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[u8],
) -> Vec<u8> {
    let mut bytes: Vec<u8> = inputs.iter().flat_map(|name| field(1, name)).collect();
    bytes.extend(outputs.iter().flat_map(|name| field(2, name)));
    bytes.extend(field(3, name));
    bytes.extend(field(4, op));
    bytes.extend(attributes);
    field(1, bytes)
}

/// A tensor with any claim about its shape and type.
pub(crate) fn tensor(name: &str, dims: &[i64], kind: i64, raw: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = dims.iter().flat_map(|&size| int_field(1, size)).collect();
    bytes.extend(int_field(2, kind));
    bytes.extend(field(8, name));
    bytes.extend(field(9, raw));
    field(5, bytes)
}

/// A constant of floats, small and different.
pub(crate) fn floats(name: &str, dims: &[i64]) -> Vec<u8> {
    let count: i64 = dims.iter().product();
    let value = |i: i64| (i * 37 % 19 - 9) as f32 / 20.0;
    let raw: Vec<u8> = (0..count).flat_map(|i| value(i).to_le_bytes()).collect();
    tensor(name, dims, 1, &raw)
}

/// A constant of whole numbers.
pub(crate) fn ints(name: &str, dims: &[i64], values: &[i64]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    tensor(name, dims, 7, &raw)
}

/// An input (11) or output (12) with floats; a size of 0 is open.
pub(crate) fn port(tag: u64, name: &str, dims: &[i64]) -> Vec<u8> {
    let dim = |&size: &i64| match size {
        0 => field(1, field(2, "batch")),
        _ => field(1, int_field(1, size)),
    };
    let shape: Vec<u8> = dims.iter().flat_map(dim).collect();
    let tensor_type = [int_field(1, 1), field(2, shape)].concat();
    field(
        tag,
        [field(1, name), field(2, field(1, tensor_type))].concat(),
    )
}

/// A file with this graph.
pub(crate) fn model(graph: &[Vec<u8>]) -> Vec<u8> {
    model_with(graph, 17)
}

/// A file with this graph and this version of the operators.
pub(crate) fn model_with(graph: &[Vec<u8>], opset: i64) -> Vec<u8> {
    [
        int_field(1, 8),
        field(7, graph.concat()),
        field(8, int_field(2, opset)),
    ]
    .concat()
}

/// One layer from the triangle of a 3×3 matrix to U, 3×1: nodes, constants, input and output.
pub(crate) fn small() -> Vec<Vec<u8>> {
    vec![
        node("MatMul", "product", &["x", "w"], &["p"], &[]),
        node("Add", "sum", &["p", "b"], &["y"], &[]),
        floats("w", &[6, 3]),
        floats("b", &[3]),
        port(11, "x", &[0, 6]),
        port(12, "y", &[0, 3]),
    ]
}
