//! Numbers in lines and cells.

use super::missing::is_missing;
use super::{FileError, Format, Gaps, Stack};
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
pub(super) fn parse(path: &Path, bytes: Vec<u8>, gaps: Gaps) -> Result<Stack, FileError> {
    stack(path, &text(path, bytes)?, gaps)
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
        .filter(|(_, line)| !is_comment(line))
}

/// A line that begins with #N/A is none: its first number is missing.
fn is_comment(line: &str) -> bool {
    let word = line.get(..4).unwrap_or_default();
    line.starts_with('#') && !word.eq_ignore_ascii_case("#N/A")
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

    /// Whether a line, as [`lines`] has it, is blank. Between tabs, nothing may stand for numbers that are missing.
    pub(super) fn is_blank(self, line: &str, gaps: Gaps) -> bool {
        match self {
            Separator::Char('\t') if gaps == Gaps::Keep => line.is_empty(),
            _ => line.trim().is_empty(),
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
        return "the cell is empty; fill it in, or take such entries as not known (--missing)"
            .into();
    }
    if is_missing(cell) {
        return format!(
            "{cell:?} stands for a number that is missing; fill it in, or take such entries as not known (--missing)"
        );
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

/// What the first line of a matrix is.
enum First {
    /// Names of the columns.
    Headings,
    /// Names of the columns, above rows with names of their own.
    LabelledHeadings,
    /// Numbers.
    Row,
    /// An empty cell and numbers, either of the two above.
    Unclear,
}

impl First {
    fn of(cells: &[Cow<'_, str>], gaps: Gaps) -> First {
        let is_number = |cell: &Cow<'_, str>| number(cell).is_some();
        if labels_rows(cells) {
            return match gaps {
                Gaps::Keep if cells[1..].iter().all(is_number) && !counts_up(&cells[1..]) => {
                    First::Unclear
                }
                _ => First::LabelledHeadings,
            };
        }
        let words = cells
            .iter()
            .all(|cell| !cell.is_empty() && !is_number(cell));
        // NA may be the name of an asset, but hardly of every asset.
        let missing = gaps == Gaps::Keep && cells.iter().all(|cell| is_missing(cell));
        match words && !missing {
            true => First::Headings,
            false => First::Row,
        }
    }
}

/// Whether these are 0, 1, 2 and so on, as columns without names have it. One 0 alone may be anything.
fn counts_up(cells: &[Cow<'_, str>]) -> bool {
    let mut numbered = cells.iter().enumerate();
    cells.len() > 1 && numbered.all(|(at, cell)| number(cell) == Some(at as f64))
}

fn stack(path: &Path, text: &str, gaps: Gaps) -> Result<Stack, FileError> {
    let mut stack = Stack {
        n: 0,
        values: Vec::new(),
    };
    let mut separator = None;
    let mut block: Option<Block> = None;
    for (line, content) in lines(text) {
        let blank = separator
            .unwrap_or_else(|| Separator::of(content))
            .is_blank(content, gaps);
        if blank {
            if let Some(block) = block.take() {
                block.close(path, &mut stack)?;
            }
            continue;
        }
        let cells = separator
            .get_or_insert_with(|| Separator::of(content))
            .cells(content);
        if let Some(block) = &mut block {
            block.row(path, line, &cells)?;
            continue;
        }
        let first = First::of(&cells, gaps);
        let labelled = matches!(first, First::LabelledHeadings);
        let block = block.insert(Block::new(line, labelled, gaps));
        match first {
            First::Headings | First::LabelledHeadings => {}
            First::Row => block.row(path, line, &cells)?,
            First::Unclear => {
                let message = "an empty cell before numbers may be an entry that is missing, or stand above the \
                               names of rows; write NaN if it is an entry, or name the columns with words";
                return Err(FileError::new(path, message).at_cell(line, 1));
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
    /// What to do with entries that are missing.
    gaps: Gaps,
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Block {
    fn new(line: usize, labelled: bool, gaps: Gaps) -> Block {
        Block {
            line,
            gaps,
            labels: usize::from(labelled),
            rows: 0,
            columns: 0,
            values: Vec::new(),
        }
    }

    fn row(&mut self, path: &Path, line: usize, cells: &[Cow<'_, str>]) -> Result<(), FileError> {
        for (at, cell) in cells.iter().enumerate().skip(self.labels) {
            self.values.push(match number(cell) {
                Some(value) => value,
                None if self.gaps == Gaps::Keep && is_missing(cell) => f64::NAN,
                None => {
                    return Err(FileError::new(path, not_a_number(cell)).at_cell(line, at + 1));
                }
            });
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
        let stack = read_as(text, Gaps::Refuse).unwrap();
        (stack.n, stack.values)
    }

    fn bad(text: &str) -> String {
        read_as(text, Gaps::Refuse).unwrap_err().to_string()
    }

    fn read_as(text: &str, gaps: Gaps) -> Result<Stack, FileError> {
        stack(Path::new("m.csv"), text, gaps)
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
    fn every_way_to_say_that_an_entry_is_missing() {
        for cell in ["", "NaN", "nan", "NA", "null", "N/A", "#N/A", "\"\""] {
            let text = format!("1,{cell}\n{cell},2\n");
            let stack = read_as(&text, Gaps::Keep).unwrap();
            assert_eq!(stack.n, 2, "{cell:?}");
            assert_eq!((stack.values[0], stack.values[3]), (1.0, 2.0));
            assert!(stack.values[1].is_nan() && stack.values[2].is_nan());
            // Without leave, an error says what can be done.
            let error = bad(&text);
            assert!(error.starts_with("m.csv:1:2: "), "{error}");
            assert!(
                error.ends_with("take such entries as not known (--missing)"),
                "{error}"
            );
        }
        for cell in ["inf", "-inf", "1e999", "x", "-", "."] {
            let text = format!("1,{cell}\n{cell},2\n");
            let error = read_as(&text, Gaps::Keep).unwrap_err().to_string();
            assert!(error.starts_with("m.csv:1:2: "), "{error}");
        }
    }

    #[test]
    fn lines_of_missing_entries_are_rows_and_not_headings_or_blank() {
        let count = |text: &str| {
            let stack = read_as(text, Gaps::Keep).unwrap();
            assert_eq!(stack.count(), 1, "{text:?}");
            (stack.n, stack.missing().sum::<usize>())
        };
        assert_eq!(count("NaN,NA\nNaN,2\n"), (2, 2));
        assert_eq!(count(",\n,2\n"), (2, 2));
        assert_eq!(count("\t\n\t2\n"), (2, 2));
        assert_eq!(count("1\t\t\n\t\t\n\t\t3\n\n"), (3, 4));
        assert_eq!(count("NaN nan\nnan 2\n"), (2, 2));
        // One of the assets is called NA.
        assert_eq!(count("NA,B\n1,\n,2\n"), (2, 1));
        assert_eq!(count(",NA,B\nNA,1,\nB,,2\n"), (2, 1));
        assert_eq!(count(",0,1\n0,1,\n1,,2\n"), (2, 1));
        // Two matrices, one of which is not known at all.
        let stack = read_as("1 2\n2 5\n\nNA NA\nNA NA\n", Gaps::Keep).unwrap();
        assert_eq!(stack.missing().collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn an_empty_corner_before_numbers_is_not_guessed_at() {
        let text = ",0.5,0.3\n0.5,1,0.2\n0.3,0.2,1\n";
        for text in [text, ",0\n0,1\n"] {
            let error = read_as(text, Gaps::Keep).unwrap_err().to_string();
            assert!(
                error.starts_with("m.csv:1:1: an empty cell before numbers"),
                "{error}"
            );
        }
        let stack = read_as(&format!("NaN{text}"), Gaps::Keep).unwrap();
        assert_eq!((stack.n, stack.missing().sum::<usize>()), (3, 1));
        // Without gaps there is one meaning.
        assert_eq!(good(text), (2, vec![1.0, 0.2, 0.2, 1.0]));
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
            for gaps in [Gaps::Refuse, Gaps::Keep] {
                if let Ok(stack) = read_as(&text, gaps) {
                    assert_eq!(stack.values.len(), stack.n * stack.n * stack.count());
                }
            }
        }
    }
}
