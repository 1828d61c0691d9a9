//! How often Denise wins and loses, and every loss by name.

use super::accuracy::Row;
use super::cell::{Cell, Verdict};
use super::column::Role;
use super::text::ratio;

/// Cells of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub wins: usize,
    pub equal: usize,
    /// Both find L.
    pub found: usize,
    pub losses: usize,
}

impl Tally {
    /// Of all cells with this role.
    pub fn of(rows: &[Row], role: Role) -> Tally {
        let mut tally = Tally::default();
        for cell in rows.iter().flat_map(|row| row.cells.iter().flatten()) {
            if cell.role == role {
                match cell.verdict() {
                    Verdict::Wins => tally.wins += 1,
                    Verdict::Equal => tally.equal += 1,
                    Verdict::Found => tally.found += 1,
                    Verdict::Loses => tally.losses += 1,
                }
            }
        }
        tally
    }

    pub fn all(&self) -> usize {
        self.wins + self.equal + self.found + self.losses
    }
}

/// Who is better than Denise on a row; the best first.
pub fn better(row: &Row, role: impl Fn(Role) -> bool) -> Vec<&Cell> {
    let cells = row.cells.iter().flatten();
    let mut better: Vec<&Cell> = cells
        .filter(|cell| role(cell.role) && cell.verdict() == Verdict::Loses)
        .collect();
    better.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    better
}

/// The counts as sentences, and a line for each kind of matrices on which somebody is better.
pub fn text(rows: &[Row]) -> String {
    let count = |role, who: &str| {
        let tally = Tally::of(rows, role);
        format!(
            "Beside {who}, Denise wins in {} of {} cells and loses in {}; in {} they are about equal, and in {} both \
             find L.\n",
            tally.wins,
            tally.all(),
            tally.losses,
            tally.equal,
            tally.found
        )
    };
    let mut text = count(Role::Challenger, "methods as people use them");
    text += &count(
        Role::Bound,
        "those with a parameter chosen knowing the truth",
    );
    let lines: Vec<String> = rows.iter().filter_map(losses).collect();
    match lines.is_empty() {
        true => text + "It loses nowhere.\n",
        false => text + "It loses here, by a factor of:\n\n" + &lines.concat(),
    }
}

/// None if there is none.
fn losses(row: &Row) -> Option<String> {
    let better = better(row, |role| role != Role::Own);
    if better.is_empty() {
        return None;
    }
    let one = |cell: &&Cell| format!("{} {}", cell.method, ratio(cell.ratio.recip()));
    let all: Vec<String> = better.iter().map(one).collect();
    Some(format!("- {}: {}.\n", row.name, all.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;

    #[test]
    fn every_loss_has_a_name_and_a_factor() {
        let rows = [
            row(
                "easy",
                &[("PCP 1", 80.0), ("PCP best", 2.0), ("careful", 0.5)],
            ),
            row(
                "hard",
                &[("PCP 1", 0.5), ("PCP best", 0.25), ("eigen", 1.0)],
            ),
        ];
        let tally = Tally::of(&rows, Role::Challenger);
        assert_eq!((tally.wins, tally.equal, tally.losses), (1, 1, 1));
        let text = text(&rows);
        assert!(
            text.ends_with("- hard: PCP best 4.0; PCP 1 2.0.\n"),
            "{text}"
        );
        // The careful network is Denise, too.
        assert!(!text.contains("- easy"), "{text}");
        let text = super::text(&rows[..1]);
        assert!(text.ends_with("It loses nowhere.\n"), "{text}");
    }
}
