//! The subcommands, one file each.

mod cells;
mod covariance;
mod decompose;
mod device;
mod eval;
mod finetune;
mod follow;
mod front;
mod generate;
mod info;
mod input;
mod model;
mod pairs;
mod plot;
mod rank;
mod results;
mod robustness;
mod rounded;
mod source;
mod stream;
mod streams;
mod train;

use clap::Subcommand;
use std::error::Error;

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Splits the matrices of a file and writes L, S, U and a summary.
    Decompose(decompose::Args),
    /// Makes covariances that can be inverted, of a table of prices or of matrices: Σ = UUᵀ + diag(d), and Σ⁻¹.
    Covariance(covariance::Args),
    /// Suggests how many factors there are: which k.
    Rank(rank::Args),
    /// Follows a table of prices line by line, as it comes, and writes what it finds as JSON lines.
    Stream(stream::Args),
    /// Trains a network on synthetic matrices, as in the paper.
    Train(train::Args),
    /// Fits a trained network to your own matrices.
    Finetune(finetune::Args),
    /// Draws synthetic matrices, of which the split is known.
    Generate(generate::Args),
    /// Compares a network with classical methods, as the paper's tables do.
    Eval(eval::Args),
    /// Measures everything again and writes RESULTS.md and TABLES.md with their figures.
    Results(results::Args),
    /// Measures and draws what accuracy costs: networks of more and fewer layers.
    Front(front::Args),
    /// Says what a model file holds.
    Info(info::Args),
    /// Draws M, L and S of one matrix side by side.
    Plot(plot::Args),
}

impl Command {
    /// Does it.
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        match self {
            Command::Decompose(args) => decompose::run(&args),
            Command::Covariance(args) => covariance::run(&args),
            Command::Rank(args) => rank::run(&args),
            Command::Stream(args) => stream::run(&args),
            Command::Train(args) => train::run(&args),
            Command::Finetune(args) => finetune::run(&args),
            Command::Generate(args) => generate::run(&args),
            Command::Eval(args) => eval::run(&args),
            Command::Results(args) => results::run(&args),
            Command::Front(args) => front::run(&args),
            Command::Info(args) => info::run(&args),
            Command::Plot(args) => plot::run(&args),
        }
    }
}
