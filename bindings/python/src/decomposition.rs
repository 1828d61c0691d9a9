//! M = L + S.

use crate::arrays::{self, Array, Value, values, values_mut};
use crate::error::{exception, guard, outcome, wrong};
use crate::input::{Input, label, matrices};
use crate::models::{Kind, Models};
use crate::report::{Report, Reports, Room};
use denise::{Error, Model, Outputs};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// M = L + S: what `decompose` gives. It unpacks as ``low_rank, sparse``.
///
/// Attributes
/// ----------
/// low_rank : array of shape (..., n, n)
///     L = U Uᵀ, positive semidefinite, of rank at most k.
/// sparse : array of shape (..., n, n)
///     S = M - L.
/// loadings : array of shape (..., n, k), or None
///     U, if it was asked for: columns orthogonal, the longest first. (Those of a stream are as they are followed.)
/// report : Report, or None if the method gives none
///     What is known of each matrix.
#[pyclass(frozen, module = "denise")]
pub(crate) struct Decomposition {
    #[pyo3(get)]
    low_rank: Py<PyAny>,
    #[pyo3(get)]
    sparse: Py<PyAny>,
    #[pyo3(get)]
    loadings: Option<Py<PyAny>>,
    reports: Option<Reports>,
}

#[pymethods]
impl Decomposition {
    #[getter]
    fn report(&self) -> Option<Report> {
        self.reports.clone().map(|reports| Report { reports })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let parts = (self.low_rank.bind(py), self.sparse.bind(py)).into_pyobject(py)?;
        parts.call_method0("__iter__")
    }

    fn __len__(&self) -> usize {
        2
    }

    /// For annotations: the type of its arrays.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let alias = class.py().import("types")?.getattr("GenericAlias")?;
        alias.call1((class, item))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = self.low_rank.bind(py).getattr("shape")?;
        let loadings = match &self.loadings {
            Some(loadings) => loadings.bind(py).getattr("shape")?.to_string(),
            None => "None".to_owned(),
        };
        Ok(format!(
            "Decomposition(low_rank and sparse of shape {shape}, loadings {loadings})"
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let own = slf.get();
        let make = py.import("denise._denise")?.getattr("_decomposition")?;
        let loadings = own.loadings.as_ref().map(|loadings| loadings.bind(py));
        let parts = (
            own.low_rank.bind(py),
            own.sparse.bind(py),
            loadings,
            own.report(),
        );
        (make, parts).into_pyobject(py).map(Bound::into_any)
    }
}

impl Decomposition {
    /// With the labels of what it came from.
    pub(crate) fn labelled<'py>(
        mut self,
        py: Python<'py>,
        labels: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Decomposition> {
        if labels.is_some() {
            let name =
                |part: Py<PyAny>, kind| label(labels, kind, part.into_bound(py)).map(Bound::unbind);
            self.low_rank = name(self.low_rank, "square")?;
            self.sparse = name(self.sparse, "square")?;
            self.loadings = self.loadings.map(|u| name(u, "loadings")).transpose()?;
        }
        Ok(self)
    }
}

/// From arrays and reports.
pub(crate) fn with_parts(
    low_rank: Py<PyAny>,
    sparse: Py<PyAny>,
    loadings: Option<Py<PyAny>>,
    reports: Option<Reports>,
) -> Decomposition {
    Decomposition {
        low_rank,
        sparse,
        loadings,
        reports,
    }
}

/// From its parts.
#[pyfunction]
#[pyo3(name = "_decomposition", signature = (low_rank, sparse, loadings, report))]
pub(crate) fn from_parts(
    low_rank: Py<PyAny>,
    sparse: Py<PyAny>,
    loadings: Option<Py<PyAny>>,
    report: Option<&Bound<'_, Report>>,
) -> Decomposition {
    let reports = report.map(|report| report.get().reports.clone());
    with_parts(low_rank, sparse, loadings, reports)
}

/// What a caller asks for beside L and S.
pub(crate) struct Wish<'a, 'py> {
    pub(crate) u: bool,
    pub(crate) check_finite: bool,
    pub(crate) out: Option<&'a Bound<'py, PyAny>>,
}

/// Splits whatever array `m` is, with the models of one file.
pub(crate) fn decompose<'py>(
    m: &Bound<'py, PyAny>,
    models: &Models,
    mut kind: Kind,
    wish: &Wish<'_, 'py>,
) -> PyResult<Decomposition> {
    let Input { array, labels } = matrices(m, "M")?;
    let py = m.py();
    // Tables with names are tables of pandas, where NaN is what is missing.
    kind.missing |= labels.is_some();
    let n = *array.shape().last().unwrap_or(&0);
    let model = match models.find(n, kind) {
        Some(model) => model,
        None => make(py, models, n, kind)?,
    };
    let result = match &array {
        Array::F32(m) => split(py, &model, m, wish),
        Array::F64(m) => split(py, &model, m, wish),
    }?;
    result.labelled(py, labels.as_ref())
}

