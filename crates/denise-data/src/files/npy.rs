//! NumPy's `.npy` files: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

mod header;

use super::{FileError, Gaps, Stack, replace};
use header::Header;
use std::path::Path;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an array of shape (n, n) or (count, n, n), in `float32` or `float64`, of any byte order and
/// layout.
pub(super) fn parse(path: &Path, bytes: &[u8], gaps: Gaps) -> Result<Stack, FileError> {
    stack(bytes, gaps).map_err(|message| FileError::new(path, message))
}

/// Writes an array as `float64` in C order, format 1.0.
pub fn write(path: &Path, shape: &[usize], values: &[f64]) -> Result<(), FileError> {
    if product(shape) != Some(values.len()) {
        let message = format!("{} values do not fill the shape {shape:?}", values.len());
        return Err(FileError::new(path, message));
    }
    let mut list: String = shape.iter().map(|size| format!("{size}, ")).collect();
    // Python writes (3,) and (3, 4).
    list.truncate(
        list.len()
            .saturating_sub(if shape.len() > 1 { 2 } else { 1 }),
    );
    let mut header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({list}), }}").into_bytes();
    // Magic, version, length, header and a line feed together fill whole blocks of 64 bytes.
    let used = MAGIC.len() + 4 + header.len() + 1;
    header.resize(header.len() + used.next_multiple_of(64) - used, b' ');
    header.push(b'\n');
    let Ok(length) = u16::try_from(header.len()) else {
        return Err(FileError::new(path, "the shape has too many dimensions"));
    };
    replace(path, |out| {
        out.write_all(MAGIC)?;
        out.write_all(&[1, 0])?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&header)?;
        values
            .iter()
            .try_for_each(|value| out.write_all(&value.to_le_bytes()))
    })
}

fn product(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1_usize, |all, &size| all.checked_mul(size))
}

fn stack(bytes: &[u8], gaps: Gaps) -> Result<Stack, String> {
    let (text, data) = split(bytes)?;
    let header = Header::parse(text)?;
    let (count, n) = match header.shape[..] {
        [rows, columns] if rows == columns => (1, rows),
        [count, rows, columns] if rows == columns => (count, rows),
        _ => {
            return Err(format!(
                "the array has shape {:?}; it must be (n, n), or (count, n, n) for a stack",
                header.shape
            ));
        }
    };
    if count == 0 || n == 0 {
        return Err("the array is empty".into());
    }
    let Some(all) = product(&[count, n, n]) else {
        return Err(format!("the shape {:?} is impossible", header.shape));
    };
    // Before anything is allocated: the header may claim any size, the data cannot.
    if all.checked_mul(header.kind.size()) != Some(data.len()) {
        return Err(format!(
            "shape {:?} needs {} bytes each for {all} values, but {} bytes follow the header; the file \
             is damaged, save it again",
            header.shape,
            header.kind.size(),
            data.len()
        ));
    }
    let stored = header.kind.decode(data);
    let values: Vec<f64> = if header.fortran {
        let entry = |b: usize, i: usize, j: usize| stored[b + count * (i + n * j)];
        (0..all)
            .map(|at| entry(at / (n * n), at / n % n, at % n))
            .collect()
    } else {
        stored
    };
    let bad = |value: &f64| match gaps {
        Gaps::Refuse => !value.is_finite(),
        Gaps::Keep => value.is_infinite(),
    };
    if let Some(at) = values.iter().position(bad) {
        let (matrix, row, column) = (at / (n * n), at / n % n, at % n);
        let rule = match values[at].is_nan() {
            true => "; fill it in, or take such entries as not known (--missing)",
            false => "; every entry must be a finite number",
        };
        let value = values[at];
        return Err(format!(
            "entry [{matrix}, {row}, {column}] is {value}{rule}"
        ));
    }
    Ok(Stack { n, values })
}

