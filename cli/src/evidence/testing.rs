//! Rows as tests need them.

use super::accuracy::Row;
use super::cell::Cell;
use super::column;
use super::machine::Machine;
use super::page::Origin;
use super::scenario::Theme;

/// A row of the paper's theme with these ratios, by the heads of their columns; Denise has an error of .01.
pub fn row(name: &str, ratios: &[(&str, f64)]) -> Row {
    let cell = |column: &column::Column| {
        let (head, ratio) = ratios.iter().find(|(head, _)| *head == column.head)?;
        let errors = vec![0.01 * ratio; 100];
        Some(Cell::of(
            (*head).to_owned(),
            column.role(),
            &errors,
            &[0.01; 100],
        ))
    };
    Row {
        theme: Theme::Paper,
        name: name.to_owned(),
        kind: "normal 0.80".to_owned(),
        n: 20,
        k: 3,
        matrices: 100,
        mean: 0.01,
        median: 0.01,
        cells: column::ALL.iter().map(cell).collect(),
    }
}

impl Origin {
    /// A quick measurement, here and now.
    pub fn testing() -> Origin {
        Origin {
            command: "denise results".to_owned(),
            seed: 7,
            quick: true,
            machine: Machine::here(),
        }
    }
}