/// A network for n×n matrices.
pub(crate) fn make(py: Python<'_>, models: &Models, n: usize, kind: Kind) -> PyResult<Arc<Model>> {
    py.detach(|| models.make(n, kind)).map_err(|error: Error| {
        // The library speaks of sizes, which a caller of Python has given as M and k.
        let text = error.message.as_ref();
        match text.strip_prefix("n = ") {
            Some(_) => wrong("M, k", text),
            None => exception(error),
        }
    })
}

fn split<'py, F: Value>(
    py: Python<'py>,
    model: &Model,
    m: &Bound<'py, PyArrayDyn<F>>,
    wish: &Wish<'_, 'py>,
) -> PyResult<Decomposition> {
    let (shape, n) = (m.shape(), model.n());
    let count = m.len() / (n * n);
    let (l, s) = outputs(py, m, wish.out)?;
    let u = match wish.u {
        true => Some(arrays::empty_like::<F>(py, shape, Some(model.k()))?),
        false => None,
    };
    let mut room = Room::new(shape, count)?;
    let result = {
        // SAFETY: just made, or `outputs` has seen that it is apart from all others.
        let mut out = unsafe {
            Outputs {
                u: u.as_ref().map(|u| values_mut(u)),
                l: Some(values_mut(&l)),
                s: None,
                reports: Some(room.reports()),
            }
        };
        if arrays::same(&s, m) && !m.is_empty() {
            // SAFETY: apart from all others but M, in whose place it is.
            let s = unsafe { values_mut(&s) };
            py.detach(|| guard(|| model.decompose_in_place(s, out)))
        } else {
            // SAFETY: just made, or `outputs` has seen that it is apart from all others.
            out.s = Some(unsafe { values_mut(&s) });
            let m = values(m);
            py.detach(|| guard(|| model.decompose(m, out)))
        }
    };
    let single = room.single();
    outcome(result, wish.check_finite, room.reports(), single, n)?;
    Ok(Decomposition {
        low_rank: l.into_any().unbind(),
        sparse: s.into_any().unbind(),
        loadings: u.map(|u| u.into_any().unbind()),
        reports: Some(room.finish(shape)),
    })
}

type Pair<'py, F> = (Bound<'py, PyArrayDyn<F>>, Bound<'py, PyArrayDyn<F>>);

/// Where L and S go: new arrays, or those of the caller, who may want S in the place of M.
fn outputs<'py, F: Value>(
    py: Python<'py>,
    m: &Bound<'py, PyArrayDyn<F>>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Pair<'py, F>> {
    let shape = m.shape();
    let Some(out) = out else {
        return Ok((arrays::empty(py, shape)?, arrays::empty(py, shape)?));
    };
    let (l, s): (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>) =
        out.extract().map_err(|_| {
            PyTypeError::new_err(
                "out: must be a pair of arrays, for low_rank and sparse; None is a new one",
            )
        })?;
    let given = |array: Option<Bound<'py, PyAny>>, name: &str| -> PyResult<_> {
        let Some(array) = array else {
            return arrays::empty::<F>(py, shape);
        };
        let fits =
            |array: &Bound<'py, PyArrayDyn<F>>| array.shape() == shape && arrays::writeable(array);
        let array = Array::exact(&array).and_then(F::of).filter(fits);
        let message = "must be a writeable, C-ordered array with the shape and the dtype of M";
        array.ok_or_else(|| wrong(name, message))
    };
    let (l, s) = (given(l, "out[0]")?, given(s, "out[1]")?);
    let in_place = arrays::same(&s, m);
    if !m.is_empty()
        && (!arrays::apart(&l, &s) || !arrays::apart(&l, m) || !in_place && !arrays::apart(&s, m))
    {
        return Err(wrong(
            "out",
            "the arrays overlap; only out[1] may be M itself, in whose place S then is",
        ));
    }
    Ok((l, s))
}
