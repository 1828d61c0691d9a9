//! The table of ratios in colours.

use super::Evidence;
use super::accuracy::Row;
use super::cell::Verdict;
use super::column::{self, Role};
use super::page::Origin;
use super::text::ratio;
use crate::plot::{Picture, RatioCell, Ratios, ratios};

impl Evidence {
    /// A row for each kind of matrices, a column for each method.
    pub fn picture(&self, origin: &Origin) -> Picture {
        let others = |role: Role| role != Role::Own;
        let heads: Vec<&str> = column::ALL
            .iter()
            .filter(|column| others(column.role()))
            .map(|column| column.head)
            .collect();
        let row = |row: &'_ Row| {
            let columns = column::ALL.iter().zip(&row.cells);
            let cells = columns.filter(|(column, _)| others(column.role()));
            let cells = cells.map(|(_, cell)| {
                let cell = cell.as_ref()?;
                Some(RatioCell {
                    text: ratio(cell.ratio),
                    ratio: cell.ratio,
                    counts: cell.verdict() != Verdict::Found,
                })
            });
            (row.name.clone(), row.theme as usize, cells.collect())
        };
        let rows: Vec<(String, usize, Vec<_>)> = self.accuracy.iter().map(row).collect();
        let rows: Vec<Ratios<'_>> = rows
            .iter()
            .map(|(name, group, cells)| Ratios {
                name,
                group: *group,
                cells: cells.clone(),
            })
            .collect();
        ratios(
            "Mean error of L, divided by that of Denise",
            &heads,
            &rows,
            ("Denise is better", "the other is better"),
            ("both find L", &origin.line().replace('`', "")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;

    #[test]
    fn every_ratio_is_drawn() {
        let evidence = Evidence {
            accuracy: vec![row("some kind", &[("PCP 1", 83.0), ("eigen", 0.57)])],
            stability: Vec::new(),
            usefulness: None,
        };
        let picture = evidence.picture(&Origin::testing());
        for text in ["some kind", "83", "0.57", "PCP best"] {
            let title = format!("<title>{text}</title>");
            assert!(picture.svg().contains(&title), "{text}");
        }
    }
}
