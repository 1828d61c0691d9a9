//! Dense networks in ONNX files, as Keras, PyTorch and others export them.
//!
//! - `proto`, `tensor`: the file, read in place. What a dense network has no use for is refused.
//! - `lower`: carries the nodes out on descriptions of values (`value`, `arrange`, `arithmetic`,
//!   `contract`, `pieces`, `operator`), which leaves layers (`stages`), within limits (`budget`). `outputs` says which
//!   of U, L and S the graph gives.
//! - `witness`: tract parses, type-checks and runs the same file on a few matrices (`samples`), and
//!   `compare` says whether both agree.
//!
//! `unrolled` carries out the graph of a file of this project, whose kind of network is not dense, with the same means
//! and `numbers`.
//!
//! M goes in as an n×n matrix, as its n² values or as the n(n+1)/2 values of its lower triangle, row by row; a
//! batch axis comes first or is left out. U (n×k), L = UUᵀ and S = M − L come out, one or more of them, in
//! any order.

mod arithmetic;
mod arrange;
mod budget;
mod compare;
mod contract;
mod error;
mod lower;
mod numbers;
mod operator;
mod outputs;
mod pieces;
mod proto;
mod samples;
mod stages;
mod tensor;
mod unrolled;
mod value;
mod witness;

use crate::dense::Network;
use crate::memory::{self, collected};
use crate::status::{Error, Status};
use lower::Lowered;
use outputs::Output;

pub use unrolled::check_unrolled;

/// A network from a file, and what tract made of the same file.
pub struct OnnxModel {
    network: Network,
    /// For each layer the node that gives its output, if there is one.
    nodes: Vec<Option<String>>,
    outputs: Vec<Output>,
    samples: Vec<Sample>,
}

/// One matrix, and what tract computed from it.
struct Sample {
    m: Vec<f32>,
    /// For each layer its output, if a node gives it.
    layers: Vec<Option<Vec<f32>>>,
    outputs: Vec<Vec<f32>>,
}

/// Reads the bytes of a file, and runs it in tract on a few matrices.
///
/// [`Status::Format`] if they are damaged or make no sense; [`Status::Unsupported`], with the operator and
/// the name of the node, if they are a model of another kind. Takes a few times the file's size in memory until
/// it returns, whatever the file says.
///
/// ```no_run
/// let bytes = std::fs::read("network.onnx")?;
/// let model = denise::onnx::read(&bytes)?;
/// model.check(|m| {
///     let m: Vec<f64> = m.iter().map(|&x| x.into()).collect();
///     model.network().reference(&m).iter().map(|&x| x as f32).collect()
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(bytes: &[u8]) -> Result<OnnxModel, Error> {
    let Lowered {
        network,
        outputs,
        layers,
        input,
    } = lower::lower(bytes)?;
    // The layers' outputs first, then those of the graph.
    let between = layers.iter().flatten().map(|(_, name)| name.as_str());
    let names = collected(between.chain(outputs.iter().map(|output| output.name.as_str())))?;
    let matrices = samples::matrices(network.n)?;
    let found = witness::values(bytes, &input, &names, &matrices)?;
    let samples = matrices.into_iter().zip(found).map(|(m, found)| {
        let mut found = found.into_iter();
        let of_layers = layers
            .iter()
            .map(|layer| layer.as_ref().and_then(|_| found.next()));
        Ok(Sample {
            m,
            layers: collected(of_layers)?,
            outputs: collected(found)?,
        })
    });
    Ok(OnnxModel {
        samples: memory::all_collected::<_, Error>(samples)?,
        nodes: collected(
            layers
                .into_iter()
                .map(|layer| layer.map(|(label, _)| label)),
        )?,
        network,
        outputs,
    })
}

impl OnnxModel {
    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The network alone.
    pub fn into_network(self) -> Network {
        self.network
    }