/// The header's text, and the data after it.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("this is not a NumPy .npy file".into());
    };
    let cut = || String::from("the file ends within its header; save it again");
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match version {
        [1, 0] => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
            (u32::from(u16::from_le_bytes(*length)), rest)
        }
        // 3.0 differs from 2.0 only in that names of fields may be UTF-8, and there are none here.
        [2 | 3, 0] => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
            (u32::from_le_bytes(*length), rest)
        }
        [major, minor] => {
            return Err(format!(
                "the .npy format {major}.{minor} is unknown; known are 1.0, 2.0 and 3.0"
            ));
        }
    };
    usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length))
        .ok_or_else(cut)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::super::testing::{Scratch, message};
    use super::*;

    fn stack(bytes: &[u8]) -> Result<Stack, String> {
        super::stack(bytes, Gaps::Refuse)
    }

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[version, 0]].concat();
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        [&bytes, header.as_bytes(), data].concat()
    }

    /// Files that NumPy 2.4 wrote: entry [b, i, j] of each is 100 b + 10 i + j.
    #[test]
    fn reads_what_numpy_writes() {
        for name in [
            "f4.npy",
            "f8.npy",
            "big_f4.npy",
            "big_f8_fortran.npy",
            "v2.npy",
            "v3.npy",
        ] {
            let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/npy"));
            let stack = read(&data.join(name)).unwrap();
            assert_eq!((stack.n, stack.count()), (3, 2), "{name}");
            let expected = (0..18).map(|at| (100 * (at / 9) + 10 * (at / 3 % 3) + at % 3) as f64);
            assert_eq!(stack.values, expected.collect::<Vec<_>>(), "{name}");
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let scratch = Scratch::new("npy");
        let path = scratch.path("a.npy");
        let values: Vec<f64> = (0..8).map(|x| f64::from(x) / 3.0).collect();
        write(&path, &[2, 2, 2], &values).unwrap();
        let stack = read(&path).unwrap();
        assert_eq!((stack.n, &stack.values), (2, &values));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len() % 64, 0); // 64 bytes of data after whole blocks
        write(&path, &[], &[1.0]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap().len(), 128 + 8);
        for (shape, list) in [(&[][..], "()"), (&[8], "(8,)"), (&[2, 4], "(2, 4)")] {
            let values = &values[..shape.iter().product()];
            write(&path, shape, values).unwrap();
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(text.contains(&format!("'shape': {list}, }}")), "{text}");
        }
        let error = message(&write(&path, &[3, 3], &values).unwrap_err());
        assert_eq!(error, "a.npy: 8 values do not fill the shape [3, 3]");
        assert!(write(&path, &[usize::MAX, 2], &values).is_err());
    }

    #[test]
    fn refuses_with_a_reason() {
        let array = |descr: &str, shape: &str| {
            let header =
                format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n");
            stack(&file(1, &header, &[0; 32])).unwrap_err()
        };
        assert!(array("'<i8'", "(2, 2)").contains(".astype('float64')"));
        assert!(array("[('a', '<f8')]", "(2, 2)").contains("named fields"));
        assert!(array("'<f8'", "(4,)").contains("shape [4]"));
        assert!(array("'<f8'", "(1, 4)").contains("must be (n, n)"));
        assert!(array("'<f8'", "(0, 2, 2)").contains("empty"));
        assert!(array("'<f8'", "(-2, 2)").contains("not a list of sizes"));
        assert!(array("'<f8'", "(3, 3)").contains("32 bytes follow"));
        assert!(array("'<f8'", "(4294967295, 4294967295, 4294967295)").contains("impossible"));
        assert!(array("'<f8'", "(1000000000, 1000000000)").contains("32 bytes follow"));
        assert!(array("'<f8'", "(2, 2), 'shape': (2, 2)").contains("given twice"));
        assert!(array("'<f8'", "(2, 2), 'x': 1").contains("unknown"));
        assert!(array("'<f8'", "(2, 2)} x {").contains("after the dictionary"));
        assert!(
            stack(&file(1, "{}", &[]))
                .unwrap_err()
                .contains("missing key")
        );
        assert!(
            stack(&file(9, "{}", &[]))
                .unwrap_err()
                .contains("format 9.0 is unknown")
        );
        assert!(stack(b"PK\x03\x04").unwrap_err().contains("not a NumPy"));
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}";
        let error = stack(&file(1, header, &f64::NAN.to_le_bytes())).unwrap_err();
        assert!(error.contains("entry [0, 0, 0] is NaN; fill it in, or take"));
    }

    #[test]
    fn nan_is_kept_where_gaps_are_allowed_and_infinity_never() {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}";
        let array = |values: [f64; 4]| file(1, header, &values.map(f64::to_le_bytes).concat());
        let read = |bytes: &[u8]| super::stack(bytes, Gaps::Keep);
        let values = read(&array([1.0, f64::NAN, f64::NAN, 2.0])).unwrap().values;
        assert_eq!((values[0], values[3]), (1.0, 2.0));
        assert!(values[1].is_nan() && values[2].is_nan());
        for bad in [f64::INFINITY, f64::NEG_INFINITY] {
            let error = read(&array([1.0, f64::NAN, bad, 2.0])).unwrap_err();
            assert!(error.starts_with("entry [0, 1, 0] is "), "{error}");
            assert!(error.contains("must be a finite number"), "{error}");
        }
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }  \n";
        for version in 1..=3 {
            let whole = file(version, header, &[0; 32]);
            assert!(stack(&whole).is_ok());
            for end in 0..whole.len() {
                assert!(stack(&whole[..end]).is_err());
            }
            assert!(stack(&[&whole[..], b"x"].concat()).is_err());
            for at in 0..whole.len() {
                for byte in 0..=255 {
                    let mut bytes = whole.clone();
                    bytes[at] = byte;
                    let _ = stack(&bytes);
                }
            }
        }
    }
}
