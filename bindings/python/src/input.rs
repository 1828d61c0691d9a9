//! From any object of Python to an array, and labels for what comes out.

use crate::arrays::{Array, Value};
use crate::error::wrong;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyAny;

/// What an argument is.
pub(crate) struct Input<'py> {
    pub(crate) array: Array<'py>,
    /// `denise._inputs.Labels`, if it had any.
    pub(crate) labels: Option<Bound<'py, PyAny>>,
}

/// Arrays as they are; all else goes through `denise._inputs`, which converts, copies and refuses.
pub(crate) fn read<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
    function: &str,
) -> PyResult<Input<'py>> {
    if let Some(array) = Array::exact(object) {
        return Ok(Input {
            array,
            labels: None,
        });
    }
    convert(object, name, function)
}

fn convert<'py>(object: &Bound<'py, PyAny>, name: &str, function: &str) -> PyResult<Input<'py>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let py = object.py();
    let module = MODULE.get_or_try_init(py, || py.import("denise._inputs").map(Bound::unbind))?;
    let (array, labels): (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>) = module
        .bind(py)
        .call_method1(function, (object, name))?
        .extract()?;
    match Array::exact(&array) {
        Some(array) => Ok(Input { array, labels }),
        None => Err(wrong(name, "cannot be made an array of float32 or float64")),
    }
}

/// Numbers of one type, whatever they were.
pub(crate) fn typed<'py, F: Value>(
    object: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Bound<'py, PyArrayDyn<F>>> {
    if let Some(array) = Array::exact(object).and_then(F::of) {
        return Ok(array);
    }
    let function = match size_of::<F>() {
        4 => "singles",
        _ => "doubles",
    };
    F::of(convert(object, name, function)?.array).ok_or_else(|| wrong(name, "cannot be converted"))
}

/// Square matrices.
pub(crate) fn matrices<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Input<'py>> {
    let input = read(object, name, "matrices")?;
    match input.array.shape() {
        [.., rows, columns] if rows == columns && *rows > 0 => Ok(input),
        shape => Err(wrong(
            name,
            format_args!("the shape is {shape:?}; it must be (..., n, n)"),
        )),
    }
}

/// With the labels of what it came from, if that had any.
pub(crate) fn label<'py>(
    labels: Option<&Bound<'py, PyAny>>,
    kind: &str,
    array: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    match labels {
        Some(labels) => labels.call_method1(kind, (array,)),
        None => Ok(array),
    }
}
