//! Files of numbers.

use crate::bytes::Bytes;
use crate::memory::peak;
use denise_data::files::prices::{self, Input, Kind, Missing, Windows};
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
/// Panics if what is read is not a stack of square matrices of finite numbers, if a message does not begin with
/// the name of the file, or if the memory taken is out of proportion.
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
    match result {
        Ok(stack) => is_sound(&stack),
        Err(error) => names_the_file(name, &error),
    }
}

fn windows(name: &str, bytes: &mut Bytes<'_>) {
    let choice = bytes.byte();
    let how = Windows {
        window: bytes.below(20),
        step: bytes.below(5),
        kind: [Kind::Correlation, Kind::Covariance][usize::from(choice & 1)],
        input: [
            Input::Prices,
            Input::LogPrices,
            Input::Returns,
            Input::Returns,
        ][usize::from(choice >> 1 & 3)],
    };
    let missing = [Missing::Refuse, Missing::DropRow][usize::from(choice >> 3 & 1)];
    let table = match prices::parse(Path::new(name), bytes.rest().to_vec(), missing) {
        Ok(table) => table,
        Err(error) => return names_the_file(name, &error),
    };
    let n = table.names.len();
    assert!(n > 0 && table.values.len().is_multiple_of(n));
    assert!(table.values.iter().all(|x| x.is_finite()));
    // Wide tables make large matrices, which take long and show nothing new.
    if n > 100 {
        return;
    }
    match prices::windows(&table, &how) {
        Ok(stack) => {
            assert_eq!(stack.n, n);
            is_sound(&stack);
            for matrix in stack.iter() {
                for i in 0..n {
                    for j in 0..i {
                        assert_eq!(matrix[i * n + j].to_bits(), matrix[j * n + i].to_bits());
                    }
                }
                if how.kind == Kind::Correlation {
                    assert!(matrix.iter().all(|x| x.abs() <= 1.0));
                    assert!(matrix.iter().step_by(n + 1).all(|&x| x == 1.0));
                } else {
                    assert!(matrix.iter().step_by(n + 1).all(|&x| x >= 0.0));
                }
            }
        }
        Err(error) => names_the_file(name, &error),
    }
}

fn is_sound(stack: &Stack) {
    assert!(stack.n > 0 && stack.count() > 0);
    assert_eq!(stack.values.len(), stack.count() * stack.n * stack.n);
    assert!(stack.values.iter().all(|x| x.is_finite()));
}

fn names_the_file(name: &str, error: &files::FileError) {
    let text = error.to_string();
    assert!(text.starts_with(name), "{text}");
    assert!(text.len() > name.len() + 4, "{text}");
}
