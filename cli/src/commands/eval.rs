//! `denise eval`: the network beside the classical methods.

use super::cells::Cells;
use super::finetune::{Settings, Tuned, tune};
use super::input::stock_windows;
use super::model::Model;
use super::pairs::Pairs;
use super::{robustness, streams};
use crate::evaluate::{
    Contender, Format, Matrices, Method, Pace, Plan, Row, StockRow, Table, Times, contenders,
    evaluate, stocks,
};
use crate::ranks;
use denise_data::files::Stack;
use denise_data::generator;
use std::error::Error;
use std::path::PathBuf;

/// Options of `denise eval`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    model: Model,
    /// Methods to compare.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = Method::COMPARED)]
    method: Vec<Method>,
    #[command(flatten)]
    cells: Cells,
    /// How the pairs of S₀ are drawn. The authors' are those of the paper's tables.
    #[arg(long, value_enum, default_value_t = Pairs::Authors)]
    pairs: Pairs,
    /// Size of the matrices; without it, the model's own.
    #[arg(long, short)]
    n: Option<usize>,
    /// Rank of L₀; without it, the model's own.
    #[arg(long, short)]
    k: Option<usize>,
    /// Matrices of each kind; 0 for none.
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Seed of the matrices.
    #[arg(long, default_value_t = 2026)]
    seed: u64,
    /// λ of the classical methods. Without it each has the paper's, PCP and IALM also the LRS library's, which is 1/√n,
    /// and PCP also the best for each matrix, chosen knowing L₀, on a twentieth of the matrices.
    #[arg(long, value_parser = positive)]
    lambda: Option<f64>,
    /// A CSV table of prices: compare also on its windows (100 days, step 5, correlation), of which the first 77 % are
    /// to finetune on and the rest to test.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Measure instead how far L can be relied on, beside PCP with λ = 1/√n and eigen-truncation: large outliers, a
    /// rank that is too large, other sizes; with --prices also the order of the assets, their units, and the next day.
    /// n = 20, k = 3, and at most 2,000 matrices of each kind.
    #[arg(long, conflicts_with_all = ["n", "k", "method", "lambda", "sparsity", "distribution"])]
    robustness: bool,
    /// Measure instead how streams follow the prices from day to day, beside a start from scratch at every day and
    /// beside eigen-truncation; with --panel also on the first assets of a larger table.
    #[arg(long, requires = "prices", conflicts_with_all = ["n", "k", "method", "lambda", "robustness"])]
    streams: bool,
    /// Measure instead how often the rank that `denise rank` suggests is right, beside other criteria, on matrices whose
    /// rank is known: --count of each kind, at most 200.
    #[arg(long, conflicts_with_all = ["n", "k", "method", "lambda", "robustness", "streams", "prices"])]
    ranks: bool,
    #[command(flatten)]
    assets: robustness::Assets,
    /// How to print the tables.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The same as --format json.
    #[arg(long)]
    json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a number above 0".into()),
    }
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let format = if args.json { Format::Json } else { args.format };
    if args.robustness {
        let (pairs, prices) = (args.pairs.into(), args.prices.as_deref());
        let measured = robustness::measure(
            &args.model,
            prices,
            &args.assets,
            pairs,
            args.count,
            args.seed,
            Pace::Full,
        )?;
        print!("{}", robustness::print(&measured, format)?);
        return Ok(());
    }
    if let (true, Some(prices)) = (args.streams, &args.prices) {
        let measured = streams::measure(&args.model, prices, &args.assets, Pace::Full)?;
        print!("{}", streams::print(&measured.rows, format)?);
        return Ok(());
    }
    if args.ranks {
        let rows = ranks::measure(args.count.min(200), args.seed)?;
        match format {
            Format::Json => println!("{}", serde_json::to_string_pretty(&rows)?),
            _ => print!("{}", ranks::table(&rows).write(format)),
        }
        return Ok(());
    }
    if args.assets.given() {
        return Err("--panel is for --robustness and --streams".into());
    }
    let model = args.model.open(args.n, args.k)?;
    let mut rows = Vec::new();
    if args.count > 0 {
        rows = evaluate(&Plan {
            contenders: &contenders(&args.method, &model, Matrices::Synthetic, args.lambda),
            cells: &args.cells.list(args.pairs),
            count: args.count,
            seed: args.seed,
            pace: Pace::Full,
        })?;
    }
    let mut real = Vec::new();
    if let Some(path) = &args.prices {
        real = on_stocks(path, &args.model, &args.method, args.lambda, Pace::Full)?;
    }
    if format == Format::Json {
        let all = serde_json::json!({"synthetic": rows, "real": real});
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    if !rows.is_empty() {
        if format == Format::Text {
            let (n, k) = (model.n(), model.k());
            let (count, seed) = (args.count, args.seed);
            let pairs = generator::Pairs::from(args.pairs);
            println!(
                "n = {n}, k = {k}, {count} matrices of each kind, seed {seed}, pairs: {pairs}; times on one core\n"
            );
        }
        print!("{}", table(&rows).write(format));
    }
    if !real.is_empty() {
        if !rows.is_empty() {
            println!();
        }
        print!("{}", stock_table(&real).write(format));
    }
    Ok(())
}

