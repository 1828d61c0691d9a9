//! From a table of prices or returns to the covariance of each window of days.

use super::csv::{self, Separator};
use super::{FileError, Format, Stack, contents};
use std::path::{Path, PathBuf};

/// A table of numbers under headings, a row per day.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// The headings of the columns of numbers.
    pub(crate) names: Vec<String>,
    /// The numbers, row by row; all are finite.
    pub(crate) values: Vec<f64>,
    path: PathBuf,
    /// The line of each row in the file, from 1.
    lines: Vec<usize>,
    /// Cells before the first number: 1 if there are dates.
    labels: usize,
}

/// What to do with a row that lacks a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Report it as an error.
    Refuse,
    /// Leave out the row. A return then spans the gap.
    DropRow,
}

/// Which windows to take of a table, and what to make of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Returns in each window.
    pub(crate) window: usize,
    /// Rows from the start of one window to the start of the next.
    pub(crate) step: usize,
    /// What to compute.
    pub(crate) kind: Kind,
    /// What the table holds.
    pub(crate) input: Input,
}

/// What to compute from a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Correlations: a diagonal of ones.
    Correlation,
    /// Sample covariances, with the divisor window − 1.
    Covariance,
}

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Prices p, for simple returns pₜ / pₜ₋₁ − 1.
    Prices,
    /// Prices p, for logarithmic returns ln(pₜ / pₜ₋₁).
    LogPrices,
    /// Returns, to be used as they are.
    Returns,
}

impl Table {
    fn at_cell(&self, row: usize, column: usize, message: String) -> FileError {
        FileError::new(&self.path, message).at_cell(self.lines[row], self.labels + column + 1)
    }
}

/// Reads a `.csv` or `.csv.gz` table whose first line names the columns.
///
/// The first column is passed over if it holds dates or other text, or if its heading is empty or says
/// that it holds dates.
pub(crate) fn read(path: &Path, missing: Missing) -> Result<Table, FileError> {
    match Format::of(path) {
        Some(Format::Csv | Format::CsvGz) => parse(path, contents(path)?, missing),
        _ => Err(FileError::new(
            path,
            "a table of prices or returns must be a .csv or .csv.gz file",
        )),
    }
}

/// The same from what the file holds.
pub(crate) fn parse(path: &Path, bytes: Vec<u8>, missing: Missing) -> Result<Table, FileError> {
    table(path, &csv::text(path, bytes)?, missing)
}

fn table(path: &Path, text: &str, missing: Missing) -> Result<Table, FileError> {
    let mut lines = csv::lines(text).filter(|(_, line)| !line.trim().is_empty());
    let Some((first_line, first)) = lines.next() else {
        return Err(FileError::new(path, "the file is empty"));
    };
    let separator = Separator::of(first);
    let headings = separator.cells(first);
    let rows: Vec<(usize, &str)> = lines.collect();
    let dated = csv::labels_rows(&headings) || is_date(&headings[0]) || {
        // The first cell that is there tells whether the column holds numbers.
        let mut column = rows
            .iter()
            .map(|(_, row)| separator.cells(row).swap_remove(0));
        column
            .find(|cell| !is_missing(cell))
            .is_some_and(|cell| csv::number(&cell).is_none())
    };
    let labels = usize::from(dated);
    let names: Vec<String> = headings[labels..]
        .iter()
        .map(|name| name.to_string())
        .collect();
    if names.is_empty() {
        return Err(FileError::new(path, "the table has no column of numbers").at_line(first_line));
    }
    if names.iter().all(|name| csv::number(name).is_some()) {
        let message = "the first line holds numbers; it must name the columns";
        return Err(FileError::new(path, message).at_line(first_line));
    }
    let mut table = Table {
        names,
        values: Vec::new(),
        path: path.to_owned(),
        lines: Vec::new(),
        labels,
    };
    for (line, row) in rows {
        let cells = separator.cells(row);
        if cells.len() != headings.len() {
            let message = format!(
                "the line has {} cells, but the first line has {}",
                cells.len(),
                headings.len()
            );
            let place = cells.len().min(headings.len()) + 1;
            return Err(FileError::new(path, message).at_cell(line, place));
        }
        let start = table.values.len();
        let mut whole = true;
        for (at, cell) in cells.iter().enumerate().skip(labels) {
            match csv::number(cell) {
                Some(value) => table.values.push(value),
                None if !is_missing(cell) => {
                    return Err(FileError::new(path, csv::not_a_number(cell)).at_cell(line, at + 1));
                }
                None if missing == Missing::Refuse => {
                    let message = format!(
                        "the number for {:?} is missing; fill it in, or ask for such rows to be dropped",
                        headings[at]
                    );
                    return Err(FileError::new(path, message).at_cell(line, at + 1));
                }
                None => whole = false,
            }
        }
        if whole {
            table.lines.push(line);
        } else {
            table.values.truncate(start);
        }
    }
    Ok(table)
}

