//! The graph of an unrolled network is the network that the file's metadata describes.

#![cfg(feature = "onnx")]

mod onnx_files;

use denise::onnx::check_unrolled;
use denise::unrolled::{File, Layer, Stages};
use denise::{Error, Model, Options, Outputs, Status};
use denise_data::random::Random;
use onnx_files::*;
use std::collections::HashMap;
use tract_onnx::pb::{AttributeProto, FunctionProto, NodeProto};
use tract_onnx::prelude::*;

const FILE: &[u8] = include_bytes!("../../../models/default.onnx");
const FAST: &[u8] = include_bytes!("../../../models/fast.onnx");

/// Compares with the library's kernels for these layers.
fn check(bytes: &[u8], layers: &[Layer]) -> Result<bool, Error> {
    let model = Model::unrolled(
        Stages::only(layers),
        &Options {
            n: 20,
            k: 3,
            ..Options::default()
        },
    )?;
    check_unrolled(bytes, 20, 3, |m| {
        let mut l = vec![0.0; 400];
        let out = Outputs {
            l: Some(&mut l),
            ..Outputs::default()
        };
        model.decompose(m, out).unwrap();
        l
    })
}

#[test]
fn the_shipped_file_agrees() {
    for file in [FILE, FAST] {
        let start = std::time::Instant::now();
        assert!(check(file, &File::read(file).unwrap().layers).unwrap());
        println!("{:?}", start.elapsed());
    }
}

/// What ships as a file is what is built in.
#[test]
fn the_file_has_the_weights_of_the_builtin_network() {
    let (file, builtin) = (File::read(FILE).unwrap(), File::builtin().unwrap());
    assert_eq!(file, builtin);
    let lengths = [&file.layers, &file.mend, &file.follow].map(Vec::len);
    assert_eq!(lengths, [12, 4, 3]);
}

/// The other network has fewer layers of its own. What mends and follows is built in only, and is the default's.
#[test]
fn the_file_has_the_weights_of_the_fast_network() {
    let file = File::read(FAST).unwrap();
    let [fast, builtin] = ["fast", "default"].map(|name| File::named(name).unwrap().unwrap());
    assert_eq!(file.layers, fast.layers);
    assert_eq!((fast.mend, fast.follow), (builtin.mend, builtin.follow));
    assert!(file.layers.len() < builtin.layers.len());
    assert!(File::named("Fast").is_none() && File::named("").is_none());
}

/// The nodes of a graph with every function in its place.
struct Inlined<'f> {
    functions: &'f [FunctionProto],
    nodes: Vec<NodeProto>,
    /// Calls so far, which make names unique.
    calls: usize,
}

impl Inlined<'_> {
    fn add(
        &mut self,
        body: &[NodeProto],
        names: &HashMap<String, String>,
        settings: &[AttributeProto],
    ) {
        self.calls += 1;
        let call = self.calls;
        for node in body {
            let mut node = node.clone();
            for name in node.input.iter_mut().chain(&mut node.output) {
                if !name.is_empty() {
                    *name = names
                        .get(name)
                        .cloned()
                        .unwrap_or_else(|| format!("{call}.{name}"));
                }
            }
            node.name = format!("node{}", self.nodes.len());
            for attribute in &mut node.attribute {
                if let Some(given) = settings.iter().find(|x| x.name == attribute.ref_attr_name) {
                    *attribute = AttributeProto {
                        name: attribute.name.clone(),
                        ..given.clone()
                    };
                }
            }
            let function = self
                .functions
                .iter()
                .find(|x| x.name.as_ref() == Some(&node.op_type));
            let Some(function) = function else {
                self.nodes.push(node);
                continue;
            };
            let inner = function
                .input
                .iter()
                .zip(&node.input)
                .chain(function.output.iter().zip(&node.output));
            let inner = inner
                .map(|(inner, outer)| (inner.clone(), outer.clone()))
                .collect();
            self.add(&function.node, &inner, &node.attribute);
        }
    }
}

