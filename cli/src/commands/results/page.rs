//! TABLES.md.

use super::{Args, Results, Size, meaning};
use crate::commands::eval::{stock_table, table};
use crate::evaluate::{Format, PAPER_NORMAL, PAPER_STOCKS, PAPER_STUDENT, Published, Table};
use crate::streams;

/// Both generators.
const PAIRS: &str = "\
    S₀ is made of random pairs (i, j).\n\
    The authors' code, which made the paper's tables, draws j uniformly from 1 to n − 1 and then i uniformly below j, \
    and counts entries up to 0.01 as zeros (`--pairs authors`).\n\
    The paper's text draws all pairs alike (`--pairs uniform`), which is easier; one table below has that.\n";

/// Columns of a line of prose.
const COLUMNS: usize = 120;

impl Results {
    /// The whole page.
    pub(super) fn page(&self, args: &Args) -> String {
        let mut text = format!(
            "# Tables\n\n\
             Written by `make results`; do not edit.\n\
             [RESULTS.md](RESULTS.md) is the short page.\n\
             {} matrices of each kind (2,000 at most for other sizes), seed {}, n = 20, k = 3 unless said otherwise.\n\
             Means, with the standard deviation in brackets.\n\
             Times are microseconds per matrix on one core of the machine that wrote this page: \
             *batch* in one call for many matrices, *single* the median of calls for one.\n\
             `results.json` has all digits.\n\n\
             The matrices are `denise generate --pairs {}`.\n{PAIRS}\n",
            args.count(),
            args.seed,
            self.pairs
        );
        text += &meaning::of(&[("U normal", &self.normal), ("U Student-t", &self.student)]);
        for (title, rows, paper) in [
            ("## Table 1: U normal", &self.normal, &PAPER_NORMAL),
            (
                "## Table 2: U Student-t with 5 degrees of freedom",
                &self.student,
                &PAPER_STUDENT,
            ),
        ] {
            text += &format!("\n{title}\n\n{}", table(rows).write(Format::Markdown));
            text += &format!(
                "\nThe paper's figures for the same table, PCP and IALM with λ = .56/√n, its times from 24 \
                 cores:\n\n{}",
                paper_table(paper, "rel.error(L)").write(Format::Markdown)
            );
        }
        text += &format!(
            "\n## Uniform pairs\n\nAs Table 1, with `--pairs uniform`.\n\n{}",
            table(&self.uniform).write(Format::Markdown)
        );
        text += "\n## Table 3: windows of 20 stocks of the S&P 500\n\n\
                 The last 23 % of the windows (100 days, step 5, correlation) of `tests/data/sp500`; the first 77 % \
                 are for finetuning.\n\
                 The split of real matrices is not known: a smaller mean |S| and a larger s(S) are better, at the \
                 same rank.\n\n";
        text += &stock_table(&self.stocks).write(Format::Markdown);
        text += &format!(
            "\nThe paper's figures, on other stocks and years, PCP and IALM with λ = .64/√n:\n\n{}",
            paper_table(&PAPER_STOCKS, "‖M − L‖ / ‖M‖").write(Format::Markdown)
        );
        text += "\n![M, L and S of a window by each method](figures/windows.png)\n";
        text += "\n## Other sizes\n\nThe same weights at s(S₀) = .95, U normal.\n";
        for Size { n, k, rows } in &self.sizes {
            text += &format!(
                "\nn = {n}, k = {k}:\n\n{}",
                table(rows).write(Format::Markdown)
            );
        }
        text += "\n## Continuity\n\n\
                 The largest ‖ΔL‖_F / ‖ΔM‖_F between neighbours of 201 points on a straight way from one matrix to \
                 another (s(S₀) = .90, U normal); \
                 the median and the largest of 20 ways.\n\
                 L = M has the ratio 1.\n\n";
        let mut ratios = Table::new(&["", "method", "median", "largest"]);
        for x in &self.continuity {
            let cells = [x.median, x.largest].map(|ratio| format!("{ratio:.2}"));
            let [median, largest] = cells;
            ratios.push(vec![String::new(), x.method.clone(), median, largest]);
        }
        text += &ratios.write(Format::Markdown);
        text += "\n## Robustness\n\n\
                 How far L can be relied on where matrices are not those of Tables 1 and 2, in `f64`, by `denise eval \
                 --robustness`.\n\
                 At most 2,000 matrices of each kind; real ones are the last 23 % of the windows of \
                 `tests/data/sp500` (100 days, step 5 or 1, correlation).\n\
                 *Careful* is `DENISE_FLAG_CAREFUL`, *correlation* `DENISE_FLAG_CORRELATION`.\n";
        for part in self.robustness.parts() {
            text += &format!(
                "\n### {}\n\n{}\n\n{}",
                part.title,
                part.text,
                part.table.write(Format::Markdown)
            );
        }
        text += "\n## Streams\n\n\
                 A stream gets the returns of a day and follows L from the day before; beside it a start from scratch \
                 at every day, and eigen-truncation, on the same correlation matrices, in `f64`, by `denise eval \
                 --streams`.\n\
                 Mean |S| is relative to that from scratch; *later days* are the last 40 %, on which nothing was \
                 trained.\n\
                 Zeros are entries of S up to .01, in brackets those from scratch.\n\
                 The next columns are ‖ΔL‖/‖ΔM‖ from a day to the next.\n\
                 *Longest* is how many days in a row the stream's mean |S| was more than 10 % above that from \
                 scratch.\n\n";
        text += &streams::table(&self.streams).write(Format::Markdown);
        text += "\n![L of one pair over time](figures/stream.png)\n\n\
                 ![The same around 2008](figures/stream_2008.png)\n\n\
                 ![The same around 2020](figures/stream_2020.png)\n";
        text += "\n## Figures\n\n\
                 ![Error of L against time](figures/accuracy.png)\n\n\
                 ![Distribution of the error](figures/distribution.png)\n\n\
                 ![Time against n](figures/cost.png)\n";
        text += "\n## Every figure of the short page\n\n\
                 *Denise on the same*: its mean error on as many matrices, the same ones.\n\n";
        text += &self.evidence.details().write(Format::Markdown);
        text
    }
}

