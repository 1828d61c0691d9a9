//! Dense networks from ONNX files: what exporters write is read, everything else is refused with a reason.

#![cfg(feature = "onnx")]

mod onnx_files;

use denise::dense::Activation;
use denise::onnx::{OnnxModel, read};
use denise::{Error, Status};
use denise_data::random::Random;
use onnx_files::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn reference(model: &OnnxModel, m: &[f64]) -> Vec<f64> {
    model.network().reference(m)
}

/// Compares with tract by way of the reference.
fn check(model: &OnnxModel) -> Result<(), Error> {
    model.check(|m| {
        let m: Vec<f64> = m.iter().map(|&x| x.into()).collect();
        reference(model, &m).iter().map(|&x| x as f32).collect()
    })
}

fn load(bytes: &[u8]) -> Result<OnnxModel, Error> {
    let model = read(bytes)?;
    check(&model)?;
    Ok(model)
}

fn refused(bytes: &[u8]) -> Error {
    match load(bytes) {
        Ok(_) => panic!("must be refused"),
        Err(error) => error,
    }
}

#[track_caller]
fn refused_with(graph: &[Vec<u8>], status: Status, words: &[&str]) {
    let error = refused(&model(graph));
    assert_eq!(error.status, status, "{error}");
    for word in words {
        assert!(error.message.contains(word), "no {word}: {error}");
    }
}

/// L = UUᵀ.
fn low(u: &[f64], n: usize, k: usize) -> Vec<f64> {
    let entry = |e: usize| (0..k).map(|c| u[e / n * k + c] * u[e % n * k + c]).sum();
    (0..n * n).map(entry).collect()
}

