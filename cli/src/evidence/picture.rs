//! The table of ratios in colours.

use super::Evidence;
use super::accuracy::Row;
use super::column;
use super::text::two_figures;
use crate::plot::{Picture, Ratios, ratios};

impl Evidence {
    /// A row for each kind of matrices, a column for each method.
    pub fn picture(&self) -> Picture {
        let heads = column::ALL.map(|column| column.head);
        let row = |row: &'_ Row| {
            let cells = row.cells.iter().map(|cell| {
                let cell = cell.as_ref()?;
                Some((two_figures(cell.ratio), cell.ratio))
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
        let picture = evidence.picture();
        for text in ["some kind", "83", "0.57", "PCP best"] {
            let title = format!("<title>{text}</title>");
            assert!(picture.svg().contains(&title), "{text}");
        }
    }
}
