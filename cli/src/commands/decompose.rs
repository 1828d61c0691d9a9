//! `denise decompose`.

use super::input::Input;
use super::model::Model;
use crate::files::npy;
use denise::{Outputs, Report, Status};
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise decompose`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: Model,
    /// Largest rank of L; without it, the model's own.
    #[arg(long, short)]
    k: Option<usize>,
    /// Folder for L.npy, S.npy, U.npy and summary.json.
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

/// Splits the matrices and writes what came out.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let stack = args.input.load()?;
    let (n, count) = (stack.n, stack.count());
    let model = args.model.open(Some(n), args.k)?;
    let k = model.k();
    let mut u = vec![0.0; count * n * k];
    let (mut l, mut s) = (vec![0.0; stack.values.len()], vec![0.0; stack.values.len()]);
    let mut reports = vec![Report::default(); count];
    let start = std::time::Instant::now();
    let out = Outputs {
        u: Some(&mut u),
        l: Some(&mut l),
        s: Some(&mut s),
        reports: Some(&mut reports),
    };
    match model.decompose(&stack.values, out) {
        Err(error) if error.status != Status::NotFinite => return Err(error.into()),
        _ => {}
    }
    let seconds = start.elapsed().as_secs_f64();
    std::fs::create_dir_all(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))?;
    npy::write(&args.out.join("L.npy"), &[count, n, n], &l)?;
    npy::write(&args.out.join("S.npy"), &[count, n, n], &s)?;
    npy::write(&args.out.join("U.npy"), &[count, n, k], &u)?;
    let mean =
        |f: fn(&Report) -> f32| reports.iter().map(|r| f64::from(f(r))).sum::<f64>() / count as f64;
    let summary = serde_json::json!({
        "matrices": count,
        "n": n,
        "k": k,
        "kernel": model.kernel().to_string_lossy(),
        "mean_residual": mean(|r| r.residual),
        "mean_sparsity": mean(|r| r.sparsity),
        "mean_abs_s": s.iter().map(|x: &f64| x.abs()).sum::<f64>() / s.len() as f64,
        "not_finite": reports.iter().filter(|r| r.status != 0).count(),
        "microseconds_per_matrix": seconds / count as f64 * 1e6,
    });
    let text = serde_json::to_string_pretty(&summary)?;
    std::fs::write(args.out.join("summary.json"), format!("{text}\n"))?;
    if args.json {
        println!("{text}");
    } else {
        println!(
            "{count} matrices of {n}×{n}, rank {k}: L.npy, S.npy and U.npy are in {}",
            args.out.display()
        );
        println!("‖M − L‖ / ‖M‖   {:.4}", mean(|r| r.residual));
        println!("zeros in S      {:.1} %", 100.0 * mean(|r| r.sparsity));
        println!(
            "time            {:.2} µs a matrix",
            seconds / count as f64 * 1e6
        );
    }
    Ok(())
}
