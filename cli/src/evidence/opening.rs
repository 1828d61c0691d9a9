//! The three sentences with which the page opens: what Denise is good for, what not, and what to use then. All of it is
//! read off the figures, so that no sentence says what they do not.

use super::Evidence;
use super::accuracy::Row;
use super::cell::Cell;
use super::column::Role;
use super::scenario::Theme;
use super::stability;
use super::tally::{Tally, better};
use super::text::{list, two_figures};
use super::usefulness::{RANK, REFERENCE, Usefulness};

/// What the figures say about one use.
struct Finding {
    /// "missing entries".
    of: String,
    /// Where Denise is behind: by how much, and what to use instead.
    behind: Option<(String, String)>,
}

/// Good for, not good for, use then.
pub fn text(evidence: &Evidence) -> String {
    let mut findings = themes(&evidence.accuracy);
    findings.extend(days(&evidence.stability));
    findings.extend(evidence.usefulness.as_ref().and_then(portfolios));
    let good: Vec<String> = findings
        .iter()
        .filter(|x| x.behind.is_none())
        .map(|x| x.of.clone())
        .collect();
    let (bad, instead): (Vec<String>, Vec<String>) = findings
        .iter()
        .filter_map(|x| {
            let (by, instead) = x.behind.as_ref()?;
            Some((format!("{} ({by})", x.of), instead.clone()))
        })
        .unzip();
    let bounds = Tally::of(&evidence.accuracy, Role::Bound);
    let even = match bounds.losses {
        0 => String::new(),
        losses => format!(
            "; with a parameter chosen knowing the truth one is, in {losses} of {} cells",
            bounds.all()
        ),
    };
    let good = match good.is_empty() {
        true => "Nothing that was measured here is a case for Denise.".to_owned(),
        false => format!(
            "Denise is good for {}: nothing else that is in use is better there{even}.",
            list(&good)
        ),
    };
    let (bad, instead) = match bad.is_empty() {
        true => (
            "Nothing that was measured here is a case against it.".to_owned(),
            "So there is nothing to use instead.".to_owned(),
        ),
        false => (
            format!("It is not good for {}.", list(&bad)),
            format!("Use then {}.", list(&instead)),
        ),
    };
    format!("{good}\n{bad}\n{instead}\n")
}

/// A theme in which nobody is better is good; of the others, the kinds of matrices on which somebody is.
fn themes(rows: &[Row]) -> Vec<Finding> {
    let each = |rows: &[Row]| -> Vec<Finding> {
        let lost = |row: &&Row| !better(row, |role| role == Role::Challenger).is_empty();
        let lost: Vec<&Row> = rows.iter().filter(lost).collect();
        let of = phrase(rows);
        if lost.is_empty() {
            return vec![Finding { of, behind: None }];
        }
        // All alike, or only some by name.
        let (of, for_some) = match lost.len() == rows.len() {
            true => (of, false),
            false => {
                let names: Vec<String> = lost.iter().map(|row| row.name.clone()).collect();
                (format!("{of}, that is for {}", list(&names)), true)
            }
        };
        let (method, worst) = champion(&lost);
        let factor = two_figures(worst.ratio.recip());
        let by = format!("up to {factor} times the error of {}", worst.method);
        let instead = format!("{method} for {}", short(rows[0].theme));
        let mut all = vec![Finding {
            of,
            behind: Some((by, instead)),
        }];
        if for_some {
            let others = rows.len() - lost.len();
            let kinds = format!(
                "{others} of {} kinds with {}",
                rows.len(),
                short(rows[0].theme)
            );
            all.push(Finding {
                of: kinds,
                behind: None,
            });
        }
        all
    };
    let groups = rows.chunk_by(|a, b| a.theme == b.theme);
    groups.flat_map(each).collect()
}

/// Who is better most often on these rows, then by most; and the cell with the largest factor.
fn champion<'a>(lost: &[&'a Row]) -> (&'a str, &'a Cell) {
    let all: Vec<&Cell> = lost
        .iter()
        .flat_map(|row| better(row, |role| role == Role::Challenger))
        .collect();
    let gain = |method: &str| -> f64 {
        let own = all.iter().filter(|cell| cell.method == method);
        own.map(|cell| -cell.ratio.ln()).sum()
    };
    let by_gain = |a: &&&Cell, b: &&&Cell| gain(&a.method).total_cmp(&gain(&b.method));
    let by_factor = |a: &&&Cell, b: &&&Cell| b.ratio.total_cmp(&a.ratio);
    let best = all.iter().max_by(by_gain).expect("somebody is better");
    let worst = all.iter().max_by(by_factor).expect("somebody is better");
    (&best.method, worst)
}

/// What the rows of one theme have in common.
fn phrase(rows: &[Row]) -> String {
    let sizes = rows.iter().map(|row| row.n);
    match rows[0].theme {
        Theme::Paper => "sparse outliers as in the paper".to_owned(),
        Theme::Size => format!(
            "sizes from n = {} to {}",
            sizes.clone().min().unwrap_or(0),
            sizes.max().unwrap_or(0)
        ),
        theme => short(theme).to_owned(),
    }
}

