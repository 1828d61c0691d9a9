//! `denise generate`.

use super::cells::Cells;
use super::pairs::Pairs;
use denise_data::files::npy;
use denise_data::generator::samples;
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise generate`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    cells: Cells,
    /// How the pairs of S₀ are drawn. The same kind and seed give the matrices of `denise eval`.
    #[arg(long, value_enum, default_value_t = Pairs::Authors)]
    pairs: Pairs,
    /// Size of the matrices.
    #[arg(long, short, default_value_t = 20)]
    n: usize,
    /// Rank of L₀.
    #[arg(long, short, default_value_t = 3)]
    k: usize,
    /// Matrices in all, taking turns between the kinds.
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// Seed of the matrices.
    #[arg(long, default_value_t = 2026)]
    seed: u64,
    /// Folder for M.npy and L0.npy.
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
}

/// Draws and writes.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let (n, k, count) = (args.n, args.k, args.count);
    if n < 2 || k == 0 || k >= n {
        return Err(format!("k must be at least 1 and less than n; they are {k} and {n}").into());
    }
    let cells = args.cells.list(args.pairs);
    let data = samples(n, k, &cells, args.seed, 0, count);
    std::fs::create_dir_all(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))?;
    npy::write(&args.out.join("M.npy"), &[count, n, n], &data.m)?;
    npy::write(&args.out.join("L0.npy"), &[count, n, n], &data.l)?;
    println!(
        "{count} matrices: M.npy and L0.npy are in {}",
        args.out.display()
    );
    Ok(())
}
