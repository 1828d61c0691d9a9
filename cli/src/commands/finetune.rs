//! `denise finetune`.

use super::device::Kind;
use super::input::Input;
use super::model::{Model, Pupil};
use super::train::save_curve;
use crate::evaluate::Pace;
use crate::train::{Config, Keep, Learner, Outcome, Unsupervised, mean_abs_s, run as train};
use burn::tensor::Device;
use denise_data::files::Stack;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Options of `denise finetune`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    settings: Settings,
    /// Where to compute.
    #[arg(long, value_enum, default_value_t)]
    device: Kind,
    /// Folder for model.onnx, log.jsonl, loss.png and the checkpoint.
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// How to finetune.
#[derive(clap::Args, Clone, Debug)]
pub struct Settings {
    /// Rank of L; without it, the model's own.
    #[arg(long, short)]
    k: Option<usize>,
    /// Share of the matrices, from the first, to learn from. The rest is kept for the result.
    #[arg(long, default_value_t = SHARE)]
    share: f64,
    /// Steps of gradient descent.
    #[arg(long, default_value_t = STEPS)]
    steps: usize,
    /// Matrices in a step.
    #[arg(long, default_value_t = BATCH)]
    batch: usize,
    /// Largest learning rate; without it, 0.03 for an unrolled network and 0.0001 for a dense one.
    #[arg(long)]
    rate: Option<f64>,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const SHARE: f64 = 0.77;
const STEPS: usize = 600;
const BATCH: usize = 64;
/// Of the matrices to learn from, one in so many, from the last, chooses the best weights.
const CHOOSE: usize = 5;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            k: None,
            share: SHARE,
            steps: STEPS,
            batch: BATCH,
            rate: None,
            seed: 1,
        }
    }
}

impl Settings {
    /// The defaults, or fewer steps.
    pub fn at(pace: Pace) -> Settings {
        Settings {
            steps: pace.of(STEPS, 20),
            ..Settings::default()
        }
    }

    /// The matrices to learn from and those to test on.
    pub fn halves<'a>(&self, stack: &'a Stack) -> Result<(&'a [f64], &'a [f64]), String> {
        let count = stack.count();
        let learn = (self.share * count as f64).round() as usize;
        if !(0.0..=1.0).contains(&self.share) || learn < 2 {
            return Err(format!(
                "--share {} of {count} matrices leaves nothing to learn from",
                self.share
            ));
        }
        Ok(stack.values.split_at(learn * stack.n * stack.n))
    }
}

/// A network that has been fitted to matrices.
pub struct Tuned {
    /// What learnt.
    pub learner: Box<dyn Learner>,
    /// What came out.
    pub outcome: Outcome,
    /// Rank of L.
    pub k: usize,
}

/// Finetunes a network on the first of the matrices. Checkpoint and log are kept in `folder`.
pub fn tune(
    stack: &Stack,
    model: &Model,
    settings: &Settings,
    device: &Device,
    identity: String,
    folder: &Path,
) -> Result<Tuned, Box<dyn Error>> {
    let n = stack.n;
    let (known, _) = settings.halves(stack)?;
    let Pupil { learner, k, rate } = model.learner(n, settings.k, device)?;
    let learn = known.len() / (n * n);
    let (fit, validation) = known.split_at((learn - learn.div_ceil(CHOOSE)) * n * n);
    let config = Config {
        steps: settings.steps,
        rate: settings.rate.unwrap_or(rate),
        clip: 1.0,
        every: 10,
        patience: 10,
        keep: Keep::Best,
        identity,
    };
    let mut task = Unsupervised::new(
        n,
        k,
        fit.to_vec(),
        validation.to_vec(),
        settings.batch,
        settings.seed,
        &device.clone().autodiff(),
    );
    let outcome = train(&config, &*learner, &mut task, folder)?;
    Ok(Tuned {
        learner,
        outcome,
        k,
    })
}

/// Finetunes, measures, writes.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.input.missing {
        return Err(
            "--missing: finetuning learns from whole matrices; leave it out, or take --drop-missing for a table".into(),
        );
    }
    let stack = args.input.load()?.stack;
    let (n, size) = (stack.n, stack.n * stack.n);
    let (known, test) = args.settings.halves(&stack)?;
    let identity = format!("{:?}, {:?}, {:?}", args.input, args.model, args.settings);
    let device = args.device.open();
    let start = std::time::Instant::now();
    let tuned = tune(
        &stack,
        &args.model,
        &args.settings,
        &device,
        identity,
        &args.out,
    )?;
    let seconds = start.elapsed().as_secs_f64();
    let Tuned {
        learner,
        outcome,
        k,
    } = tuned;
    let learnt = known.len() / size;
    let tested = if test.is_empty() { known } else { test };
    let before = mean_abs_s(&learner.model(&learner.initial(), n, k)?, tested)?;
    let after = mean_abs_s(&learner.model(&outcome.free, n, k)?, tested)?;
    let result = serde_json::json!({
        "learnt_from": learnt,
        "chosen_by": outcome.score,
        "tested_on": tested.len() / size,
        "mean_abs_s_before": before,
        "mean_abs_s_after": after,
        "seconds": seconds,
    });
    let metadata = [
        ("denise.finetuning".into(), format!("{:?}", args.settings)),
        ("denise.result".into(), result.to_string()),
    ];
    let place = args.out.join("model.onnx");
    learner.write(&outcome.free, n, k, &place, &metadata)?;
    save_curve(&args.out, &outcome)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&result)?);
    } else {
        println!(
            "learnt from {learnt} matrices in {seconds:.1} s: {}",
            place.display()
        );
        let whom = if test.is_empty() { "of them" } else { "others" };
        println!(
            "mean |S| on {} {whom}: {before:.4} before, {after:.4} after",
            tested.len() / size
        );
    }
    Ok(())
}
