//! Arrays of NumPy: what comes in, seen where it lies, and what goes out. All that is unsafe here is in this file.

use denise::Element;
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NPY_TYPES, PY_ARRAY_API, npy_intp};
use numpy::{
    PyArrayDescr, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use std::ffi::c_int;

/// A value type: `float32` or `float64`.
pub(crate) trait Value:
    Element + numpy::Element + Copy + Into<f64> + Send + Sync + 'static
{
    /// An array of this type; `None` if it has the other.
    fn of(array: Array<'_>) -> Option<Bound<'_, PyArrayDyn<Self>>>;
}

impl Value for f32 {
    fn of(array: Array<'_>) -> Option<Bound<'_, PyArrayDyn<f32>>> {
        match array {
            Array::F32(array) => Some(array),
            Array::F64(_) => None,
        }
    }
}

impl Value for f64 {
    fn of(array: Array<'_>) -> Option<Bound<'_, PyArrayDyn<f64>>> {
        match array {
            Array::F32(_) => None,
            Array::F64(array) => Some(array),
        }
    }
}

/// Dimensions that an array can have.
const MOST: usize = 64;
/// NumPy's numbers of the two types.
const F32: c_int = NPY_TYPES::NPY_FLOAT as c_int;
const F64: c_int = NPY_TYPES::NPY_DOUBLE as c_int;

/// A C-ordered, aligned array of one of the two types, of the class `ndarray` itself and no other.
pub(crate) enum Array<'py> {
    F32(Bound<'py, PyArrayDyn<f32>>),
    F64(Bound<'py, PyArrayDyn<f64>>),
}

impl<'py> Array<'py> {
    /// The array as it is; `None` if it has another type or layout, or is no array.
    pub(crate) fn exact(object: &Bound<'py, PyAny>) -> Option<Array<'py>> {
        if !object
            .get_type()
            .is(PyUntypedArray::type_object(object.py()))
        {
            return None;
        }
        let array = object.cast::<PyUntypedArray>().ok()?;
        if !array.is_c_contiguous() || !array.is_aligned() {
            return None;
        }
        // By number: asking whether types are equivalent takes NumPy longer than all else here.
        let kind = array.dtype();
        if kind.is_native_byteorder() == Some(false) {
            return None;
        }
        // SAFETY: arrays whose values have these types.
        unsafe {
            match kind.num() {
                F64 => Some(Array::F64(object.clone().cast_into_unchecked())),
                F32 => Some(Array::F32(object.clone().cast_into_unchecked())),
                _ => None,
            }
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Array::F32(array) => array.shape(),
            Array::F64(array) => array.shape(),
        }
    }
}

fn plain<F: Value>(array: &Bound<'_, PyArrayDyn<F>>) -> bool {
    array.is_c_contiguous() && array.is_aligned()
}

/// The values of an array that [`Array`] holds, or that [`empty`] made.
///
/// Another thread of Python may write to them meanwhile, which nobody can forbid. The library computes with values, and
/// never takes one for an index or a size: it then gets wrong numbers, as the caller deserves, and nothing worse.
pub(crate) fn values<'a, F: Value>(array: &'a Bound<'_, PyArrayDyn<F>>) -> &'a [F] {
    assert!(plain(array));
    if array.is_empty() {
        return &[];
    }
    // SAFETY: contiguous, aligned, not empty, of this type, and kept alive by `array`.
    unsafe { std::slice::from_raw_parts(array.data(), array.len()) }
}

/// The same, to be written.
///
/// # Safety
/// No other slice of this memory is in use: the array was just made by [`empty`], or [`apart`] has been asked.
#[allow(clippy::mut_from_ref, reason = "what Python has is shared always")]
pub(crate) unsafe fn values_mut<'a, F: Value>(array: &'a Bound<'_, PyArrayDyn<F>>) -> &'a mut [F] {
    assert!(plain(array));
    if array.is_empty() {
        return &mut [];
    }
    // SAFETY: as above; that nobody else has it is the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(array.data(), array.len()) }
}

/// Whether two arrays have no byte in common.
pub(crate) fn apart<F: Value>(
    one: &Bound<'_, PyArrayDyn<F>>,
    other: &Bound<'_, PyArrayDyn<F>>,
) -> bool {
    let range = |array: &Bound<'_, PyArrayDyn<F>>| {
        let start = array.data() as usize;
        (start, start + array.len() * size_of::<F>())
    };
    let (one, other) = (range(one), range(other));
    one.1 <= other.0 || other.1 <= one.0
}

/// Whether its values may be changed.
pub(crate) fn writeable<F: Value>(array: &Bound<'_, PyArrayDyn<F>>) -> bool {
    // SAFETY: the array is alive, and its flags are read only.
    let flags = unsafe { (*array.as_array_ptr()).fields.flags };
    flags & NPY_ARRAY_WRITEABLE != 0
}

/// Whether two arrays begin at the same byte.
pub(crate) fn same<F: Value>(
    one: &Bound<'_, PyArrayDyn<F>>,
    other: &Bound<'_, PyArrayDyn<F>>,
) -> bool {
    std::ptr::eq(one.data(), other.data())
}

/// A new array whose values are whatever was there. `MemoryError` if there is no memory for it.
pub(crate) fn empty<'py, F: Value>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<F>>> {
    let mut sizes: [npy_intp; MOST] = [0; MOST];
    let dimensions = shape.len().min(MOST);
    for (size, &wanted) in sizes.iter_mut().zip(shape) {
        *size = wanted as npy_intp;
    }
    let kind: Bound<'py, PyArrayDescr> = F::get_dtype(py);
    // SAFETY: NumPy reads so many sizes, takes over the reference to the type, and gives back a new reference or null
    // with an exception set. What it makes has the type F and as many dimensions as `PyArrayDyn` allows.
    unsafe {
        let array = PY_ARRAY_API.PyArray_Empty(
            py,
            dimensions as c_int,
            sizes.as_mut_ptr(),
            kind.into_ptr().cast(),
            0,
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        Ok(array.cast_into_unchecked())
    }
}

/// The same, where the last dimension has another size, or is left out.
pub(crate) fn empty_like<'py, F: Value>(
    py: Python<'py>,
    shape: &[usize],
    last: Option<usize>,
) -> PyResult<Bound<'py, PyArrayDyn<F>>> {
    let (_, leading) = shape.split_last().unwrap_or((&0, &[]));
    let mut sizes = [0; MOST];
    let mut dimensions = leading.len().min(MOST - 1);
    sizes[..dimensions].copy_from_slice(&leading[..dimensions]);
    if let Some(last) = last {
        sizes[dimensions] = last;
        dimensions += 1;
    }
    empty(py, &sizes[..dimensions])
}

/// A new array with these values.
pub(crate) fn from_values<'py, F: Value>(
    py: Python<'py>,
    shape: &[usize],
    given: &[F],
) -> PyResult<Bound<'py, PyArrayDyn<F>>> {
    let array = empty(py, shape)?;
    // SAFETY: just made.
    unsafe { values_mut(&array) }.copy_from_slice(given);
    Ok(array)
}
