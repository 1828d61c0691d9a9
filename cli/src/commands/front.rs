//! `denise front`: what accuracy costs, for the networks that are built in and for others.

use crate::evaluate::{
    BATCH, Contender, Format, LRS, Lambda, Method, Pace, Plan, Row, Table, evaluate, side_by_side,
};
use crate::plot::{Axis, Scale, Series, Style, chart};
use denise::{File, Model, Options, unrolled};
use denise_data::generator::{Cell, Pairs, samples};
use std::error::Error;
use std::path::{Path, PathBuf};

/// Options of `denise front`.
#[derive(clap::Args)]
pub struct Args {
    /// Networks beside those that are built in: files of what `denise info --layers` prints. Their names in the picture
    /// are those of the files, without endings and with a space for each "_".
    #[arg(value_name = "LAYERS")]
    layers: Vec<PathBuf>,
    /// Matrices of each kind.
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Seed of the matrices.
    #[arg(long, default_value_t = 2026)]
    seed: u64,
    /// Few timings, to see that everything runs.
    #[arg(long)]
    quick: bool,
    /// The picture, .png or .svg; may be given twice.
    #[arg(long, short, value_name = "FILE")]
    out: Vec<PathBuf>,
}

const SPARSITIES: [f64; 5] = [0.6, 0.7, 0.8, 0.9, 0.95];
const SIZE: (usize, usize) = (20, 3);

/// Measures, draws, prints.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let pace = match args.quick {
        true => Pace::Quick,
        false => Pace::Full,
    };
    let networks = networks(&args.layers)?;
    let cells = SPARSITIES.map(|sparsity| Cell {
        sparsity,
        pairs: Pairs::Authors,
        ..Cell::default()
    });
    let rows = evaluate(&Plan {
        contenders: &contenders(&networks),
        cells: &cells,
        count: args.count,
        seed: args.seed,
        pace: Pace::Quick,
    })?;
    let (n, k) = SIZE;
    let m: Vec<f32> = samples(n, k, &cells, args.seed, 0, BATCH)
        .m
        .iter()
        .map(|&x| x as f32)
        .collect();
    let models: Vec<&Model> = networks.iter().map(|x| &x.1).collect();
    let seconds = side_by_side(&models, &m, pace)?;
    // The default is the first.
    let times = seconds.iter().map(|x| [0, 1].map(|e| x[e] / seconds[0][e]));
    let points: Vec<Point> = networks
        .iter()
        .zip(times)
        .map(|((name, _), times)| Point {
            name,
            times: Some(times),
            errors: errors(&rows, name),
        })
        .collect();
    for path in &args.out {
        picture(&points).save(path)?;
    }
    print!("{}", table(&points, &rows).write(Format::Markdown));
    Ok(())
}

/// Names and networks, the default first.
fn networks(layers: &[PathBuf]) -> Result<Vec<(String, Model)>, Box<dyn Error>> {
    let (n, k) = SIZE;
    let options = Options::size(n, k);
    let careful = Options {
        careful: true,
        ..options
    };
    let mut all = vec![
        ("default".to_owned(), Model::builtin(&options)?),
        ("default, careful".to_owned(), Model::builtin(&careful)?),
        ("fast".to_owned(), Model::load("fast", &options)?),
    ];
    for path in layers {
        let about = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|e| about(&e))?;
        let file = unrolled::File::with_layers(text.trim_ascii_end()).map_err(|e| about(&e))?;
        all.push((stem(path), Model::new(&File::Unrolled(file), &options)?));
    }
    Ok(all)
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().replace('_', " ")
}

/// The networks, and PCP, which is in the table only: it takes so long that a picture with it shows nothing else.
fn contenders(networks: &[(String, Model)]) -> Vec<Contender<'_>> {
    let own = networks.iter().map(|(name, model)| Contender {
        label: name.clone(),
        ..Contender::new(Method::Denise, Lambda::Own, model)
    });
    let pcp = Contender::new(Method::Pcp, Lambda::OverRoot(LRS), &networks[0].1);
    own.chain([pcp]).collect()
}

/// A network's place.
struct Point<'a> {
    name: &'a str,
    /// Beside the default's, in a batch and alone.
    times: Option<[f64; 2]>,
    /// Mean errors of L.
    errors: Vec<f64>,
}

fn errors(rows: &[Row], name: &str) -> Vec<f64> {
    let own = rows.iter().filter(|row| row.method == name);
    own.map(|row| row.error_l.mean).collect()
}

/// A column of markers for each network.
fn picture(points: &[Point<'_>]) -> crate::plot::Picture {
    let columns: Vec<Vec<(f64, f64)>> = points
        .iter()
        .map(|point| {
            let x = point.times.map_or(f64::NAN, |times| times[0]);
            point.errors.iter().map(|&error| (x, error)).collect()
        })
        .collect();
    let series: Vec<Series<'_>> = points
        .iter()
        .zip(&columns)
        .map(|(point, column)| Series {
            name: point.name,
            points: column,
            style: Style::Both,
        })
        .collect();
    let axis = |label| Axis {
        label,
        scale: Scale::Log,
    };
    chart(
        "Error of L against time, s(S₀) = .60 (top), .70, .80, .90 and .95",
        axis("time per matrix beside the default's, in batches"),
        axis("mean ‖L − L₀‖ / ‖L₀‖"),
        &series,
    )
}

/// The same in numbers.
fn table(points: &[Point<'_>], rows: &[Row]) -> Table {
    let mut table = Table::new(&["network", "batch", "one", ".60", ".70", ".80", ".90", ".95"]);
    let pcp = rows.last().map(|row| Point {
        name: &row.method,
        times: None,
        errors: errors(rows, &row.method),
    });
    for point in points.iter().chain(&pcp) {
        let times = match point.times {
            Some(times) => times.map(|x| format!("{x:.2}")),
            None => ["–".to_owned(), "–".to_owned()],
        };
        let errors = point.errors.iter().map(|x| format!("{x:.5}"));
        let cells = [point.name.to_owned()].into_iter().chain(times);
        table.push(cells.chain(errors).collect());
    }
    table
}
