//! The windows of days of a table, and a matrix of each.

use super::super::{FileError, Stack};
use super::Table;
use super::correlation::{correlation, covariance};

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
}

/// What to compute from a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Correlations: a diagonal of ones.
    Correlation,
    /// Sample covariances, with the divisor window − 1.
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
