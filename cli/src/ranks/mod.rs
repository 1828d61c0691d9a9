//! How often a suggested rank is right, on matrices whose rank is known, beside other criteria.
//!
//! - `criteria`: those of the literature. `truth`: the matrices. `table`: what is printed.

mod criteria;
mod table;
mod truth;

pub use criteria::Criterion;
pub use table::{Row, table};

use rayon::prelude::*;
use std::error::Error;
use truth::Truth;

/// Measures every criterion on `count` matrices of each kind.
pub fn measure(count: usize, seed: u64) -> Result<Vec<Row>, Box<dyn Error>> {
    let kinds = Truth::all();
    let mut rows: Vec<Row> = Vec::new();
    for kind in &kinds {
        let m = kind.matrices(count, seed);
        for criterion in Criterion::ALL {
            // Where nobody knows how many observations there were, some say nothing.
            if criterion.needs_observations() && kind.observations == 0 {
                continue;
            }
            let found: Vec<usize> = m
                .par_chunks(kind.n * kind.n)
                .map(|m| criterion.rank(kind.n, m, kind.most(), kind.observations))
                .collect::<Result<_, denise::Error>>()?;
            let row = Row::of(kind.group, criterion.label(), kind.k, &found);
            match rows
                .iter_mut()
                .find(|other| other.group == row.group && other.criterion == row.criterion)
            {
                Some(other) => other.merge(&row),
                None => rows.push(row),
            }
        }
    }
    Ok(rows)
}
