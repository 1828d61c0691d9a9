//! The file: graph, functions and metadata, written so that a reader never sees half of it.

use super::constants::TOPOLOGY;
use super::proto::{Entry, Model};
use super::{functions, graph};
use denise::unrolled::{Curvature, Layer, Stages};
use denise::{MAX_K, MAX_N};
use denise_data::files::{FileError, replace};
use prost::Message;
use std::path::Path;

/// The library reads no more.
const MAX_LAYERS: usize = 64;
/// What the library reads; callers cannot give these.
const KEYS: [&str; 7] = [
    "denise.topology",
    "denise.version",
    "denise.n",
    "denise.k",
    "denise.follow",
    "denise.mend",
    "denise.layers",
];

/// Writes a network for n×n matrices and rank `k` to an ONNX file. The graph is for matrices of which every entry is
/// known, each for itself: layers that mend or follow are for the library.
///
/// `metadata` is added to what the file says about itself: what it was trained on, how well it did. An
/// existing file is replaced at once or not at all. Sizes and weights that the library would refuse, and
/// metadata under a key of its own, are refused.
pub(crate) fn write(
    path: &Path,
    n: usize,
    k: usize,
    stages: Stages<'_>,
    metadata: &[(String, String)],
) -> Result<(), FileError> {
    check(n, k, stages, metadata).map_err(|message| FileError::new(path, message))?;
    replace(path, |out| out.write_all(&to_bytes(n, k, stages, metadata)))
}

/// The bytes of the file that [`write()`] writes, for arguments that it accepts.
pub(crate) fn to_bytes(
    n: usize,
    k: usize,
    stages: Stages<'_>,
    metadata: &[(String, String)],
) -> Vec<u8> {
    let Stages {
        layers,
        mend,
        follow,
    } = stages;
    let texts = [follow, mend, layers].map(|layers| (!layers.is_empty()).then(|| lines(layers)));
    let metadata = own_metadata(TOPOLOGY, n, k, texts, metadata);
    let model = Model {
        ir_version: 8,
        opset_import: functions::operator_sets(),
        producer_name: "denise".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: format!(
            "Splits symmetric {n}x{n} matrices M, of which the lower triangle is read, into L + S: \
             L = U U^T of rank at most {k}, S sparse."
        ),
        graph: Some(graph::network(n, k, layers)),
        metadata_props: Vec::new(),
        functions: functions::all(n, k, layers),
    };
    // One message after another means the fields of both. What the library reads comes last, so that it
    // notices when the end of a file is missing.
    let last = Model {
        metadata_props: metadata.map(|(key, value)| Entry { key, value }).collect(),
        ..Model::default()
    };
    [model.encode_to_vec(), last.encode_to_vec()].concat()
}

/// What the caller says about the network, and what every file says about itself.
pub(super) fn own_metadata(
    topology: &str,
    n: usize,
    k: usize,
    [follow, mend, layers]: [Option<String>; 3],
    metadata: &[(String, String)],
) -> impl Iterator<Item = (String, String)> {
    let own = [
        Some(topology.to_owned()),
        Some(env!("CARGO_PKG_VERSION").to_owned()),
        Some(n.to_string()),
        Some(k.to_string()),
        follow,
        mend,
        layers,
    ];
    let own = KEYS.map(str::to_owned).into_iter().zip(own);
    let own = own.filter_map(|(key, value)| Some((key, value?)));
    metadata.iter().cloned().chain(own)
}

/// One line per layer: its curvature and its weights, each the shortest decimal that reads back to it. The last weight
/// is left out if it is zero.
pub(crate) fn lines(layers: &[Layer]) -> String {
    let lines: Vec<String> = layers
        .iter()
        .map(|layer| {
            let curvature = match layer.curvature {
                Curvature::Shared => "shared",
                Curvature::Own => "own",
            };
            let weights = layer.weights();
            let count = weights.len() - usize::from(layer.nu == 0.0);
            weights[..count]
                .iter()
                .fold(curvature.to_owned(), |line, x| format!("{line} {x:?}"))
        })
        .collect();
    lines.join("\n")
}

fn check(
    n: usize,
    k: usize,
    stages: Stages<'_>,
    metadata: &[(String, String)],
) -> Result<(), String> {
    if n > MAX_N || k > MAX_K || k == 0 || k >= n {
        return Err(format!(
            "n = {n}, k = {k}: k must be at least 1, less than n and at most {MAX_K}, and n at most {MAX_N}"
        ));
    }
    let Stages {
        layers,
        mend,
        follow,
    } = stages;
    let count = layers.len().max(mend.len()).max(follow.len());
    if layers.is_empty() || count > MAX_LAYERS {
        return Err(format!("{count} layers: a file has 1 to {MAX_LAYERS}"));
    }
    // The library knows which weights it takes.
    let options = denise::Options {
        n: 2,
        k: 1,
        max_concurrency: 1,
        ..denise::Options::default()
    };
    denise::Model::unrolled(stages, &options).map_err(|error| error.to_string())?;
    check_metadata(metadata)
}

/// Keys that every file has cannot be given by callers.
pub(super) fn check_metadata(metadata: &[(String, String)]) -> Result<(), String> {
    match metadata
        .iter()
        .find(|(key, _)| KEYS.contains(&key.as_str()))
    {
        Some((key, _)) => Err(format!("the metadata key {key} is taken; choose another")),
        None => Ok(()),
    }
}
