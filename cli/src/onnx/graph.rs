//! The graph: one node for each part of the network.

use super::body::Body;
use super::functions::{WEIGHTS, layer_name};
use super::proto::{Attribute, Graph, Tensor, Value};
use denise::unrolled::Layer;
use denise::unrolled::omega;

/// The network from input M to outputs U, L and S.
pub(super) fn network(n: usize, k: usize, layers: &[Layer]) -> Graph {
    let mut b = Body::default();
    let index: Vec<i64> = (0..n as i64).collect();
    let row = b.tensor(Tensor::ints(&[n, 1], &index));
    let column = b.tensor(Tensor::ints(&[1, n], &index));
    let lower = b.op("GreaterOrEqual", &[&row, &column]);
    let diagonal = b.op("Equal", &[&row, &column]);
    let omega: Vec<f32> = omega(n, k).map(|x| x as f32).collect();
    let omega = b.tensor(Tensor::floats(&[n, k], &omega));

    b.call(
        "Normalise",
        &["M", &lower, &diagonal],
        &["symmetric", "normal", "scale"],
        Vec::new(),
    );
    b.call("Start", &["normal", &omega], &["U0"], Vec::new());
    // Before the first layer there is no momentum, and no residual has been seen.
    let mut previous = "U0".to_owned();
    let mut u = previous.clone();
    let mut mean = b.number(0.0);
    for (t, layer) in layers.iter().enumerate() {
        let (next, next_mean) = (format!("U{}", t + 1), format!("m{}", t + 1));
        b.call(
            layer_name(layer.curvature),
            &["normal", &u, &previous, &mean, &diagonal],
            &[&next, &next_mean],
            weights(layer),
        );
        (previous, u, mean) = (u, next, next_mean);
    }
    b.call(
        "Finish",
        &["symmetric", "scale", &u, &lower],
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
fn weights(layer: &Layer) -> Vec<Attribute> {
    WEIGHTS
        .iter()
        .zip(layer.weights())
        .map(|(name, x)| Attribute::float(name, x as f32))
        .collect()
}