fn is_date(heading: &str) -> bool {
    ["date", "time", "datetime", "timestamp"]
        .iter()
        .any(|word| heading.eq_ignore_ascii_case(word))
}

fn is_missing(cell: &str) -> bool {
    ["", "NA", "NaN", "null", "N/A", "#N/A"]
        .iter()
        .any(|word| cell.eq_ignore_ascii_case(word))
}

/// The correlation or covariance matrix of each window.
pub(crate) fn windows(table: &Table, how: &Windows) -> Result<Stack, FileError> {
    let refuse = |message: String| FileError::new(&table.path, message);
    if how.window < 2 || how.step < 1 {
        return Err(refuse(format!(
            "windows of {} returns, {} apart: a window needs at least 2 returns, a step at least 1",
            how.window, how.step
        )));
    }
    let n = table.names.len();
    let returns = returns(table, how.input)?;
    let days = returns.len() / n;
    let Some(last) = days.checked_sub(how.window) else {
        return Err(refuse(format!(
            "the table has {days} returns, but a window takes {}; take a shorter window",
            how.window
        )));
    };
    let mut stack = Stack {
        n,
        values: Vec::new(),
    };
    let count = last / how.step + 1;
    (n * n)
        .checked_mul(count)
        .and_then(|all| stack.values.try_reserve_exact(all).ok())
        .ok_or_else(|| refuse(format!("{count} matrices of size {n} do not fit in memory")))?;
    for start in (0..=last).step_by(how.step) {
        let window = &returns[start * n..(start + how.window) * n];
        // From the first price or return that the window uses to the last.
        let end = start + how.window - usize::from(how.input == Input::Returns);
        let place = |column: usize| {
            format!(
                "column {:?}, window {} (lines {} to {})",
                table.names[column],
                start / how.step + 1,
                table.lines[start],
                table.lines[end]
            )
        };
        let (matrix, still) = match how.kind {
            Kind::Covariance => (covariance(window, n), None),
            Kind::Correlation => correlation(window, n),
        };
        if let Some(column) = still {
            return Err(refuse(format!(
                "{}: all returns are equal, so there is no correlation; leave out the column, or take \
                 longer windows or covariances",
                place(column)
            )));
        }
        if let Some(at) = matrix.iter().position(|value| !value.is_finite()) {
            return Err(refuse(format!(
                "{}: the numbers are too large; divide them by a constant",
                place(at / n)
            )));
        }
        stack.values.extend(matrix);
    }
    Ok(stack)
}

fn returns(table: &Table, input: Input) -> Result<Vec<f64>, FileError> {
    if input == Input::Returns {
        return Ok(table.values.clone());
    }
    let n = table.names.len();
    if let Some(at) = table.values.iter().position(|&price| price <= 0.0) {
        let message = format!(
            "the price {} of {:?} is not positive; correct it, or say that the table holds returns",
            table.values[at],
            table.names[at % n]
        );
        return Err(table.at_cell(at / n, at % n, message));
    }
    let pairs = table.values.iter().zip(table.values.iter().skip(n));
    Ok(pairs
        .map(|(before, after)| match input {
            // Not ln(after / before), which can overflow.
            Input::LogPrices => after.ln() - before.ln(),
            _ => after / before - 1.0,
        })
        .collect())
}

/// The columns of a window, each without its mean.
fn centred(window: &[f64], n: usize) -> Vec<Vec<f64>> {
    let rows = window.len() / n;
    let column = |j: usize| window.iter().skip(j).step_by(n);
    (0..n)
        .map(|j| {
            let mean = column(j).sum::<f64>() / rows as f64;
            column(j).map(|value| value - mean).collect()
        })
        .collect()
}

/// All inner products of the columns: bitwise symmetric.
fn products(columns: &[Vec<f64>]) -> Vec<f64> {
    let n = columns.len();
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let product = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
            matrix[i * n + j] = product;
            matrix[j * n + i] = product;
        }
    }
    matrix
}

fn covariance(window: &[f64], n: usize) -> Vec<f64> {
    let divisor = (window.len() / n - 1) as f64;
    let mut matrix = products(&centred(window, n));
    matrix.iter_mut().for_each(|value| *value /= divisor);
    matrix
}

