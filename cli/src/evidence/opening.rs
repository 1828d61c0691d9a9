//! The three sentences with which the page opens: what Denise is good for, what not, and what to use then. All of it is
//! read off the figures, so that no sentence says what they do not.

use super::Evidence;
use super::accuracy::Row;
use super::cell::Cell;
use super::column::Role;
use super::scenario::Theme;
use super::stability;
use super::tally::{Tally, better};
use super::text::{list, ratio};
use super::usefulness::{RANK, REFERENCE, Usefulness};

/// What the figures say about one use.
struct Finding {
    /// "missing entries".
    of: String,
    standing: Standing,
}

enum Standing {
    /// Nothing else is better, and on every kind of matrices most are worse.
    Ahead,
    /// Nothing else is better.
    Level,
    /// Better than one that is named, and how often.
    Better { by: String },
    /// How far it is behind, and what to use instead, for what.
    Behind {
        by: String,
        instead: String,
        then: &'static str,
    },
}

/// Good for, not good for, use then.
pub fn text(evidence: &Evidence) -> String {
    let mut findings: Vec<Finding> = evidence
        .accuracy
        .chunk_by(|a, b| a.theme == b.theme)
        .map(theme)
        .collect();
    findings.extend(days(&evidence.stability));
    if let Some(measured) = &evidence.usefulness {
        let eigen = format!("eigen {RANK}");
        let named = format!("eigen-truncation of rank {RANK}");
        findings.extend(portfolios(measured, &eigen, &named));
        findings.extend(portfolios(measured, REFERENCE, REFERENCE));
    }
    format!(
        "{}\n{}\n{}\n",
        good(&findings),
        bad(&findings),
        instead(&findings)
    )
}

fn good(findings: &[Finding]) -> String {
    let of = |chosen: fn(&Finding) -> Option<String>| -> Vec<String> {
        findings.iter().filter_map(chosen).collect()
    };
    let ahead = of(|x| matches!(x.standing, Standing::Ahead).then(|| x.of.clone()));
    let level = of(|x| matches!(x.standing, Standing::Level).then(|| x.of.clone()));
    let mut parts = Vec::new();
    if !ahead.is_empty() {
        parts.push(format!(
            "good for {}, where nothing else in use has a smaller error of L",
            list(&ahead)
        ));
    }
    parts.extend(of(|x| match &x.standing {
        Standing::Better { by } => Some(format!("good for {} ({by})", x.of)),
        _ => None,
    }));
    if !level.is_empty() {
        parts.push(format!("no worse than other methods for {}", list(&level)));
    }
    match parts.is_empty() {
        true => "Nothing that was measured here is a case for Denise.".to_owned(),
        false => format!("Denise is {}.", parts.join("; ")),
    }
}

fn bad(findings: &[Finding]) -> String {
    let behind = findings.iter().filter_map(|x| match &x.standing {
        Standing::Behind { by, .. } => Some(format!("{} ({by})", x.of)),
        _ => None,
    });
    let behind: Vec<String> = behind.collect();
    match behind.is_empty() {
        true => "Nothing that was measured here is a case against it.".to_owned(),
        false => format!("It is not good for {}.", list(&behind)),
    }
}

/// A method once, with all that it is for.
fn instead(findings: &[Finding]) -> String {
    let mut uses: Vec<(&str, Vec<String>)> = Vec::new();
    for finding in findings {
        if let Standing::Behind { instead, then, .. } = &finding.standing {
            match uses.iter_mut().find(|(method, _)| method == instead) {
                Some((_, all)) => all.push((*then).to_owned()),
                None => uses.push((instead, vec![(*then).to_owned()])),
            }
        }
    }
    let uses: Vec<String> = uses
        .iter()
        .map(|(method, all)| format!("{method} {}", list(all)))
        .collect();
    match uses.is_empty() {
        true => "So there is nothing to use instead.".to_owned(),
        false => format!("Use then {}.", uses.join("; ")),
    }
}

/// The kinds of matrices of one theme.
fn theme(rows: &[Row]) -> Finding {
    let challenger = |role| role == Role::Challenger;
    let lost: Vec<&Row> = rows
        .iter()
        .filter(|row| !better(row, challenger).is_empty())
        .collect();
    let of = phrase(rows);
    if lost.is_empty() {
        let ahead = |row: &Row| {
            let tally = Tally::of(std::slice::from_ref(row), Role::Challenger);
            tally.wins + tally.found > tally.equal
        };
        let standing = match rows.iter().all(ahead) {
            true => Standing::Ahead,
            false => Standing::Level,
        };
        return Finding { of, standing };
    }
    let (method, worst) = champion(&lost);
    let factor = ratio(worst.ratio.recip());
    let by = format!(
        "up to {factor} times the error of {}",
        spoken(&worst.method)
    );
    let names: Vec<String> = lost.iter().map(|row| row.name.clone()).collect();
    Finding {
        // All of them, or some by name.
        of: match lost.len() == rows.len() {
            true => of,
            false => list(&names),
        },
        standing: Standing::Behind {
            by,
            instead: spoken(method),
            then: then(rows[0].theme),
        },
    }
}

