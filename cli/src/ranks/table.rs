//! Who is right how often.

use crate::evaluate::Table;
use serde::Serialize;

/// A criterion on matrices of one group.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which matrices.
    pub group: &'static str,
    /// The criterion.
    pub criterion: &'static str,
    /// How many matrices.
    pub matrices: usize,
    /// On how many of them it was right.
    pub right: usize,
    /// On how many it was wrong by one at most.
    pub near: usize,
    /// By how much it was too large, in all.
    pub excess: i64,
}

impl Row {
    pub(super) fn of(
        group: &'static str,
        criterion: &'static str,
        k: usize,
        found: &[usize],
    ) -> Row {
        Row {
            group,
            criterion,
            matrices: found.len(),
            right: found.iter().filter(|&&x| x == k).count(),
            near: found.iter().filter(|&&x| x.abs_diff(k) <= 1).count(),
            excess: found.iter().map(|&x| x as i64 - k as i64).sum(),
        }
    }

    pub(super) fn merge(&mut self, other: &Row) {
        self.matrices += other.matrices;
        self.right += other.right;
        self.near += other.near;
        self.excess += other.excess;
    }
}

/// A row for each group, a column for each criterion: right, within one, mean excess.
pub fn table(rows: &[Row]) -> Table {
    let mut criteria: Vec<&'static str> = Vec::new();
    let mut groups: Vec<&'static str> = Vec::new();
    for row in rows {
        if !criteria.contains(&row.criterion) {
            criteria.push(row.criterion);
        }
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    // As the criteria are listed, whichever came first.
    criteria.sort_by_key(|name| {
        super::Criterion::ALL
            .iter()
            .position(|x| x.label() == *name)
    });
    let mut columns = vec!["matrices of"];
    columns.extend(&criteria);
    let mut table = Table::new(&columns);
    for group in groups {
        let mut cells = vec![group.to_owned()];
        for criterion in &criteria {
            let row = rows
                .iter()
                .find(|row| row.group == group && row.criterion == *criterion);
            cells.push(row.map_or("–".to_owned(), |row| {
                let share = |part: usize| 100.0 * part as f64 / row.matrices.max(1) as f64;
                let excess = row.excess as f64 / row.matrices.max(1) as f64;
                format!(
                    "{:.0} {:.0} {excess:+.1}",
                    share(row.right),
                    share(row.near)
                )
            }));
        }
        table.push(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Format;

    #[test]
    fn shares_are_of_all_matrices_of_a_group() {
        let mut row = Row::of("a", "this library", 3, &[3, 3, 4, 1]);
        row.merge(&Row::of("a", "this library", 1, &[1]));
        assert_eq!(
            (row.matrices, row.right, row.near, row.excess),
            (5, 3, 4, -1)
        );
        let text = table(&[row]).write(Format::Csv);
        assert_eq!(text, "matrices of,this library\na,60 80 -0.2\n");
    }
}
