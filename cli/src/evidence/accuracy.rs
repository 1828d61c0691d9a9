//! Errors of L, of every method on every kind of matrices.

use super::cell::{Cell, average, middle};
use super::column::{self, Column, Networks};
use super::effort::Effort;
use super::scenario::{self, Scenario, Theme};
use crate::evaluate::{Contender, Lambda, Method, best};
use crate::robustness::Open;
use denise::Options;
use denise_data::generator::{Kind, samples};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde::Serialize;
use std::error::Error;

/// A kind of matrices, and who did how well on it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub theme: Theme,
    /// What tables call it.
    pub name: String,
    /// What `denise generate` calls it.
    pub kind: String,
    pub n: usize,
    /// The rank that methods were told.
    pub k: usize,
    /// Matrices that Denise had.
    pub matrices: usize,
    /// Its mean error of L.
    pub mean: f64,
    /// Its median.
    pub median: f64,
    /// The others, in the order of [`column::ALL`]; none for who cannot do such matrices.
    pub cells: Vec<Option<Cell>>,
}

/// All rows of the table.
pub fn measure(open: Open<'_>, effort: &Effort, seed: u64) -> Result<Vec<Row>, Box<dyn Error>> {
    let chosen: Vec<Scenario> = scenario::ALL
        .into_iter()
        .filter(|x| x.n <= effort.largest)
        .collect();
    let bar = ProgressBar::new((chosen.len() * column::ALL.len()) as u64);
    bar.set_style(ProgressStyle::with_template(
        "{bar:30} {pos}/{len}, {msg}, {eta} left",
    )?);
    let mut rows = Vec::new();
    for scenario in chosen {
        rows.push(row(open, effort, seed, &scenario, &bar)?);
    }
    bar.finish_and_clear();
    Ok(rows)
}

fn row(
    open: Open<'_>,
    effort: &Effort,
    seed: u64,
    scenario: &Scenario,
    bar: &ProgressBar,
) -> Result<Row, Box<dyn Error>> {
    let &Scenario {
        theme, name, n, k, ..
    } = scenario;
    let kind: Kind = scenario.kind.parse()?;
    let network = |careful| {
        open(&Options {
            careful,
            missing: theme == Theme::Missing,
            ..Options::size(n, k)
        })
    };
    let networks = Networks {
        plain: network(false)?,
        careful: network(true)?,
    };
    let count = effort.count(column::Speed::Fast, n);
    let data = samples(n, k, &[kind], seed, 0, count);
    let own = Contender::new(Method::Denise, Lambda::Own, &networks.plain);
    let denise = errors(&own, &data.m, &data.l)?;
    let cell = |column: &Column| -> Result<Option<Cell>, Box<dyn Error>> {
        let Some(contender) = column.contender(theme, &networks) else {
            return Ok(None);
        };
        bar.set_message(format!("{name}, {}", contender.label));
        bar.tick();
        // Slow methods get the first matrices, and Denise is asked for the same.
        let some = effort.count(column.speed(), n);
        let values = ..some * n * n;
        let errors = errors(&contender, &data.m[values], &data.l[values])?;
        let label = contender.label;
        Ok(Some(Cell::of(
            label,
            column.role(),
            &errors,
            &denise[..some],
        )))
    };
    let mut cells = Vec::new();
    for column in &column::ALL {
        cells.push(cell(column)?);
        bar.inc(1);
    }
    Ok(Row {
        theme,
        name: name.to_owned(),
        kind: kind.to_string(),
        n,
        k,
        matrices: count,
        mean: average(&denise),
        median: middle(&denise),
        cells,
    })
}

/// ‖L − L₀‖ / ‖L₀‖ of each matrix, on all cores.
fn errors(contender: &Contender<'_>, m: &[f64], truth: &[f64]) -> Result<Vec<f64>, Box<dyn Error>> {
    let (n, k) = (contender.model.n(), contender.model.k());
    let size = n * n;
    // Enough of the small ones for the network's vectors, and no core left idle by the large ones.
    let share = size * (16 * 400 / size).clamp(1, 64);
    let parts: Result<Vec<Vec<f64>>, String> = m
        .par_chunks(share)
        .zip(truth.par_chunks(share))
        .map(|(m, truth)| {
            let split = || -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
                match contender.lambda {
                    Lambda::Best => best::split(contender.method, (n, k), m, truth),
                    _ => contender.splitter()?.split(m),
                }
            };
            let (l, _) = split().map_err(|error| error.to_string())?;
            let pairs = l.chunks_exact(size).zip(truth.chunks_exact(size));
            Ok(pairs.map(|(l, truth)| relative(l, truth)).collect())
        })
        .collect();
    Ok(parts?.concat())
}

fn relative(l: &[f64], truth: &[f64]) -> f64 {
    let wrong = l.iter().zip(truth).map(|(l, l0)| (l - l0).powi(2));
    let norm = truth.iter().map(|l0| l0 * l0);
    (wrong.sum::<f64>() / norm.sum::<f64>()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise::Model;

    const TINY: Effort = Effort {
        fast: 6,
        slow: 2,
        searched: 1,
        largest: 20,
        days: 1,
    };

    /// Every column has its cell, on as many matrices as it was meant to have.
    #[test]
    fn cells_are_where_they_belong() {
        let open: Open<'_> = &|options| Ok(Model::builtin(options)?);
        let find = |name: &str| scenario::ALL.into_iter().find(|x| x.name == name).unwrap();
        let bar = ProgressBar::hidden();
        let usual = row(open, &TINY, 1, &find("s₀ = .80"), &bar).unwrap();
        let counts: Vec<usize> = usual.cells.iter().flatten().map(|x| x.matrices).collect();
        assert_eq!(counts, [6, 6, 2, 2, 1, 2, 2, 1, 6, 1, 6, 1, 6]);
        let nothing = usual.cells[12].as_ref().unwrap();
        assert_eq!(nothing.method, "L = M");
        assert_eq!(nothing.denise, usual.mean);
        assert!(nothing.ratio > 1.0, "{nothing:?}");

        let missing = row(open, &TINY, 1, &find("10 % missing, s₀ = .95"), &bar).unwrap();
        let there: Vec<usize> = (0..column::ALL.len())
            .filter(|&at| missing.cells[at].is_some())
            .collect();
        assert_eq!(there, [0, 2, 3, 4]);
    }

    #[test]
    fn errors_are_relative() {
        assert_eq!(relative(&[2.0, 0.0], &[1.0, 0.0]), 1.0);
        assert_eq!(relative(&[3.0, 4.0], &[3.0, 4.0]), 0.0);
    }
}