/// Who is better most often and by most on these rows; and the cell with the largest factor.
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

/// "PCP with λ = 1/√n".
fn spoken(method: &str) -> String {
    method.replacen(", ", " with ", 1)
}

/// What the rows of one theme have in common.
fn phrase(rows: &[Row]) -> String {
    let sizes = rows.iter().map(|row| row.n);
    match rows[0].theme {
        Theme::Paper => "sparse outliers as in the paper".to_owned(),
        Theme::Amplitude => "outliers from .3 to 30 times as large".to_owned(),
        Theme::Rank => "a k that is not the rank of L₀".to_owned(),
        Theme::Unequal => "factors of unequal strength".to_owned(),
        Theme::Noise => "covariances estimated from a sample".to_owned(),
        Theme::Missing => "missing entries".to_owned(),
        Theme::Size => format!(
            "sizes from n = {} to {}",
            sizes.clone().min().unwrap_or(0),
            sizes.max().unwrap_or(0)
        ),
    }
}

/// After the name of a method that is better there.
fn then(theme: Theme) -> &'static str {
    match theme {
        Theme::Paper => "for such outliers",
        Theme::Amplitude => "for such amplitudes",
        Theme::Rank => "where k is not known",
        Theme::Unequal => "where factors are so unequal",
        Theme::Noise => "for such samples",
        Theme::Missing => "for such gaps",
        Theme::Size => "for such sizes",
    }
}

/// Denise is behind if its L moves more than that of eigen-truncation somewhere.
fn days(rows: &[stability::Row]) -> Option<Finding> {
    let of = "an L that moves little from a day to the next".to_owned();
    let [mut more, mut stream] = [0, 0];
    for row in rows {
        let [denise, eigen, _, followed] = &row.days;
        more += usize::from(denise.median > eigen.median);
        stream += usize::from(followed.median < denise.median && followed.p99 < denise.p99);
    }
    let standing = match more {
        0 => Standing::Level,
        _ => Standing::Behind {
            by: format!(
                "it moves more than that of eigen-truncation in {more} of {} cases",
                rows.len()
            ),
            instead: match stream == rows.len() {
                true => "a stream of Denise, or eigen-truncation,".to_owned(),
                false => "eigen-truncation".to_owned(),
            },
            then: "from day to day",
        },
    };
    (!rows.is_empty()).then_some(Finding { of, standing })
}

/// Denise is behind if more intervals speak against it than for it; better only if none speaks against it.
fn portfolios(measured: &Usefulness, to: &str, named: &str) -> Option<Finding> {
    let beside = measured.standing(&format!("Denise {RANK}"), to);
    let of = format!("minimum-variance portfolios with k = {RANK} beside {named}");
    let by = |one: &str, often: usize, other: &str, seldom: usize| {
        let cases = beside.cases;
        format!("{one} beyond chance in {often} of {cases} cases, {other} in {seldom}")
    };
    let standing = match (beside.better, beside.worse) {
        (better, worse) if worse > better => Standing::Behind {
            by: by("worse", worse, "better", better),
            instead: measured.best(),
            then: "for portfolios",
        },
        (better @ 1.., 0) => {
            let mut by = by("better", better, "worse", 0);
            // The nearest rival of the same kind is named beside the one that is beaten.
            let rival = measured.standing(&format!("Denise {RANK}"), &format!("principal {RANK}"));
            if to.starts_with("eigen") && rival.cases > 0 {
                by += &format!(
                    "; beside principal factors better in {} and worse in {}",
                    rival.better, rival.worse
                );
            }
            Standing::Better { by }
        }
        // Some for and some against, or neither: nothing can be said in a sentence.
        _ => return None,
    };
    Some(Finding { of, standing })
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
                "Denise is good for sparse outliers as in the paper, where nothing else in use has a smaller error \
                 of L.",
                "It is not good for a k that is not the rank of L₀ (up to 10 times the error of PCP 1).",
                "Use then PCP 1 where k is not known."
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
        assert!(text.starts_with("Nothing that was measured"), "{text}");
        assert!(text.contains("not good for hard (up to 2.0"), "{text}");
    }

    #[test]
    fn to_be_as_good_is_not_to_be_better() {
        let rows = vec![row(
            "even",
            &[("PCP 1", 1.0), ("eigen", 1.02), ("L = M", 3.0)],
        )];
        let text = text(&evidence(rows, None));
        assert!(text.starts_with("Denise is no worse than other"), "{text}");
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
        assert!(said(&[0.9, 1.0]).contains(
            "; good for minimum-variance portfolios with k = 3 beside Ledoit-Wolf (better beyond chance in 1 of 2 \
             cases, worse in 0)."
        ));
        assert!(said(&[1.1, 1.0]).contains("not good for minimum-variance portfolios with k = 3"));
        assert!(said(&[1.1, 1.0]).contains("Use then Ledoit-Wolf for portfolios."));
        assert!(!said(&[1.1, 0.9]).contains("portfolios"));
    }
}
