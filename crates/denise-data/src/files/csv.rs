//! Numbers in lines and cells.

use super::{FileError, Format, Stack};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// The most text that a compressed file may unfold to: a small file must not fill the memory.
const MOST_TEXT: u64 = 1 << 30;

/// Reads a square matrix, or several separated by blank lines.
///
/// Cells are separated by commas, semicolons, tabs or spaces: whichever the first line uses. Lines that
/// begin with `#` are comments. A matrix may have a line of headings, and if the first heading is empty,
/// as tables of labelled rows have it, the first cell of each line is a label.
pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Result<Stack, FileError> {
    stack(path, &text(path, bytes)?)
}

/// The contents of a text file, unpacked if its name ends in `.gz`.
pub(super) fn text(path: &Path, mut bytes: Vec<u8>) -> Result<String, FileError> {
    if Format::of(path) == Some(Format::CsvGz) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(&bytes[..])
            .take(MOST_TEXT + 1)
            .read_to_end(&mut plain)
            .map_err(|error| FileError::io(path, "unpack", &error))?;
        if plain.len() as u64 > MOST_TEXT {
            let message = format!("unpacks to more than {MOST_TEXT} bytes; split it");
            return Err(FileError::new(path, message));
        }
        bytes = plain;
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
        FileError::new(path, "this is not UTF-8 text; save it as CSV in UTF-8").at_line(line)
    })?;
    // Spreadsheets begin their files with a byte order mark.
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Ok(rest.to_owned()),
        None => Ok(text),
    }
}

/// Lines with their numbers from 1, without comments.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..)
        .zip(text.lines())
        .map(|(number, line)| (number, line.trim_matches([' ', '\r'])))
        .filter(|(_, line)| !line.starts_with('#'))
}

/// What stands between cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Separator {
    Char(char),
    Spaces,
}

impl Separator {
    /// The strongest that the line has outside quotes. A comma is weaker than a semicolon, since numbers
    /// may have decimal commas; they are then refused and not taken for two cells.
    pub(super) fn of(line: &str) -> Separator {
        let has = |wanted| {
            let mut quoted = false;
            line.chars().any(|c| {
                quoted ^= c == '"';
                c == wanted && !quoted
            })
        };
        match [';', '\t', ','].into_iter().find(|&c| has(c)) {
            Some(c) => Separator::Char(c),
            None => Separator::Spaces,
        }
    }

    /// The cells of a line, trimmed and without quotes; at least one, if the line is not blank.
    pub(super) fn cells(self, line: &str) -> Vec<Cow<'_, str>> {
        let mut quoted = false;
        let split = |c: char| {
            quoted ^= c == '"';
            !quoted
                && match self {
                    Separator::Char(separator) => c == separator,
                    Separator::Spaces => c.is_whitespace(),
                }
        };
        line.split(split)
            .map(str::trim)
            // A run of spaces separates once.
            .filter(|cell| self != Separator::Spaces || !cell.is_empty())
            .map(unquoted)
            .collect()
    }
}

fn unquoted(cell: &str) -> Cow<'_, str> {
    match cell
        .strip_prefix('"')
        .and_then(|cell| cell.strip_suffix('"'))
    {
        Some(inner) if inner.contains("\"\"") => inner.replace("\"\"", "\"").into(),
        Some(inner) => inner.into(),
        None => cell.into(),
    }
}

/// The number in a cell. Words such as "inf" and "nan", which Rust would read, are not numbers here.
pub(super) fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Why a cell is not a number.
pub(super) fn not_a_number(cell: &str) -> String {
    if cell.is_empty() {
        return "the cell is empty; every cell must hold a number".into();
    }
    let short: String = cell.chars().take(40).collect();
    match cell.parse::<f64>() {
        Ok(_) => format!("{short:?} is not a finite number"),
        Err(_) => format!("{short:?} is not a number"),
    }
}

