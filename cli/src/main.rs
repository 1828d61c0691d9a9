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

/// What a shell says of a program that the signal SIGPIPE has ended.
const CLOSED_PIPE: i32 = 141;

/// Who reads what is printed may have seen enough, as `head` has. That is no error, and nothing to be told of.
fn end_with_the_reader() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>();
        let closed = |message: &String| {
            message.starts_with("failed printing to stdout") && message.contains("Broken pipe")
        };
        if message.is_some_and(closed) {
            std::process::exit(CLOSED_PIPE);
        }
        usual(panic);
    }));
}

fn main() -> ExitCode {
    end_with_the_reader();
    match Program::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("denise: {error}");
            ExitCode::FAILURE
        }
    }
}
