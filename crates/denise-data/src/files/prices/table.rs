//! A table of numbers under headings, with dates or without.

use super::super::csv::{self, Separator};
use super::super::missing::{self, is_missing};
use super::super::{FileError, Format, contents};
use std::path::{Path, PathBuf};

/// A table of numbers under headings, a row per day.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The headings of the columns of numbers.
    pub names: Vec<String>,
    /// The numbers, row by row. All are finite, but for NaN where [`Missing::Keep`] allows it: these are not known.
    pub values: Vec<f64>,
    pub(super) path: PathBuf,
    /// The line of each row in the file, from 1.
    pub(super) lines: Vec<usize>,
    /// Cells before the first number: 1 if there are dates.
    pub(super) labels: usize,
}

/// What to do with a row that lacks a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Report it as an error.
    Refuse,
    /// Leave out the row. A return then spans the gap.
    DropRow,
    /// Take the number as NaN: not known. Returns into it and out of it are not known either.
    Keep,
}

impl Table {
    /// An error about one number.
    pub(super) fn at_cell(&self, row: usize, column: usize, message: String) -> FileError {
        FileError::new(&self.path, message).at_cell(self.lines[row], self.labels + column + 1)
    }
}

/// Reads a `.csv` or `.csv.gz` table whose first line names the columns.
///
/// The first column is passed over if it holds dates or other text, or if its heading is empty or says
/// that it holds dates.
pub fn read(path: &Path, missing: Missing) -> Result<Table, FileError> {
    match Format::of(path) {
        Some(Format::Csv | Format::CsvGz) => parse(path, contents(path)?, missing),
        _ => Err(FileError::new(
            path,
            "a table of prices or returns must be a .csv or .csv.gz file",
        )),
    }
}

/// The same from what the file holds.
pub fn parse(path: &Path, bytes: Vec<u8>, missing: Missing) -> Result<Table, FileError> {
    table(path, &csv::text(path, bytes)?, missing)
}

fn table(path: &Path, text: &str, missing: Missing) -> Result<Table, FileError> {
    let mut lines = csv::lines(text);
    let Some((first_line, first)) = lines.find(|(_, line)| !line.trim().is_empty()) else {
        return Err(FileError::new(path, "the file is empty"));
    };
    let separator = Separator::of(first);
    let headings = separator.cells(first);
    let gaps = match missing {
        Missing::Keep => missing::Gaps::Keep,
        Missing::Refuse | Missing::DropRow => missing::Gaps::Refuse,
    };
    let rows: Vec<(usize, &str)> = lines
        .filter(|(_, line)| !separator.is_blank(line, gaps))
        .collect();
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
                None => match missing {
                    Missing::Refuse => {
                        let message = format!(
                            "the number for {:?} is missing; fill it in, take it as not known (--missing), or drop \
                             such rows (--drop-missing)",
                            headings[at]
                        );
                        return Err(FileError::new(path, message).at_cell(line, at + 1));
                    }
                    Missing::DropRow => whole = false,
                    Missing::Keep => table.values.push(f64::NAN),
                },
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

pub(super) fn is_date(heading: &str) -> bool {
    ["date", "time", "datetime", "timestamp"]
        .iter()
        .any(|word| heading.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<Table, FileError> {
        super::table(Path::new("p.csv"), text, Missing::Refuse)
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
    fn missing_cells_are_kept_as_nan_and_so_are_their_rows() {
        let text = "a\tb\n1\t2\n\t\n\n#N/A\tnull\n5\t6\n";
        let table = |missing| super::table(Path::new("p.csv"), text, missing).unwrap();
        let kept = table(Missing::Keep);
        assert_eq!(kept.lines, [2, 3, 5, 6]);
        let known: Vec<f64> = kept
            .values
            .iter()
            .copied()
            .filter(|x| !x.is_nan())
            .collect();
        assert_eq!((kept.values.len(), known), (8, vec![1.0, 2.0, 5.0, 6.0]));
        assert!(kept.values[2..6].iter().all(|x| x.is_nan()));
        assert_eq!(table(Missing::DropRow).values, [1.0, 2.0, 5.0, 6.0]);
        for word in ["inf", "x", "1e999"] {
            let text = format!("d,a\nx,1\ny,{word}\n");
            let error = super::table(Path::new("p.csv"), &text, Missing::Keep).unwrap_err();
            assert!(error.to_string().starts_with("p.csv:3:2: "), "{error}");
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
        assert!(super::read(Path::new("p.npy"), Missing::Refuse).is_err());
    }
}
