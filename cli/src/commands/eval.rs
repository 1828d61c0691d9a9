//! `denise eval`: accuracy on synthetic matrices.

use super::model::Model;
use crate::generator::{Cell, Distribution};
use crate::train::{Accuracy, measure};
use std::error::Error;

/// Options of `denise eval`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    cells: Cells,
    /// Size of the matrices; without it, the model's own.
    #[arg(long, short)]
    n: Option<usize>,
    /// Rank of L₀; without it, the model's own.
    #[arg(long, short)]
    k: Option<usize>,
    /// Matrices of each kind.
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Seed of the matrices.
    #[arg(long, default_value_t = 2026)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Kinds of matrices: every distribution with every sparsity.
#[derive(clap::Args, Clone, Debug)]
pub struct Cells {
    /// Shares of zeros in S₀.
    #[arg(long, value_delimiter = ',', default_value = "0.6,0.7,0.8,0.9,0.95", value_parser = share)]
    sparsity: Vec<f64>,
    /// Distributions of U: normal, normal:MEAN:SD, t:DEGREES, uniform, uniform:LOW:HIGH.
    #[arg(long, value_delimiter = ',', default_value = "normal,t:5")]
    distribution: Vec<Distribution>,
}

/// A share of zeros, from an argument.
pub fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..1.0).contains(&x) => Ok(x),
        _ => Err("must be a number from 0 to less than 1".into()),
    }
}

impl Cells {
    /// All of them.
    pub fn list(&self) -> Vec<Cell> {
        self.with(&self.sparsity)
    }

    /// Every distribution with other sparsities.
    pub fn with(&self, sparsities: &[f64]) -> Vec<Cell> {
        let of = |&distribution| {
            sparsities.iter().map(move |&sparsity| Cell {
                sparsity,
                distribution,
            })
        };
        self.distribution.iter().flat_map(of).collect()
    }
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let file = args.model.load()?;
    let (n, k) = (args.n.unwrap_or(file.n), args.k.unwrap_or(file.k));
    let cells = args.cells.list();
    let options = denise::Options {
        n,
        k,
        ..denise::Options::default()
    };
    let model = denise::Model::unrolled(&file.layers, &options)?;
    let results = measure(&model, &cells, args.seed, args.count)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&json(&cells, &results))?);
    } else {
        println!(
            "n = {n}, k = {k}, {} matrices each, seed {}\n",
            args.count, args.seed
        );
        print!("{}", table(&cells, &results));
    }
    Ok(())
}

/// A Markdown table.
pub fn table(cells: &[Cell], results: &[Accuracy]) -> String {
    let mut text =
        String::from("| U | s(S₀) | rel.error(L) | worst | s(S) |\n|---|---|---|---|---|\n");
    for (cell, x) in cells.iter().zip(results) {
        text += &format!(
            "| {} | {:.2} | {:.5} | {:.3} | {:.4} |\n",
            cell.distribution, cell.sparsity, x.mean, x.worst, x.sparsity
        );
    }
    text
}

/// The same for machines.
pub fn json(cells: &[Cell], results: &[Accuracy]) -> serde_json::Value {
    let rows = cells.iter().zip(results).map(|(cell, x)| {
        serde_json::json!({
            "distribution": cell.distribution.to_string(),
            "sparsity": cell.sparsity,
            "error": x.mean,
            "worst": x.worst,
            "sparsity_of_s": x.sparsity,
        })
    });
    rows.collect()
}
