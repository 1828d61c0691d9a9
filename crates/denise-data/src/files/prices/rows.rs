//! A table of prices or returns that comes line by line, and may still grow.

use super::super::csv::{self, Separator};
use super::super::missing::{Gaps, is_missing};
use super::super::{FileError, Format};
use super::Input;
use super::table::is_date;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The lines of a `.csv` or `.csv.gz` file, as they come.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, FileError> {
    let file = File::open(path).map_err(|error| FileError::io(path, "open", &error))?;
    match Format::of(path) {
        Some(Format::Csv) => Ok(Box::new(BufReader::new(file))),
        Some(Format::CsvGz) => Ok(Box::new(BufReader::new(MultiGzDecoder::new(file)))),
        _ => {
            let message = "a table of prices or returns must be a .csv or .csv.gz file";
            Err(FileError::new(path, message))
        }
    }
}

/// Turns the lines of a table into returns, one line at a time. A number that is missing is NaN, and so are the returns
/// into it and out of it.
pub struct Rows {
    path: PathBuf,
    input: Input,
    separator: Option<Separator>,
    headings: Vec<String>,
    /// Whether the first column holds dates, as soon as that is known.
    dated: Option<bool>,
    /// The prices of the line before.
    before: Vec<f64>,
    line: usize,
}

/// The returns of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What stands in the first column, if that holds dates.
    pub label: Option<String>,
    /// One return for each column of numbers; NaN is not known.
    pub returns: Vec<f64>,
}

impl Rows {
    /// Of the table in `path`, of which the first line names the columns.
    pub fn new(path: &Path, input: Input) -> Rows {
        Rows {
            path: path.to_owned(),
            input,
            separator: None,
            headings: Vec::new(),
            dated: None,
            before: Vec::new(),
            line: 0,
        }
    }

    /// The names of the columns of numbers; none before the first line of numbers.
    pub fn names(&self) -> &[String] {
        match self.dated {
            Some(dated) => &self.headings[usize::from(dated)..],
            None => &[],
        }
    }

    /// Takes the next line in. `None` for headings, blank lines and comments, and for the first line of prices.
    pub fn push(&mut self, text: &str) -> Result<Option<Row>, FileError> {
        self.line += 1;
        let text = if self.line == 1 {
            text.strip_prefix('\u{feff}').unwrap_or(text)
        } else {
            text
        };
        let Some((_, text)) = csv::lines(text).next() else {
            return Ok(None);
        };
        let Some(separator) = self.separator else {
            if text.trim().is_empty() {
                return Ok(None);
            }
            return self.headings(text).map(|()| None);
        };
        if separator.is_blank(text, Gaps::Keep) {
            return Ok(None);
        }
        let cells = separator.cells(text);
        if cells.len() != self.headings.len() {
            let message = format!(
                "the line has {} cells, but the first line has {}",
                cells.len(),
                self.headings.len()
            );
            let place = cells.len().min(self.headings.len()) + 1;
            return Err(FileError::new(&self.path, message).at_cell(self.line, place));
        }
        let dated = self
            .dated
            .unwrap_or_else(|| !is_missing(&cells[0]) && csv::number(&cells[0]).is_none());
        self.dated = Some(dated);
        let mut values = Vec::new();
        for (at, cell) in cells.iter().enumerate().skip(usize::from(dated)) {
            values.push(self.number(at, cell)?);
        }
        if values.is_empty() {
            let message = "the table has no column of numbers";
            return Err(FileError::new(&self.path, message).at_line(self.line));
        }
        let label = dated.then(|| cells[0].to_string());
        let returns = match self.input {
            Input::Returns => values,
            Input::Prices | Input::LogPrices => {
                let before = std::mem::replace(&mut self.before, values);
                if before.is_empty() {
                    return Ok(None);
                }
                let pairs = before.iter().zip(&self.before);
                pairs.map(|(&p, &q)| self.input.between(p, q)).collect()
            }
        };
        Ok(Some(Row { label, returns }))
    }

    fn headings(&mut self, text: &str) -> Result<(), FileError> {
        let separator = Separator::of(text);
        let headings = separator.cells(text);
        if csv::labels_rows(&headings) || is_date(&headings[0]) {
            self.dated = Some(true);
        }
        let mut numbers = headings.iter().skip(usize::from(self.dated == Some(true)));
        if numbers.all(|name| csv::number(name).is_some()) {
            let message =
                "the first line must name the columns, and there must be numbers in some of them";
            return Err(FileError::new(&self.path, message).at_line(self.line));
        }
        self.headings = headings.iter().map(|name| name.to_string()).collect();
        self.separator = Some(separator);
        Ok(())
    }

    fn number(&self, at: usize, cell: &str) -> Result<f64, FileError> {
        let wrong = |message| Err(FileError::new(&self.path, message).at_cell(self.line, at + 1));
        match csv::number(cell) {
            None if is_missing(cell) => Ok(f64::NAN),
            None => wrong(csv::not_a_number(cell)),
            Some(price) if self.input != Input::Returns && price <= 0.0 => wrong(format!(
                "the price {price} of {:?} is not positive; correct it, or say that the table holds returns",
                self.headings[at]
            )),
            Some(value) => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Missing, parse, returns};
    use super::*;

    fn all(text: &str, input: Input) -> Result<Vec<Row>, FileError> {
        let mut rows = Rows::new(Path::new("p.csv"), input);
        let found = text.lines().map(|line| rows.push(line));
        found.filter_map(Result::transpose).collect()
    }

    #[test]
    fn lines_give_the_returns_of_the_whole_table() {
        let text = "date,A,B\n# a note\n2020-01-01,100,50\n2020-01-02,110,\n\n2020-01-03,99,60\n2020-01-04,100,66\n";
        for input in [Input::Prices, Input::LogPrices, Input::Returns] {
            let table = parse(Path::new("p.csv"), text.into(), Missing::Keep).unwrap();
            let whole = returns(&table, input).unwrap();
            let rows = all(text, input).unwrap();
            let lines: Vec<f64> = rows.iter().flat_map(|row| row.returns.clone()).collect();
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&lines), bits(&whole));
            assert_eq!(rows.last().unwrap().label.as_deref(), Some("2020-01-04"));
        }
    }

    #[test]
    fn a_first_column_of_numbers_is_a_column_of_numbers() {
        let rows = all("A B\n1 2\n2 2\n", Input::Prices).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(
            (rows[0].label.clone(), &rows[0].returns[..]),
            (None, &[1.0, 0.0][..])
        );
    }

    #[test]
    fn bad_lines_are_refused_with_their_place() {
        for (text, part) in [
            ("a,b\n1,2,3\n", "3 cells"),
            ("a,b\n1,x\n", ":2:2"),
            ("a,b\n1,-2\n", "not positive"),
            ("1,2\n3,4\n", "name the columns"),
            ("date\n2020-01-01\n", "name the columns"),
        ] {
            let error = all(text, Input::Prices).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
