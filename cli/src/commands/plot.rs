//! `denise plot`.

use super::input::Input;
use super::model::Model;
use crate::plot::decomposition;
use denise::{Options, Outputs};
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise plot`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: Model,
    /// Largest rank of L; without it, the model's own.
    #[arg(long, short)]
    k: Option<usize>,
    /// Which matrix of the file, from 0.
    #[arg(long, default_value_t = 0)]
    index: usize,
    /// The picture, .png or .svg; may be given twice.
    #[arg(long, short, value_name = "FILE", required = true)]
    out: Vec<PathBuf>,
}

/// Draws.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let stack = args.input.load()?.stack;
    let Some(m) = stack.iter().nth(args.index) else {
        let count = stack.count();
        return Err(format!(
            "--index {}: the file holds {count} matrices, counted from 0",
            args.index
        )
        .into());
    };
    let n = stack.n;
    let model = args.model.open_for(&Options {
        n,
        k: args.k.unwrap_or(0),
        missing: args.input.missing,
        ..Options::default()
    })?;
    let (mut l, mut s) = (vec![0.0; n * n], vec![0.0; n * n]);
    let out = Outputs {
        l: Some(&mut l),
        s: Some(&mut s),
        ..Outputs::default()
    };
    model.decompose(m, out)?;
    let caption = format!("n = {n}, rank {}, matrix {}", model.k(), args.index);
    let picture = decomposition(n, m, &l, &s, &caption);
    for path in &args.out {
        picture.save(path)?;
        println!("{}", path.display());
    }
    Ok(())
}
