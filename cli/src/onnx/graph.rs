//! The graph: one node for each part of the network.

use super::body::{Body, Name};
use super::functions::{WEIGHTS, layer_name};
use super::proto::{Attribute, Graph, Tensor, Value};
use denise::unrolled::{FORKED, Layer};

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
        "Fork",
        &["normal", &diagonal],
        &["both", "starts", "usual"],
        Vec::new(),
    );
    b.call("Start", &["starts", &diagonal], &["V0"], Vec::new());
    let (forked, rest) = layers.split_at(FORKED.min(layers.len()));
    // No residual has been seen yet.
    let none = b.number(0.0);
    let begin = ("V0".to_owned(), none);
    let (both, means) = run(&mut b, ("both", &diagonal), ("V", 0), begin, forked);
    let u = format!("U{}", forked.len());
    let mean = format!("{u}_mean");
    b.call(
        "Join",
        &["normal", "usual", &both, &means, &diagonal],
        &[&u, &mean],
        Vec::new(),
    );
    let (u, _) = run(
        &mut b,
        ("normal", &diagonal),
        ("U", forked.len()),
        (u, mean),
        rest,
    );
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

/// A node per layer, the first without momentum. Takes and gives U and the mean |R_ij| that the layer before saw.
/// Values are named after how many layers came before, `done` to begin with.
fn run(
    b: &mut Body,
    (m, diagonal): (&str, &str),
    (letter, done): (&str, usize),
    (mut u, mut mean): (Name, Name),
    layers: &[Layer],
) -> (Name, Name) {
    let mut previous = u.clone();
    for (t, layer) in layers.iter().enumerate() {
        let t = done + t + 1;
        let (next, next_mean) = (format!("{letter}{t}"), format!("{letter}{t}_mean"));
        b.call(
            layer_name(layer.curvature),
            &[m, &u, &previous, &mean, diagonal],
            &[&next, &next_mean],
            weights(layer),
        );
        (previous, u, mean) = (u, next, next_mean);
    }
    (u, mean)
}

/// A layer's weights as attributes of its node.
fn weights(layer: &Layer) -> Vec<Attribute> {
    WEIGHTS
        .iter()
        .zip(layer.weights())
        .map(|(name, x)| Attribute::float(name, x as f32))
        .collect()
}
