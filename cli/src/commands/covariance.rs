//! `denise covariance`.

use super::model::Model;
use super::source::Source;
use denise::covariance::{DEFAULT_FLOOR, LEAST_FLOOR, Outputs};
use denise::{Options, Report, Status};
use denise_data::files::npy;
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise covariance`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    model: Model,
    /// Largest rank of L; without it, the model's own, or 3. `denise rank` suggests one.
    #[arg(long, short)]
    k: Option<usize>,
    /// Least share of an asset's variance that it has on its own.
    #[arg(long, default_value_t = DEFAULT_FLOOR, value_parser = floor)]
    floor: f64,
    /// Keep the best of several starts: about three times the time.
    #[arg(long)]
    careful: bool,
    /// Split the matrices as they are. Otherwise correlations are split, and scaled back: units do not matter.
    #[arg(long)]
    raw: bool,
    /// Only the last matrix.
    #[arg(long)]
    last: bool,
    /// Folder for Sigma.npy, inverse.npy, U.npy, d.npy, log_det.npy and summary.json.
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

fn floor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (LEAST_FLOOR..=1.0).contains(&x) => Ok(x),
        _ => Err(format!("must be a number from {LEAST_FLOOR} to 1")),
    }
}

/// Splits the matrices, makes covariances of them that can be inverted, and writes them.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let stack = args.source.load()?.stack;
    let (n, size) = (stack.n, stack.n * stack.n);
    let first = if args.last {
        stack.values.len().saturating_sub(size)
    } else {
        0
    };
    let m = &stack.values[first..];
    let count = m.len() / size;
    let model = args.model.open_for(&Options {
        n,
        k: args.k.unwrap_or(0),
        correlation: !args.raw,
        careful: args.careful,
        missing: args.source.missing,
        ..Options::default()
    })?;
    let k = model.k();
    let (mut u, mut d) = (vec![0.0; count * n * k], vec![0.0; count * n]);
    let (mut sigma, mut inverse) = (vec![0.0; m.len()], vec![0.0; m.len()]);
    let mut log_det = vec![0.0; count];
    let mut reports = vec![Report::default(); count];
    let out = Outputs {
        d: Some(&mut d),
        sigma: Some(&mut sigma),
        inverse: Some(&mut inverse),
        log_det: Some(&mut log_det),
    };
    match model.covariance(m, args.floor, &mut u, out, Some(&mut reports)) {
        // Counted below; the others are done.
        Err(error) if ![Status::NotFinite, Status::Singular].contains(&error.status) => {
            return Err(error.into());
        }
        _ => {}
    }
    std::fs::create_dir_all(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))?;
    let write = |name: &str, shape: &[usize], values: &[f64]| {
        npy::write(&args.out.join(name).with_extension("npy"), shape, values)
    };
    write("Sigma", &[count, n, n], &sigma)?;
    write("inverse", &[count, n, n], &inverse)?;
    write("U", &[count, n, k], &u)?;
    write("d", &[count, n], &d)?;
    write("log_det", &[count], &log_det)?;
    let about = About::of(n, args.floor, m, &d, &reports);
    let summary = serde_json::json!({
        "matrices": count,
        "n": n,
        "k": k,
        "floor": args.floor,
        "at_floor": about.at_floor,
        "smallest_share": about.smallest,
        "mean_share": about.mean,
        "singular": about.singular,
        "not_finite": about.not_finite,
    });
    let text = serde_json::to_string_pretty(&summary)?;
    std::fs::write(args.out.join("summary.json"), format!("{text}\n"))?;
    if args.json {
        println!("{text}");
        return Ok(());
    }
    println!(
        "{count} matrices of {n}×{n}, Σ = UUᵀ + diag(d) with k = {k}: Sigma.npy, inverse.npy, U.npy, d.npy and \
         log_det.npy are in {}",
        args.out.display()
    );
    if let (Some(mean), Some(smallest)) = (about.mean, about.smallest) {
        println!(
            "specific        {:.1} % of a variance on average, {:.2} % at least",
            100.0 * mean,
            100.0 * smallest
        );
    }
    println!(
        "at the floor    {} of {} variances",
        about.at_floor, about.variances
    );
    for (what, count) in [
        ("singular        ", about.singular),
        ("not finite      ", about.not_finite),
    ] {
        if count > 0 {
            println!("{what}{count} matrices, whose results are NaN");
        }
    }
    Ok(())
}

/// What is known of d.
#[derive(Default)]
struct About {
    /// Variances that are known and positive, of matrices that were done.
    variances: usize,
    /// Those that d would leave less than the floor.
    at_floor: usize,
    /// d_i / M_ii.
    smallest: Option<f64>,
    mean: Option<f64>,
    singular: usize,
    not_finite: usize,
}

impl About {
    fn of(n: usize, floor: f64, m: &[f64], d: &[f64], reports: &[Report]) -> About {
        let mut about = About::default();
        let mut sum = 0.0;
        for ((m, d), report) in m.chunks_exact(n * n).zip(d.chunks_exact(n)).zip(reports) {
            about.singular += usize::from(report.status == Status::Singular as i32);
            about.not_finite += usize::from(report.status == Status::NotFinite as i32);
            if report.status != Status::Ok as i32 {
                continue;
            }
            for (&m, &d) in m.iter().step_by(n + 1).zip(d) {
                if m > 0.0 {
                    let share = d / m;
                    about.variances += 1;
                    // Rounding may leave it a little below.
                    about.at_floor += usize::from(share <= floor * (1.0 + 1e-12));
                    about.smallest = Some(about.smallest.map_or(share, |least| least.min(share)));
                    sum += share;
                }
            }
        }
        about.mean = (about.variances > 0).then(|| sum / about.variances as f64);
        about
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_known_variances_of_matrices_that_were_done() {
        let report = |status: Status| Report {
            status: status as i32,
            ..Report::default()
        };
        let m = [
            2.0,
            0.0,
            0.0,
            4.0,
            0.0,
            0.0,
            0.0,
            0.0,
            f64::NAN,
            0.0,
            0.0,
            1.0,
        ];
        let d = [1.0, 0.4, f64::NAN, f64::NAN, 0.5, 0.5];
        let reports = [
            report(Status::Ok),
            report(Status::Singular),
            report(Status::Ok),
        ];
        let about = About::of(2, 0.1, &m, &d, &reports);
        assert_eq!((about.variances, about.at_floor, about.singular), (3, 1, 1));
        assert_eq!(about.smallest, Some(0.1));
        assert!((about.mean.unwrap() - 1.1 / 3.0).abs() < 1e-12);
        assert!(floor("0.1").is_ok() && floor("0").is_err() && floor("x").is_err());
    }
}
