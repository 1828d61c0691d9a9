//! `denise results`: everything that is claimed about accuracy, measured again and written down.

mod figures;
mod meaning;
mod page;

use super::eval::on_stocks;
use super::model::Model;
use super::pairs::Pairs;
use super::{robustness, streams};
use crate::evaluate::{
    Contender, Continuity, Matrices, Method, Pace, Plan, Row, StockRow, contenders, continuity,
    evaluate,
};
use crate::evidence::{Effort, Evidence, Machine, Origin, Panel, Usefulness};
use crate::robustness::Robustness;
use crate::streams::Row as StreamRow;
use denise_data::files::replace;
use denise_data::generator::{self, Cell, Distribution};
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
    #[command(flatten)]
    assets: robustness::Assets,
    /// A CSV table of prices, which may have gaps, on which stability is measured too; several times for several.
    #[arg(long, value_name = "FILE")]
    stability: Vec<PathBuf>,
    /// What evidence/usefulness.py has written, to stand on the page too.
    #[arg(long, value_name = "FILE")]
    usefulness: Option<PathBuf>,
    /// Few matrices and small sizes, to see in a minute that everything runs.
    #[arg(long)]
    quick: bool,
    /// Matrices of each kind for TABLES.md; without it 10,000, and 20 with --quick.
    #[arg(long)]
    count: Option<usize>,
    /// Seed of the matrices.
    #[arg(long, default_value_t = 2026)]
    seed: u64,
    /// How the pairs of S₀ are drawn. The authors' are those of the paper's tables, which stand beside these.
    #[arg(long, value_enum, default_value_t = Pairs::Authors)]
    pairs: Pairs,
    /// Folder for RESULTS.md, TABLES.md, results.json and, in a folder of their own, the figures.
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
}

impl Args {
    fn pace(&self) -> Pace {
        match self.quick {
            true => Pace::Quick,
            false => Pace::Full,
        }
    }

    fn count(&self) -> usize {
        self.count.unwrap_or(self.pace().of(10_000, 20))
    }
}

const SPARSITIES: [f64; 5] = [0.6, 0.7, 0.8, 0.9, 0.95];
const NORMAL: Distribution = Distribution::Normal(0.0, 1.0);
const STUDENT: Distribution = Distribution::StudentT(5.0);
/// Other sizes n and ranks k, at s(S₀) = .95.
const SIZES: [(usize, usize); 3] = [(10, 2), (50, 5), (100, 10)];
/// Where the network stands beside what costs nothing only.
const FEW: [Method; 3] = [Method::Denise, Method::Identity, Method::Eigen];
/// Ways on which continuity is measured.
const WAYS: usize = 20;

