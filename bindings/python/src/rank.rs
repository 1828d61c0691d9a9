//! Which k.

use crate::arguments::{Number, Whole};
use crate::arrays::values;
use crate::error::{exception, guard, wrong};
use crate::input::{label, matrices, typed};
use denise::Status;
use numpy::{IntoPyArray, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Suggest a rank k for matrices: how many common factors they have.
///
/// Parameters
/// ----------
/// M : array_like of shape (..., n, n)
///     As for `decompose`; NaN is an entry that is not known. Neither units nor order of the assets matter.
/// most : int, default 10
///     Largest rank that is tried.
/// observations : float, default 0
///     How many observations a matrix was estimated from; 0 if that is not known.
///
/// Returns
/// -------
/// int, or array of ints of the leading shape
///     0: no common factor was found.
///
/// Examples
/// --------
/// >>> import numpy as np, denise
/// >>> denise.rank(np.ones((6, 6)))
/// 1
#[pyfunction]
#[pyo3(signature = (M, *, most=Whole::Is(10), observations=Number::Is(0.0)),
       text_signature = "(M, *, most=10, observations=0.0)")]
#[allow(non_snake_case, reason = "the name in Python")]
pub(crate) fn rank<'py>(
    M: &Bound<'py, PyAny>,
    most: Whole,
    observations: Number,
) -> PyResult<Bound<'py, PyAny>> {
    let py = M.py();
    let labels = matrices(M, "M")?.labels;
    let most = most.at_least("most", 1)?;
    let observations = observations.named("observations")?;
    let m = match &labels {
        Some(labels) => typed::<f64>(&labels.getattr("values")?, "M")?,
        None => typed::<f64>(M, "M")?,
    };
    let shape = m.shape();
    let (leading, n) = (&shape[..shape.len() - 2], shape[shape.len() - 1]);
    let mut ranks = vec![0_u32; m.len() / (n * n)];
    let all = values(&m);
    py.detach(|| guard(|| denise::rank::suggest(n, most, observations, all, &mut ranks)))
        .map_err(|error| match error.status {
            Status::NotFinite => wrong("M", "infinity"),
            Status::Memory => exception(error),
            _ => wrong("M, most, observations", error),
        })?;
    if leading.is_empty() {
        return Ok(ranks[0].into_pyobject(py)?.into_any());
    }
    let ranks: Vec<i64> = ranks.into_iter().map(i64::from).collect();
    let array = ranks.into_pyarray(py).reshape(leading)?.into_any();
    label(labels.as_ref(), "each", array)
}
