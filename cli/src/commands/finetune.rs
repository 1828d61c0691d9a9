//! `denise finetune`.

use super::device::Kind;
use super::input::Input;
use super::model::Model;
use super::train::save_curve;
use crate::onnx;
use crate::train::{Config, Keep, Learner, Unrolled, Unsupervised, mean_abs_s, run as train};
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise finetune`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: Model,
    /// Rank of L; without it, the model's own.
    #[arg(long, short)]
    k: Option<usize>,
    /// Share of the matrices, from the first, to learn from. The rest is kept for the result.
    #[arg(long, default_value_t = 0.77)]
    share: f64,
    /// Steps of gradient descent.
    #[arg(long, default_value_t = 600)]
    steps: usize,
    /// Matrices in a step.
    #[arg(long, default_value_t = 64)]
    batch: usize,
    /// Largest learning rate.
    #[arg(long, default_value_t = 0.03)]
    rate: f64,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
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

/// Of the matrices to learn from, one in so many, from the last, chooses the best weights.
const CHOOSE: usize = 5;

impl Args {
    /// How the weights are found, in a text.
    fn settings(&self) -> String {
        let Args {
            k,
            share,
            steps,
            batch,
            rate,
            seed,
            ..
        } = self;
        format!("k {k:?}, share {share}, steps {steps}, batch {batch}, rate {rate}, seed {seed}")
    }

    /// The same, and from what.
    fn identity(&self) -> String {
        format!("{:?}, {:?}, {}", self.input, self.model, self.settings())
    }
}

/// Finetunes, measures, writes.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let stack = args.input.load()?;
    let file = args.model.load()?;
    let (n, count, size) = (stack.n, stack.count(), stack.n * stack.n);
    let k = args.k.unwrap_or(file.k);
    let learn = (args.share * count as f64).round() as usize;
    let choose = learn.div_ceil(CHOOSE);
    if !(0.0..=1.0).contains(&args.share) || learn < 2 {
        return Err(format!(
            "--share {} of {count} matrices leaves nothing to learn from",
            args.share
        )
        .into());
    }
    let (known, test) = stack.values.split_at(learn * size);
    let (fit, validation) = known.split_at((learn - choose) * size);
    let config = Config {
        steps: args.steps,
        rate: args.rate,
        clip: 1.0,
        every: 10,
        patience: 10,
        keep: Keep::Best,
        identity: args.identity(),
    };
    let device = args.device.open();
    let mut task = Unsupervised::new(
        n,
        k,
        fit.to_vec(),
        validation.to_vec(),
        args.batch,
        args.seed,
        &device.clone().autodiff(),
    )?;
    let start = std::time::Instant::now();
    let learner = Unrolled::new(&file.layers, &[(n, k)], &device);
    let outcome = train(&config, &learner, &mut task, &args.out)?;
    let seconds = start.elapsed().as_secs_f64();
    let tested = if test.is_empty() { validation } else { test };
    let before = mean_abs_s(&learner.model(&learner.initial(), n, k)?, tested)?;
    let after = mean_abs_s(&learner.model(&outcome.free, n, k)?, tested)?;
    let result = serde_json::json!({
        "learnt_from": learn,
        "tested_on": tested.len() / size,
        "mean_abs_s_before": before,
        "mean_abs_s_after": after,
        "seconds": seconds,
    });
    let metadata = [
        ("denise.finetuning".into(), args.settings()),
        ("denise.result".into(), result.to_string()),
    ];
    onnx::write(
        &args.out.join("model.onnx"),
        n,
        k,
        &learner.layers(&outcome.free),
        &metadata,
    )?;
    save_curve(&args.out, &outcome)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&result)?);
    } else {
        println!(
            "learnt from {learn} matrices in {seconds:.1} s: {}",
            args.out.join("model.onnx").display()
        );
        println!(
            "mean |S| on {} others: {before:.4} before, {after:.4} after",
            tested.len() / size
        );
    }
    Ok(())
}
