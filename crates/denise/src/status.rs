//! What can go wrong.

use core::fmt;
use std::borrow::Cow;
use std::collections::TryReserveError;

/// Codes of the C ABI. They are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// All went well.
    Ok = 0,
    /// A pointer that must not be null is null.
    NullPointer = 1,
    /// An argument is out of range.
    Argument = 2,
    /// A file cannot be read.
    Io = 3,
    /// A model file is damaged, or is no model file.
    Format = 4,
    /// A model, a size or an instruction set that this build does not have.
    Unsupported = 5,
    /// Sizes that do not fit each other, or do not fit in memory.
    Shape = 6,
    /// At least one matrix has a NaN or an infinity.
    NotFinite = 7,
    /// Out of memory.
    Memory = 8,
    /// A bug in the library.
    Internal = 9,
    /// A stream has not seen enough ticks yet. Only reports say so.
    NotReady = 10,
    /// Some matrix has no positive variance, or a d that is not positive: it has no covariance that can be inverted.
    Singular = 11,
}

impl Status {
    /// All codes, in order.
    pub const ALL: [Status; 12] = [
        Status::Ok,
        Status::NullPointer,
        Status::Argument,
        Status::Io,
        Status::Format,
        Status::Unsupported,
        Status::Shape,
        Status::NotFinite,
        Status::Memory,
        Status::Internal,
        Status::NotReady,
        Status::Singular,
    ];

    /// One phrase that says what the code means.
    pub const fn text(self) -> &'static core::ffi::CStr {
        match self {
            Status::Ok => c"ok",
            Status::NullPointer => c"a required pointer is null",
            Status::Argument => c"an argument is out of range",
            Status::Io => c"the file cannot be read",
            Status::Format => c"the data is not a valid model",
            Status::Unsupported => c"not supported by this build or machine",
            Status::Shape => c"sizes do not fit each other or overflow",
            Status::NotFinite => c"a matrix contains NaN or infinity",
            Status::Memory => c"out of memory",
            Status::Internal => c"internal error, please report it",
            Status::NotReady => c"the stream has not seen enough ticks yet",
            Status::Singular => c"a matrix has no positive variance, and cannot be inverted",
        }
    }
}

/// A status, and a sentence about this case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of error.
    pub status: Status,
    /// What happened and, where it helps, what to do.
    pub message: Cow<'static, str>,
}

impl Error {
    /// With a sentence that is there already.
    pub fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Error {
        Error {
            status,
            message: message.into(),
        }
    }

    /// With a sentence put together by `format_args!`. Where there is no memory for it, one that needs none.
    pub fn format(status: Status, message: fmt::Arguments<'_>) -> Error {
        Error::new(status, text(message))
    }
}

/// `format!`, for the reason of an error.
pub(crate) fn text(arguments: fmt::Arguments<'_>) -> Cow<'static, str> {
    let mut all = Fallible(String::new());
    match fmt::write(&mut all, arguments) {
        Ok(()) => Cow::Owned(all.0),
        Err(_) => Cow::Borrowed("there is no memory left to say why"),
    }
}

/// A string that cannot grow without memory, where the standard library's ends the process.
struct Fallible(String);

impl fmt::Write for Fallible {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(text);
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Status> for Error {
    fn from(status: Status) -> Error {
        Error::new(status, status.text().to_str().unwrap_or_default())
    }
}

impl From<TryReserveError> for Error {
    fn from(_: TryReserveError) -> Error {
        Error::new(Status::Memory, "out of memory")
    }
}
