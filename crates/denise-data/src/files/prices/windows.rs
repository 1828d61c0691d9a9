//! The windows of days of a table, and a matrix of each.

use super::super::{FileError, Stack};
use super::Table;
use super::correlation::{correlation, covariance};
use super::pairwise::pairwise;

/// Which windows to take of a table, and what to make of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Returns in each window.
    pub window: usize,
    /// Rows from the start of one window to the start of the next.
    pub step: usize,
    /// What to compute.
    pub kind: Kind,
    /// What the table holds.
    pub input: Input,
    /// Which days of a window count.
    pub days: Days,
}

/// Which days of a window count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Days {
    /// All of them: no number may be missing, and for correlations every column must vary.
    All,
    /// For each pair of columns the days on which both returns are known. Means and variances are of these days too.
    /// For the diagonal they are the days of the column.
    ///
    /// An entry of fewer days is not known, and is NaN. So is a correlation of a column that does not vary on these
    /// days. Matrices need not be positive semidefinite.
    Common {
        /// The fewest days of an entry, from 2 to the length of the window.
        least: usize,
    },
}

impl Days {
    /// Common days, and at least a third of the window, but no fewer than 3.
    ///
    /// The error of a correlation ρ over d days is about (1 − ρ²) / √d, and a network does not know which entries have
    /// fewer days: with a third of them the error is at most 1.7 times that of the others. Over 2 days every
    /// correlation is 1 or −1.
    pub fn common(window: usize) -> Days {
        Days::Common {
            least: (window / 3).max(3).min(window),
        }
    }
}

/// What [`Days::Common`] left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Pairs with too few days in common, over all windows.
    pub short: usize,
    /// Pairs with days enough, but no variation on them, over all windows.
    pub still: usize,
    /// Windows in which there is a pair of either kind.
    pub windows: usize,
}

/// What to compute from a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Correlations: a diagonal of ones.
    Correlation,
    /// Sample covariances, with the divisor days − 1.
    Covariance,
}

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Prices p, for simple returns pₜ / pₜ₋₁ − 1.
    Prices,
    /// Prices p, for logarithmic returns ln(pₜ / pₜ₋₁).
    LogPrices,
    /// Returns, to be used as they are.
    Returns,
}

/// The correlation or covariance matrix of each window.
pub fn windows(table: &Table, how: &Windows) -> Result<Stack, FileError> {
    windows_and_gaps(table, how).map(|(stack, _)| stack)
}

/// The same, and which pairs are not known.
pub fn windows_and_gaps(table: &Table, how: &Windows) -> Result<(Stack, Gaps), FileError> {
    let refuse = |message: String| FileError::new(&table.path, message);
    if how.window < 2 || how.step < 1 {
        return Err(refuse(format!(
            "windows of {} returns, {} apart: a window needs at least 2 returns, a step at least 1",
            how.window, how.step
        )));
    }
    match how.days {
        Days::All => all_known(table)?,
        Days::Common { least } if !(2..=how.window).contains(&least) => {
            return Err(refuse(format!(
                "at least {least} common days in windows of {}: take 2 or more, and no more than a window has",
                how.window
            )));
        }
        Days::Common { .. } => {}
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
    let mut gaps = Gaps::default();
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
        let (matrix, overflow) = match how.days {
            Days::All => {
                let (matrix, still) = match how.kind {
                    Kind::Covariance => (covariance(window, n), None),
                    Kind::Correlation => correlation(window, n),
                };
                if let Some(column) = still {
                    return Err(refuse(format!(
                        "{}: all returns are equal, so there is no correlation; leave out the column, take longer \
                         windows or covariances, or take such entries as not known (--missing)",
                        place(column)
                    )));
                }
                let overflow = matrix.iter().position(|value| !value.is_finite());
                (matrix, overflow.map(|at| at / n))
            }
            Days::Common { least } => {
                let found = pairwise(window, n, how.kind, least);
                gaps.short += found.short;
                gaps.still += found.still;
                gaps.windows += usize::from(found.short + found.still > 0);
                (found.matrix, found.overflow)
            }
        };
        if let Some(column) = overflow {
            return Err(refuse(format!(
                "{}: the numbers are too large; divide them by a constant",
                place(column)
            )));
        }
        stack.values.extend(matrix);
    }
    Ok((stack, gaps))
}

