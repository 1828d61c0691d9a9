use super::proto::{Function, Model, Node};
use super::write::to_bytes;
use super::{functions, start, write};
use denise::unrolled::{Curvature, File, Layer, SWEEPS, Stages, reference};
use nalgebra::DMatrix;
use prost::Message;
use std::collections::HashSet;
use std::path::PathBuf;

fn decode(bytes: &[u8]) -> Model {
    Model::decode(bytes).expect("a message that was just encoded")
}

/// Every value is defined once, before it is used.
fn check_nodes(inputs: impl IntoIterator<Item = String>, nodes: &[Node], outputs: &[String]) {
    let mut known: HashSet<String> = inputs.into_iter().collect();
    for node in nodes {
        for input in &node.input {
            assert!(known.contains(input), "{}: {input}", node.op_type);
        }
        for output in &node.output {
            assert!(known.insert(output.clone()), "{}: {output}", node.op_type);
        }
    }
    assert!(outputs.iter().all(|output| known.contains(output)));
}

/// Every node of the project's domain has a function that takes and gives as much as the node does.
fn check_calls(nodes: &[Node], functions: &[Function]) {
    for node in nodes.iter().filter(|node| !node.domain.is_empty()) {
        let function = functions
            .iter()
            .find(|function| (&function.domain, &function.name) == (&node.domain, &node.op_type))
            .unwrap_or_else(|| panic!("{} is not defined", node.op_type));
        assert_eq!(function.input.len(), node.input.len());
        assert_eq!(function.output.len(), node.output.len());
        let given = node.attribute.iter().map(|attribute| &attribute.name);
        assert!(function.attribute.iter().eq(given));
    }
}

#[test]
fn the_graph_holds_together_for_any_size_and_layers() {
    let builtin = File::builtin().unwrap().layers;
    let of = |curvature| Layer {
        curvature,
        ..builtin[0]
    };
    let (shared, own) = ([of(Curvature::Shared)], [of(Curvature::Own)]);
    for layers in [&builtin[..], &builtin[..2], &shared, &own] {
        for (n, k) in [(2, 1), (2, 2), (3, 2), (20, 3), (40, 32)] {
            let model = decode(&to_bytes(n, k, Stages::only(layers), &[]));
            let graph = model.graph.expect("a graph");
            let outputs = ["U", "L", "S"].map(str::to_owned);
            check_nodes(["M".to_owned()], &graph.node, &outputs);
            check_calls(&graph.node, &model.functions);
            for function in &model.functions {
                check_nodes(function.input.clone(), &function.node, &function.output);
                check_calls(&function.node, &model.functions);
            }
            let calls = |curvature| {
                let name = functions::layer_name(curvature);
                graph
                    .node
                    .iter()
                    .filter(|node| node.op_type == name)
                    .count()
            };
            let count = calls(Curvature::Shared) + calls(Curvature::Own);
            assert_eq!(count, layers.len());
        }
    }
}

/// The library's own interpreter of graphs against its specification.
#[test]
fn the_graph_computes_what_the_reference_does() {
    let builtin = File::builtin().unwrap().layers;
    // The smaller n is beside k, the more a rounding changes L.
    for (n, k) in [(6, 1), (10, 2), (12, 1), (20, 3), (33, 6)] {
        for count in [1, 2, 3, builtin.len()] {
            let layers = &builtin[..count];
            let bytes = to_bytes(n, k, Stages::only(layers), &[]);
            let compared = denise::onnx::check_unrolled(&bytes, n, k, |m| {
                let m = DMatrix::from_fn(n, n, |i, j| f64::from(m[i * n + j]));
                let l = reference::decompose(&m, k, layers).l;
                l.iter().map(|&x| x as f32).collect()
            });
            assert_eq!(compared, Ok(true), "n = {n}, k = {k}, {count} layers");
        }
    }
}

#[test]
fn rotations_at_once_are_those_one_after_the_other() {
    for (k, width) in [(1, 2), (2, 2), (1, 3), (3, 5), (4, 5), (6, 8)] {
        let mut expected = Vec::new();
        for sweep in 0..SWEEPS {
            for a in 0..width {
                let pairs = (a + 1..width).map(|c| (a, c));
                expected.extend(pairs.filter(|&(a, c)| sweep == 0 || (a < k && k <= c)));
            }
        }
        let groups = start::groups(k, width);
        for pairs in &groups {
            let columns: HashSet<usize> = pairs.iter().flat_map(|&(a, c)| [a, c]).collect();
            assert_eq!(columns.len(), 2 * pairs.len());
        }
        // Each column meets the same others in the same order.
        let found = groups.concat();
        assert_eq!(found.len(), expected.len());
        for column in 0..width {
            let of = |pairs: &[(usize, usize)]| -> Vec<(usize, usize)> {
                let own = pairs.iter().filter(|&&(a, c)| a == column || c == column);
                own.copied().collect()
            };
            assert_eq!(of(&found), of(&expected));
        }
    }
}