    /// Compares the network, and `u_of`, with what tract computed.
    ///
    /// `u_of` takes a matrix (n×n) and gives U (n×k). [`Status::Unsupported`] with the name of a
    /// node if the network that was found in the file does not do what tract does from there on: this version misreads
    /// that file, which another version may not; also if weights are so large that kernels cut values to what 32 bits
    /// can hold. [`Status::Internal`] if the network is right but `u_of` is not.
    pub fn check(&self, mut u_of: impl FnMut(&[f32]) -> Vec<f32>) -> Result<(), Error> {
        let (n, k) = (self.network.n, self.network.k);
        for sample in &self.samples {
            let layers = compare::layers(&self.network, &sample.m)?;
            let mut place = "the input";
            for ((layer, found), node) in layers.iter().zip(&sample.layers).zip(&self.nodes) {
                let (Some(found), Some(node)) = (found, node) else {
                    continue;
                };
                place = node;
                if !agree(layer, found) {
                    return Err(misread(format_args!("{node}")));
                }
            }
            let u = layers.last().map_or(&[][..], Vec::as_slice);
            for (output, found) in self.outputs.iter().zip(&sample.outputs) {
                if !agree(&compare::output(output.kind, u, &sample.m, n, k)?, found) {
                    let name = error::shown(&output.name);
                    return Err(misread(format_args!("{place}, in output \"{name}\"")));
                }
            }
            if !agree(u, &u_of(&sample.m)) {
                if compare::is_cut(&self.network, &sample.m, &layers) {
                    return Err(Error::new(
                        Status::Unsupported,
                        "the weights are so large that values do not fit into 32 bits; the file may be damaged",
                    ));
                }
                return Err(Error::new(
                    Status::Internal,
                    "the kernel does not compute what the file says; please report it",
                ));
            }
        }
        Ok(())
    }
}

fn agree(expected: &[compare::Estimate], found: &[f32]) -> bool {
    expected.len() == found.len() && expected.iter().zip(found).all(|(x, &y)| x.agrees(y))
}

fn misread(place: core::fmt::Arguments<'_>) -> Error {
    let message = format_args!(
        "the library and tract disagree about the file from {place} on; please report it"
    );
    Error::format(Status::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: &[u8] = include_bytes!("../../../../tests/data/onnx/keras_paper.onnx");

    /// The reference of the network as it is now.
    fn check(model: &OnnxModel) -> Result<(), Error> {
        model.check(|m| {
            let m: Vec<f64> = m.iter().map(|&x| x.into()).collect();
            let u = model.network.reference(&m);
            u.iter().map(|&x| x as f32).collect()
        })
    }

    #[test]
    fn a_layer_that_was_misread_is_named() {
        check(&read(PAPER).unwrap()).unwrap();
        for (layer, node) in [
            "re_lu_1/Relu",
            "re_lu_1_2/Relu",
            "re_lu_2_1/Relu",
            "re_lu_3_1/Relu",
        ]
        .into_iter()
        .enumerate()
        {
            let mut model = read(PAPER).unwrap();
            for bias in &mut model.network.layers[layer].bias {
                *bias += 1e-3;
            }
            let error = check(&model).unwrap_err();
            assert_eq!(error.status, Status::Unsupported);
            assert!(error.message.contains(node), "{error}");
        }
        let mut model = read(PAPER).unwrap();
        model.network.layers[4].bias[0] += 1e-3;
        let error = check(&model).unwrap_err();
        assert!(error.message.contains("output \"Identity"), "{error}");
    }

    #[test]
    fn any_single_weight_that_is_wrong_and_matters_is_found() {
        let good = read(PAPER).unwrap();
        let (mut all, mut found) = (0, 0);
        for layer in 0..good.network.layers.len() {
            for w in 0..good.network.layers[layer].weights.len() {
                let mut network = good.network.clone();
                network.layers[layer].weights[w] += 1e-2;
                let (mut matters, mut differs) = (false, false);
                for sample in &good.samples {
                    let right = compare::layers(&good.network, &sample.m).unwrap();
                    let layers = compare::layers(&network, &sample.m).unwrap();
                    let pairs = layers.iter().flatten().zip(right.iter().flatten());
                    matters |= pairs
                        .into_iter()
                        .any(|(x, y)| (x.value - y.value).abs() > 1e-4);
                    let hidden = layers.iter().zip(&sample.layers);
                    let mut hidden = hidden.filter_map(|(x, found)| Some((x, found.as_ref()?)));
                    differs |= hidden.any(|(x, found)| !agree(x, found));
                    for (output, found) in good.outputs.iter().zip(&sample.outputs) {
                        let output =
                            compare::output(output.kind, &layers[4], &sample.m, 6, 2).unwrap();
                        differs |= !agree(&output, found);
                    }
                }
                assert!(differs || !matters, "layer {layer}, weight {w}");
                all += 1;
                found += usize::from(differs);
            }
        }
        // A unit that is off for every sample hides its weights.
        assert!(found * 2 > all, "{found} of {all}");
    }
}