#[test]
fn exported_files_give_what_onnxruntime_gives() {
    for name in FIXTURES {
        let model = load(&fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let network = model.network();
        assert_eq!((network.n, network.k), (6, 2), "{name}");
        let (mut m, mut compared) = (Vec::new(), 0);
        for (kind, values) in expected(name) {
            if kind == "M" {
                m = values;
                continue;
            }
            let u = reference(&model, &m);
            let found = match kind.as_str() {
                "U" => u,
                "L" => low(&u, 6, 2),
                _ => m.iter().zip(low(&u, 6, 2)).map(|(m, l)| m - l).collect(),
            };
            assert_eq!(found.len(), values.len(), "{name} {kind}");
            for (x, y) in found.iter().zip(&values) {
                assert!(
                    (x - y).abs() <= 1e-5 * y.abs().max(1.0),
                    "{name} {kind}: {x} {y}"
                );
            }
            compared += 1;
        }
        assert!(compared >= 3, "{name}");
    }
}

#[test]
fn layers_and_functions_are_those_of_the_exported_model() {
    let shape = |name: &str| -> Vec<(usize, usize)> {
        let layers = load(&fixture(name)).unwrap().into_network().layers;
        layers
            .iter()
            .map(|layer| (layer.inputs, layer.outputs))
            .collect()
    };
    assert_eq!(
        shape("keras_paper"),
        [(21, 40), (40, 8), (8, 8), (8, 8), (8, 12)]
    );
    assert_eq!(shape("torch_matrix_legacy"), [(21, 16), (16, 8), (8, 12)]);
    assert_eq!(
        shape("denise_mlp"),
        [(21, 42), (42, 42), (42, 42), (42, 12)]
    );
    for name in [
        "keras_flat",
        "torch_activations_legacy",
        "torch_activations_dynamo",
    ] {
        let layers = load(&fixture(name)).unwrap().into_network().layers;
        let functions: Vec<Activation> = layers.iter().map(|layer| layer.activation).collect();
        let all = [
            Activation::Elu(0.7),
            Activation::LeakyRelu(0.2),
            Activation::Tanh,
            Activation::Sigmoid,
            Activation::Identity,
        ];
        assert_eq!(functions, all, "{name}");
    }
    let clamp = load(&fixture("torch_one_matrix")).unwrap().into_network();
    assert_eq!(clamp.layers[0].activation, Activation::Relu);
}

#[test]
fn a_kernel_that_is_wrong_is_found() {
    let model = read(&fixture("keras_paper")).unwrap();
    check(&model).unwrap();
    let error = model
        .check(|m| {
            let m: Vec<f64> = m.iter().map(|&x| x.into()).collect();
            let mut u: Vec<f32> = reference(&model, &m).iter().map(|&x| x as f32).collect();
            u[7] += 1e-3;
            u
        })
        .unwrap_err();
    assert_eq!(error.status, Status::Internal);
    assert!(model.check(|_| Vec::new()).is_err());
    assert!(model.check(|_| vec![f32::NAN; 12]).is_err());
}

#[test]
fn both_halves_of_a_symmetric_matrix_count() {
    // A layer on all nine values of M.
    let graph = vec![
        node("Flatten", "flat", &["x"], &["f"], &[]),
        node("MatMul", "product", &["f", "w"], &["y"], &[]),
        floats("w", &[9, 3]),
        port(11, "x", &[0, 3, 3]),
        port(12, "y", &[0, 3]),
    ];
    let model = load(&model(&graph)).unwrap();
    let layer = &model.network().layers[0];
    let w = |row: i64, column: i64| ((row * 3 + column) * 37 % 19 - 9) as f32 / 20.0;
    // M_10 is the second value of the triangle; M_01 is the second value of M, M_10 the fourth.
    assert_eq!(layer.weights[3], w(1, 0) + w(3, 0));
    assert_eq!(layer.weights[0], w(0, 0));
}

#[test]
fn small_graphs_of_many_forms_are_read() {
    load(&model(&small())).unwrap();
    for opset in [9, 13, 18, 21] {
        load(&model_with(&small(), opset)).unwrap();
    }
    // Constants that are inputs too, as old exporters list them; no axis for a batch.
    let mut graph = small();
    graph.push(port(11, "w", &[6, 3]));
    graph[4] = port(11, "x", &[6]);
    load(&model(&graph)).unwrap();
    // W on the left of a column.
    let graph = vec![
        node("MatMul", "product", &["w", "x"], &["y"], &[]),
        floats("w", &[6, 6]),
        port(11, "x", &[6, 1]),
        port(12, "y", &[6, 1]),
    ];
    let network = load(&model(&graph)).unwrap().into_network();
    assert_eq!((network.n, network.k), (3, 2));
    // Its first column holds the weights of the first input.
    assert_eq!(network.layers[0].weights[..2], [-0.45, 0.2]);
}

#[test]
fn foreign_operators_are_named() {
    let mut bytes = fixture("keras_paper");
    let at = bytes.windows(6).position(|x| x == b"\x22\x04Relu").unwrap();
    bytes[at + 2..at + 6].copy_from_slice(b"Selu");
    let error = refused(&bytes);
    assert_eq!(error.status, Status::Unsupported);
    assert!(
        error.message.contains("Selu") && error.message.contains("re_lu_1/Relu"),
        "{error}"
    );

    let mut graph = small();
    graph[1] = node("Softmax", "last", &["p"], &["y"], &[]);
    refused_with(&graph, Status::Unsupported, &["Softmax", "last"]);
    let mut graph = small();
    graph[1] = node("Add", "skip", &["p", "p"], &["y"], &[]);
    refused_with(&graph, Status::Unsupported, &["Add", "skip"]);
    let mut graph = small();
    let own = [
        field(1, "p"),
        field(2, "y"),
        field(4, "Relu"),
        field(7, "com.example"),
    ]
    .concat();
    graph[1] = field(1, own);
    refused_with(&graph, Status::Unsupported, &["Relu", "com.example"]);
    let mut graph = small();
    graph[1] = node("Relu", "r", &["p"], &["y"], &int("inplace", 1));
    refused_with(&graph, Status::Unsupported, &["Relu", "inplace"]);
    // A graph inside of a node.
    let branch = field(
        5,
        [field(1, "body"), field(6, []), int_field(20, 5)].concat(),
    );
    let mut graph = small();
    graph[1] = node("Loop", "again", &["p"], &["y"], &branch);
    refused_with(&graph, Status::Unsupported, &["Loop", "again"]);
    // Functions, an unknown version of the operators, no version.
    let mut bytes = model(&small());
    bytes.extend(field(25, field(1, "f")));
    assert_eq!(refused(&bytes).status, Status::Unsupported);
    assert_eq!(
        refused(&model_with(&small(), 99)).status,
        Status::Unsupported
    );
    let bytes = [int_field(1, 8), field(7, small().concat())].concat();
    assert_eq!(refused(&bytes).status, Status::Format);
}

#[test]
fn weights_too_large_for_single_precision_are_refused() {
    // Found by fuzzing: every number fits into 32 bits, but L = UUᵀ does not, which the kernels take care of.
    let mut graph = small();
    let large: Vec<u8> = [1e28_f32, 0.0, 0.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    graph[3] = tensor("b", &[3], 1, &large);
    let error = denise::File::read(&model(&graph)).unwrap_err();
    assert_eq!(error.status, Status::Unsupported, "{error}");
    assert!(error.message.contains("so large"), "{error}");
}

#[test]
fn outputs_that_are_no_u_are_refused() {
    let with = |dims: &[i64], columns: i64| {
        let mut graph = small();
        graph[2] = floats("w", &[6, columns]);
        graph[3] = floats("b", &[columns]);
        graph.push(node("Reshape", "last", &["y", "shape"], &["z"], &[]));
        graph.push(ints("shape", &[dims.len() as i64], dims));
        graph[5] = port(12, "z", dims);
        graph
    };
    load(&model(&with(&[1, 3, 2], 6))).unwrap();
    load(&model(&with(&[6], 6))).unwrap();
    refused_with(&with(&[1, 2, 3], 6), Status::Unsupported, &["\"z\""]);
    refused_with(&with(&[5], 5), Status::Unsupported, &["\"z\""]);
    // k must be less than n.
    refused_with(&with(&[1, 3, 3], 9), Status::Unsupported, &["k = 3"]);
    // The same twice, none at all, one that no node gives.
    let mut graph = small();
    graph.push(port(12, "y", &[0, 3]));
    refused_with(&graph, Status::Unsupported, &["twice"]);
    refused_with(&small()[..5], Status::Unsupported, &["no output"]);
    let mut graph = small();
    graph.push(port(12, "q", &[0, 3]));
    refused_with(&graph, Status::Format, &["\"q\""]);
}

#[test]
fn inputs_that_are_no_m_are_refused() {
    for dims in [
        &[0, 7][..],
        &[32, 6],
        &[0, 2, 3],
        &[2, 3, 3],
        &[1],
        &[0, 263_682],
        &[],
        &[1 << 40, 1 << 40],
    ] {
        let mut graph = small();
        graph[4] = port(11, "x", dims);
        refused_with(&graph, Status::Unsupported, &["\"x\""]);
    }
    let mut graph = small();
    graph.push(port(11, "other", &[0, 6]));
    refused_with(&graph, Status::Unsupported, &["one input"]);
    // 36 values are a 6×6 matrix or the triangle of an 8×8 one, and 24 values are 6×4 or 8×3.
    let graph = vec![
        node("MatMul", "product", &["x", "w"], &["y"], &[]),
        floats("w", &[36, 24]),
        port(11, "x", &[0, 36]),
        port(12, "y", &[0, 24]),
    ];
    refused_with(&graph, Status::Unsupported, &["fit both"]);
}

#[test]
fn graphs_that_make_no_sense_are_refused() {
    // A value that is read before it is made: the graph is not in order, or goes in a circle.
    let mut graph = small();
    graph.swap(0, 1);
    refused_with(&graph, Status::Format, &["Add", "\"p\""]);
    let mut graph = small();
    graph[0] = node("MatMul", "product", &["y", "w"], &["p"], &[]);
    refused_with(&graph, Status::Format, &["\"y\""]);
    // A constant that is missing; names that appear twice.
    let mut graph = small();
    graph.remove(2);
    refused_with(&graph, Status::Format, &["\"w\""]);
    let mut graph = small();
    graph.push(floats("w", &[6, 3]));
    refused_with(&graph, Status::Format, &["\"w\""]);
    let mut graph = small();
    graph.push(node("Relu", "again", &["p"], &["y"], &[]));
    refused_with(&graph, Status::Format, &["\"y\"", "twice"]);
    // Shapes that do not fit, data of another length, elements of another type.
    let mut graph = small();
    graph[2] = floats("w", &[5, 3]);
    refused_with(&graph, Status::Format, &["MatMul"]);
    let mut graph = small();
    graph[2] = tensor("w", &[6, 3], 1, &[0; 71]);
    refused_with(&graph, Status::Format, &["length"]);
    let mut graph = small();
    graph[2] = tensor("w", &[6, 3], 16, &[0; 36]);
    refused_with(&graph, Status::Unsupported, &["type 16"]);
    let mut graph = small();
    graph[2] = tensor("w", &[6, 3], 1, &[0xff; 72]);
    refused_with(&graph, Status::Format, &["not finite"]);
    // All in double precision, as PyTorch exports it.
    let error = refused(&fixture("double"));
    assert_eq!(error.status, Status::Unsupported);
    assert!(error.message.contains("32-bit"), "{error}");
    // Weights in double precision under floats: tract finds that the types differ.
    let mut graph = small();
    graph[2] = tensor("w", &[6, 3], 11, &[0; 144]);
    assert!(matches!(
        refused(&model(&graph)).status,
        Status::Unsupported | Status::Format
    ));
}

#[test]
fn files_that_ask_for_much_get_nothing() {
    // Sizes that overflow, or that nothing backs up.
    for dims in [
        &[1 << 40, 1 << 40][..],
        &[i64::MAX, 1],
        &[-6, -3],
        &[0, 3],
        &[1; 9],
    ] {
        let mut graph = small();
        graph[2] = tensor("w", dims, 1, &[0; 72]);
        assert!(matches!(
            refused(&model(&graph)).status,
            Status::Format | Status::Unsupported
        ));
    }
    // A product of a column and a row.
    let mut graph = small();
    graph.push(floats("column", &[3000, 1]));
    graph.push(floats("row", &[1, 3000]));
    graph.insert(2, node("Mul", "outer", &["column", "row"], &["big"], &[]));
    refused_with(&graph, Status::Unsupported, &["Mul", "outer", "too large"]);
    // Twice as much in every node.
    let mut graph = small();
    for i in 0..60 {
        let (from, to) = (format!("v{i}"), format!("v{}", i + 1));
        graph.push(node(
            "Concat",
            &to,
            &[&from, &from],
            &[&to],
            &int("axis", 0),
        ));
    }
    graph.push(floats("v0", &[100]));
    refused_with(&graph, Status::Unsupported, &["Concat", "too large"]);
    // Many parts, each of two bytes.
    let mut graph = small();
    graph.push([0x0a, 0].repeat(1_000_000));
    assert_eq!(refused(&model(&graph)).status, Status::Unsupported);
    let mut graph = small();
    graph.push(field(
        13,
        field(2, field(1, field(2, [0x0a, 0].repeat(1_000_000)))),
    ));
    assert_eq!(refused(&model(&graph)).status, Status::Unsupported);
    // Data in another file; a formula for a name.
    let mut graph = small();
    let elsewhere = [
        field(8, "w"),
        int_field(2, 1),
        int_field(14, 1),
        field(13, field(1, "location")),
    ]
    .concat();
    graph[2] = field(5, elsewhere);
    refused_with(&graph, Status::Unsupported, &["another file"]);
    let deep = "(".repeat(100_000);
    let dims = [field(1, field(2, deep)), field(1, int_field(1, 6))].concat();
    let mut graph = small();
    let kind = field(1, [int_field(1, 1), field(2, dims)].concat());
    graph[4] = field(11, [field(1, "x"), field(2, kind)].concat());
    refused_with(&graph, Status::Unsupported, &["plain name"]);
}

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Loads what may be damaged. Whatever it says, the library says what is wrong, and nothing fails inside.
fn survives(bytes: &[u8], what: &str) -> bool {
    let found = load(bytes);
    match &found {
        Ok(_) => {}
        Err(error) => assert!(
            matches!(error.status, Status::Format | Status::Unsupported),
            "{what}: {error}"
        ),
    }
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "{what}");
    found.is_ok()
}

/// One test, since it counts panics on all threads. DENISE_FUZZ multiplies the number of changed files.
#[test]
fn damaged_files_are_refused_without_a_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // Those of tract, on its own thread; failed assertions are none of them.
        if std::thread::current().name() == Some("denise-load") {
            PANICS.fetch_add(1, Ordering::SeqCst);
        }
        before(info);
    }));
    for name in ["torch_triangle_legacy", "keras_gather_nd", "half"] {
        let bytes = fixture(name);
        let whole = read(&bytes).unwrap().into_network();
        for len in 0..bytes.len() {
            if let Ok(cut) = read(&bytes[..len]) {
                // What is left out at the end must not matter.
                assert_eq!(cut.network(), &whole, "{name} cut at {len}");
            }
            assert_eq!(PANICS.load(Ordering::SeqCst), 0, "{name} cut at {len}");
        }
    }
    let rounds = std::env::var("DENISE_FUZZ").map_or(1, |text| text.parse().unwrap());
    let mut random = Random::new(1);
    let mut loaded = 0;
    for name in FIXTURES.into_iter().chain(["double"]) {
        let bytes = fixture(name);
        // Most bytes are weights, whose change changes nothing else: half of the changes go elsewhere.
        let structure: Vec<usize> = (0..bytes.len())
            .filter(|&i| is_structure(&bytes, i))
            .collect();
        for round in 0..150 * rounds {
            let mut changed = bytes.clone();
            for _ in 0..=random.below(3) {
                change(&mut changed, &structure, &mut random);
            }
            loaded += usize::from(survives(&changed, &format!("{name}, round {round}")));
        }
    }
    assert!(loaded > 0);
}

/// Near text or small numbers, which weights hardly are.
fn is_structure(bytes: &[u8], i: usize) -> bool {
    let from = i.saturating_sub(2);
    let near = &bytes[from..(i + 3).min(bytes.len())];
    near.iter()
        .filter(|&&x| (32..127).contains(&x) || x < 32 && x != 0)
        .count()
        >= 4
}

fn change(bytes: &mut Vec<u8>, structure: &[usize], random: &mut Random) {
    let at = if random.below(2) == 0 {
        structure[random.below(structure.len())].min(bytes.len() - 1)
    } else {
        random.below(bytes.len())
    };
    match random.below(7) {
        0..=1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.below(256) as u8,
        3 => bytes[at] = bytes[at].wrapping_add(1),
        4 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
        5 => drop(bytes.remove(at)),
        _ => {
            let len = random.below(8).min(bytes.len() - at);
            let copy = bytes[at..at + len].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, copy);
        }
    }
}
