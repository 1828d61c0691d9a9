//! `denise train --follow`.

use super::{Args, save_curve};
use crate::onnx;
use crate::train::{
    Following, Learner, Sources, Trial, Unrolled, initial_follow, measure_following, recipe,
    run_course, tables,
};
use denise::unrolled::{Curvature, Stages};
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The most layers that a run may have.
const MOST: usize = 64;

/// The curvatures of layers.
#[derive(Clone, Debug)]
pub struct Curvatures(Vec<Curvature>);

impl FromStr for Curvatures {
    type Err = String;

    fn from_str(text: &str) -> Result<Curvatures, String> {
        let names = text.split(',').map(|name| match name.trim() {
            "shared" => Ok(Curvature::Shared),
            "own" => Ok(Curvature::Own),
            _ => Err("must be a list of \"shared\" and \"own\", such as shared,own,own".to_owned()),
        });
        let all: Vec<Curvature> = names.collect::<Result<_, String>>()?;
        if all.len() > MOST {
            return Err(format!("at most {MOST} layers"));
        }
        Ok(Curvatures(all))
    }
}

impl fmt::Display for Curvatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|x| match x {
            Curvature::Shared => "shared",
            Curvature::Own => "own",
        });
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

/// Trains, measures, writes.
pub fn run(args: &Args, curvatures: &Curvatures) -> Result<(), Box<dyn Error>> {
    let device = args.device.open();
    let file = args.file()?;
    let first = (args.n, args.k);
    let mut sizes = vec![first];
    sizes.extend(recipe::FOLLOW_OTHERS.iter().filter(|&&x| x != first));
    let tables = tables(&args.prices, args.share)?;
    let sources = Sources {
        sizes: &sizes,
        tables: &tables,
        seed: args.seed,
    };
    let follow = initial_follow(&file.layers, &curvatures.0);
    let stages = Stages {
        follow: &follow,
        ..file.stages()
    };
    let learner = Unrolled::following(stages, &sizes, &device);
    // Splits from scratch do not depend on what learns.
    let scratch = |n: usize, k: usize| learner.model(&learner.initial(), n, k);
    let device = device.autodiff();
    let mut course = Following::new(&learner, &sources, args.validation, &scratch, &device)?;
    let identity = identity(args, curvatures, &onnx::write::lines(&file.layers));
    let config = args.config(identity.clone());
    let outcome = run_course(&config, &learner, &mut course, &args.out)?;
    let trials = sources.test(args.test);
    let make = |n: usize, k: usize| learner.model(&outcome.free, n, k);
    let results = measure_following(&make, &trials)?;
    let rows = trials
        .iter()
        .zip(&results)
        .map(|(Trial { name, n, k, .. }, x)| {
            serde_json::json!({
                "stream": name, "n": n, "k": k,
                "mean_abs_s": x.ratio,
                "zeros": x.zeros, "zeros_from_scratch": x.zeros_from_scratch,
                "moved": x.moved, "moved_from_scratch": x.moved_from_scratch,
            })
        });
    let result: serde_json::Value = rows.collect();
    let metadata = [
        ("denise.training".into(), identity),
        ("denise.accuracy".into(), result.to_string()),
    ];
    let place = args.out.join("model.onnx");
    learner.write(&outcome.free, args.n, args.k, &place, &metadata)?;
    save_curve(&args.out, &outcome)?;
    let text = serde_json::to_string_pretty(&result)?;
    std::fs::write(args.out.join("result.json"), format!("{text}\n"))?;
    if args.json {
        println!("{text}");
        return Ok(());
    }
    println!(
        "validation {:.6} at step {}: {}\n",
        outcome.score,
        outcome.step,
        place.display()
    );
    println!("mean |S| is relative to that from scratch, which is in brackets after the others.\n");
    println!("| n | k | stream | mean \\|S\\| | zeros in S | L moves |\n|---|---|---|---|---|---|");
    for (Trial { name, n, k, .. }, x) in trials.iter().zip(&results) {
        println!(
            "| {n} | {k} | {name} | {:.4} | {:.3} ({:.3}) | {:.3} ({:.3}) |",
            x.ratio, x.zeros, x.zeros_from_scratch, x.moved, x.moved_from_scratch
        );
    }
    Ok(())
}

/// What decides the weights, in a text: neither where they go nor how they are measured.
fn identity(args: &Args, curvatures: &Curvatures, layers: &str) -> String {
    let Args {
        n,
        k,
        share,
        rate,
        clip,
        seed,
        validation,
        every,
        patience,
        ..
    } = args;
    let names = args.prices.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    let steps = args.steps();
    format!(
        "from {}; followed by {curvatures}, streams of {n}x{k}, prices [{}], share {share}, steps {steps}, \
         rate {rate}, clip {clip}, seed {seed}, validation {validation}, every {every}, patience {patience}",
        layers.replace('\n', "; "),
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curvatures_are_read_as_they_are_written() {
        let text = "shared,own,own";
        let read: Curvatures = text.parse().unwrap();
        assert_eq!(read.to_string(), text);
        let spaced: Curvatures = "own, shared".parse().unwrap();
        assert_eq!(spaced.to_string(), "own,shared");
        for wrong in ["", "own,", "3", "Own"] {
            assert!(wrong.parse::<Curvatures>().is_err(), "{wrong}");
        }
    }
}
