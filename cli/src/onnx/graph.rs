//! The graph: one node for each part of the network.

use super::body::Body;
use super::functions::{self, layer_name};
use super::proto::{Attribute, Graph, Tensor, Value};
use denise::unrolled::Layer;

/// The network from input M to outputs U, L and S.
pub(super) fn network(n: usize, k: usize, layers: &[Layer]) -> Graph {
    let mut b = Body::default();
    let index: Vec<i64> = (0..n as i64).collect();
    let row = b.tensor(Tensor::ints(&[n, 1], &index));
    let column = b.tensor(Tensor::ints(&[1, n], &index));
    let lower = b.op("GreaterOrEqual", &[&row, &column]);
    let diagonal = b.op("Equal", &[&row, &column]);

    b.call(
        "Normalise",
        &["M", &lower, &diagonal],
        &["symmetric", "normal", "scale"],
        Vec::new(),
    );
    b.call(
        "Balance",
        &["normal", &diagonal],
        &["balanced", "sizes", "clipped"],
        Vec::new(),
    );
    b.call("Start", &["clipped", &diagonal], &["U0"], Vec::new());
    // A node per layer, the first without momentum. No residual has been seen yet.
    let (mut u, mut mean) = ("U0".to_owned(), b.number(0.0));
    let mut previous = u.clone();
    for (t, layer) in layers.iter().enumerate() {
        let (next, next_mean) = (format!("U{}", t + 1), format!("U{}_mean", t + 1));
        b.call(
            layer_name(layer.curvature),
            &["balanced", &u, &previous, &mean, &diagonal],
            &[&next, &next_mean],
            weights(functions::weights(layers, layer.curvature), layer),
        );
        (previous, u, mean) = (u, next, next_mean);
    }
    b.call(
        "Finish",
        &["symmetric", "scale", "sizes", &u, &lower],
        &["U", "L", "S"],
        Vec::new(),
    );
    Graph {
        node: b.into_nodes(),
        name: "denise".to_owned(),
        input: vec![Value::batch_of("M", n, n)],
        output: vec![
            Value::batch_of("U", n, k),
            Value::batch_of("L", n, n),
            Value::batch_of("S", n, n),
        ],
    }
}

/// A layer's weights as attributes of its node.
fn weights(names: &[&str], layer: &Layer) -> Vec<Attribute> {
    names
        .iter()
        .zip(layer.weights())
        .map(|(name, x)| Attribute::float(name, x as f32))
        .collect()
}
