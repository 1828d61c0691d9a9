//! `denise decompose`.

use super::follow;
use super::input::{Input, Loaded};
use super::model::Model;
use crate::evaluate::Method;
use denise::classical::Solver;
use denise::{Options, Outputs, Report, Status};
use denise_data::files::prices::{Days, Gaps};
use denise_data::files::{Stack, npy};
use std::error::Error;
use std::path::{Path, PathBuf};
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
    /// Take the matrices as they come one after another in time: each split follows from the one before, so L moves as
    /// little as it must, in about half the time. Of a table every day is a tick of a moving window, whatever --step
    /// is; L, S, U and M.npy are then what a live stream gives, to the bit: in units of covariances.
    #[arg(long, conflicts_with_all = ["careful", "method", "lambda"])]
    follow: bool,
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
pub(super) struct Split {
    pub(super) l: Vec<f64>,
    pub(super) s: Vec<f64>,
    /// With its number of columns.
    pub(super) u: Option<(Vec<f64>, usize)>,
    pub(super) by: String,
    pub(super) seconds: f64,
    /// One for every matrix, from the network.
    pub(super) reports: Vec<Report>,
}

/// Splits the matrices and writes what came out.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.follow {
        let followed = follow::run(&args.input, &args.model, args.k, args.correlation)?;
        let n = followed.stack.n;
        let made = args.input.table.is_some();
        if made {
            // What was split is not in the file.
            let shape = [followed.stack.count(), n, n];
            create(&args.out)?;
            npy::write(&args.out.join("M.npy"), &shape, &followed.stack.values)?;
        }
        return write(args, &followed.stack, None, &followed.split);
    }
    let Loaded { stack, gaps } = args.input.load()?;
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
    let missing: Vec<usize> = stack.missing().collect();
    if missing.iter().any(|&count| count > 0) && !takes_missing(args.method) {
        return Err(format!(
            "--missing: entries are missing, and {} needs them all; take denise or masked-pcp, or fill them in",
            args.method.label()
        )
        .into());
    }
    let split = match args.method.classical() {
        Some(method) => {
            let solver = Solver::new(method, stack.n, args.k.unwrap_or(3), args.lambda)?;
            solve(solver, args.method, &stack)?
        }
        None if args.method == Method::Denise => network(args, &stack)?,
        None => return Err("--method identity is L = M: there is nothing to compute".into()),
    };
    write(args, &stack, gaps, &split)
}

fn create(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()).into())
}