/// Lines of prose broken between words, where they are too long; rows of tables cannot be.
pub(super) fn wrapped(page: &str) -> String {
    let mut text = String::new();
    for line in page.lines() {
        // The next lines of an item stand below its first word.
        let indent = if line.starts_with("- ") { "  " } else { "" };
        let mut columns = 0;
        for word in line.split_inclusive(' ') {
            let width = word.trim_end().chars().count();
            if !line.starts_with('|') && columns > indent.len() && columns + width > COLUMNS {
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
                text += indent;
                columns = indent.len();
            }
            text += word;
            columns += word.chars().count();
        }
        text.push('\n');
    }
    text
}

fn paper_table(rows: &[Published], error: &'static str) -> Table {
    let mut table = Table::new(&[
        "s(S₀)",
        "method",
        "r(L)",
        "s(S)",
        error,
        "rel.error(S)",
        "µs",
    ]);
    let pair = |(mean, std): (f64, f64)| format!("{mean:.2} ({std:.2})");
    for row in rows {
        table.push(vec![
            if row.sparsity > 0.0 {
                format!("{:.2}", row.sparsity)
            } else {
                String::new()
            },
            row.method.to_owned(),
            pair(row.rank),
            pair(row.sparsity_of_s),
            pair(row.error),
            row.error_s.map_or_else(String::new, pair),
            format!("{:.0}", row.milliseconds * 1e3),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_items() {
        let page = wrapped(&format!("- {}\n", "word ".repeat(30)));
        let lines: Vec<&str> = page.lines().collect();
        assert!(lines.len() == 2 && lines[1].starts_with("  word"), "{page}");
    }

    #[test]
    fn prose_is_broken_and_tables_are_not() {
        let prose = "word ".repeat(60);
        let row = format!("| {} |", "x".repeat(200));
        let page = wrapped(&format!("{prose}\n{row}\nshort\n"));
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[3..], [row.as_str(), "short"]);
        assert!(lines[..3].iter().all(|line| line.len() <= COLUMNS));
        assert_eq!(lines[..3].join(" ").trim_end(), prose.trim_end());
    }
}
