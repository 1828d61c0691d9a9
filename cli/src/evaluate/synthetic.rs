//! Matrices of which the split is known: the paper's Tables 1 and 2.

use super::best;
use super::contender::{Contender, Lambda};
use super::measures::{Measures, Spread};
use super::pace::Pace;
use super::timing::{Times, time};
use denise_data::generator::{Cell, samples};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde::Serialize;
use std::error::Error;

/// What to evaluate, and on how much.
pub struct Plan<'a> {
    /// What to compare, in the order of the table. The models say which size of matrices: all the same.
    pub contenders: &'a [Contender<'a>],
    /// Kinds of matrices.
    pub cells: &'a [Cell],
    /// Matrices of each kind.
    pub count: usize,
    /// Their seed.
    pub seed: u64,
    /// How long timings may take.
    pub pace: Pace,
}

/// The best λ is searched for one matrix in so many, the first ones: then it takes about as long as one λ for all.
const SEARCHED: usize = 20;

/// A method on a kind of matrices.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The distribution of U.
    pub distribution: String,
    /// s(S₀).
    pub sparsity: f64,
    /// What S₀ is multiplied by.
    pub amplitude: String,
    /// The method.
    pub method: String,
    /// On how many matrices.
    pub matrices: usize,
    /// r(L).
    pub rank: Spread,
    /// s(S).
    pub sparsity_of_s: Spread,
    /// rel.error(L).
    pub error_l: Spread,
    /// rel.error(S).
    pub error_s: Spread,
    /// Share of matrices with rel.error(L) below 1e-3.
    pub exact: f64,
    /// Seconds a matrix, on one core; none for what could not be run without knowing L₀.
    pub seconds: Option<Times>,
    /// rel.error(L) of every matrix, from small to large.
    #[serde(skip)]
    pub errors: Vec<f64>,
}

/// Evaluates every method on every kind.
pub fn evaluate(plan: &Plan<'_>) -> Result<Vec<Row>, Box<dyn Error>> {
    let bar = ProgressBar::new((plan.cells.len() * plan.contenders.len()) as u64);
    bar.set_style(ProgressStyle::with_template(
        "{bar:30} {pos}/{len}, {msg}, {eta} left",
    )?);
    let mut rows = Vec::new();
    let Some(first) = plan.contenders.first() else {
        return Ok(rows);
    };
    let (n, k) = (first.model.n(), first.model.k());
    for &cell in plan.cells {
        let data = samples(n, k, &[cell], plan.seed, 0, plan.count);
        for contender in plan.contenders {
            bar.set_message(format!("{cell}, {}", contender.label));
            bar.tick();
            let searched = contender.lambda == Lambda::Best;
            let some = match searched {
                true => plan.count.div_ceil(SEARCHED),
                false => plan.count,
            };
            let some = ..some * n * n;
            let measures = measure(contender, &data.m[some], &data.l[some])?;
            let seconds = match searched {
                true => None,
                false => Some(time(&mut contender.splitter()?, &data.m, n * n, plan.pace)?),
            };
            let mut errors: Vec<f64> = measures.iter().map(|x| x.error_l).collect();
            errors.sort_by(f64::total_cmp);
            rows.push(Row {
                distribution: cell.distribution.to_string(),
                sparsity: cell.sparsity,
                amplitude: cell.amplitude.to_string(),
                method: contender.label.clone(),
                matrices: measures.len(),
                rank: Spread::of(&measures, |x| x.rank),
                sparsity_of_s: Spread::of(&measures, |x| x.sparsity),
                error_l: Spread::of(&measures, |x| x.error_l),
                error_s: Spread::of(&measures, |x| x.error_s),
                exact: measures.iter().filter(|x| x.is_exact()).count() as f64
                    / measures.len().max(1) as f64,
                seconds,
                errors,
            });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(rows)
}

/// Splits the matrices on all cores; only `time` must have one for itself.
fn measure(
    contender: &Contender<'_>,
    m: &[f64],
    truth: &[f64],
) -> Result<Vec<Measures>, Box<dyn Error>> {
    let n = contender.model.n();
    let size = n * n;
    let part = 64 * size;
    let parts: Result<Vec<Vec<Measures>>, String> = m
        .par_chunks(part)
        .zip(truth.par_chunks(part))
        .map(|(m, truth)| {
            let run = || -> Result<Vec<Measures>, Box<dyn Error>> {
                let (l, s) = match contender.lambda {
                    Lambda::Best => {
                        best::split(contender.method, (n, contender.model.k()), m, truth)?
                    }
                    _ => contender.splitter()?.split(m)?,
                };
                let each = |i: usize| i * size..(i + 1) * size;
                Ok((0..m.len() / size)
                    .map(each)
                    .map(|at| {
                        let truth = &truth[at.clone()];
                        Measures::of(n, &m[at.clone()], &l[at.clone()], &s[at], Some(truth))
                    })
                    .collect())
            };
            run().map_err(|error| error.to_string())
        })
        .collect();
    Ok(parts?.concat())
}
