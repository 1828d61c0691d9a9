//! `denise decompose`.

use super::input::Input;
use super::model::Model;
use crate::evaluate::Method;
use denise::classical::Solver;
use denise::{Options, Outputs, Report, Status};
use denise_data::files::{Stack, npy};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

/// Options of `denise decompose`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: Model,
    /// The network, or a classical method to check it against.
    #[arg(long, value_enum, default_value_t = Method::Denise)]
    method: Method,
    /// Largest rank of L; without it, the model's own, or 3.
    #[arg(long, short)]
    k: Option<usize>,
    /// Split the correlation matrices and scale back, so that the units of the assets do not matter.
    #[arg(long)]
    correlation: bool,
    /// Keep the best of several starts, each of which runs through all layers: about three times the time, and smaller
    /// errors where outliers are large or many. L is then not continuous in M.
    #[arg(long)]
    careful: bool,
    /// λ of a classical method; without it, the paper's.
    #[arg(long, default_value_t = 0.0)]
    lambda: f64,
    /// Folder for L.npy, S.npy, summary.json and, of a network, U.npy.
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

/// What came out.
struct Split {
    l: Vec<f64>,
    s: Vec<f64>,
    /// With its number of columns.
    u: Option<(Vec<f64>, usize)>,
    by: String,
    seconds: f64,
    /// One for every matrix, from the network.
    reports: Vec<Report>,
}

/// Splits the matrices and writes what came out.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let stack = args.input.load()?;
    if args.correlation && args.method != Method::Denise {
        return Err(
            "--correlation is for the network; give classical methods correlation matrices".into(),
        );
    }
    if args.careful && args.method != Method::Denise {
        return Err(
            "--careful is for the network; classical methods have no starts to choose from".into(),
        );
    }
    let split = match args.method.classical() {
        Some(method) => {
            let solver = Solver::new(method, stack.n, args.k.unwrap_or(3), args.lambda)?;
            solve(solver, args.method, &stack)?
        }
        None if args.method == Method::Denise => network(args, &stack)?,
        None => return Err("--method identity is L = M: there is nothing to compute".into()),
    };
    let (n, count) = (stack.n, stack.count());
    std::fs::create_dir_all(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))?;
    npy::write(&args.out.join("L.npy"), &[count, n, n], &split.l)?;
    npy::write(&args.out.join("S.npy"), &[count, n, n], &split.s)?;
    if let Some((u, k)) = &split.u {
        npy::write(&args.out.join("U.npy"), &[count, n, *k], u)?;
    }
    let about = About::of(&stack, &split);
    let summary = serde_json::json!({
        "matrices": count,
        "n": n,
        "k": split.u.as_ref().map(|(_, k)| k),
        "kernel": split.by,
        "mean_residual": about.residual,
        "mean_sparsity": about.sparsity,
        "mean_abs_s": about.mean_abs,
        "not_finite": about.not_finite,
        "first_not_finite": first_not_finite(&split.reports, n),
        "largest_unsettled": largest(&split.reports, |report| report.unsettled),
        "least_specific": largest(&split.reports, |report| -report.least_specific).map(|x| -x),
        "microseconds_per_matrix": split.seconds / count as f64 * 1e6,
    });
    let text = serde_json::to_string_pretty(&summary)?;
    std::fs::write(args.out.join("summary.json"), format!("{text}\n"))?;
    if args.json {
        println!("{text}");
        return Ok(());
    }
    let files = match split.u {
        Some(_) => "L.npy, S.npy and U.npy",
        None => "L.npy and S.npy",
    };
    println!(
        "{count} matrices of {n}×{n}, {}: {files} are in {}",
        split.by,
        args.out.display()
    );
    println!("‖M − L‖ / ‖M‖   {:.4}", about.residual);
    println!("zeros in S      {:.1} %", 100.0 * about.sparsity);
    if let Some([matrix, i, j]) = first_not_finite(&split.reports, n) {
        println!(
            "not finite      {} matrices; the first is number {matrix}, at row {i}, column {j}",
            about.not_finite
        );
    }
    println!(
        "time            {:.2} µs a matrix",
        split.seconds / count as f64 * 1e6
    );
    Ok(())
}

