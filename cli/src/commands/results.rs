//! `denise results`: everything that is claimed about accuracy, measured again and written down.

mod figures;
mod page;

use super::eval::{contenders, on_stocks};
use super::model::Model;
use crate::evaluate::{Contender, Continuity, Method, Plan, Row, StockRow, continuity, evaluate};
use crate::files::replace;
use crate::generator::{Cell, Distribution};
use clap::ValueEnum;
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise results`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    model: Model,
    /// A dense network for n = 20 and k = 3, trained as the paper's, to stand beside the others.
    #[arg(long, value_name = "FILE")]
    dense: Option<PathBuf>,
    /// A CSV table of prices.
    #[arg(long, value_name = "FILE")]
    prices: PathBuf,
    /// Matrices of each kind.
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Seed of the matrices.
    #[arg(long, default_value_t = 2026)]
    seed: u64,
    /// Folder for RESULTS.md, results.json and, in a folder of their own, the figures.
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
}

const SPARSITIES: [f64; 5] = [0.6, 0.7, 0.8, 0.9, 0.95];
const NORMAL: Distribution = Distribution::Normal(0.0, 1.0);
const STUDENT: Distribution = Distribution::StudentT(5.0);
/// Other sizes n and ranks k, at s(S₀) = .95.
const SIZES: [(usize, usize); 3] = [(10, 2), (50, 5), (100, 10)];
/// Ways on which continuity is measured.
const WAYS: usize = 20;

/// Measures, draws, writes.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let figures = args.out.join("figures");
    std::fs::create_dir_all(&figures).map_err(|e| format!("{}: {e}", figures.display()))?;
    let methods = Method::value_variants();
    let model = args.model.open(Some(20), Some(3))?;
    let dense = Model {
        model: args.dense.clone(),
    };
    let dense = match &args.dense {
        Some(_) => Some(dense.open(Some(20), Some(3))?),
        None => None,
    };
    let mut all = contenders(methods, &model);
    if let Some(dense) = &dense {
        let label = "dense, trained here";
        let method = Method::Denise;
        all.insert(
            1,
            Contender {
                label,
                method,
                model: dense,
            },
        );
    }
    let plan = |distribution| {
        let cell = |sparsity| Cell {
            sparsity,
            distribution,
        };
        evaluate(&Plan {
            contenders: &all,
            cells: &SPARSITIES.map(cell),
            count: args.count,
            seed: args.seed,
            lambda: 0.0,
        })
    };
    let results = Results {
        normal: plan(NORMAL)?,
        student: plan(STUDENT)?,
        sizes: sizes(args)?,
        stocks: on_stocks(&args.prices, &args.model, methods)?,
        continuity: all
            .iter()
            .filter(|x| x.method != Method::Identity)
            .map(|&x| continuity(x, recoverable(), args.seed, WAYS))
            .collect::<Result<_, _>>()?,
    };
    figures::draw(args, &model, &results, &figures)?;
    let json = serde_json::to_string_pretty(&results)?;
    std::fs::write(args.out.join("results.json"), format!("{json}\n"))?;
    let page = args.out.join("RESULTS.md");
    let text = results.page(args);
    replace(&page, |out| out.write_all(text.as_bytes()))?;
    println!("{}", page.display());
    Ok(())
}

/// The kind of matrix on which continuity is measured.
fn recoverable() -> Cell {
    Cell {
        sparsity: 0.9,
        distribution: NORMAL,
    }
}

/// All that is measured.
#[derive(serde::Serialize)]
struct Results {
    normal: Vec<Row>,
    student: Vec<Row>,
    sizes: Vec<Size>,
    stocks: Vec<StockRow>,
    continuity: Vec<Continuity>,
}

/// The rows of one size.
#[derive(serde::Serialize)]
struct Size {
    n: usize,
    k: usize,
    rows: Vec<Row>,
}

/// The network and eigen-truncation on other sizes.
fn sizes(args: &Args) -> Result<Vec<Size>, Box<dyn Error>> {
    let mut all = Vec::new();
    for (n, k) in SIZES {
        let model = args.model.open(Some(n), Some(k))?;
        let cells = [Cell {
            sparsity: 0.95,
            distribution: NORMAL,
        }];
        let rows = evaluate(&Plan {
            contenders: &contenders(&[Method::Denise, Method::Identity, Method::Eigen], &model),
            cells: &cells,
            count: args.count.min(2000),
            seed: args.seed,
            lambda: 0.0,
        })?;
        all.push(Size { n, k, rows });
    }
    Ok(all)
}
