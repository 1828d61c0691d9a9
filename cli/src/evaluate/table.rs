//! One table, written for people, documents and programs.

use clap::ValueEnum;

/// How to write a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub enum Format {
    /// For a terminal.
    #[default]
    Text,
    /// A table of Markdown.
    Markdown,
    /// Comma-separated values.
    Csv,
    /// A LaTeX tabular, for booktabs.
    Latex,
    /// JSON, with every number in full.
    Json,
}

/// Columns with names, rows of text.
pub struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Without rows yet.
    pub fn new(columns: &[&'static str]) -> Table {
        Table {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row with a text for each column.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// The table in any format but JSON, which has numbers rather than text.
    pub fn write(&self, format: Format) -> String {
        match format {
            Format::Text | Format::Json => self.text(),
            Format::Markdown => self.markdown(),
            Format::Csv => self.csv(),
            Format::Latex => self.latex(),
        }
    }

    fn all(&self) -> impl Iterator<Item = Vec<&str>> {
        let head = self.columns.to_vec();
        let rows = self.rows.iter();
        std::iter::once(head).chain(rows.map(|row| row.iter().map(String::as_str).collect()))
    }

    fn text(&self) -> String {
        let mut widths = vec![0; self.columns.len()];
        for row in self.all() {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut text = String::new();
        for (at, row) in self.all().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                // Names to the left, numbers to the right.
                .map(|(column, (cell, &width))| match column {
                    0 | 1 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            text += cells.join("  ").trim_end();
            text.push('\n');
            if at == 0 {
                let rule: usize = widths.iter().map(|width| width + 2).sum();
                text += &"-".repeat(rule.saturating_sub(2));
                text.push('\n');
            }
        }
        text
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        for (at, row) in self.all().enumerate() {
            // A bar within a cell would end it.
            let cells: Vec<String> = row.iter().map(|x| x.replace('|', "\\|")).collect();
            text += &format!("| {} |\n", cells.join(" | "));
            if at == 0 {
                text += &format!("|{}\n", "---|".repeat(row.len()));
            }
        }
        text
    }

    fn csv(&self) -> String {
        let quoted = |cell: &str| {
            if cell.contains([',', '"', '\n']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.to_owned()
            }
        };
        let line = |row: Vec<&str>| row.into_iter().map(quoted).collect::<Vec<_>>().join(",");
        self.all().map(|row| line(row) + "\n").collect()
    }

    fn latex(&self) -> String {
        let mut text = format!(
            "\\begin{{tabular}}{{ll{}}}\n\\toprule\n",
            "r".repeat(self.columns.len().saturating_sub(2))
        );
        for (at, row) in self.all().enumerate() {
            let cells: Vec<String> = row.into_iter().map(latex_cell).collect();
            text += &format!("{} \\\\\n", cells.join(" & "));
            if at == 0 {
                text += "\\midrule\n";
            }
        }
        text + "\\bottomrule\n\\end{tabular}\n"
    }
}

/// What LaTeX takes for a command is escaped; letters that its fonts may lack are written as mathematics.
fn latex_cell(cell: &str) -> String {
    let mut text = String::new();
    for c in cell.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => text.extend(['\\', c]),
            '₀' => text += "$_0$",
            '‖' => text += "$\\|$",
            '−' => text += "$-$",
            'µ' => text += "$\\mu$",
            'λ' => text += "$\\lambda$",
            '√' => text += "$\\surd$",
            '–' => text += "--",
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_every_cell() {
        let mut table = Table::new(&["method", "s(S₀)", "error, mean"]);
        table.push(vec!["a & b".into(), "0.60".into(), "1".into()]);
        table.push(vec!["µ".into(), "0.7".into(), "12.5 %".into()]);
        assert_eq!(
            latex_cell("PCP, λ = 1/√n: –"),
            "PCP, $\\lambda$ = 1/$\\surd$n: --"
        );
        let mut bars = Table::new(&["mean |S|"]);
        bars.push(vec!["1".into()]);
        assert!(
            bars.write(Format::Markdown)
                .starts_with("| mean \\|S\\| |\n")
        );
        assert_eq!(
            table.write(Format::Text),
            "method  s(S₀)  error, mean\n--------------------------\na & b   0.60             1\nµ       0.7         12.5 %\n"
        );
        assert_eq!(
            table.write(Format::Markdown),
            "| method | s(S₀) | error, mean |\n|---|---|---|\n| a & b | 0.60 | 1 |\n| µ | 0.7 | 12.5 % |\n"
        );
        assert_eq!(
            table.write(Format::Csv),
            "method,s(S₀),\"error, mean\"\na & b,0.60,1\nµ,0.7,12.5 %\n"
        );
        let latex = table.write(Format::Latex);
        assert!(latex.contains("a \\& b & 0.60 & 1 \\\\\n$\\mu$ & 0.7 & 12.5 \\% \\\\"));
        assert!(latex.starts_with("\\begin{tabular}{llr}"));
    }
}
