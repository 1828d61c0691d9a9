//! `denise stream`.

use super::input::Content;
use super::model::Model;
use denise::{Options, Outputs, Report, Status, Stream, StreamOptions};
use denise_data::files::prices::{self, Row, Rows};
use std::error::Error;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a file to grow.
const PAUSE: Duration = Duration::from_millis(100);

/// Options of `denise stream`.
#[derive(clap::Args)]
pub struct Args {
    /// A CSV table with a column per asset and a line per tick, .csv or .csv.gz; without it, or with -, what comes in.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// What the table holds.
    #[arg(long, value_enum, value_name = "CONTENT", default_value_t = Content::Prices)]
    table: Content,
    #[command(flatten)]
    model: Model,
    /// Largest rank of L; without it, the model's own, or 3.
    #[arg(long, short)]
    k: Option<usize>,
    /// Ticks of a moving window, instead of exponential weights.
    #[arg(long, default_value_t = 0, conflicts_with = "half_life")]
    window: usize,
    /// Ticks until an observation counts half.
    #[arg(long, default_value_t = 60.0)]
    half_life: f64,
    /// Subtract the means of the returns.
    #[arg(long)]
    demean: bool,
    /// Split covariances as they are. By default correlations are split, and the result scaled back, so that the units
    /// of the assets do not matter.
    #[arg(long)]
    covariance: bool,
    /// Ticks before the first split; 0: twice the rank.
    #[arg(long, default_value_t = 0)]
    warm_up: usize,
    /// Go on waiting for lines at the end of the file, as it grows.
    #[arg(long, short = 'f')]
    wait: bool,
    /// Write every so manyth tick only.
    #[arg(long, default_value_t = 1, value_name = "TICKS")]
    every: usize,
    /// Write L too.
    #[arg(long)]
    l: bool,
    /// Write S too; null where M is not known.
    #[arg(long)]
    s: bool,
    /// Write U too.
    #[arg(long)]
    u: bool,
    /// Go on from the state in this file, if it is there, and save the state to it at the end.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// JSON lines, also on a terminal.
    #[arg(long)]
    json: bool,
}

/// Reads lines until they end, and writes one for each.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.every == 0 {
        return Err("--every 0: take 1 or more".into());
    }
    let mut lines = open(&args.file)?;
    let mut rows = Rows::new(&args.file, args.table.into());
    let mut live: Option<Live> = None;
    let mut screen = Screen::new(args.json);
    let mut line = Vec::new();
    loop {
        let there = lines.read_until(b'\n', &mut line)?;
        // A line without an end may still be written to.
        if line.last() != Some(&b'\n') && args.wait {
            std::thread::sleep(PAUSE);
            continue;
        }
        if there == 0 && line.is_empty() {
            break;
        }
        let text = String::from_utf8_lossy(&line).into_owned();
        line.clear();
        let Some(row) = rows.push(text.trim_end_matches(['\n', '\r']))? else {
            continue;
        };
        let live = match &mut live {
            Some(live) => live,
            None => live.insert(Live::new(args, row.returns.len())?),
        };
        live.tick(args, &row)?;
        if live.ticks.is_multiple_of(args.every as u64) && !screen.show(args, live, &row)? {
            break;
        }
    }
    screen.end();
    match (&live, &args.state) {
        (None, _) => Err(format!("{}: there are no returns in it", args.file.display()).into()),
        (Some(live), Some(path)) => save(&live.stream, path),
        (Some(_), None) => Ok(()),
    }
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Box<dyn Error>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(prices::open(path)?)
}

fn save(stream: &Stream, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut state = vec![0; stream.state_size()];
    stream.save(&mut state)?;
    denise_data::files::replace(path, |out| out.write_all(&state))?;
    Ok(())
}

/// The stream, and what it gave last.
struct Live {
    stream: Stream,
    n: usize,
    k: usize,
    ticks: u64,
    l: Vec<f64>,
    s: Vec<f64>,
    u: Vec<f64>,
    report: Report,
    /// ‖L_t − L_(t−1)‖ / ‖L_t‖, if both are there.
    moved: Option<f64>,
    microseconds: f64,
}

