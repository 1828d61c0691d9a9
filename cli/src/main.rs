//! `denise`: trains, finetunes and runs networks that split covariance matrices into L + S.
//!
//! - `commands`: what each subcommand does. Matrices come from the crate `denise_data`.
//! - `evaluate`: methods side by side. `robustness`: on matrices that are not the paper's.
//!   `streams`: from tick to tick. `ranks`: how often a suggested k is right. `evidence`: the page that sums it up.
//! - `train`: gradient descent. `onnx`: the model files. `plot`: the pictures.

mod commands;
mod evaluate;
mod evidence;
mod onnx;
mod plot;
mod ranks;
mod robustness;
mod streams;
mod train;

use clap::Parser;
use std::process::ExitCode;

/// Splits covariance matrices M into a low-rank L and a sparse S; trains the networks that do it.
#[derive(Parser)]
#[command(name = "denise", version)]
struct Program {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match Program::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("denise: {error}");
            ExitCode::FAILURE
        }
    }
}
