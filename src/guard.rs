//! What stands around every call: no panic gets out, the floating-point modes are the default ones, and an error
//! becomes a status whose reason is kept.

use crate::last_error;
use crate::status::{DENISE_OK, denise_status};
use denise_rust::{Error, Status, modes};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body` in the default floating-point modes; a panic becomes an internal error.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let _modes = modes::Default::enter();
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Error::new(
            Status::Internal,
            "a bug in the library; please report it",
        ))
    })
}

/// The status of a call, whose reason is kept if it failed.
pub(crate) fn code(result: Result<(), Error>) -> denise_status {
    match result {
        Ok(()) => DENISE_OK,
        Err(error) => {
            last_error::keep(&error.message);
            error.status as i32
        }
    }
}

/// An error about a pointer.
pub(crate) fn null(message: &'static str) -> Result<(), Error> {
    Err(Error::new(Status::NullPointer, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::DENISE_ERR_INTERNAL;

    /// No input is known that makes the library panic, so a panic is made here.
    #[test]
    fn a_panic_ends_at_the_boundary() {
        let error = guard(|| panic!("on purpose")).unwrap_err();
        assert_eq!(error.status, Status::Internal);
        assert_eq!(error.status as i32, DENISE_ERR_INTERNAL);
        assert_eq!(guard(|| Ok(())), Ok(()));
    }
}