/// Every method on the last windows of a table of prices, the network before and after finetuning on the first.
pub fn on_stocks(
    path: &std::path::Path,
    model: &Model,
    methods: &[Method],
    lambda: Option<f64>,
    pace: Pace,
) -> Result<Vec<StockRow>, Box<dyn Error>> {
    let stack = stock_windows(path)?;
    let own = model.open(Some(stack.n), None)?;
    let settings = Settings::at(pace);
    let (_, test) = settings.halves(&stack)?;
    let mut rows = Vec::new();
    for contender in contenders(methods, &own, Matrices::Stocks, lambda) {
        rows.push(stocks(&contender, test, pace)?);
        if contender.method == Method::Denise {
            let tuned = Contender {
                label: "Denise, finetuned".into(),
                model: &finetuned(&stack, model, &settings)?,
                ..contender
            };
            rows.push(stocks(&tuned, test, pace)?);
        }
    }
    Ok(rows)
}

fn finetuned(
    stack: &Stack,
    model: &Model,
    settings: &Settings,
) -> Result<denise::Model, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("denise-eval-{}", std::process::id()));
    let device = super::device::Kind::default().open();
    let result = tune(stack, model, settings, &device, "eval".into(), &folder);
    // Nobody goes on from here.
    let _ = std::fs::remove_dir_all(folder);
    let Tuned {
        learner,
        outcome,
        k,
    } = result?;
    learner.model(&outcome.free, stack.n, k)
}

/// The paper's columns, and what they leave out.
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "U, s(S₀)",
        "method",
        "matrices",
        "r(L)",
        "s(S)",
        "rel.error(L)",
        "rel.error(S)",
        "median(L)",
        "worst(L)",
        "exact",
        "µs, batch",
        "µs, single",
    ]);
    for row in rows {
        let seconds = row.seconds;
        let time = |of: fn(Times) -> f64| seconds.map_or("–".into(), |x| microseconds(of(x)));
        table.push(vec![
            name(row),
            row.method.clone(),
            row.matrices.to_string(),
            row.rank.text(2),
            row.sparsity_of_s.text(2),
            row.error_l.text(5),
            row.error_s.text(4),
            format!("{:.5}", row.error_l.median),
            format!("{:.3}", row.error_l.worst),
            format!("{:.1} %", 100.0 * row.exact),
            time(|x| x.batch),
            time(|x| x.single),
        ]);
    }
    table
}

/// The kind of matrix, as short as it can be.
fn name(row: &Row) -> String {
    let name = format!("{} {:.2}", row.distribution, row.sparsity);
    match row.amplitude.as_str() {
        "1" => name,
        amplitude => format!("{name}, S₀ × {amplitude}"),
    }
}

/// The columns of the paper's Table 3, and the mean |S|.
pub fn stock_table(rows: &[StockRow]) -> Table {
    let mut table = Table::new(&[
        "windows of",
        "method",
        "r(L)",
        "s(S)",
        "‖M − L‖ / ‖M‖",
        "mean |S|",
        "µs, batch",
        "µs, single",
    ]);
    for row in rows {
        table.push(vec![
            "prices".into(),
            row.method.clone(),
            row.rank.text(2),
            row.sparsity.text(3),
            row.residual.text(3),
            row.mean_abs.text(4),
            microseconds(row.seconds.batch),
            microseconds(row.seconds.single),
        ]);
    }
    table
}

fn microseconds(seconds: f64) -> String {
    let x = seconds * 1e6;
    match x {
        0.0 => "0".into(),
        x if x < 100.0 => format!("{x:.2}"),
        x => format!("{x:.0}"),
    }
}