/// The correlations, and a column that does not vary, for which there are none.
fn correlation(window: &[f64], n: usize) -> (Vec<f64>, Option<usize>) {
    let mut still = None;
    // To unit scale first: squares of very small or very large numbers are not numbers of use.
    let mut scaled = window.to_vec();
    for j in 0..n {
        let column = || window.iter().skip(j).step_by(n);
        let scale = column().fold(0.0_f64, |most, value| most.max(value.abs()));
        let (low, high) = column().fold((f64::MAX, f64::MIN), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
        // Returns of a constant growth differ by rounding only.
        if high / scale - low / scale <= 1e-12 || scale == 0.0 {
            still = still.or(Some(j));
        }
        scaled[j..]
            .iter_mut()
            .step_by(n)
            .for_each(|value| *value /= scale);
    }
    let mut columns = centred(&scaled, n);
    for column in &mut columns {
        let norm = column.iter().map(|value| value * value).sum::<f64>().sqrt();
        column.iter_mut().for_each(|value| *value /= norm);
    }
    let mut matrix = products(&columns);
    matrix
        .iter_mut()
        .for_each(|value| *value = value.clamp(-1.0, 1.0));
    matrix
        .iter_mut()
        .step_by(n + 1)
        .for_each(|value| *value = 1.0);
    (matrix, still)
}

#[cfg(test)]
mod tests {
    use super::super::tests::garbage;
    use super::*;

    fn table(text: &str) -> Result<Table, FileError> {
        super::table(Path::new("p.csv"), text, Missing::Refuse)
    }

    fn how(window: usize, step: usize, kind: Kind, input: Input) -> Windows {
        Windows {
            window,
            step,
            kind,
            input,
        }
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    /// Whether A + shift·I has a Cholesky factor.
    fn is_positive(matrix: &[f64], n: usize, shift: f64) -> bool {
        let mut a = matrix.to_vec();
        a.iter_mut()
            .step_by(n + 1)
            .for_each(|value| *value += shift);
        for k in 0..n {
            if a[k * n + k] <= 0.0 {
                return false;
            }
            for i in k + 1..n {
                let factor = a[i * n + k] / a[k * n + k];
                for j in k..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
            }
        }
        true
    }

    #[test]
    fn twenty_stocks_in_windows_of_a_hundred_days() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/data/sp500/sp500_dataset.csv.gz"
        );
        let table = read(Path::new(path), Missing::Refuse).unwrap();
        assert_eq!((table.names.len(), table.lines.len()), (20, 8313));
        assert_eq!((&*table.names[0], &*table.names[19]), ("AAPL", "XOM"));
        for input in [Input::Prices, Input::LogPrices] {
            let stack = windows(&table, &how(100, 5, Kind::Correlation, input)).unwrap();
            assert_eq!((stack.n, stack.count()), (20, (8312 - 100) / 5 + 1));
            for matrix in stack.iter() {
                for i in 0..20 {
                    assert_eq!(matrix[i * 21], 1.0);
                    for j in 0..20 {
                        assert_eq!(matrix[i * 20 + j], matrix[j * 20 + i]);
                        assert!(matrix[i * 20 + j].abs() <= 1.0);
                    }
                }
                assert!(is_positive(matrix, 20, 1e-12));
            }
        }
        // Entries of pandas' DataFrame.pct_change().iloc[1:101].cov() and .corr().
        let stack = windows(&table, &how(100, 5, Kind::Covariance, Input::Prices)).unwrap();
        assert!(close(
            &stack.values[..2],
            &[0.0005672852479632184, 0.00010573547796113453]
        ));
        let stack = windows(&table, &how(100, 5, Kind::Correlation, Input::Prices)).unwrap();
        assert!(close(
            &stack.values[1..3],
            &[0.1597959675751753, 0.137422917670361]
        ));
    }

    #[test]
    fn a_window_by_hand() {
        let returns = table("a,b\n1,2\n3,2\n5,8\n").unwrap();
        assert_eq!(returns.labels, 0);
        let stack = windows(&returns, &how(3, 1, Kind::Covariance, Input::Returns)).unwrap();
        assert!(close(&stack.values, &[4.0, 6.0, 6.0, 12.0]));
        let stack = windows(&returns, &how(3, 1, Kind::Correlation, Input::Returns)).unwrap();
        let r = 0.75_f64.sqrt();
        assert!(close(&stack.values, &[1.0, r, r, 1.0]));
        let prices = table("Date;a\n1;1\n2;2\n3;6\n4;6\n").unwrap();
        assert_eq!(prices.names, ["a"]);
        let stack = windows(&prices, &how(2, 1, Kind::Covariance, Input::Prices)).unwrap();
        assert!(close(&stack.values, &[0.5, 2.0]));
        let stack = windows(&prices, &how(2, 2, Kind::Covariance, Input::LogPrices)).unwrap();
        assert!(close(&stack.values, &[1.5_f64.ln().powi(2) / 2.0]));
    }

    #[test]
    fn scale_does_not_matter_to_correlations() {
        for scale in [1e-200, 1e-310, 1e300] {
            let cell = |value: f64| value * scale;
            let text = format!(
                "a,b\n{:e},1\n{:e},2\n{:e},4\n",
                cell(1.0),
                cell(2.0),
                cell(4.0)
            );
            let how = how(3, 1, Kind::Correlation, Input::Returns);
            let stack = windows(&table(&text).unwrap(), &how).unwrap();
            assert!(close(&stack.values, &[1.0; 4]), "{:?}", stack.values);
        }
    }

    #[test]
    fn missing_cells_are_refused_or_dropped() {
        let text = "day,a,b\nmon,1,2\n\ntue,,3\nwed,4,NaN\nthu,5,6\n";
        let error = table(text).unwrap_err().to_string();
        assert!(
            error.starts_with("p.csv:4:2: the number for \"a\" is missing"),
            "{error}"
        );
        let dropped = super::table(Path::new("p.csv"), text, Missing::DropRow).unwrap();
        assert_eq!(dropped.values, [1.0, 2.0, 5.0, 6.0]);
        assert_eq!(dropped.lines, [2, 6]);
        // A column of prices that begins with a gap is not a column of dates.
        let text = "a,b\n,2\n3,4\n";
        assert!(
            table(text)
                .unwrap_err()
                .to_string()
                .starts_with("p.csv:2:1: ")
        );
        let dropped = super::table(Path::new("p.csv"), text, Missing::DropRow).unwrap();
        assert_eq!(dropped.values, [3.0, 4.0]);
    }

    #[test]
    fn no_table_makes_it_panic() {
        for text in garbage() {
            if let Ok(table) = super::table(Path::new("p.csv"), &text, Missing::DropRow) {
                for input in [Input::Prices, Input::LogPrices, Input::Returns] {
                    let _ = windows(&table, &how(2, 1, Kind::Correlation, input));
                }
            }
        }
    }

    #[test]
    fn errors_say_where_and_what_to_do() {
        let read = |text: &str| table(text).unwrap_err().to_string();
        assert!(read("").contains("empty"));
        assert!(read("Date\nx\n").contains("no column of numbers"));
        assert!(read("1,2\n3,4\n").starts_with("p.csv:1: the first line holds numbers"));
        assert_eq!(
            read("d,a\nx,1\ny,abc\n"),
            "p.csv:3:2: \"abc\" is not a number"
        );
        assert!(read("d,a\nx,1,2\n").starts_with("p.csv:2:3: the line has 3 cells"));
        assert!(read("d,a\nx\n").starts_with("p.csv:2:2: the line has 1 cells"));

        let windowed = |text: &str, window, kind, input| {
            let error = windows(&table(text).unwrap(), &how(window, 1, kind, input));
            error.unwrap_err().to_string()
        };
        let prices = "d,a,b\nx,1,2\ny,2,0\nz,3,3\n";
        let error = windowed(prices, 2, Kind::Covariance, Input::Prices);
        assert!(
            error.starts_with("p.csv:3:3: the price 0 of \"b\""),
            "{error}"
        );
        let still = "d,a,b\nw,1,2\nx,2,3\ny,3,3\nz,5,3\n";
        let error = windowed(still, 2, Kind::Correlation, Input::Prices);
        assert!(
            error.contains("column \"b\", window 2 (lines 3 to 5)"),
            "{error}"
        );
        let error = windowed(still, 2, Kind::Correlation, Input::Returns);
        assert!(
            error.contains("column \"b\", window 2 (lines 3 to 4)"),
            "{error}"
        );
        let error = windowed(still, 4, Kind::Correlation, Input::Prices);
        assert!(
            error.contains("has 3 returns, but a window takes 4"),
            "{error}"
        );
        assert!(windowed("d,a\n", 2, Kind::Covariance, Input::Prices).contains("has 0 returns"));
        assert!(windowed(still, 1, Kind::Covariance, Input::Prices).contains("at least 2"));
        let large = "a,b\n1e300,1\n-1e300,2\n";
        assert!(windowed(large, 2, Kind::Covariance, Input::Returns).contains("too large"));
        assert!(super::read(Path::new("p.npy"), Missing::Refuse).is_err());
    }
}