impl Live {
    fn new(args: &Args, n: usize) -> Result<Live, Box<dyn Error>> {
        let model = args
            .model
            .open_for(&Options::size(n, args.k.unwrap_or(0)))?;
        let k = model.k();
        let mut stream = model.stream(&StreamOptions {
            streams: 1,
            window: args.window,
            half_life: if args.window > 0 { 0.0 } else { args.half_life },
            correlation: !args.covariance,
            demean: args.demean,
            warm_up: args.warm_up,
        })?;
        if let Some(path) = args.state.as_ref().filter(|path| path.exists()) {
            let state = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
            stream
                .restore(&state)
                .map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(Live {
            stream,
            n,
            k,
            ticks: 0,
            l: vec![f64::NAN; n * n],
            s: vec![f64::NAN; n * n],
            u: vec![f64::NAN; n * k],
            report: Report::default(),
            moved: None,
            microseconds: 0.0,
        })
    }

    fn tick(&mut self, args: &Args, row: &Row) -> Result<(), Box<dyn Error>> {
        if row.returns.len() != self.n {
            return Err(format!("a line has {} numbers, not {}", row.returns.len(), self.n).into());
        }
        let before = self.l.clone();
        let start = Instant::now();
        let out = Outputs {
            u: args.u.then_some(&mut self.u[..]),
            l: Some(&mut self.l),
            s: Some(&mut self.s),
            reports: Some(std::slice::from_mut(&mut self.report)),
        };
        match self.stream.push(&row.returns, out) {
            Err(error) if error.status != Status::NotFinite => return Err(error.into()),
            _ => {}
        }
        self.microseconds = start.elapsed().as_secs_f64() * 1e6;
        self.ticks += 1;
        let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
        let step = norm(&mut self.l.iter().zip(&before).map(|(x, y)| x - y));
        let size = norm(&mut self.l.iter().copied());
        self.moved = Some(step / size).filter(|x| x.is_finite());
        Ok(())
    }

    /// What the report says, in a word.
    fn status(&self) -> &'static str {
        match self.report.status {
            0 => "ok",
            x if x == Status::NotReady as i32 => "not ready",
            _ => "not finite",
        }
    }

    fn json(&self, args: &Args, row: &Row) -> String {
        let report = &self.report;
        let ok = report.status == 0;
        // Not a number is null in JSON.
        let number = |x: f32| ok.then_some(x);
        let table = |values: &[f64], columns: usize| -> serde_json::Value {
            values
                .chunks_exact(columns)
                .map(|row| row.to_vec())
                .collect()
        };
        let mut line = serde_json::json!({
            "tick": self.ticks,
            "label": row.label,
            "status": self.status(),
            "l1": number(report.l1),
            "residual": number(report.residual),
            "sparsity": number(report.sparsity),
            "unsettled": number(report.unsettled),
            "least_specific": number(report.least_specific),
            "missing": report.missing,
            "moved": self.moved,
            "microseconds": (self.microseconds * 1e3).round() / 1e3,
        });
        for (wanted, name, values, columns) in [
            (args.l, "L", &self.l, self.n),
            (args.s, "S", &self.s, self.n),
            (args.u, "U", &self.u, self.k),
        ] {
            if wanted && ok {
                line[name] = table(values, columns);
            }
        }
        line.to_string()
    }
}

/// Where lines go.
enum Screen {
    /// One line that changes, on a terminal.
    Live { last: Instant },
    /// A line for every tick.
    Lines,
}

impl Screen {
    fn new(json: bool) -> Screen {
        if io::stdout().is_terminal() && !json {
            Screen::Live {
                last: Instant::now(),
            }
        } else {
            Screen::Lines
        }
    }

    /// Whether anybody still listens.
    fn show(&mut self, args: &Args, live: &Live, row: &Row) -> io::Result<bool> {
        let mut out = io::stdout().lock();
        let written = match self {
            Screen::Lines => writeln!(out, "{}", live.json(args, row)).and_then(|()| out.flush()),
            Screen::Live { last } => {
                // No faster than eyes.
                if last.elapsed() < PAUSE / 2 && live.ticks > 1 {
                    return Ok(true);
                }
                *last = Instant::now();
                let report = &live.report;
                write!(
                    out,
                    "\r\x1b[Ktick {}  {}  {}  ‖S‖/‖M‖ {:.3}  zeros {:.0} %  moved {:.3}  {:.1} µs",
                    live.ticks,
                    row.label.as_deref().unwrap_or(""),
                    live.status(),
                    report.residual,
                    100.0 * report.sparsity,
                    live.moved.unwrap_or(f64::NAN),
                    live.microseconds
                )
                .and_then(|()| out.flush())
            }
        };
        match written {
            // The reader has gone, as `head` does.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            other => other.map(|()| true),
        }
    }

    fn end(&self) {
        if let Screen::Live { .. } = self {
            println!();
        }
    }
}