/// The library carries the graph out itself, since that is faster; tract gets the same result.
#[test]
fn tract_agrees_too() {
    let onnx = tract_onnx::onnx();
    let mut proto = onnx.proto_model_for_read(&mut &*FILE).unwrap();
    let functions = std::mem::take(&mut proto.functions);
    let graph = proto.graph.as_mut().unwrap();
    let mut inlined = Inlined {
        functions: &functions,
        nodes: Vec::new(),
        calls: 0,
    };
    let outside = ["M", "U", "L", "S"].map(|name| (name.to_owned(), name.to_owned()));
    inlined.add(&graph.node, &outside.into(), &[]);
    assert!(inlined.nodes.len() > 1000);
    graph.node = inlined.nodes;
    let mut tract = onnx.model_for_proto_model(&proto).unwrap();
    tract
        .set_input_fact(0, InferenceFact::dt_shape(f32::datum_type(), [1, 20, 20]))
        .unwrap();
    // Not optimised: that takes seconds.
    let plan = tract.into_typed().unwrap().into_runnable().unwrap();
    let agreed = check_unrolled(FILE, 20, 3, |m| {
        let m = Tensor::from_shape(&[1, 20, 20], m).unwrap();
        let found = plan.run(tvec!(m.into())).unwrap();
        let l = found[1].to_plain_array_view::<f32>().unwrap();
        l.iter().copied().collect()
    });
    assert!(agreed.unwrap());
}

#[test]
fn other_weights_are_found() {
    let good = File::read(FILE).unwrap().layers;
    for t in 0..good.len() {
        let mut layers = good.clone();
        layers[t].eta *= 0.9;
        let error = check(FILE, &layers).expect_err("another network");
        assert_eq!(error.status, Status::Format, "layer {t}: {error}");
    }
    assert_eq!(check(FILE, &good[..5]).unwrap_err().status, Status::Format);
}

#[test]
fn other_sizes_are_refused() {
    let l_of = |_: &[f32]| vec![0.0; 400];
    for (n, k) in [(19, 3), (21, 3), (40, 3), (20, 20)] {
        assert!(check_unrolled(FILE, n, k, l_of).is_err());
    }
}

#[test]
fn damaged_files_are_refused_without_a_panic() {
    let layers = File::read(FILE).unwrap().layers;
    let mut random = Random::new(1);
    let good = |bytes: &[u8]| match check(bytes, &layers) {
        Ok(_) => true,
        Err(error) => {
            let known = matches!(error.status, Status::Format | Status::Unsupported);
            assert!(known, "{error}");
            false
        }
    };
    for len in (0..FILE.len()).step_by(97) {
        good(&FILE[..len]);
    }
    let mut survived = 0;
    for _ in 0..600 {
        let mut bytes = FILE.to_vec();
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes[at] = bytes[at].wrapping_add(1),
            _ => drop(bytes.remove(at)),
        }
        survived += usize::from(good(&bytes));
    }
    // Names and comments may change, and some constants a little; most changes break the graph.
    assert!(survived < 400, "{survived}");
}

#[test]
fn functions_that_call_themselves_end() {
    let own = |op: &str, input: &str, output: &str| {
        [
            field(1, input),
            field(2, output),
            field(4, op),
            field(7, "own"),
        ]
        .concat()
    };
    let function = [
        field(1, "F"),
        field(4, "x"),
        field(5, "y"),
        field(7, own("F", "x", "y")),
    ];
    let function = [function.concat(), field(10, "own")].concat();
    let graph = [
        field(1, own("F", "M", "L")),
        port(11, "M", &[0, 20, 20]),
        port(12, "L", &[0, 20, 20]),
    ];
    let mut bytes = model(&graph);
    bytes.extend(field(25, function));
    let error = check_unrolled(&bytes, 20, 3, |_| vec![0.0; 400]).unwrap_err();
    assert_eq!(error.status, Status::Unsupported);
    assert!(error.message.contains("operator F"), "{error}");
}
