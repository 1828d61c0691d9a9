//! `denise info`.

use super::model::{Model, describe};
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise info`.
#[derive(clap::Args)]
pub struct Args {
    /// A model file; without it, the network built into the library.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print the weights alone, as the library embeds them.
    #[arg(long, conflicts_with = "json")]
    layers: bool,
}

/// Prints what is in the file.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let model = Model {
        model: args.file.clone(),
    };
    let file = model.load()?;
    if args.layers {
        println!("{}", crate::onnx::write::lines(&file.layers));
        return Ok(());
    }
    if args.json {
        let layers: Vec<_> = file
            .layers
            .iter()
            .map(|x| {
                serde_json::json!({
                    "curvature": format!("{:?}", x.curvature).to_lowercase(),
                    "alpha": x.alpha, "beta": x.beta, "gamma": x.gamma, "delta": x.delta,
                    "sigma": x.sigma, "eta": x.eta, "mu": x.mu,
                })
            })
            .collect();
        let all =
            serde_json::json!({"topology": "unrolled", "n": file.n, "k": file.k, "layers": layers});
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("unrolled network, {} layers", describe(&file.layers));
    println!("trained for n = {}, k = {}; takes any\n", file.n, file.k);
    println!("layer  curvature    alpha      beta       gamma      delta      sigma   eta     mu");
    for (t, x) in file.layers.iter().enumerate() {
        println!(
            "{:>5}  {:<9}  {:<9.3e}  {:<9.3e}  {:<9.3e}  {:<9.3e}  {:.3}  {:>6.3}  {:>6.3}",
            t + 1,
            format!("{:?}", x.curvature).to_lowercase(),
            x.alpha,
            x.beta,
            x.gamma,
            x.delta,
            x.sigma,
            x.eta,
            x.mu
        );
    }
    Ok(())
}
