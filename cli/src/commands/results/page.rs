//! RESULTS.md.

use super::{Args, Results, Size};
use crate::commands::eval::{stock_table, table};
use crate::evaluate::{Format, PAPER_NORMAL, PAPER_STOCKS, PAPER_STUDENT, Published, Table};

impl Results {
    /// The whole page.
    pub(super) fn page(&self, args: &Args) -> String {
        let mut text = format!(
            "# Results\n\n\
             Written by `make results`; do not edit. {} matrices of each kind (2,000 at most for other sizes), seed {}, n = 20, k = 3 unless said otherwise. Means, with the \
             standard deviation in brackets. Times are microseconds per matrix on one core of the machine that wrote this page: \
             *batch* in one call for many matrices, *single* the median of calls for one. `results.json` has all digits.\n\n",
            args.count, args.seed
        );
        text += MEANING;
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
                "\nThe paper's figures for the same table, its times from 24 cores:\n\n{}",
                paper_table(paper, "rel.error(L)").write(Format::Markdown)
            );
        }
        text += "\n## Table 3: windows of 20 stocks of the S&P 500\n\n\
                 The last 23 % of the windows (100 days, step 5, correlation) of `tests/data/sp500`; the first 77 % are for finetuning. The split of real \
                 matrices is not known: a smaller mean |S| and a larger s(S) are better, at the same rank.\n\n";
        text += &stock_table(&self.stocks).write(Format::Markdown);
        text += &format!(
            "\nThe paper's figures, on other stocks and years:\n\n{}",
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
                 The largest ‖ΔL‖_F / ‖ΔM‖_F between neighbours of 201 points on a straight way from one matrix to another (s(S₀) = .90, U normal); \
                 the median and the largest of 20 ways. L = M has the ratio 1.\n\n";
        let mut ratios = Table::new(&["", "method", "median", "largest"]);
        for x in &self.continuity {
            let cells = [x.median, x.largest].map(|ratio| format!("{ratio:.2}"));
            let [median, largest] = cells;
            ratios.push(vec![String::new(), x.method.clone(), median, largest]);
        }
        text += &ratios.write(Format::Markdown);
        text += "\n## Figures\n\n\
                 ![Error of L against time](figures/accuracy.png)\n\n\
                 ![Distribution of the error](figures/distribution.png)\n\n\
                 ![Time against n](figures/cost.png)\n";
        text
    }
}

/// What the tables mean, for whoever reads only one paragraph.
const MEANING: &str = "\
    A row means more beside those that cost nothing: L = M does nothing at all, and eigen-truncation does what every library of linear algebra can. The \
    classical methods, with the parameters of the paper and of the LRS library, shrink L and stay behind both in the error of L; so does the paper's own network. \
    Of them, PCP finds a sparser S than eigen-truncation does. Denise recovers L (*exact*: the share of matrices with an error below 0.001) for most matrices from s(S₀) = .80 on, which no other \
    method here does; where two entries in five are wrong (s(S₀) = .60), it does not recover L either, it is only nearer.\n";

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
