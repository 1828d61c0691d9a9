//! `denise info`.

use super::model::{Model, describe};
use super::rounded;
use denise::File;
use denise::dense::{Activation, Network};
use denise::unrolled::Layer;
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise info`.
#[derive(clap::Args)]
pub struct Args {
    /// A model file, or the name of a network that is built in: "fast", or "default", which is used without this.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print the weights alone, as the library embeds them.
    #[arg(long, conflicts_with = "json")]
    layers: bool,
    /// The same of the mending layers, which come first where entries are missing.
    #[arg(long, conflicts_with_all = ["json", "layers"])]
    mend: bool,
    /// The same of the layers that follow U from one tick of a stream to the next.
    #[arg(long, conflicts_with_all = ["json", "layers", "mend"])]
    follow: bool,
}

/// Prints what is in the file.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let model = Model {
        model: args.file.clone(),
    };
    let file = match model.read()? {
        File::Unrolled(file) => file,
        File::Dense(network) => return describe_dense(&network, args),
    };
    if args.layers {
        println!("{}", crate::onnx::write::lines(&file.layers));
        return Ok(());
    }
    if args.mend {
        if file.mend.is_empty() {
            return Err(
                "this network has no mending layers: denise train --mend makes some".into(),
            );
        }
        println!("{}", crate::onnx::write::lines(&file.mend));
        return Ok(());
    }
    if args.follow {
        if file.follow.is_empty() {
            return Err(
                "this network has no layers for streams: denise train --follow makes some".into(),
            );
        }
        println!("{}", crate::onnx::write::lines(&file.follow));
        return Ok(());
    }
    if args.json {
        let list = |layers: &[Layer]| -> Vec<serde_json::Value> {
            let each = layers.iter().map(|x| {
                serde_json::json!({
                    "curvature": format!("{:?}", x.curvature).to_lowercase(),
                    "alpha": x.alpha, "beta": x.beta, "gamma": x.gamma, "delta": x.delta,
                    "sigma": x.sigma, "eta": x.eta, "mu": x.mu, "nu": x.nu,
                })
            });
            each.collect()
        };
        let all = serde_json::json!({
            "topology": "unrolled", "n": file.n, "k": file.k,
            "layers": list(&file.layers), "mend": list(&file.mend), "follow": list(&file.follow),
        });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("unrolled network, {} layers", describe(&file.layers));
    println!("trained for n = {}, k = {}; takes any\n", file.n, file.k);
    print_layers(&file.layers);
    if !file.mend.is_empty() {
        println!("\nbefore them, where entries are missing:\n");
        print_layers(&file.mend);
    }
    if !file.follow.is_empty() {
        println!("\nin their place, from one tick of a stream to the next:\n");
        print_layers(&file.follow);
    }
    Ok(())
}

fn print_layers(layers: &[Layer]) {
    println!(
        "layer  curvature    alpha      beta       gamma      delta      sigma   eta     mu      nu"
    );
    for (t, x) in layers.iter().enumerate() {
        println!(
            "{:>5}  {:<9}  {:<9.3e}  {:<9.3e}  {:<9.3e}  {:<9.3e}  {:.3}  {:>6.3}  {:>6.3}  {:>6.3}",
            t + 1,
            format!("{:?}", x.curvature).to_lowercase(),
            x.alpha,
            x.beta,
            x.gamma,
            x.delta,
            x.sigma,
            x.eta,
            x.mu,
            x.nu
        );
    }
}

fn describe_dense(network: &Network, args: &Args) -> Result<(), Box<dyn Error>> {
    if args.layers || args.mend || args.follow {
        return Err("--layers, --mend and --follow are for unrolled networks".into());
    }
    let weights: usize = network
        .layers
        .iter()
        .map(|x| x.weights.len() + x.bias.len())
        .sum();
    let [half, byte] = rounded::errors(network)?;
    if args.json {
        let layers: Vec<_> = network
            .layers
            .iter()
            .map(|x| {
                serde_json::json!({
                    "inputs": x.inputs, "outputs": x.outputs, "activation": name(x.activation),
                })
            })
            .collect();
        let all = serde_json::json!({
            "topology": "dense", "n": network.n, "k": network.k, "weights": weights, "layers": layers,
            "rounded": { "matrices": rounded::MATRICES, "half_weights": half, "byte_weights": byte },
        });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!(
        "dense network, {} layers, {weights} weights",
        network.layers.len()
    );
    println!("for n = {}, k = {}\n", network.n, network.k);
    println!("layer  inputs  outputs  activation");
    for (t, x) in network.layers.iter().enumerate() {
        let (inputs, outputs) = (x.inputs, x.outputs);
        println!(
            "{:>5}  {inputs:>6}  {outputs:>7}  {}",
            t + 1,
            name(x.activation)
        );
    }
    println!(
        "\nrounded weights change L by, over {} covariance matrices of the paper's kind:",
        rounded::MATRICES
    );
    println!("16 bits  {half:.1e}\n 8 bits  {byte:.1e}");
    Ok(())
}

fn name(activation: Activation) -> String {
    match activation {
        Activation::Identity => "none".into(),
        Activation::LeakyRelu(slope) => format!("leaky ReLU, slope {slope}"),
        Activation::Elu(factor) => format!("ELU, factor {factor}"),
        Activation::Relu => "ReLU".into(),
        Activation::Tanh => "tanh".into(),
        Activation::Sigmoid => "sigmoid".into(),
    }
}
