//! `denise train`.

mod follow;

use super::cells::{Cells, share};
use super::device::Kind;
use super::model::{describe, file_of};
use super::pairs::Pairs;
use crate::train::{
    Accuracy, Config, Dense, Keep, Learner, Loss, Matrices, Outcome, Synthetic, Task, Topology,
    Unrolled, initial, initial_mend, measure, random, recipe, run as train, taking_back,
};
use crate::{onnx, plot};
use burn::tensor::Device;
use denise::unrolled::{File, Stages};
use denise_data::generator::{Cell, Kind as Matrix};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use follow::Curvatures;

/// Options of `denise train`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Size of the matrices to train on. The weights work for any other size, too.
    #[arg(long, short, default_value_t = 20)]
    n: usize,
    /// Rank of L.
    #[arg(long, short, default_value_t = 3)]
    k: usize,
    /// What kind of network. Layers, --shared and --model are for the unrolled one, --also too: a dense
    /// network is for one size only.
    #[arg(long, value_enum, default_value_t)]
    topology: Topology,
    /// A model to go on from, instead of --layers and --shared.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["layers", "shared", "take_back"])]
    model: Option<PathBuf>,
    /// Train the mending layers alone, so many of them: those that come first where entries are missing. All others stay
    /// as they are in --model, or in the built-in network.
    #[arg(long, value_name = "LAYERS", num_args = 0..=1, default_missing_value = "4",
        value_parser = clap::value_parser!(u16).range(1..=64), conflicts_with_all = ["topology", "loss"])]
    mend: Option<u16>,
    /// Train the layers alone that take U from one tick of a stream to the next, with these curvatures, each of which
    /// is "shared" or "own". All others stay as they are in --model, or in the built-in network. Streams are simulated,
    /// and those of --prices.
    #[arg(long, value_name = "CURVATURES", num_args = 0..=1, default_missing_value = "shared,own,own",
        conflicts_with_all = ["topology", "loss", "mend", "batch"])]
    follow: Option<Curvatures>,
    /// A table of prices, as .csv or .csv.gz with a column per asset and a row per day, from which --follow learns,
    /// too. May be given several times.
    #[arg(long, value_name = "FILE", requires = "follow")]
    prices: Vec<PathBuf>,
    /// Share of the days of a table, from the first, to learn from. The rest is kept for the result.
    #[arg(long, default_value_t = 0.6, requires = "follow")]
    share: f64,
    /// Layers.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=64))]
    layers: u16,
    /// How many of them, from the first, share the curvature of all rows: about half the price each.
    #[arg(long, default_value_t = 6)]
    shared: u16,
    /// Layers with one more weight, which takes back what a step moves within the span of U: worth it where layers are
    /// few.
    #[arg(long, conflicts_with_all = ["mend", "follow"])]
    take_back: bool,
    #[command(flatten)]
    cells: Cells,
    /// How the pairs of S₀ are drawn, of the matrices to train on and of those on which the result is measured; without
    /// it all alike. This and the three options before it replace the built-in list of kinds, which is wider.
    #[arg(long, value_enum)]
    pairs: Option<Pairs>,
    /// Another size to train on, in every fourth step, as NxK:SPARSITY, such as 10x2:0.95. Several take turns. They
    /// replace the built-in ones.
    #[arg(long, value_delimiter = ',', value_name = "SIZE")]
    also: Vec<Also>,
    /// What to minimise.
    #[arg(long, value_enum, default_value_t)]
    loss: Loss,
    /// Steps of gradient descent; without it 6000, or 2000 for mending layers and 1200 for those that follow.
    #[arg(long)]
    steps: Option<usize>,
    /// Matrices in a step; without it ten of each kind.
    #[arg(long)]
    batch: Option<usize>,
    /// Largest learning rate.
    #[arg(long, default_value_t = 0.02)]
    rate: f64,
    /// Gradients longer than this are shortened to it.
    #[arg(long, default_value_t = 1.0)]
    clip: f64,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Matrices of each kind to validate on; with --follow, days of each simulated stream.
    #[arg(long, default_value_t = 1000)]
    validation: usize,
    /// Steps between two validations, each of which leaves a checkpoint.
    #[arg(long, default_value_t = 100)]
    every: usize,
    /// Validations without a better one after which training ends.
    #[arg(long, default_value_t = 60)]
    patience: usize,
    /// Which weights to keep.
    #[arg(long, value_enum, default_value_t)]
    keep: Keep,
    /// Matrices of each kind on which the result is measured at the end; with --follow, days of each simulated stream.
    #[arg(long, default_value_t = 10_000)]
    test: usize,
    /// Where to compute.
    #[arg(long, value_enum, default_value_t)]
    device: Kind,
    /// Folder for model.onnx, log.jsonl, loss.png, result.json and the checkpoint, from which a run with
    /// the same options goes on.
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// A size and a sparsity.
#[derive(Clone, Copy, Debug)]
struct Also {
    n: usize,
    k: usize,
    sparsity: f64,
}

