//! The caller's buffers by their names: whether they can be used, and what to say if not.
//!
//! A refusal does not allocate either, so every message is written when the library is compiled.

use denise_rust::{Error, Status};

/// A buffer, as the header calls it.
#[derive(Clone, Copy)]
pub(crate) enum Name {
    Returns,
    M,
    U,
    L,
    S,
    D,
    Sigma,
    Inverse,
    LogDet,
    Reports,
    State,
    X,
    Y,
    K,
}

const NAMES: [&str; 14] = [
    "returns", "m", "u", "l", "s", "d", "sigma", "inverse", "log_det", "reports", "state", "x",
    "y", "k",
];

/// A buffer that a caller gave, or did not give.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    name: Name,
    start: usize,
    bytes: Option<usize>,
    align: usize,
    /// Whether it must be there.
    needed: bool,
}

impl Buffer {
    /// `count` times `each` values at `start`, which may be null.
    pub(crate) fn new<T>(name: Name, start: *const T, count: usize, each: usize) -> Buffer {
        let values = count.checked_mul(each);
        Buffer {
            name,
            start: start as usize,
            bytes: values.and_then(|values| values.checked_mul(size_of::<T>())),
            align: align_of::<T>(),
            needed: false,
        }
    }

    /// So many bytes, of what needs this alignment.
    pub(crate) fn bytes(name: Name, start: usize, bytes: usize, align: usize) -> Buffer {
        Buffer {
            name,
            start,
            bytes: Some(bytes),
            align,
            needed: false,
        }
    }

    /// One that must not be null.
    pub(crate) fn needed(self) -> Buffer {
        Buffer {
            needed: true,
            ..self
        }
    }
}

/// That the buffers that are needed are there, all are aligned and fit into memory, and none overlaps another.
pub(crate) fn check(buffers: &[Buffer]) -> Result<(), Error> {
    let refuse = |status, message: &'static str| Err(Error::new(status, message));
    let given = || buffers.iter().filter(|buffer| buffer.start != 0);
    for buffer in buffers {
        if buffer.start == 0 && buffer.needed {
            return refuse(Status::NullPointer, NULL[buffer.name as usize].read());
        }
        if !buffer.start.is_multiple_of(buffer.align) {
            return refuse(Status::Argument, CROOKED[buffer.name as usize].read());
        }
        let bytes = buffer.bytes.filter(|&bytes| bytes <= isize::MAX as usize);
        if bytes.is_none_or(|bytes| buffer.start.checked_add(bytes).is_none()) && buffer.start != 0
        {
            return refuse(Status::Shape, "a buffer reaches past the address space");
        }
    }
    let end = |buffer: &Buffer| buffer.start + buffer.bytes.unwrap_or_default();
    for (i, buffer) in given().enumerate() {
        for other in given().skip(i + 1) {
            if end(buffer) > other.start && end(other) > buffer.start {
                let text = &OVERLAP[buffer.name as usize][other.name as usize];
                return refuse(Status::Argument, text.read());
            }
        }
    }
    Ok(())
}

/// The values of a buffer that passed [`check`]; `None` if it is null.
///
/// # Safety
/// `start` is null, or there are so many values that nobody else uses while the result lives.
pub(crate) unsafe fn values<'a, T>(start: *mut T, len: usize) -> Option<&'a mut [T]> {
    // SAFETY: as the caller promises.
    (!start.is_null()).then(|| unsafe { core::slice::from_raw_parts_mut(start, len) })
}

/// A message.
#[derive(Clone, Copy)]
struct Text {
    bytes: [u8; 40],
    len: usize,
}

impl Text {
    const fn new(parts: &[&str]) -> Text {
        let mut text = Text {
            bytes: [0; 40],
            len: 0,
        };
        let mut part = 0;
        while part < parts.len() {
            let from = parts[part].as_bytes();
            let mut i = 0;
            while i < from.len() {
                text.bytes[text.len] = from[i];
                text.len += 1;
                i += 1;
            }
            part += 1;
        }
        text
    }

    fn read(&'static self) -> &'static str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

/// A message for every name.
const fn each(end: &str) -> [Text; NAMES.len()] {
    let mut all = [Text::new(&[]); NAMES.len()];
    let mut i = 0;
    while i < NAMES.len() {
        all[i] = Text::new(&[NAMES[i], end]);
        i += 1;
    }
    all
}

static NULL: [Text; NAMES.len()] = each(" is NULL");
static CROOKED: [Text; NAMES.len()] = each(" is not aligned to its type");
static OVERLAP: [[Text; NAMES.len()]; NAMES.len()] = {
    let mut all = [[Text::new(&[]); NAMES.len()]; NAMES.len()];
    let mut i = 0;
    while i < NAMES.len() {
        let mut j = 0;
        while j < NAMES.len() {
            all[i][j] = Text::new(&[NAMES[i], " and ", NAMES[j], " overlap"]);
            j += 1;
        }
        i += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use super::*;

    static SOME: f64 = 0.0;

    #[test]
    fn buffers_that_cannot_be_used_are_named() {
        let at = |name, start| Buffer::bytes(name, start, 8, 4);
        let message = |buffers: &[_]| check(buffers).unwrap_err().message;
        assert_eq!(message(&[at(Name::M, 0).needed()]), "m is NULL");
        assert_eq!(message(&[at(Name::LogDet, 0).needed()]), "log_det is NULL");
        let crooked = [at(Name::M, 8), at(Name::U, 14)];
        assert_eq!(message(&crooked), "u is not aligned to its type");
        let over = [at(Name::M, 8), at(Name::U, 0), at(Name::L, 12)];
        assert_eq!(message(&over), "m and l overlap");
        let long = [at(Name::Returns, 8), at(Name::Reports, 8)];
        assert_eq!(message(&long), "returns and reports overlap");
        let far = [at(Name::M, usize::MAX - 3)];
        assert!(message(&far).contains("past the address space"));
        let many = [Buffer::new(Name::X, &raw const SOME, usize::MAX, 2)];
        assert!(message(&many).contains("past the address space"));
        assert!(check(&[at(Name::M, 8), at(Name::L, 16)]).is_ok());
    }

    #[test]
    fn every_name_is_its_own() {
        assert_eq!(NAMES[Name::K as usize], "k");
        assert_eq!(NAMES[Name::LogDet as usize], "log_det");
        assert_eq!(NAMES[Name::State as usize], "state");
        assert_eq!(Name::K as usize + 1, NAMES.len());
    }
}
