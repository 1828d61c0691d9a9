//! What was measured, as tables with a heading and a sentence or two each.

use super::{Change, ErrorOfL, Hidden, Robustness};
use crate::evaluate::Table;

/// A table, and what to know about it.
pub struct Part {
    /// What is measured.
    pub title: &'static str,
    /// How.
    pub text: &'static str,
    /// The numbers.
    pub table: Table,
}

impl Robustness {
    /// All tables that have rows.
    pub fn parts(&self) -> Vec<Part> {
        let errors = [
            (
                "Large outliers",
                "M = L₀ + a·S₀: outliers of a times the size; n = 20, k = 3, U normal.",
                errors(&self.amplitudes, |row| {
                    format!("s(S₀) = {:.2}, a = {}", row.sparsity, row.amplitude)
                }),
            ),
            (
                "A rank that is too large",
                "k = 3, where L₀ has rank 1; n = 20, U normal.",
                errors(&self.rank, |row| format!("s(S₀) = {:.2}", row.sparsity)),
            ),
            (
                "Sizes",
                "s(S₀) = .95, U normal.\n\
                 PCP gets fewer of the large matrices, because it is slow.",
                errors(&self.sizes, |row| format!("n = {}, k = {}", row.n, row.k)),
            ),
        ];
        let missing = [
            (
                "Missing entries",
                "The error of all of L where entries of M are not known; n = 20, k = 3, U normal.\n\
                 A number is the share of pairs that are missing at random.\n\
                 Groups: two halves of the assets that were seen together in so many pairs only.\n\
                 Rows: so many assets of which so many pairs are known.\n\
                 Variances: a share of the diagonal.",
                hidden(&self.missing),
            ),
            (
                "Hidden entries",
                "‖L − M‖ / ‖M‖ over entries that are known, but were hidden from the method.",
                hidden(&self.hidden),
            ),
        ];
        let changes = [
            (
                "Order of the assets",
                "‖L′ − L‖_F / ‖L‖_F, where L′ comes from the assets in a random order, and is put back.",
                changes(&self.order),
            ),
            (
                "Units of the assets",
                "‖L′ − L‖_F / ‖L‖_F, where L′ comes from assets in other units, and is scaled back.\n\
                 Each asset is multiplied by e^u, with u uniform within ±1.5.",
                changes(&self.units),
            ),
            (
                "From a day to the next",
                "‖ΔL‖_F / ‖ΔM‖_F between windows that begin a day after each other.\n\
                 L = M has the ratio 1.",
                changes(&self.days),
            ),
        ];
        let all = errors.into_iter().chain(missing).chain(changes);
        all.filter_map(|(title, text, table)| {
            let table = table?;
            Some(Part { title, text, table })
        })
        .collect()
    }
}

/// None without rows.
fn errors(rows: &[ErrorOfL], kind: impl Fn(&ErrorOfL) -> String) -> Option<Table> {
    let mut table = Table::new(&[
        "matrices of",
        "method",
        "matrices",
        "rel.error(L)",
        "median",
        "largest",
    ]);
    for row in rows {
        table.push(vec![
            kind(row),
            row.method.clone(),
            row.matrices.to_string(),
            format!("{:.5}", row.mean),
            format!("{:.5}", row.median),
            format!("{:.5}", row.largest),
        ]);
    }
    (!rows.is_empty()).then_some(table)
}

/// None without rows.
fn hidden(rows: &[Hidden]) -> Option<Table> {
    let mut table = Table::new(&[
        "matrices of",
        "method",
        "matrices",
        "mean error",
        "median",
        "largest",
    ]);
    for row in rows {
        table.push(vec![
            row.kind.clone(),
            row.method.clone(),
            row.matrices.to_string(),
            format!("{:.5}", row.mean),
            format!("{:.5}", row.median),
            format!("{:.4}", row.largest),
        ]);
    }
    (!rows.is_empty()).then_some(table)
}

/// None without rows.
fn changes(rows: &[Change]) -> Option<Table> {
    let mut table = Table::new(&[
        "windows of",
        "method",
        "matrices",
        "median",
        "95 %",
        "99 %",
        "largest",
    ]);
    for row in rows {
        table.push(vec![
            format!("n = {}, k = {}", row.n, row.k),
            row.method.clone(),
            row.matrices.to_string(),
            short(row.median),
            short(row.p95),
            short(row.p99),
            short(row.largest),
        ]);
    }
    (!rows.is_empty()).then_some(table)
}

/// Some are of rounding only, others are above one.
fn short(x: f64) -> String {
    match x {
        x if x != 0.0 && x.abs() < 1e-3 => format!("{x:.0e}"),
        x => format!("{x:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Format;

    #[test]
    fn tables_without_rows_are_left_out() {
        let row = Change {
            n: 20,
            k: 3,
            method: "Denise".into(),
            matrices: 7,
            median: 2e-9,
            p95: 0.0,
            p99: 0.5,
            largest: 1.25,
        };
        let all = Robustness {
            amplitudes: Vec::new(),
            rank: Vec::new(),
            sizes: Vec::new(),
            missing: Vec::new(),
            hidden: Vec::new(),
            order: vec![row],
            units: Vec::new(),
            days: Vec::new(),
        };
        let parts = all.parts();
        let titles: Vec<&str> = parts.iter().map(|part| part.title).collect();
        assert_eq!(titles, ["Order of the assets"]);
        let csv = parts[0].table.write(Format::Csv);
        assert!(
            csv.ends_with("\"n = 20, k = 3\",Denise,7,2e-9,0.000,0.500,1.250\n"),
            "{csv}"
        );
    }
}