/// Measures, draws, writes.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let inputs = Inputs::read(args)?;
    let figures = args.out.join("figures");
    std::fs::create_dir_all(&figures).map_err(|e| format!("{}: {e}", figures.display()))?;
    let methods = &Method::COMPARED;
    let model = args.model.open(Some(20), Some(3))?;
    let dense = Model {
        model: args.dense.clone(),
    };
    let dense = match &args.dense {
        Some(_) => Some(dense.open(Some(20), Some(3))?),
        None => None,
    };
    let mut all = contenders(methods, &model, Matrices::Synthetic, None);
    if let Some(dense) = &dense {
        let dense = Contender {
            label: "dense, trained here".into(),
            model: dense,
            ..all[0].clone()
        };
        all.insert(1, dense);
    }
    let plan = |contenders, distribution, pairs| {
        let cell = |sparsity| Cell {
            sparsity,
            distribution,
            pairs,
            ..Cell::default()
        };
        evaluate(&Plan {
            contenders,
            cells: &SPARSITIES.map(cell),
            count: args.count(),
            seed: args.seed,
            pace: args.pace(),
        })
    };
    let pairs = generator::Pairs::from(args.pairs);
    let followed = streams::measure(&args.model, &args.prices, &args.assets, args.pace())?;
    let few = contenders(&FEW, &model, Matrices::Synthetic, None);
    let results = Results {
        pairs: pairs.to_string(),
        normal: plan(&all, NORMAL, pairs)?,
        student: plan(&all, STUDENT, pairs)?,
        uniform: plan(&few, NORMAL, generator::Pairs::Uniform)?,
        sizes: sizes(args)?,
        stocks: on_stocks(&args.prices, &args.model, methods, None, args.pace())?,
        continuity: all
            .iter()
            .filter(|x| x.works())
            .map(|x| continuity(x, recoverable(args), args.seed, args.pace().of(WAYS, 1)))
            .collect::<Result<_, _>>()?,
        robustness: robustness::measure(
            &args.model,
            Some(&args.prices),
            &args.assets,
            pairs,
            args.count(),
            args.seed,
            args.pace(),
        )?,
        streams: followed.rows,
        evidence: inputs.evidence(args)?,
    };
    figures::draw(args, &model, &results, &followed.path, &figures)?;
    let json = serde_json::to_string_pretty(&results)?;
    std::fs::write(args.out.join("results.json"), format!("{json}\n"))?;
    let write = |name: &str, text: &str| -> Result<(), Box<dyn Error>> {
        let path = args.out.join(name);
        replace(&path, |out| out.write_all(page::wrapped(text).as_bytes()))?;
        println!("{}", path.display());
        Ok(())
    };
    write("TABLES.md", &results.page(args))?;
    write("RESULTS.md", &results.evidence.page(&origin(args)))?;
    println!("{}", results.evidence.summary());
    Ok(())
}

/// What the short page is made from. Read before anything is measured: a wrong name is told at once.
struct Inputs {
    panels: Vec<Panel>,
    usefulness: Option<Usefulness>,
}

impl Inputs {
    fn read(args: &Args) -> Result<Inputs, Box<dyn Error>> {
        let files = std::iter::once(&args.prices).chain(&args.stability);
        let panels: Result<_, _> = files.map(|path| Panel::read(path)).collect();
        let usefulness = args.usefulness.as_deref().map(Usefulness::read);
        Ok(Inputs {
            panels: panels?,
            usefulness: usefulness.transpose()?,
        })
    }

    /// What the short page shows.
    fn evidence(self, args: &Args) -> Result<Evidence, Box<dyn Error>> {
        let effort = args.pace().of(Effort::FULL, Effort::QUICK);
        Evidence::measure(
            &|options| args.model.open_for(options),
            &self.panels,
            &effort,
            args.seed,
            self.usefulness,
        )
    }
}

/// How it came about. The program's own place is nobody's business.
fn origin(args: &Args) -> Origin {
    let options = |line: String, word: String| match word.starts_with("--") {
        true => line + " \\\n  " + &word,
        false => line + " " + &word,
    };
    Origin {
        command: std::env::args().skip(1).fold("denise".to_owned(), options),
        seed: args.seed,
        quick: args.quick,
        machine: Machine::here(),
    }
}

/// The kind of matrix on which continuity is measured.
fn recoverable(args: &Args) -> Cell {
    Cell {
        sparsity: 0.9,
        distribution: NORMAL,
        pairs: args.pairs.into(),
        ..Cell::default()
    }
}

/// All that is measured.
#[derive(serde::Serialize)]
struct Results {
    pairs: String,
    normal: Vec<Row>,
    student: Vec<Row>,
    /// As `normal`, with uniform pairs, by a few methods.
    uniform: Vec<Row>,
    sizes: Vec<Size>,
    stocks: Vec<StockRow>,
    continuity: Vec<Continuity>,
    robustness: Robustness,
    streams: Vec<StreamRow>,
    evidence: Evidence,
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
            pairs: args.pairs.into(),
            ..Cell::default()
        }];
        let rows = evaluate(&Plan {
            contenders: &contenders(&FEW, &model, Matrices::Synthetic, None),
            cells: &cells,
            count: args.count().min(2000),
            seed: args.seed,
            pace: args.pace(),
        })?;
        all.push(Size { n, k, rows });
    }
    Ok(all)
}
