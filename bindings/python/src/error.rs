//! Errors of the library as exceptions of Python.

use denise::{Error, Report, Status};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, PyResult};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The exception for an error.
pub(crate) fn exception(error: Error) -> PyErr {
    let message = error.message.into_owned();
    match error.status {
        Status::Memory => PyMemoryError::new_err(message),
        Status::Io => PyOSError::new_err(message),
        Status::Internal => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// An argument's name, and what is wrong with it.
pub(crate) fn wrong(name: &str, what: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{name}: {what}"))
}

/// Runs a call of the library without the interpreter, in the default floating-point modes; a panic becomes an error.
pub(crate) fn guard<T>(body: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let _modes = denise::modes::Default::enter();
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        let message = "a bug in the library; please report it";
        Err(Error::new(Status::Internal, message))
    })
}

/// What came of a batch: matrices that are not finite are an exception only if the caller wants one.
pub(crate) fn outcome(
    result: Result<(), Error>,
    check_finite: bool,
    reports: &[Report],
    one: bool,
    n: usize,
) -> PyResult<()> {
    let Err(error) = result else { return Ok(()) };
    if ![Status::NotFinite, Status::Singular].contains(&error.status) {
        return Err(exception(error));
    }
    if !check_finite {
        return Ok(());
    }
    let Some(at) = reports.iter().position(|report| report.status != 0) else {
        return Err(exception(error));
    };
    let which = if one {
        "M".to_owned()
    } else {
        format!("M: matrix {at} of the batch")
    };
    let report = reports[at];
    if report.status == Status::Singular as i32 {
        let message = format!("{which} has no positive variance, and no Σ that can be inverted");
        return Err(PyValueError::new_err(message));
    }
    let place = match report.first_bad {
        Report::NONE => String::new(),
        at => format!(" at ({}, {})", at as usize / n, at as usize % n),
    };
    Err(PyValueError::new_err(format!(
        "{which} has NaN or infinity{place}; missing=True takes NaN as not known, check_finite=False gives NaN for \
         such matrices"
    )))
}
