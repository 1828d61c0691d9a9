//! `denise decompose --follow`: history through a stream.

use super::decompose::Split;
use super::input::Input;
use super::model::Model;
use denise::{Options, Outputs, Report, Status, StreamOptions};
use denise_data::files::Stack;
use denise_data::files::prices::Days;
use std::error::Error;
use std::time::Instant;

/// What was split, and what came out.
pub struct Followed {
    pub stack: Stack,
    pub split: Split,
}

/// Results, tick by tick.
struct Results {
    n: usize,
    k: usize,
    split: Split,
}

/// Every tick of a table of prices or returns, or every matrix of a file, one after another.
pub fn run(
    input: &Input,
    model: &Model,
    k: Option<usize>,
    correlation: bool,
) -> Result<Followed, Box<dyn Error>> {
    match input.returns()? {
        Some((n, returns)) => table(input, model, k, n, &returns),
        None => matrices(input, model, k, correlation),
    }
}

fn matrices(
    input: &Input,
    model: &Model,
    k: Option<usize>,
    correlation: bool,
) -> Result<Followed, Box<dyn Error>> {
    let stack = input.load()?.stack;
    let n = stack.n;
    let model = model.open_for(&Options {
        correlation,
        missing: input.missing,
        ..Options::size(n, k.unwrap_or(0))
    })?;
    let mut stream = model.stream(&StreamOptions::default())?;
    let mut results = Results::new(n, model.k(), model.kernel());
    for m in stack.iter() {
        results.take(|out| stream.push_matrices(m, out))?;
    }
    Ok(Followed {
        stack,
        split: results.split,
    })
}

fn table(
    input: &Input,
    model: &Model,
    k: Option<usize>,
    n: usize,
    returns: &[f64],
) -> Result<Followed, Box<dyn Error>> {
    if input.step == 0 {
        return Err("--step 0: windows must be at least 1 apart".into());
    }
    let model = model.open_for(&Options::size(n, k.unwrap_or(0)))?;
    let mut stream = model.stream(&StreamOptions {
        window: input.window,
        correlation: !input.covariance,
        demean: true,
        warm_up: match input.days() {
            Days::Common { least } => least,
            Days::All => 0,
        },
        ..StreamOptions::default()
    })?;
    let days = returns.len() / n;
    let Some(last) = days.checked_sub(input.window) else {
        return Err(format!(
            "the table has {days} returns, but a window takes {}; take a shorter window",
            input.window
        )
        .into());
    };
    let mut results = Results::new(n, model.k(), model.kernel());
    let mut stack = Stack {
        n,
        values: Vec::new(),
    };
    let mut m = vec![0.0; n * n];
    for (day, returns) in returns.chunks_exact(n).enumerate() {
        // The last day of a window that is asked for.
        let wanted = (day + 1)
            .checked_sub(input.window)
            .is_some_and(|start| start <= last && start.is_multiple_of(input.step));
        if wanted {
            results.take(|out| stream.push(returns, out))?;
            stream.covariance(&mut m)?;
            stack.values.extend(&m);
        } else {
            let start = Instant::now();
            unless_not_finite(stream.push(returns, Outputs::default()))?;
            results.split.seconds += start.elapsed().as_secs_f64();
        }
    }
    Ok(Followed {
        stack,
        split: results.split,
    })
}

impl Results {
    fn new(n: usize, k: usize, kernel: &core::ffi::CStr) -> Results {
        Results {
            n,
            k,
            split: Split {
                l: Vec::new(),
                s: Vec::new(),
                u: Some((Vec::new(), k)),
                by: format!("{}, followed", kernel.to_string_lossy()),
                seconds: 0.0,
                reports: Vec::new(),
            },
        }
    }

    /// Keeps what a tick gives.
    fn take(
        &mut self,
        tick: impl FnOnce(Outputs<'_, f64>) -> Result<(), denise::Error>,
    ) -> Result<(), denise::Error> {
        let size = self.n * self.n;
        let Split {
            l,
            s,
            u,
            seconds,
            reports,
            ..
        } = &mut self.split;
        let (from, count) = (l.len(), reports.len());
        l.resize(from + size, 0.0);
        s.resize(from + size, 0.0);
        reports.push(Report::default());
        let mut own = vec![0.0; self.n * self.k];
        let start = Instant::now();
        let out = Outputs {
            u: Some(&mut own),
            l: Some(&mut l[from..]),
            s: Some(&mut s[from..]),
            reports: Some(&mut reports[count..]),
        };
        unless_not_finite(tick(out))?;
        *seconds += start.elapsed().as_secs_f64();
        if let Some((all, _)) = u {
            all.extend(own);
        }
        Ok(())
    }
}

/// A tick that is not finite is counted in the summary.
fn unless_not_finite(result: Result<(), denise::Error>) -> Result<(), denise::Error> {
    match result {
        Err(error) if error.status != Status::NotFinite => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::Content;
    use super::*;
    use std::path::PathBuf;

    /// A backtest and a live engine give the same bits.
    #[test]
    fn windows_of_a_table_are_those_of_a_live_stream() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/data/sp500/sp500_dataset.csv.gz"
        );
        let input = Input {
            file: PathBuf::from(path),
            table: Some(Content::Prices),
            window: 100,
            step: 500,
            covariance: false,
            drop_missing: false,
            missing: false,
            min_days: None,
        };
        let none = Model { model: None };
        let followed = run(&input, &none, None, false).unwrap();
        let (n, returns) = input.returns().unwrap().unwrap();
        let model = denise::Model::builtin(&Options::size(n, 3)).unwrap();
        let live = StreamOptions {
            window: 100,
            correlation: true,
            demean: true,
            ..StreamOptions::default()
        };
        let mut live = model.stream(&live).unwrap();
        let mut l = vec![0.0; n * n];
        let mut windows = followed.split.l.chunks_exact(n * n);
        for (day, returns) in returns.chunks_exact(n).enumerate() {
            let out = Outputs {
                l: Some(&mut l),
                ..Outputs::default()
            };
            live.push(returns, out).unwrap();
            if day + 1 >= 100 && (day + 1 - 100) % 500 == 0 {
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&l), bits(windows.next().unwrap()), "day {day}");
            }
        }
        assert_eq!(windows.next(), None);
    }
}