/// An error about the first number that is missing, if there is one.
fn all_known(table: &Table) -> Result<(), FileError> {
    let n = table.names.len();
    let Some(at) = table.values.iter().position(|value| value.is_nan()) else {
        return Ok(());
    };
    let message = format!(
        "the number for {:?} is missing; take windows of common days, or drop such rows",
        table.names[at % n]
    );
    Err(table.at_cell(at / n, at % n, message))
}

impl Input {
    /// The return from one number of a column to the next.
    pub(super) fn between(self, before: f64, after: f64) -> f64 {
        match self {
            // Not ln(after / before), which can overflow.
            Input::LogPrices => after.ln() - before.ln(),
            Input::Prices => after / before - 1.0,
            Input::Returns => after,
        }
    }
}

/// The returns of a table, row by row.
pub fn returns(table: &Table, input: Input) -> Result<Vec<f64>, FileError> {
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
        .map(|(&before, &after)| input.between(before, after))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::garbage;
    use super::super::table::{Missing, parse, read};
    use super::*;
    use std::path::Path;

    fn table(text: &str, missing: Missing) -> Result<Table, FileError> {
        parse(Path::new("p.csv"), text.into(), missing)
    }

    fn whole(text: &str) -> Table {
        table(text, Missing::Refuse).unwrap()
    }

    fn how(window: usize, step: usize, kind: Kind, input: Input) -> Windows {
        Windows {
            window,
            step,
            kind,
            input,
            days: Days::All,
        }
    }

    fn common(least: usize, how: Windows) -> Windows {
        Windows {
            days: Days::Common { least },
            ..how
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
            "/../../tests/data/sp500/sp500_dataset.csv.gz"
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
        let returns = whole("a,b\n1,2\n3,2\n5,8\n");
        assert_eq!(returns.labels, 0);
        let stack = windows(&returns, &how(3, 1, Kind::Covariance, Input::Returns)).unwrap();
        assert!(close(&stack.values, &[4.0, 6.0, 6.0, 12.0]));
        let stack = windows(&returns, &how(3, 1, Kind::Correlation, Input::Returns)).unwrap();
        let r = 0.75_f64.sqrt();
        assert!(close(&stack.values, &[1.0, r, r, 1.0]));
        let prices = whole("Date;a\n1;1\n2;2\n3;6\n4;6\n");
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
            let stack = windows(&whole(&text), &how).unwrap();
            assert!(close(&stack.values, &[1.0; 4]), "{:?}", stack.values);
        }
    }

    #[test]
    fn no_table_makes_it_panic() {
        for text in garbage() {
            if let Ok(table) = table(&text, Missing::DropRow) {
                for input in [Input::Prices, Input::LogPrices, Input::Returns] {
                    let _ = windows(&table, &how(2, 1, Kind::Correlation, input));
                }
            }
            if let Ok(table) = table(&text, Missing::Keep) {
                for input in [Input::Prices, Input::LogPrices, Input::Returns] {
                    let _ = windows(&table, &how(2, 1, Kind::Correlation, input));
                    let _ = windows(&table, &common(2, how(2, 1, Kind::Correlation, input)));
                    let _ = windows(&table, &common(2, how(3, 1, Kind::Covariance, input)));
                }
            }
        }
    }

    #[test]
    fn errors_say_which_window_and_what_to_do() {
        let windowed = |text: &str, window, kind, input| {
            let error = windows(&whole(text), &how(window, 1, kind, input));
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
    }
}