/// Whether the first cell of each line under these headings is a label.
pub(super) fn labels_rows(headings: &[Cow<'_, str>]) -> bool {
    headings.len() > 1
        && headings[0].is_empty()
        && headings[1..].iter().all(|heading| !heading.is_empty())
}

fn is_heading(cells: &[Cow<'_, str>]) -> bool {
    let word = |cell: &Cow<'_, str>| !cell.is_empty() && number(cell).is_none();
    labels_rows(cells) || cells.iter().all(word)
}

fn stack(path: &Path, text: &str) -> Result<Stack, FileError> {
    let mut stack = Stack {
        n: 0,
        values: Vec::new(),
    };
    let mut separator = None;
    let mut block: Option<Block> = None;
    for (line, content) in lines(text) {
        if content.trim().is_empty() {
            if let Some(block) = block.take() {
                block.close(path, &mut stack)?;
            }
            continue;
        }
        let cells = separator
            .get_or_insert_with(|| Separator::of(content))
            .cells(content);
        match &mut block {
            Some(block) => block.row(path, line, &cells)?,
            None if is_heading(&cells) => {
                block = Some(Block::new(line, labels_rows(&cells)));
            }
            None => {
                let mut first = Block::new(line, false);
                first.row(path, line, &cells)?;
                block = Some(first);
            }
        }
    }
    if let Some(block) = block {
        block.close(path, &mut stack)?;
    }
    if stack.values.is_empty() {
        return Err(FileError::new(path, "the file holds no numbers"));
    }
    Ok(stack)
}

/// A matrix as far as it has been read.
struct Block {
    /// Where it begins.
    line: usize,
    /// Cells at the start of each line to pass over: 1 if rows have labels.
    labels: usize,
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Block {
    fn new(line: usize, labelled: bool) -> Block {
        Block {
            line,
            labels: usize::from(labelled),
            rows: 0,
            columns: 0,
            values: Vec::new(),
        }
    }

    fn row(&mut self, path: &Path, line: usize, cells: &[Cow<'_, str>]) -> Result<(), FileError> {
        for (at, cell) in cells.iter().enumerate().skip(self.labels) {
            let value = number(cell)
                .ok_or_else(|| FileError::new(path, not_a_number(cell)).at_cell(line, at + 1))?;
            self.values.push(value);
        }
        let columns = cells.len().saturating_sub(self.labels);
        if self.rows > 0 && columns != self.columns {
            let message = format!(
                "the line has {columns} numbers, but the first of its matrix has {}",
                self.columns
            );
            return Err(FileError::new(path, message).at_line(line));
        }
        self.columns = columns;
        self.rows += 1;
        Ok(())
    }

    /// Appends the finished matrix to the stack.
    fn close(self, path: &Path, stack: &mut Stack) -> Result<(), FileError> {
        let refuse = |message| Err(FileError::new(path, message).at_line(self.line));
        if self.rows != self.columns {
            return refuse(format!(
                "the matrix that begins here has {} lines of {} numbers; it must be square",
                self.rows, self.columns
            ));
        }
        // Headings and nothing else.
        if self.rows == 0 {
            return refuse("no numbers follow these headings".into());
        }
        if stack.n != 0 && stack.n != self.rows {
            return refuse(format!(
                "the matrix that begins here has {} rows, but the first has {}; all must have the same size",
                self.rows, stack.n
            ));
        }
        stack.n = self.rows;
        stack.values.extend(self.values);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::super::testing::{Scratch, garbage, message};
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn good(text: &str) -> (usize, Vec<f64>) {
        let stack = stack(Path::new("m.csv"), text).unwrap();
        (stack.n, stack.values)
    }

    fn bad(text: &str) -> String {
        stack(Path::new("m.csv"), text).unwrap_err().to_string()
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn any_separator_headings_comments_and_labels() {
        let expected = (2, vec![1.0, -0.5, -0.5, 2e3]);
        for text in [
            "1,-0.5\n-.5,2e3\n",
            "1;-.5\r\n-.5;2e3\r\n",
            "1\t-.5\n-.5\t2e3",
            "# by hand\n  1   -.5 \n -.5   2e3 \n\n\n",
            "a,b\n1,-.5\n# in between\n-.5,2e3",
            ",0,1\n0,1,-.5\n1,-.5,2e3",
            "\"\",\"a, or so\",\"b\"\n\"a\",1,-.5\n\"b\",\"-.5\",2e3",
            "NAN, INF\n1, -.5\n-.5, 2e3",
        ] {
            assert_eq!(good(text), expected, "{text:?}");
        }
        assert_eq!(good("7"), (1, vec![7.0]));
    }

    #[test]
    fn blank_lines_separate_matrices() {
        let (n, values) = good("\n\na b\n1 2\n3 4\n \n# more\n\n5 6\n7 8\n");
        assert_eq!((n, &values[..]), (2, &[1., 2., 3., 4., 5., 6., 7., 8.][..]));
        let stack = Stack { n, values };
        assert_eq!(stack.count(), 2);
        assert_eq!(stack.iter().nth(1).unwrap(), [5.0, 6.0, 7.0, 8.0]);
    }

    #[test]
    fn errors_name_the_cell_or_the_line() {
        assert_eq!(bad("1,2\n#\n3,abc\n"), "m.csv:3:2: \"abc\" is not a number");
        assert_eq!(
            bad("1,2\n3,1e999"),
            "m.csv:2:2: \"1e999\" is not a finite number"
        );
        assert!(bad("1,2\n3,\n").starts_with("m.csv:2:2: the cell is empty"));
        assert!(bad("1;2\n1,5;2\n").starts_with("m.csv:2:1: \"1,5\" is not"));
        assert!(bad("1,2\n3\n").starts_with("m.csv:2: the line has 1 numbers"));
        assert!(bad("1,2\n3,4\n5,6\n").starts_with("m.csv:1: the matrix that begins here has 3"));
        assert!(bad("1,2\n3,4\n\n5\n").starts_with("m.csv:4: the matrix that begins here has 1"));
        assert!(bad("a,b\n").contains("no numbers follow"));
        assert!(bad("a b\n\n1\n").starts_with("m.csv:1: no numbers follow"));
        assert!(bad(",,\n,,\n").starts_with("m.csv:1:1: the cell is empty"));
        assert!(bad("# nothing\n").contains("holds no numbers"));
        assert!(bad(",a\nb\n").contains("1 lines of 0 numbers"));
    }

    #[test]
    fn compressed_files_and_damaged_ones() {
        let scratch = Scratch::new("csv");
        let whole = packed(b"\xef\xbb\xbf1 2\n2 5\n");
        let stack = read(&scratch.file("m.csv.gz", &whole)).unwrap();
        assert_eq!(stack.values, [1.0, 2.0, 2.0, 5.0]);
        for end in 0..whole.len() {
            let error = read(&scratch.file("cut.csv.gz", &whole[..end])).unwrap_err();
            assert!(message(&error).starts_with("cut.csv.gz: "), "{error}");
        }
        assert!(read(&scratch.file("plain.csv.gz", "1 2\n2 5\n")).is_err());
        let error = read(&scratch.file("m.csv", b"1 2\n\xff 5\n")).unwrap_err();
        assert!(message(&error).starts_with("m.csv:2: this is not UTF-8"));
    }

    #[test]
    fn no_text_makes_it_panic() {
        for text in garbage() {
            if let Ok(stack) = stack(Path::new("m.csv"), &text) {
                assert_eq!(stack.values.len(), stack.n * stack.n * stack.count());
            }
        }
    }
}
