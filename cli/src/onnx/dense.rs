//! A stack of dense layers as an ONNX file: standard operators only.

use super::body::Body;
use super::proto::{Attribute, Entry, Graph, Model, OperatorSet, Tensor, Value};
use super::write::{check_metadata, own_metadata};
use denise::dense::{Activation, Network};
use denise_data::files::{FileError, replace};
use prost::Message;
use std::path::Path;

/// Writes the network from input M to outputs S and L. An existing file is replaced at once or not at all.
pub(crate) fn write_dense(
    path: &Path,
    network: &Network,
    metadata: &[(String, String)],
) -> Result<(), FileError> {
    let checked = network.check().map_err(|error| error.to_string());
    checked
        .and_then(|()| check_metadata(metadata))
        .map_err(|message| FileError::new(path, message))?;
    replace(path, |out| {
        out.write_all(&dense_to_bytes(network, metadata))
    })
}

/// The bytes of the file, for a network that is sound.
pub(super) fn dense_to_bytes(network: &Network, metadata: &[(String, String)]) -> Vec<u8> {
    let (n, k) = (network.n, network.k);
    let metadata = own_metadata("dense", n, k, [None, None, None], metadata);
    let model = Model {
        ir_version: 8,
        opset_import: vec![OperatorSet {
            domain: String::new(),
            version: 17,
        }],
        producer_name: "denise".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: format!(
            "Splits symmetric {n}x{n} matrices M, of which the lower triangle is read, into L + S: \
             L = U U^T of rank at most {k}."
        ),
        graph: Some(graph(network)),
        metadata_props: metadata.map(|(key, value)| Entry { key, value }).collect(),
        functions: Vec::new(),
    };
    model.encode_to_vec()
}

fn graph(network: &Network) -> Graph {
    let (n, k) = (network.n, network.k);
    let mut b = Body::default();
    let flat = b.reshape("M", 1, &[n * n]);
    let places = (0..n).flat_map(|i| (0..=i).map(move |j| (i * n + j) as i64));
    let places = b.list(&places.collect::<Vec<_>>());
    let mut x = b.op_with("Gather", &[&flat, &places], vec![Attribute::int("axis", 1)]);
    for layer in &network.layers {
        let size = [layer.inputs, layer.outputs];
        let weights = b.tensor(Tensor::floats(&size, &layer.weights));
        let bias = b.tensor(Tensor::floats(&[layer.outputs], &layer.bias));
        x = b.op("Gemm", &[&x, &weights, &bias]);
        let alpha = |value| vec![Attribute::float("alpha", value)];
        x = match layer.activation {
            Activation::Identity => x,
            Activation::Relu => b.op("Relu", &[&x]),
            Activation::LeakyRelu(slope) => b.op_with("LeakyRelu", &[&x], alpha(slope)),
            Activation::Elu(factor) => b.op_with("Elu", &[&x], alpha(factor)),
            Activation::Tanh => b.op("Tanh", &[&x]),
            Activation::Sigmoid => b.op("Sigmoid", &[&x]),
        };
    }
    let u = b.reshape(&x, 1, &[n, k]);
    let order = Attribute::ints("perm", &[0, 2, 1]);
    let transposed = b.op_with("Transpose", &[&u], vec![order]);
    let l = b.matmul(&u, &transposed);
    let s = b.sub("M", &l);
    b.give(&l, "L");
    b.give(&s, "S");
    Graph {
        node: b.into_nodes(),
        name: "denise".to_owned(),
        input: vec![Value::batch_of("M", n, n)],
        output: vec![Value::batch_of("S", n, n), Value::batch_of("L", n, n)],
    }
}
