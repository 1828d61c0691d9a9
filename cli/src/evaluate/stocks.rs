//! Real matrices, of which nobody knows the split: the paper's Table 3.

use super::contender::Contender;
use super::measures::{Measures, Spread};
use super::pace::Pace;
use super::timing::{Times, time};
use serde::Serialize;
use std::error::Error;

/// A method on all matrices.
#[derive(Clone, Debug, Serialize)]
pub struct StockRow {
    /// The method.
    pub method: String,
    /// r(L).
    pub rank: Spread,
    /// s(S).
    pub sparsity: Spread,
    /// ‖M − L‖_F / ‖M‖_F.
    pub residual: Spread,
    /// Mean |S_ij|.
    pub mean_abs: Spread,
    /// Seconds a matrix, on one core.
    pub seconds: Times,
}

/// Evaluates a method on matrices of the size that its model takes.
pub fn stocks(
    contender: &Contender<'_>,
    m: &[f64],
    pace: Pace,
) -> Result<StockRow, Box<dyn Error>> {
    let n = contender.model.n();
    let size = n * n;
    let mut splitter = contender.splitter()?;
    let (l, s) = splitter.split(m)?;
    let measures: Vec<Measures> = (0..m.len() / size)
        .map(|i| i * size..(i + 1) * size)
        .map(|at| Measures::of(n, &m[at.clone()], &l[at.clone()], &s[at], None))
        .collect();
    Ok(StockRow {
        method: contender.label.clone(),
        rank: Spread::of(&measures, |x| x.rank),
        sparsity: Spread::of(&measures, |x| x.sparsity),
        residual: Spread::of(&measures, |x| x.residual),
        mean_abs: Spread::of(&measures, |x| x.mean_abs),
        seconds: time(&mut splitter, m, size, pace)?,
    })
}