fn network(args: &Args, stack: &Stack) -> Result<Split, Box<dyn Error>> {
    let model = args.model.open_for(&Options {
        n: stack.n,
        k: args.k.unwrap_or(0),
        correlation: args.correlation,
        careful: args.careful,
        ..Options::default()
    })?;
    let (count, size) = (stack.count(), stack.values.len());
    let mut u = vec![0.0; count * stack.n * model.k()];
    let (mut l, mut s) = (vec![0.0; size], vec![0.0; size]);
    let mut reports = vec![Report::default(); count];
    let start = Instant::now();
    let out = Outputs {
        u: Some(&mut u),
        l: Some(&mut l),
        s: Some(&mut s),
        reports: Some(&mut reports),
    };
    unless_not_finite(model.decompose(&stack.values, out))?;
    Ok(Split {
        seconds: start.elapsed().as_secs_f64(),
        l,
        s,
        by: model.kernel().to_string_lossy().into_owned(),
        u: Some((u, model.k())),
        reports,
    })
}

fn solve(mut solver: Solver, method: Method, stack: &Stack) -> Result<Split, Box<dyn Error>> {
    let size = stack.values.len();
    let (mut l, mut s) = (vec![0.0; size], vec![0.0; size]);
    let start = Instant::now();
    unless_not_finite(solver.solve(&stack.values, Outputs::parts(&mut l, &mut s)))?;
    Ok(Split {
        seconds: start.elapsed().as_secs_f64(),
        l,
        s,
        by: method.label().to_owned(),
        u: None,
        reports: Vec::new(),
    })
}

/// Matrices with NaN are counted in the summary; the others have been split.
fn unless_not_finite(result: Result<(), denise::Error>) -> Result<(), denise::Error> {
    match result {
        Err(error) if error.status != Status::NotFinite => Err(error),
        _ => Ok(()),
    }
}

/// The largest of a figure over the matrices that were split; none if there are no reports.
fn largest(reports: &[Report], figure: impl Fn(&Report) -> f32) -> Option<f32> {
    let split = reports
        .iter()
        .filter(|report| report.status == Status::Ok as i32);
    split.map(figure).reduce(f32::max)
}

/// Which entry of which matrix is the first that is NaN or infinite.
fn first_not_finite(reports: &[Report], n: usize) -> Option<[usize; 3]> {
    let bad = reports
        .iter()
        .position(|report| report.first_bad != Report::NONE)?;
    let at = reports[bad].first_bad as usize;
    Some([bad, at / n, at % n])
}

/// Means over the matrices that are finite, of the entries that are known.
struct About {
    residual: f64,
    sparsity: f64,
    mean_abs: f64,
    not_finite: usize,
}

/// |S_ij| up to this share of tr(M)/n counts as zero, as in the library's reports.
const ZERO: f64 = 0.01;

impl About {
    fn of(stack: &Stack, split: &Split) -> About {
        let n = stack.n;
        let mut about = About {
            residual: 0.0,
            sparsity: 0.0,
            mean_abs: 0.0,
            not_finite: 0,
        };
        let mut finite = 0.0;
        for (i, m) in stack.iter().enumerate() {
            let (l, s) = (&split.l[i * n * n..], &split.s[i * n * n..]);
            if l[0].is_nan() {
                about.not_finite += 1;
                continue;
            }
            finite += 1.0;
            // S is NaN where M is not known.
            let known = |at: &usize| !s[*at].is_nan();
            let diagonal: Vec<f64> = (0..n)
                .map(|i| i * (n + 1))
                .filter(known)
                .map(|at| m[at])
                .collect();
            let most = ZERO * diagonal.iter().sum::<f64>() / f64::max(diagonal.len() as f64, 1.0);
            let count = f64::max((0..n * n).filter(known).count() as f64, 1.0);
            let (mut wrong, mut norm) = (0.0, 0.0);
            for at in (0..n * n).filter(known) {
                let (m, s) = (m[at], s[at]);
                wrong += (m - l[at]).powi(2);
                norm += m.powi(2);
                about.mean_abs += s.abs() / count;
                about.sparsity += f64::from(u8::from(s.abs() <= most)) / count;
            }
            about.residual += (wrong / norm.max(f64::MIN_POSITIVE)).sqrt();
        }
        for mean in [
            &mut about.residual,
            &mut about.sparsity,
            &mut about.mean_abs,
        ] {
            *mean /= f64::max(finite, 1.0);
        }
        about
    }
}
