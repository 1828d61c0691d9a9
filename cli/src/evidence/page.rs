//! RESULTS.md: one page for a sceptic.

use super::column::Role;
use super::machine::Machine;
use super::tally::Tally;
use super::usefulness::{REFERENCE, Usefulness};
use super::{Evidence, heat, opening, stability, tally};
use crate::evaluate::Format;

/// How the figures came about.
pub struct Origin {
    /// The command line.
    pub command: String,
    pub seed: u64,
    /// Few matrices, to see that all of it runs.
    pub quick: bool,
    pub machine: Machine,
}

impl Origin {
    /// For below a table: with what, where and when.
    pub fn line(&self) -> String {
        let Machine {
            cpu,
            cores,
            date,
            version,
        } = &self.machine;
        let make = if self.quick {
            "make results QUICK=1"
        } else {
            "make results"
        };
        let seed = self.seed;
        format!("`{make}`, seed {seed}, denise {version}, {cpu}, {cores} cores, {date}.")
    }
}

impl Evidence {
    /// The page, of which lines of prose may still be too long.
    pub fn page(&self, origin: &Origin) -> String {
        let mut text = format!(
            "# Results\n\n{}\nWritten by `make results`; do not edit.\n",
            opening::text(self)
        );
        if origin.quick {
            text += "**Measured with `--quick`: too few matrices to quote.**\n";
        }
        text += "[TABLES.md](TABLES.md) has the paper's tables, times, continuity, streams, and all figures behind \
                 this page.\n";
        text += &self.accuracy_part(origin);
        text += &self.stability_part(origin);
        if let Some(measured) = &self.usefulness {
            text += &usefulness_part(measured);
        }
        text += "\n## Which k\n\n\
                 [RANK.md](RANK.md) says how often the k that `denise rank` suggests is right, beside other criteria.\n";
        text += &format!(
            "\n## How to repeat it\n\n\
             `make results` measures everything again, in half an hour or more.\n\
             `make results QUICK=1` does the same with few matrices in less than two minutes, into \
             `build/results-quick`.\n\
             `results.json` has all digits.\n\
             This page is by {}\n\n```sh\n{}\n```\n",
            origin.line(),
            origin.command
        );
        text
    }

    fn accuracy_part(&self, origin: &Origin) -> String {
        let most = self.accuracy.iter().map(|row| row.matrices).max();
        let [slow, searched] = [3, 4].map(|column: usize| {
            let cells = self
                .accuracy
                .iter()
                .filter_map(|row| row.cells[column].as_ref());
            cells.map(|cell| cell.matrices).max().unwrap_or(0)
        });
        format!(
            "\n## Accuracy\n\n\
             M = L₀ + S₀ is known here, and the error is ‖L − L₀‖ / ‖L₀‖.\n\
             n = 20, k = 3, U normal, s₀ zeros in S₀ and the authors' pairs unless said otherwise \
             ([TABLES.md](TABLES.md) says what these are).\n\
             The column *Denise* is its mean error, as shipped, in `float`, over up to {} matrices; *careful* is \
             `DENISE_FLAG_CAREFUL`.\n\
             *PCP .56* has the paper's λ = .56/√n, *PCP 1* the LRS library's 1/√n; *FPCP* (λ = 1/√n) and \
             *RPCA-GD* (a share of .1) have one setting, that of the paper's code.\n\
             *Best*: the λ, for RPCA-GD the share of outliers, with the smallest error for each matrix, chosen knowing \
             L₀; nobody can do that, so it bounds every rule.\n\
             PCP and IALM with both λ have up to {slow} of these matrices, *best* up to {searched}, large matrices \
             fewer of each.\n\
             For missing entries PCP is masked PCP; the other methods do not take them.\n\
             {}\n\
             ![Errors of all methods by that of Denise](figures/heatmap.png)\n\n\
             {}\n\
             {}\n{}\n",
            most.unwrap_or(0),
            heat::LEGEND,
            heat::table(&self.accuracy).write(Format::Markdown),
            tally::text(&self.accuracy),
            origin.line(),
        )
    }

    fn stability_part(&self, origin: &Origin) -> String {
        if self.stability.is_empty() {
            return String::new();
        }
        format!(
            "\n## Stability\n\n\
             Real correlations over 100 days, of which nobody knows the split; the last 40 % of the days of each \
             panel.\n\
             All methods have the same windows, spread evenly; PCP has λ = 1/√n.\n\
             `futures49` has gaps: entries are computed over the days that both assets have, and windows with an entry \
             of fewer than 33 days are left out.\n\
             {}\n{}\n{}\n",
            stability::LEGEND,
            stability::table(&self.stability).write(Format::Markdown),
            origin.line(),
        )
    }

    /// What to say on the terminal.
    pub fn summary(&self) -> String {
        let tally = Tally::of(&self.accuracy, Role::Challenger);
        format!(
            "Denise wins {} of {} cells and loses {}",
            tally.wins,
            tally.all(),
            tally.losses
        )
    }
}

fn usefulness_part(measured: &Usefulness) -> String {
    let mut text = format!(
        "\n## Usefulness\n\n\
         Σ = UUᵀ + diag(d) on returns that came later ([evidence/](../evidence/README.md) says how).\n\
         Volatility of minimum-variance portfolios a year by {REFERENCE}, and that of Denise divided by it; then \
         Denise divided by eigen-truncation and by principal factors of rank 3.\n\
         Turnover at a rebalancing and log-likelihood of a day minus that of {REFERENCE}, for k = 3.\n\
         ● Denise is better, **▲** the other is; without a sign the 95 % interval does not tell.\n\n\
         {}\n\
         Over all of these, the geometric mean of the volatility of Denise divided by that of other estimators, and how \
         often the interval says that Denise is better, or worse:\n\n\
         {}\n\
         The panels of one universe overlap, and the futures have very unequal variances, which shrinkage of covariances \
         does not stand: there only the rows of correlations compare like with like.\n\
         Principal factors are iterated factor analysis with the same rule for d; QIS is quadratic-inverse \
         shrinkage.\n",
        measured.table().write(Format::Markdown),
        measured.overall().write(Format::Markdown)
    );
    for reason in &measured.left_out {
        text += &format!("Left out: {reason}.\n");
    }
    let Usefulness {
        command,
        seed,
        date,
        machine,
        ..
    } = measured;
    text + &format!(
        "`{command}`, seed {seed}, {}, {} cores, {date}.\n",
        machine.cpu, machine.cores
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::super::usefulness::testing::with;
    use super::*;

    #[test]
    fn the_page_opens_with_three_sentences_and_every_part_has_its_origin() {
        let evidence = Evidence {
            accuracy: vec![row("a", &[("PCP 1", 80.0), ("eigen", 0.5)])],
            stability: Vec::new(),
            usefulness: Some(with(&[0.9])),
        };
        let origin = Origin::testing();
        let page = evidence.page(&origin);
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[0], "# Results");
        assert!(lines[2].starts_with("Denise is good for minimum-variance"));
        assert!(lines[3].starts_with("It is not good for"));
        assert!(lines[4].starts_with("Use then eigen"));
        assert_eq!(
            page.matches("`make results QUICK=1`, seed 7, denise ")
                .count(),
            2
        );
        assert!(page.contains("too few matrices to quote"));
        assert!(!page.contains("## Stability"));
        assert!(page.contains("\n```sh\ndenise results\n```\n"));
    }
}