/// Writes what came out, and says how it went.
fn write(
    args: &Args,
    stack: &Stack,
    gaps: Option<Gaps>,
    split: &Split,
) -> Result<(), Box<dyn Error>> {
    let missing: Vec<usize> = stack.missing().collect();
    let (n, count) = (stack.n, stack.count());
    create(&args.out)?;
    npy::write(&args.out.join("L.npy"), &[count, n, n], &split.l)?;
    npy::write(&args.out.join("S.npy"), &[count, n, n], &split.s)?;
    if let Some((u, k)) = &split.u {
        npy::write(&args.out.join("U.npy"), &[count, n, *k], u)?;
    }
    let about = About::of(stack, split);
    let summary = serde_json::json!({
        "matrices": count,
        "n": n,
        "k": split.u.as_ref().map(|(_, k)| k),
        "kernel": split.by,
        "mean_residual": about.residual,
        "mean_sparsity": about.sparsity,
        "mean_abs_s": about.mean_abs,
        "missing": missing.iter().sum::<usize>(),
        "matrices_with_missing": missing.iter().filter(|&&count| count > 0).count(),
        "gaps": gaps.map(|gaps| serde_json::json!({
            "pairs_too_short": gaps.short,
            "pairs_without_variation": gaps.still,
            "windows": gaps.windows,
            "min_days": least(&args.input),
        })),
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
    if let Some(gaps) = gaps {
        print_gaps(&gaps, least(&args.input), count);
    }
    if args.input.missing {
        let matrices = missing.iter().filter(|&&count| count > 0).count();
        println!(
            "missing         {} entries of the lower triangles, in {matrices} of {count} matrices",
            missing.iter().sum::<usize>()
        );
    }
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

/// Whether a method takes matrices of which entries are not known.
fn takes_missing(method: Method) -> bool {
    matches!(method, Method::Denise | Method::MaskedPcp)
}

/// The fewest days of an entry that is known.
fn least(input: &Input) -> usize {
    match input.days() {
        Days::Common { least } => least,
        Days::All => input.window,
    }
}

fn print_gaps(gaps: &Gaps, least: usize, windows: usize) {
    println!(
        "pairs missing   {} of fewer than {least} common days, {} without variation, in {} of {windows} windows",
        gaps.short, gaps.still, gaps.windows
    );
}

fn network(args: &Args, stack: &Stack) -> Result<Split, Box<dyn Error>> {
    let model = args.model.open_for(&Options {
        n: stack.n,
        k: args.k.unwrap_or(0),
        correlation: args.correlation,
        careful: args.careful,
        missing: args.input.missing,
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
    let bad = reports.iter().position(|report| {
        report.status != Status::Ok as i32 && report.first_bad != Report::NONE
    })?;
    let at = reports[bad].first_bad as usize;
    Some([bad, at / n, at % n])
}

/// Means over the matrices that were split, and in them over the entries that are known.
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
        let mut counted = 0.0;
        for (i, m) in stack.iter().enumerate() {
            let (l, s) = (&split.l[i * n * n..], &split.s[i * n * n..]);
            // Without a report, as classical methods are: what was not split is NaN throughout.
            let is_split = match split.reports.get(i) {
                Some(report) => report.status == Status::Ok as i32,
                None => !l[0].is_nan(),
            };
            if !is_split {
                about.not_finite += 1;
                continue;
            }
            let most = ZERO * mean_diagonal(m, n);
            let (mut wrong, mut norm) = (0.0, 0.0);
            let (mut zeros, mut sum, mut known) = (0.0, 0.0, 0.0);
            for at in 0..n * n {
                // The lower triangle is what was split.
                let (i, j) = (at / n, at % n);
                let m = m[i.max(j) * n + i.min(j)];
                if m.is_nan() {
                    continue;
                }
                known += 1.0;
                wrong += (m - l[at]).powi(2);
                norm += m.powi(2);
                sum += s[at].abs();
                zeros += f64::from(u8::from(s[at].abs() <= most));
            }
            // Of a matrix without a known entry there is nothing to say.
            if known == 0.0 {
                continue;
            }
            counted += 1.0;
            about.mean_abs += sum / known;
            about.sparsity += zeros / known;
            about.residual += (wrong / norm.max(f64::MIN_POSITIVE)).sqrt();
        }
        for mean in [
            &mut about.residual,
            &mut about.sparsity,
            &mut about.mean_abs,
        ] {
            *mean /= f64::max(counted, 1.0);
        }
        about
    }
}

/// The mean of the diagonal as far as it is known; 0 if it is not.
fn mean_diagonal(m: &[f64], n: usize) -> f64 {
    let known = || m.iter().step_by(n + 1).filter(|x| !x.is_nan());
    known().sum::<f64>() / f64::max(known().count() as f64, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(l: Vec<f64>, s: Vec<f64>, status: &[Status]) -> Split {
        let report = |&status: &Status| Report {
            status: status as i32,
            ..Report::default()
        };
        Split {
            l,
            s,
            u: None,
            by: String::new(),
            seconds: 0.0,
            reports: status.iter().map(report).collect(),
        }
    }

    #[test]
    fn means_are_over_known_entries_of_matrices_that_were_split() {
        let nan = f64::NAN;
        // Nothing is known off the first diagonal; the second was not split, of the third nothing is known; the
        // last lacks what nobody reads.
        let values = [
            [2.0, nan, nan, 4.0],
            [1.0; 4],
            [nan; 4],
            [3.0, nan, 0.0, 4.0],
        ];
        let l = [[1.0, 9.0, 9.0, 4.0], [nan; 4], [0.0; 4], [0.0; 4]];
        let s = [
            [1.0, nan, nan, 0.0],
            [nan; 4],
            [nan; 4],
            [3.0, 0.0, 0.0, 4.0],
        ];
        let stack = Stack {
            n: 2,
            values: values.concat(),
        };
        let status = [Status::Ok, Status::NotFinite, Status::Ok, Status::Ok];
        let about = About::of(&stack, &split(l.concat(), s.concat(), &status));
        assert_eq!(about.not_finite, 1);
        assert_eq!(about.residual, ((1.0_f64 / 20.0).sqrt() + 1.0) / 2.0);
        assert_eq!(about.sparsity, (0.5 + 0.5) / 2.0);
        assert_eq!(about.mean_abs, (0.5 + 7.0 / 4.0) / 2.0);
        // Without reports, NaN throughout says that a matrix was not split.
        let about = About::of(&stack, &split(l.concat(), s.concat(), &[]));
        assert_eq!(about.not_finite, 1);
    }

    #[test]
    fn the_first_entry_that_is_not_finite_is_of_a_matrix_that_was_not_split() {
        let mut reports = vec![Report::default(); 3];
        // Missing, and all right.
        reports[1].first_bad = 2;
        assert_eq!(first_not_finite(&reports, 2), None);
        reports[2].first_bad = 3;
        reports[2].status = Status::NotFinite as i32;
        assert_eq!(first_not_finite(&reports, 2), Some([2, 1, 1]));
    }
}
