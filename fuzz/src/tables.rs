//! Files of numbers.

use crate::bytes::Bytes;
use crate::memory::peak;
use denise_data::files::prices::{self, Days, Input, Kind, Missing, Table, Windows};
use denise_data::files::{self, Stack};
use std::path::Path;

/// Memory that any file may take, and that it may take for each of its bytes as text: a cell of one digit and its comma
/// becomes a number and, while its line is read, a string.
const FLOOR: usize = 1 << 20;
const SHARE: usize = 256;
/// The most that one byte of a compressed file can unfold to.
const UNPACKED: usize = 1032;

/// Reads the bytes as the kind of file that the first of them says, and makes matrices of the windows of a price table.
///
/// Panics if what is read is not a stack of square matrices of finite numbers and, where gaps are allowed, NaN; if a
/// message does not begin with the name of the file; or if the memory taken is out of proportion.
pub fn tables(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let kind = bytes.byte();
    match kind % 5 {
        0 => matrices("m.npy", bytes.rest(), 1),
        1 => matrices("m.csv", bytes.rest(), 1),
        2 => matrices("m.csv.gz", bytes.rest(), UNPACKED),
        3 => windows("p.csv", &mut bytes),
        _ => windows("p.csv.gz", &mut bytes),
    }
}

fn matrices(name: &str, file: &[u8], unpacked: usize) {
    let most = FLOOR + SHARE * file.len() * unpacked;
    let (result, peak) = peak(|| files::parse(Path::new(name), file.to_vec()));
    assert!(peak <= most, "{peak} bytes of memory for {}", file.len());
    match &result {
        Ok(stack) => {
            is_sound(stack);
            assert!(stack.values.iter().all(|x| x.is_finite()));
        }
        Err(error) => names_the_file(name, error),
    }
    with_gaps(name, file, result.ok());
}

/// The same file, of which entries may be missing. If none was, the matrices are the same, unless the reader refuses to
/// guess whether an empty cell is an entry.
fn with_gaps(name: &str, file: &[u8], whole: Option<Stack>) {
    match files::parse_with_gaps(Path::new(name), file.to_vec()) {
        Ok(stack) => {
            is_sound(&stack);
            assert!(!stack.values.iter().any(|x| x.is_infinite()));
            assert_eq!(stack.missing().count(), stack.count());
            // What was a line of headings may be a row of entries that are missing.
            if stack.missing().all(|count| count == 0)
                && let Some(whole) = whole
            {
                assert_eq!(bits(&stack), bits(&whole));
            }
        }
        Err(error) => names_the_file(name, &error),
    }
}

fn bits(stack: &Stack) -> Vec<u64> {
    stack.values.iter().map(|x| x.to_bits()).collect()
}

fn windows(name: &str, bytes: &mut Bytes<'_>) {
    let choice = bytes.byte();
    let window = bytes.below(20);
    let missing = match choice >> 3 & 3 {
        0 | 2 => Missing::Refuse,
        1 => Missing::DropRow,
        _ => Missing::Keep,
    };
    let how = Windows {
        window,
        step: bytes.below(5),
        kind: [Kind::Correlation, Kind::Covariance][usize::from(choice & 1)],
        input: [
            Input::Prices,
            Input::LogPrices,
            Input::Returns,
            Input::Returns,
        ][usize::from(choice >> 1 & 3)],
        days: match choice >> 5 {
            0 => Days::All,
            1 => Days::common(window),
            least => Days::Common {
                least: usize::from(least),
            },
        },
    };
    let table = match prices::parse(Path::new(name), bytes.rest().to_vec(), missing) {
        Ok(table) => table,
        Err(error) => return names_the_file(name, &error),
    };
    let n = table.names.len();
    assert!(n > 0 && table.values.len().is_multiple_of(n));
    let fits = |x: &f64| x.is_finite() || x.is_nan() && missing == Missing::Keep;
    assert!(table.values.iter().all(fits));
    // Wide tables make large matrices, which take long and show nothing new.
    if n > 100 {
        return;
    }
    match prices::windows_and_gaps(&table, &how) {
        Ok((stack, gaps)) => {
            is_sound(&stack);
            are_covariances(&stack, &table, &how);
            let pairs = stack.iter().map(|matrix| missing_pairs(matrix, n));
            assert_eq!(pairs.clone().sum::<usize>(), gaps.short + gaps.still);
            assert_eq!(pairs.filter(|&count| count > 0).count(), gaps.windows);
        }
        Err(error) => names_the_file(name, &error),
    }
}

/// Symmetric, with a diagonal that fits, and NaN where days are chosen by pair only.
fn are_covariances(stack: &Stack, table: &Table, how: &Windows) {
    let n = stack.n;
    assert_eq!(n, table.names.len());
    if how.days == Days::All {
        assert!(stack.values.iter().all(|x| x.is_finite()));
    }
    assert!(!stack.values.iter().any(|x| x.is_infinite()));
    for matrix in stack.iter() {
        for i in 0..n {
            for j in 0..i {
                assert_eq!(matrix[i * n + j].to_bits(), matrix[j * n + i].to_bits());
                // A pair has no more days than either of its columns.
                if matrix[i * n + i].is_nan() || matrix[j * n + j].is_nan() {
                    assert!(matrix[i * n + j].is_nan());
                }
            }
        }
        let mut known = matrix.iter().filter(|x| !x.is_nan());
        let mut diagonal = matrix.iter().step_by(n + 1).filter(|x| !x.is_nan());
        if how.kind == Kind::Correlation {
            assert!(known.all(|x| x.abs() <= 1.0));
            assert!(diagonal.all(|&x| x == 1.0));
        } else {
            assert!(diagonal.all(|&x| x >= 0.0));
        }
    }
}

fn missing_pairs(matrix: &[f64], n: usize) -> usize {
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| i * n + j));
    pairs.filter(|&at| matrix[at].is_nan()).count()
}

fn is_sound(stack: &Stack) {
    assert!(stack.n > 0 && stack.count() > 0);
    assert_eq!(stack.values.len(), stack.count() * stack.n * stack.n);
}

fn names_the_file(name: &str, error: &files::FileError) {
    let text = error.to_string();
    assert!(text.starts_with(name), "{text}");
    assert!(text.len() > name.len() + 4, "{text}");
}
