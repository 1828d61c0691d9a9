//! Numbers and switches that come from Python. What does not fit is refused where the name of the argument is known.

use crate::error::wrong;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

/// A value of some type, or the type of what came in its place.
#[derive(Clone)]
pub(crate) enum Given<T> {
    Is(T),
    Not(String),
}

/// An integer of any size; one that is too large is the largest.
pub(crate) type Whole = Given<i64>;
pub(crate) type Number = Given<f64>;
pub(crate) type Switch = Given<bool>;
pub(crate) const OFF: Switch = Given::Is(false);
pub(crate) const ON: Switch = Given::Is(true);

/// What an argument may be.
pub(crate) trait Kind: Sized + for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr> {
    /// In words.
    const NAME: &'static str;
    /// In the place of a value that is too large for the type.
    fn too_large(negative: bool) -> Option<Self>;
}

impl Kind for i64 {
    const NAME: &'static str = "an integer";
    fn too_large(negative: bool) -> Option<i64> {
        Some(if negative { i64::MIN } else { i64::MAX })
    }
}

impl Kind for f64 {
    const NAME: &'static str = "a number";
    fn too_large(negative: bool) -> Option<f64> {
        Some(if negative {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        })
    }
}

impl Kind for bool {
    const NAME: &'static str = "True or False";
    fn too_large(_: bool) -> Option<bool> {
        None
    }
}

impl<T: Kind> FromPyObject<'_, '_> for Given<T> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Given<T>> {
        let py = value.py();
        let error = match value.extract::<T>() {
            Ok(value) => return Ok(Given::Is(value)),
            Err(error) => error,
        };
        if error.is_instance_of::<PyOverflowError>(py)
            && let Some(most) = T::too_large(value.lt(0)?)
        {
            return Ok(Given::Is(most));
        }
        if error.is_instance_of::<PyTypeError>(py) {
            return Ok(Given::Not(value.get_type().name()?.to_string()));
        }
        // What the caller's own object has raised.
        Err(error)
    }
}

impl<T: Kind> Given<T> {
    /// The value, or an error with the argument's name.
    pub(crate) fn named(self, name: &str) -> PyResult<T> {
        match self {
            Given::Is(value) => Ok(value),
            Given::Not(kind) => {
                let message = format!("{name}: must be {}, not {kind}", T::NAME);
                Err(PyTypeError::new_err(message))
            }
        }
    }
}

impl Whole {
    /// At least `least`, and at most 2³¹: everything that the library takes is far below that, and it says so.
    pub(crate) fn at_least(self, name: &str, least: i64) -> PyResult<usize> {
        let whole = self.named(name)?;
        if whole < least {
            return Err(wrong(name, format_args!("{whole} is less than {least}")));
        }
        Ok(whole.min(1 << 31) as usize)
    }
}

/// The least share of a variance that is an asset's own.
pub(crate) fn floor(floor: Number) -> PyResult<f64> {
    let floor = floor.named("floor")?;
    let least = denise::covariance::LEAST_FLOOR;
    if !(least..=1.0).contains(&floor) {
        let message = format_args!("{floor} is not from {least} to 1");
        return Err(wrong("floor", message));
    }
    Ok(floor)
}
