//! The table of ratios: who wins, where, and by how much.

use super::accuracy::Row;
use super::cell::{Cell, Verdict};
use super::column::{self, Role};
use super::text::{ratio, two_figures};
use crate::evaluate::Table;

/// What the signs mean.
pub const LEGEND: &str = "\
    Cells are the method's mean error of L by that of Denise on the same matrices: 8 means that Denise is 8 times \
    nearer to L₀.\n\
    - ● Denise is better, by more than a tenth and by more than two standard errors.\n\
    - ○ About equal, or too few matrices to tell.\n\
    - ◇ Both find L: mean errors below .001, where what is left is rounding or a stopping rule.\n\
    - **▲** The other is better, by more than a tenth.\n";

/// A row for each kind of matrices.
pub fn table(rows: &[Row]) -> Table {
    let mut heads = vec!["matrices", "Denise"];
    heads.extend(column::ALL.iter().map(|column| column.head));
    let mut table = Table::new(&heads);
    for row in rows {
        let mut cells = vec![row.name.clone(), two_figures(row.mean)];
        cells.extend(row.cells.iter().map(|cell| marked(cell.as_ref())));
        table.push(cells);
    }
    table
}

fn marked(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else {
        return "–".to_owned();
    };
    let ratio = ratio(cell.ratio);
    if cell.role == Role::Own {
        return ratio;
    }
    match cell.verdict() {
        Verdict::Wins => format!("● {ratio}"),
        Verdict::Equal => format!("○ {ratio}"),
        Verdict::Found => format!("◇ {ratio}"),
        Verdict::Loses => format!("**▲ {ratio}**"),
    }
}

/// Every number of it, for whoever wants to check.
pub fn details(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "matrices of",
        "method",
        "matrices",
        "mean error",
        "median",
        "Denise on the same",
        "ratio",
    ]);
    for row in rows {
        let own = row.mean;
        let figures = |method: &str, matrices: usize, mean: f64, median: f64, denise: f64| {
            vec![
                format!("{} (n = {}, k = {})", row.name, row.n, row.k),
                method.to_owned(),
                matrices.to_string(),
                format!("{mean:.6}"),
                format!("{median:.6}"),
                format!("{denise:.6}"),
                ratio(mean / denise),
            ]
        };
        table.push(figures("Denise", row.matrices, own, row.median, own));
        for cell in row.cells.iter().flatten() {
            let Cell {
                method,
                matrices,
                mean,
                median,
                denise,
                ..
            } = cell;
            table.push(figures(method, *matrices, *mean, *median, *denise));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;
    use crate::evaluate::Format;

    #[test]
    fn winners_are_marked_and_who_cannot_is_left_out() {
        let rows = [row(
            "a",
            &[("PCP 1", 80.0), ("eigen", 0.03), ("L = M", 1.0)],
        )];
        let text = table(&rows).write(Format::Markdown);
        let line = text.lines().last().unwrap();
        assert_eq!(
            line,
            "| a | 0.010 | – | **▲ 0.030** | – | ● 80 | – | – | – | – | – | – | – | – | ○ 1.0 |"
        );
        let text = details(&rows).write(Format::Csv);
        assert_eq!(text.lines().count(), 1 + 4);
        assert!(text.contains("eigen,100,0.000300"), "{text}");
    }
}