fn short(theme: Theme) -> &'static str {
    match theme {
        Theme::Paper => "outliers as in the paper",
        Theme::Amplitude => "outliers from .3 to 30 times as large",
        Theme::Rank => "a k that is not the rank of L₀",
        Theme::Unequal => "factors of unequal strength",
        Theme::Noise => "covariances estimated from a sample",
        Theme::Missing => "missing entries",
        Theme::Size => "other sizes",
    }
}

/// Denise is behind if its L moves more than that of eigen-truncation on every panel, or on none.
fn days(rows: &[stability::Row]) -> Option<Finding> {
    let of = "an L that moves little from a day to the next".to_owned();
    let [mut more, mut stream] = [0, 0];
    for row in rows {
        let [denise, eigen, _, followed] = &row.days;
        more += usize::from(denise.median > eigen.median);
        stream += usize::from(followed.median < denise.median && followed.p99 < denise.p99);
    }
    let behind = match more {
        0 => None,
        _ => {
            let by = format!(
                "more than that of eigen-truncation in {more} of {} cases",
                rows.len()
            );
            let instead = match stream == rows.len() {
                true => "a stream of Denise or eigen-truncation",
                false => "eigen-truncation",
            };
            Some((by, format!("{instead} from day to day")))
        }
    };
    (!rows.is_empty()).then_some(Finding { of, behind })
}

/// Denise is behind if more intervals speak against it than for it, beside the reference; if as many, nothing is said.
fn portfolios(measured: &Usefulness) -> Option<Finding> {
    let standing = measured.standing(&format!("Denise {RANK}"), REFERENCE);
    let of = "minimum-variance portfolios".to_owned();
    if standing.worse > standing.better {
        let by = format!(
            "beyond chance worse than {REFERENCE} in {} of {} cases, better in {}",
            standing.worse, standing.cases, standing.better
        );
        let instead = format!("{} for portfolios", measured.best());
        return Some(Finding {
            of,
            behind: Some((by, instead)),
        });
    }
    // Good only if nothing speaks against it.
    let good = standing.better > 0 && standing.worse == 0;
    good.then_some(Finding { of, behind: None })
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::super::usefulness::testing::with;
    use super::*;

    fn evidence(accuracy: Vec<Row>, usefulness: Option<Usefulness>) -> Evidence {
        Evidence {
            accuracy,
            stability: Vec::new(),
            usefulness,
        }
    }

    fn of(theme: Theme, row: Row) -> Row {
        Row { theme, ..row }
    }

    /// What is said changes with the figures.
    #[test]
    fn no_sentence_says_what_the_figures_do_not() {
        let won = row("easy", &[("PCP 1", 80.0), ("eigen", 4.0)]);
        let lost = row(
            "hard",
            &[("PCP 1", 0.1), ("eigen", 4.0), ("PCP best", 0.05)],
        );
        let all = |theme: &dyn Fn(usize) -> Row| evidence(vec![theme(0), theme(1)], None);
        let text = text(&all(&|at| {
            [of(Theme::Paper, won.clone()), of(Theme::Rank, lost.clone())][at].clone()
        }));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "Denise is good for sparse outliers as in the paper: nothing else that is in use is better there; \
                 with a parameter chosen knowing the truth one is, in 1 of 1 cells.",
                "It is not good for a k that is not the rank of L₀ (up to 10 times the error of PCP 1).",
                "Use then PCP 1 for a k that is not the rank of L₀."
            ]
        );
        // The other way round.
        let text = super::text(&all(&|at| {
            [of(Theme::Paper, lost.clone()), of(Theme::Rank, won.clone())][at].clone()
        }));
        assert!(text.starts_with("Denise is good for a k that"), "{text}");
        assert!(
            text.contains("It is not good for sparse outliers"),
            "{text}"
        );
    }

    #[test]
    fn a_theme_is_not_good_as_a_whole_if_one_kind_is_lost() {
        let rows = vec![
            row("easy", &[("PCP 1", 80.0)]),
            row("hard", &[("PCP 1", 0.5)]),
        ];
        let text = text(&evidence(rows, None));
        assert!(
            text.starts_with("Denise is good for 1 of 2 kinds with outliers as in the paper: "),
            "{text}"
        );
        assert!(text.contains("that is for hard (up to 2.0"), "{text}");
    }

    #[test]
    fn nothing_lost_and_nothing_won() {
        let won = text(&evidence(vec![row("easy", &[("PCP 1", 80.0)])], None));
        assert!(won.contains("Nothing that was measured here is a case against"));
        let lost = text(&evidence(vec![row("hard", &[("PCP 1", 0.5)])], None));
        assert!(lost.starts_with("Nothing that was measured here is a case for"));
    }

    #[test]
    fn portfolios_are_good_only_if_no_interval_speaks_against_them() {
        let rows = || vec![row("easy", &[("PCP 1", 80.0)])];
        let said = |ratios: &[f64]| text(&evidence(rows(), Some(with(ratios))));
        assert!(said(&[0.9, 1.0]).contains("paper and minimum-variance portfolios:"));
        assert!(said(&[1.1, 1.0]).contains("not good for minimum-variance portfolios ("));
        assert!(said(&[1.1, 1.0]).contains("Use then Ledoit-Wolf for portfolios."));
        assert!(!said(&[1.1, 0.9]).contains("portfolios"));
    }
}