#[test]
fn weights_read_back_to_the_bit() {
    let mut layers = File::builtin().unwrap().layers;
    layers[1].alpha = 1.0 / 3.0;
    layers[2].beta = 1e-20;
    layers[3].mu = -f64::MIN_POSITIVE;
    layers[4].eta = -0.0;
    layers[5].nu = -1.0 / 3.0;
    let note = ("note".to_owned(), "two\nlines".to_owned());
    let bytes = to_bytes(20, 3, Stages::only(&layers), std::slice::from_ref(&note));
    let model = decode(&bytes);
    let value = |key: &str| {
        let mut entries = model.metadata_props.iter().filter(|entry| entry.key == key);
        let entry = entries.next().expect(key);
        assert!(entries.next().is_none());
        entry.value.as_str()
    };
    assert_eq!(value("denise.topology"), "unrolled 2");
    assert_eq!((value("denise.n"), value("denise.k")), ("20", "3"));
    assert_eq!(value("denise.version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(value("note"), note.1);
    let lines: Vec<&str> = value("denise.layers").split('\n').collect();
    assert_eq!(lines.len(), layers.len());
    for (line, layer) in lines.iter().zip(&layers) {
        let mut words = line.split(' ');
        let curvature = words.next().expect("a curvature");
        assert_eq!(curvature == "own", layer.curvature == Curvature::Own);
        let bits = words.map(|word| word.parse::<f64>().expect("a number").to_bits());
        // The last one is left out if it is zero.
        let count = if layer.nu == 0.0 { 7 } else { 8 };
        let expected = &layer.weights()[..count];
        assert!(bits.eq(expected.iter().map(|x| x.to_bits())));
    }
    let stages = Stages {
        layers: &layers,
        mend: &layers[1..5],
        follow: &layers[6..8],
    };
    let file = File::read(&to_bytes(20, 3, stages, &[])).unwrap();
    assert_eq!(
        (&file.layers[..], &file.mend[..], &file.follow[..]),
        (stages.layers, stages.mend, stages.follow)
    );
    // The file ends with the weights: a reader notices if its end is missing.
    assert!(bytes.ends_with(lines.join("\n").as_bytes()));
}

/// A directory of its own for a test.
fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("denise-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for temporary files");
    directory
}

#[test]
fn a_file_is_replaced_and_nothing_else_is_left() {
    let directory = directory("replaced");
    let path = directory.join("model.onnx");
    let layers = File::builtin().unwrap().layers;
    for k in [2, 3] {
        write(&path, 20, k, Stages::only(&layers), &[]).expect("written");
        let bytes = std::fs::read(&path).expect("read");
        assert_eq!(bytes, to_bytes(20, k, Stages::only(&layers), &[]));
        let files = std::fs::read_dir(&directory).expect("listed").count();
        assert_eq!(files, 1);
    }
    // The rename fails: a directory is in the way.
    let taken = directory.join("taken");
    std::fs::create_dir(&taken).expect("created");
    assert!(write(&taken, 20, 3, Stages::only(&layers), &[]).is_err());
    let files = std::fs::read_dir(&directory).expect("listed").count();
    assert_eq!(files, 2);
    std::fs::remove_dir_all(&directory).expect("removed");
}

#[test]
fn what_the_library_would_refuse_is_not_written() {
    let directory = directory("refused");
    let path = directory.join("model.onnx");
    let good = File::builtin().unwrap().layers;
    let mut bad = good.clone();
    bad[3].eta = f64::NAN;
    let long = vec![good[0]; 65];
    let key = [("denise.n".to_owned(), "5".to_owned())];
    let refused = |n, k, layers: &[Layer], metadata: &[(String, String)]| {
        write(&path, n, k, Stages::only(layers), metadata).expect_err("refused");
    };
    for (n, k) in [(0, 0), (1, 1), (3, 3), (20, 0), (513, 3), (100, 33)] {
        refused(n, k, &good, &[]);
    }
    refused(20, 3, &bad, &[]);
    refused(20, 3, &long, &[]);
    refused(20, 3, &[], &[]);
    refused(20, 3, &good, &key);
    for wrong in [&bad, &long] {
        let only = Stages::only(&good);
        for stages in [
            Stages {
                mend: wrong,
                ..only
            },
            Stages {
                follow: wrong,
                ..only
            },
        ] {
            write(&path, 20, 3, stages, &[]).expect_err("refused");
        }
    }
    let files = std::fs::read_dir(&directory).expect("listed").count();
    assert_eq!(files, 0);
    std::fs::remove_dir_all(&directory).expect("removed");
}
