//! What functions return, and what that means.

use crate::last_error;
use core::ffi::c_char;
use denise_rust::Status;

/// What a function returns: DENISE_OK, which is 0, or one of the DENISE_ERR_ codes. Codes are never reused.
/// A newer library may have more of them.
pub type denise_status = i32;

/// Success: every requested output was written.
pub const DENISE_OK: denise_status = 0;
/// A required pointer is NULL. No output was written.
pub const DENISE_ERR_NULL_POINTER: denise_status = 1;
/// An argument is out of range: a rank that is not less than n, an unknown flag or method, buffers that overlap, or a
/// struct_size that this library does not know. No output was written.
pub const DENISE_ERR_ARGUMENT: denise_status = 2;
/// The file cannot be read: it does not exist, this user may not read it, or it is not a regular file.
pub const DENISE_ERR_IO: denise_status = 3;
/// The data is damaged, or it is not a model.
pub const DENISE_ERR_FORMAT: denise_status = 4;
/// This build or machine does not support the model, size, method or instruction set.
pub const DENISE_ERR_UNSUPPORTED: denise_status = 5;
/// Sizes do not fit each other, or their product overflows. No output was written.
pub const DENISE_ERR_SHAPE: denise_status = 6;
/// At least one matrix contains infinity, or NaN without DENISE_FLAG_MISSING. All others were split.
pub const DENISE_ERR_NOT_FINITE: denise_status = 7;
/// There is not enough memory, or no thread can be started.
pub const DENISE_ERR_MEMORY: denise_status = 8;
/// A bug in the library. The outputs are unspecified, but the process is intact.
pub const DENISE_ERR_INTERNAL: denise_status = 9;
/// In reports only: the stream has not seen enough ticks yet.
pub const DENISE_ERR_NOT_READY: denise_status = 10;
/// At least one matrix has no positive variance, or a d that is not positive: it cannot be inverted. All others were
/// done.
pub const DENISE_ERR_SINGULAR: denise_status = 11;

// The numbers of C are those of the enums.
const _: () = {
    assert!(DENISE_OK == Status::Ok as i32);
    assert!(DENISE_ERR_NULL_POINTER == Status::NullPointer as i32);
    assert!(DENISE_ERR_ARGUMENT == Status::Argument as i32);
    assert!(DENISE_ERR_IO == Status::Io as i32);
    assert!(DENISE_ERR_FORMAT == Status::Format as i32);
    assert!(DENISE_ERR_UNSUPPORTED == Status::Unsupported as i32);
    assert!(DENISE_ERR_SHAPE == Status::Shape as i32);
    assert!(DENISE_ERR_NOT_FINITE == Status::NotFinite as i32);
    assert!(DENISE_ERR_MEMORY == Status::Memory as i32);
    assert!(DENISE_ERR_INTERNAL == Status::Internal as i32);
    assert!(DENISE_ERR_NOT_READY == Status::NotReady as i32);
    assert!(DENISE_ERR_SINGULAR == Status::Singular as i32);
    // Each is its place in the list, which denise_status_string relies on; and none is left out here.
    let mut place = 0;
    while place < Status::ALL.len() {
        assert!(Status::ALL[place] as usize == place);
        place += 1;
    }
    assert!(Status::ALL.len() == DENISE_ERR_SINGULAR as usize + 1);
};

/// Describes a status in a few words. Accepts any number; the string is static.
#[unsafe(no_mangle)]
pub extern "C" fn denise_status_string(status: denise_status) -> *const c_char {
    let known = usize::try_from(status)
        .ok()
        .and_then(|code| Status::ALL.get(code));
    known
        .map_or(c"unknown status", |status| status.text())
        .as_ptr()
}

/// Says why the last failed call on this thread failed: one line that names the argument or the file, meant for a log.
/// The string is valid until the next call on this thread fails. It is "" if no call has failed, and may be "" if
/// hundreds of threads fail at once. Does not allocate.
#[unsafe(no_mangle)]
pub extern "C" fn denise_last_error() -> *const c_char {
    last_error::text()
}