impl FromStr for Also {
    type Err = String;

    fn from_str(text: &str) -> Result<Also, String> {
        let parts = text.split_once(':').and_then(|(size, sparsity)| {
            let (n, k) = size.split_once('x')?;
            Some((n.parse().ok()?, k.parse().ok()?, sparsity))
        });
        let (n, k, sparsity) = parts.ok_or("must look like 10x2:0.95")?;
        let sparsity = share(sparsity)?;
        Ok(Also { n, k, sparsity })
    }
}

impl Args {
    /// The matrices to train on, those that most steps are on first.
    fn sizes(&self) -> Vec<Matrices> {
        let pairs = self.pairs.unwrap_or(Pairs::Uniform);
        let named = self.cells.named() || self.pairs.is_some();
        let kinds = |cells: Vec<Cell>| cells.into_iter().map(Into::into).collect();
        let mut sizes = vec![Matrices {
            n: self.n,
            k: self.k,
            kinds: match named {
                true => kinds(self.cells.list(pairs)),
                false if self.mend.is_some() => recipe::mend(),
                false => recipe::main(),
            },
        }];
        sizes.extend(self.also.iter().map(|&Also { n, k, sparsity }| Matrices {
            n,
            k,
            kinds: kinds(self.cells.with(&[sparsity], pairs)),
        }));
        // A dense network has one size.
        if !named && self.also.is_empty() && self.topology == Topology::Unrolled {
            sizes.extend(match self.mend {
                None => recipe::others(),
                Some(_) => recipe::mend_others(),
            });
        }
        sizes
    }

    /// What decides the weights, in a text: neither where they go nor how they are measured.
    fn identity(&self, start: &str) -> String {
        let Args {
            loss,
            batch,
            rate,
            clip,
            seed,
            validation,
            every,
            patience,
            ..
        } = self;
        let sizes = self.sizes().into_iter().map(|Matrices { n, k, kinds }| {
            let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
            format!("{n}x{k} [{}]", kinds.join(", "))
        });
        let sizes: Vec<String> = sizes.collect();
        let steps = self.steps();
        let batch = batch.map_or("ten of each".into(), |x| x.to_string());
        format!(
            "from {start}, matrices {}, loss {loss:?}, steps {steps}, batch {batch}, rate {rate}, clip {clip}, \
             seed {seed}, validation {validation}, every {every}, patience {patience}",
            sizes.join(", ")
        )
    }

    fn config(&self, identity: String) -> Config {
        Config {
            steps: self.steps(),
            rate: self.rate,
            clip: self.clip,
            every: self.every,
            patience: self.patience,
            keep: self.keep,
            identity,
        }
    }

    /// The network of which some layers learn.
    fn file(&self) -> Result<File, Box<dyn Error>> {
        match &self.model {
            None => Ok(File::builtin()?),
            Some(path) => file_of(path),
        }
    }

    fn steps(&self) -> usize {
        let usual = match (&self.mend, &self.follow) {
            (Some(_), _) => 2000,
            (_, Some(_)) => 1200,
            _ => 6000,
        };
        self.steps.unwrap_or(usual)
    }

    fn check(&self) -> Result<(), String> {
        if self.cells.named() || self.pairs.is_some() || !self.also.is_empty() {
            let own = match (&self.mend, &self.follow) {
                (Some(_), _) => "--mend has matrices with holes of its own",
                (_, Some(_)) => "--follow has streams of its own",
                _ => "",
            };
            if !own.is_empty() {
                return Err(format!(
                    "{own}: leave --sparsity, --distribution, --amplitude, --pairs and --also out"
                ));
            }
        }
        // NaN is not above zero.
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err(format!(
                "--share {} must be above 0 and at most 1",
                self.share
            ));
        }
        for (name, value) in [
            ("batch", self.batch.unwrap_or(1)),
            ("every", self.every),
            ("validation", self.validation),
        ] {
            if value == 0 {
                return Err(format!("--{name} must be at least 1"));
            }
        }
        let kinds = self.sizes().iter().map(|x| x.kinds.len()).max();
        if let (Some(batch), Some(kinds)) = (self.batch, kinds)
            && batch < kinds
        {
            return Err(format!(
                "--batch {batch} cannot hold all {kinds} kinds of matrices"
            ));
        }
        if self.topology != Topology::Unrolled && (self.model.is_some() || !self.also.is_empty()) {
            return Err("--model and --also are for the unrolled network".into());
        }
        Ok(())
    }
}

/// Trains, measures, writes.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    args.check()?;
    if let Some(curvatures) = &args.follow {
        return follow::run(args, curvatures);
    }
    let device = args.device.open();
    let mut task = Synthetic::new(
        args.sizes(),
        args.loss,
        args.batch,
        args.validation,
        args.seed,
        &device.clone().autodiff(),
    );
    let (learner, start) = learner(args, &task, &device)?;
    let config = args.config(args.identity(&start));
    let outcome = train(&config, &*learner, &mut task, &args.out)?;
    let kinds = args.sizes().swap_remove(0).kinds;
    let model = learner.model(&outcome.free, args.n, args.k)?;
    // Numbers that neither training nor validation has seen.
    let results = measure(&model, &kinds, args.seed + 1, args.test)?;
    let result = json(&kinds, &results);
    let metadata = [
        ("denise.training".into(), args.identity(&start)),
        ("denise.accuracy".into(), result.to_string()),
    ];
    let place = args.out.join("model.onnx");
    learner.write(&outcome.free, args.n, args.k, &place, &metadata)?;
    save_curve(&args.out, &outcome)?;
    let text = serde_json::to_string_pretty(&result)?;
    std::fs::write(args.out.join("result.json"), format!("{text}\n"))?;
    if args.json {
        println!("{text}");
    } else {
        println!(
            "validation {:.6} at step {}: {}\n",
            outcome.score,
            outcome.step,
            place.display()
        );
        print!("{}", table(&kinds, &results));
    }
    Ok(())
}

/// What learns, and where it starts from, in words.
fn learner(
    args: &Args,
    task: &Synthetic,
    device: &Device,
) -> Result<(Box<dyn Learner>, String), Box<dyn Error>> {
    if let Some(widths) = args.topology.widths(args.n, args.k) {
        let start = format!("the start, layers of {widths:?} values");
        let network = random(args.n, args.k, &widths, args.seed);
        return Ok((Box::new(Dense::new(network, device)), start));
    }
    if let Some(count) = args.mend {
        let file = args.file()?;
        let start = onnx::write::lines(&file.layers).replace('\n', "; ");
        let start = format!("{start}; mended by {count} layers");
        let mend = initial_mend(count.into());
        let unrolled = Unrolled::mending(
            Stages {
                mend: &mend,
                ..file.stages()
            },
            &task.sizes(),
            device,
        );
        return Ok((Box::new(unrolled), start));
    }
    let (file, start) = match &args.model {
        None => {
            let mut layers = initial(args.layers.into(), args.shared.into());
            let mut start = format!("the start, {} layers", describe(&layers));
            if args.take_back {
                layers = taking_back(layers);
                start += " that take back";
            }
            let file = File {
                n: args.n,
                k: args.k,
                layers,
                mend: Vec::new(),
                follow: Vec::new(),
            };
            (file, start)
        }
        Some(path) => {
            let file = file_of(path)?;
            let start = onnx::write::lines(&file.layers).replace('\n', "; ");
            (file, start)
        }
    };
    let unrolled = Unrolled::new(file.stages(), &task.sizes(), device);
    Ok((Box::new(unrolled), start))
}

/// A Markdown table.
fn table(kinds: &[Matrix], results: &[Accuracy]) -> String {
    let mut text = String::from("| kind | rel.error(L) | worst | s(S) |\n|---|---|---|---|\n");
    for (kind, x) in kinds.iter().zip(results) {
        text += &format!(
            "| {kind} | {:.5} | {:.3} | {:.4} |\n",
            x.mean, x.worst, x.sparsity
        );
    }
    text
}

/// The same for machines.
fn json(kinds: &[Matrix], results: &[Accuracy]) -> serde_json::Value {
    let rows = kinds.iter().zip(results).map(|(kind, x)| {
        serde_json::json!({
            "kind": kind.to_string(),
            "error": x.mean,
            "worst": x.worst,
            "sparsity_of_s": x.sparsity,
        })
    });
    rows.collect()
}

/// Draws loss and validation score.
pub fn save_curve(folder: &Path, outcome: &Outcome) -> Result<(), Box<dyn Error>> {
    // A line through every step is a grey band; means of a hundredth of the run each say more.
    let width = outcome.losses.len().div_ceil(100).max(1);
    let losses: Vec<(f64, f64)> = outcome
        .losses
        .chunks(width)
        .map(|part| {
            let mean =
                |f: fn(&(f64, f64)) -> f64| part.iter().map(f).sum::<f64>() / part.len() as f64;
            (mean(|x| x.0), mean(|x| x.1))
        })
        .collect();
    let series: [(&str, &[(f64, f64)]); 2] = [("loss", &losses), ("validation", &outcome.scores)];
    let picture = plot::curve("Training", "step", "loss", &series);
    picture.save(&folder.join("loss.png"))?;
    picture.save(&folder.join("loss.svg"))?;
    Ok(())
}
