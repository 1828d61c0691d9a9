//! Σ = U Uᵀ + diag(d), which can be inverted.

use crate::arguments::{self, Number};
use crate::arrays::{self, Array, Value, values, values_mut};
use crate::decomposition::make;
use crate::error::{exception, guard, outcome, wrong};
use crate::input::{self, Input, label, matrices, read};
use crate::models::{Kind, Models};
use crate::report::{Report, Reports, Room};
use denise::covariance::{self as library, DEFAULT_FLOOR, Outputs};
use denise::{Error, Model, Status};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Covariances that can be inverted, Σ = U Uᵀ + diag(d): what `covariance` gives.
///
/// Σ, its inverse and its determinant are computed when they are first asked for; `solve` and `multiply` need none of
/// them, which is the way to work with many assets.
///
/// Attributes
/// ----------
/// loadings : array of shape (..., n, k)
///     U.
/// specific : array of shape (..., n)
///     d, what each asset does on its own.
/// sigma, inverse : arrays of shape (..., n, n)
///     Σ and its inverse, positive definite both.
/// log_det : float, or array of the leading shape
///     The logarithm of Σ's determinant.
/// report : Report, or None if Σ was made from loadings
///     As that of a `Decomposition`.
#[pyclass(frozen, module = "denise")]
pub(crate) struct Covariance {
    parts: Parts,
    labels: Option<Py<PyAny>>,
    reports: Option<Reports>,
    floor: f64,
    check_finite: bool,
    sigma: PyOnceLock<Py<PyAny>>,
    inverse: PyOnceLock<Py<PyAny>>,
    log_det: PyOnceLock<Py<PyAny>>,
}

enum Parts {
    F32(Typed<f32>),
    F64(Typed<f64>),
}

struct Typed<F> {
    /// (..., n, k).
    u: Py<PyArrayDyn<F>>,
    /// (..., n).
    d: Py<PyArrayDyn<F>>,
    /// (..., n): the diagonal of M.
    variances: Py<PyArrayDyn<F>>,
}

/// Which matrix is wanted.
#[derive(Clone, Copy)]
enum Which {
    Sigma,
    Inverse,
}

impl Covariance {
    fn new(
        parts: Parts,
        labels: Option<Bound<'_, PyAny>>,
        reports: Option<Reports>,
        floor: f64,
        check_finite: bool,
    ) -> Covariance {
        Covariance {
            parts,
            labels: labels.map(Bound::unbind),
            reports,
            floor,
            check_finite,
            sigma: PyOnceLock::new(),
            inverse: PyOnceLock::new(),
            log_det: PyOnceLock::new(),
        }
    }

    fn label<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        array: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        label(
            self.labels.as_ref().map(|labels| labels.bind(py)),
            kind,
            array,
        )
    }

    fn matrix<'py>(&self, py: Python<'py>, which: Which) -> PyResult<Py<PyAny>> {
        let array = match &self.parts {
            Parts::F32(parts) => parts.matrix(py, self.floor, which),
            Parts::F64(parts) => parts.matrix(py, self.floor, which),
        }?;
        self.label(py, "square", array).map(Bound::unbind)
    }

    /// Σ b, or Σ⁻¹ b.
    fn product<'py>(&self, b: &Bound<'py, PyAny>, invert: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = b.py();
        // A Series is put in the order of the assets.
        let (b, names) = match &self.labels {
            Some(labels) => labels.bind(py).call_method1("aligned", (b,))?.extract()?,
            None => (b.clone(), None),
        };
        let result = match &self.parts {
            Parts::F32(parts) => parts.product(&b, invert, self.check_finite),
            Parts::F64(parts) => parts.product(&b, invert, self.check_finite),
        }?;
        label(names.as_ref(), "wrap", result)
    }
}

#[pymethods]
impl Covariance {
    #[getter]
    fn loadings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = match &self.parts {
            Parts::F32(parts) => parts.u.bind(py).as_any(),
            Parts::F64(parts) => parts.u.bind(py).as_any(),
        };
        self.label(py, "loadings", array.clone())
    }

    #[getter]
    fn specific<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = match &self.parts {
            Parts::F32(parts) => parts.d.bind(py).as_any(),
            Parts::F64(parts) => parts.d.bind(py).as_any(),
        };
        self.label(py, "vector", array.clone())
    }

    #[getter]
    fn sigma(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let sigma = self
            .sigma
            .get_or_try_init(py, || self.matrix(py, Which::Sigma))?;
        Ok(sigma.clone_ref(py))
    }

    #[getter]
    fn inverse(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let inverse = self
            .inverse
            .get_or_try_init(py, || self.matrix(py, Which::Inverse))?;
        Ok(inverse.clone_ref(py))
    }

    #[getter]
    fn log_det(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let log_det = self
            .log_det
            .get_or_try_init(py, || -> PyResult<Py<PyAny>> {
                let array = match &self.parts {
                    Parts::F32(parts) => parts.log_det(py, self.floor),
                    Parts::F64(parts) => parts.log_det(py, self.floor),
                }?;
                if array.ndim() == 0 {
                    return Ok(values(&array)[0].into_pyobject(py)?.into_any().unbind());
                }
                self.label(py, "each", array.into_any()).map(Bound::unbind)
            })?;
        Ok(log_det.clone_ref(py))
    }

    #[getter]
    fn report(&self) -> Option<Report> {
        self.reports.clone().map(|reports| Report { reports })
    }

    /// Σ⁻¹ b, without forming Σ or its inverse.
    ///
    /// Parameters
    /// ----------
    /// b : array_like of shape (..., n) or (..., n, m)
    ///     A vector for each Σ, or m of them as columns; a single vector is taken for all.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, denise
    /// >>> sigma = denise.covariance(np.ones((4, 4)) + np.eye(4), k=1)
    /// >>> np.allclose(sigma.solve(np.ones(4)), np.linalg.solve(sigma.sigma, np.ones(4)))
    /// True
    fn solve<'py>(&self, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.product(b, true)
    }

    /// Σ b, without forming Σ; `b` is as for `solve`.
    fn multiply<'py>(&self, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.product(b, false)
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
        let shape = match &self.parts {
            Parts::F32(parts) => parts.u.bind(py).shape().to_vec(),
            Parts::F64(parts) => parts.u.bind(py).shape().to_vec(),
        };
        let shape = pyo3::types::PyTuple::new(py, shape)?;
        Ok(format!(
            "Covariance(loadings of shape {shape}, floor={})",
            self.floor
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, own) = (slf.py(), slf.get());
        let make = py.import("denise._denise")?.getattr("_covariance")?;
        let [u, d, variances] = match &own.parts {
            Parts::F32(parts) => parts.arrays(py),
            Parts::F64(parts) => parts.arrays(py),
        };
        let labels = own.labels.as_ref().map(|labels| labels.bind(py));
        let rest = (labels, own.report(), own.floor, own.check_finite);
        (make, (u, d, variances, rest))
            .into_pyobject(py)
            .map(Bound::into_any)
    }
}

type Rest<'py> = (
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, Report>>,
    f64,
    bool,
);

/// From its parts.
#[pyfunction]
#[pyo3(name = "_covariance")]
pub(crate) fn from_parts<'py>(
    u: &Bound<'py, PyAny>,
    d: &Bound<'py, PyAny>,
    variances: &Bound<'py, PyAny>,
    rest: Rest<'py>,
) -> PyResult<Covariance> {
    let all = |array, name| read(array, name, "numbers").map(|input| input.array);
    let parts = match (all(u, "u")?, all(d, "d")?, all(variances, "variances")?) {
        (Array::F32(u), Array::F32(d), Array::F32(variances)) => {
            Parts::F32(Typed::checked(u, d, variances)?)
        }
        (Array::F64(u), Array::F64(d), Array::F64(variances)) => {
            Parts::F64(Typed::checked(u, d, variances)?)
        }
        _ => {
            return Err(PyTypeError::new_err(
                "u, d and variances must have one dtype",
            ));
        }
    };
    let (labels, report, floor, check_finite) = rest;
    let reports = report.map(|report| report.get().reports.clone());
    Ok(Covariance::new(parts, labels, reports, floor, check_finite))
}

impl<F: Value> Typed<F> {
    /// If they fit each other.
    fn checked(
        u: Bound<'_, PyArrayDyn<F>>,
        d: Bound<'_, PyArrayDyn<F>>,
        variances: Bound<'_, PyArrayDyn<F>>,
    ) -> PyResult<Typed<F>> {
        let [leading @ .., _] = u.shape() else {
            return Err(wrong("loadings", "the shape is (); it must be (..., n, k)"));
        };
        if d.shape() != leading || variances.shape() != leading || leading.is_empty() {
            let message = format!(
                "the shape is {:?}, where loadings have {:?}",
                d.shape(),
                u.shape()
            );
            return Err(wrong("specific", message));
        }
        let (n, k) = size(&u);
        library::check_size(n, k).map_err(|error| wrong("loadings", error))?;
        Ok(Typed {
            u: u.unbind(),
            d: d.unbind(),
            variances: variances.unbind(),
        })
    }

    fn arrays<'py>(&self, py: Python<'py>) -> [Bound<'py, PyAny>; 3] {
        [&self.u, &self.d, &self.variances].map(|array| array.bind(py).clone().into_any())
    }

    /// Σ or its inverse.
    fn matrix<'py>(
        &self,
        py: Python<'py>,
        floor: f64,
        which: Which,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (u, variances) = (self.u.bind(py), self.variances.bind(py));
        let (n, k) = size(u);
        let array = arrays::empty_like::<F>(py, u.shape(), Some(n))?;
        // SAFETY: just made.
        let matrix = Some(unsafe { values_mut(&array) });
        let out = match which {
            Which::Sigma => Outputs {
                sigma: matrix,
                ..Outputs::default()
            },
            Which::Inverse => Outputs {
                inverse: matrix,
                ..Outputs::default()
            },
        };
        let (u, variances) = (values(u), values(variances));
        let result = py.detach(|| guard(|| library::from_diagonal(n, k, variances, u, floor, out)));
        tolerate(result)?;
        Ok(array.into_any())
    }

    fn log_det<'py>(&self, py: Python<'py>, floor: f64) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (u, variances) = (self.u.bind(py), self.variances.bind(py));
        let (n, k) = size(u);
        let array = arrays::empty_like::<f64>(py, variances.shape(), None)?;
        let out = Outputs {
            // SAFETY: just made.
            log_det: Some(unsafe { values_mut(&array) }),
            ..Outputs::default()
        };
        let (u, variances) = (values(u), values(variances));
        let result = py.detach(|| guard(|| library::from_diagonal(n, k, variances, u, floor, out)));
        tolerate(result)?;
        Ok(array)
    }

    fn product<'py>(
        &self,
        b: &Bound<'py, PyAny>,
        invert: bool,
        check_finite: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        product(
            self.u.bind(b.py()),
            self.d.bind(b.py()),
            b,
            invert,
            check_finite,
        )
    }
}

/// Σ b or Σ⁻¹ b, from U and d that fit each other.
fn product<'py, F: Value>(
    u: &Bound<'py, PyArrayDyn<F>>,
    d: &Bound<'py, PyArrayDyn<F>>,
    b: &Bound<'py, PyAny>,
    invert: bool,
    check_finite: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = b.py();
    let b = input::typed::<F>(b, "b")?;
    let (n, k) = size(u);
    let (shape, own) = (b.shape(), d.shape());
    let columns = match shape {
        // A vector for each, or one for all.
        _ if shape == own || shape == [n] => 1,
        [leading @ .., columns] if leading == own => *columns,
        _ => {
            let message = format!(
                "the shape is {shape:?}; it must be {own:?}, with another dimension for columns, or [{n}]"
            );
            return Err(wrong("b", message));
        }
    };
    let for_all = shape != own && shape == [n];
    let product = arrays::empty::<F>(py, if for_all { own } else { shape })?;
    // SAFETY: just made.
    let x = unsafe { values_mut(&product) };
    let b = values(&b);
    if for_all {
        for x in x.chunks_exact_mut(n) {
            x.copy_from_slice(b);
        }
    } else {
        x.copy_from_slice(b);
    }
    let (u, d) = (values(u), values(d));
    let result = py.detach(|| {
        guard(|| match invert {
            true => library::solve(n, k, u, d, columns, x),
            false => library::multiply(n, k, u, d, columns, x),
        })
    });
    match result {
        Err(error) if error.status == Status::NotFinite && check_finite => {
            Err(wrong("b", "it, Σ or their product is not finite"))
        }
        result => tolerate(result).map(|()| product.into_any()),
    }
}

/// n and k of U.
fn size<F: Value>(u: &Bound<'_, PyArrayDyn<F>>) -> (usize, usize) {
    match u.shape() {
        [.., n, k] => (*n, *k),
        _ => (0, 0),
    }
}

/// Matrices that have no Σ have NaN, which was wanted if they have got as far as here.
fn tolerate(result: Result<(), Error>) -> PyResult<()> {
    match result {
        Err(error) if ![Status::NotFinite, Status::Singular].contains(&error.status) => {
            Err(exception(error))
        }
        _ => Ok(()),
    }
}

/// Splits whatever array `m` is, and makes Σ of it.
pub(crate) fn split(
    m: &Bound<'_, PyAny>,
    models: &Models,
    mut kind: Kind,
    floor: f64,
    check_finite: bool,
) -> PyResult<Covariance> {
    let Input { array, labels } = matrices(m, "M")?;
    let py = m.py();
    kind.missing |= labels.is_some();
    let n = *array.shape().last().unwrap_or(&0);
    let model = match models.find(n, kind) {
        Some(model) => model,
        None => make(py, models, n, kind)?,
    };
    let (parts, reports) = match &array {
        Array::F32(m) => typed(py, &model, m, floor, check_finite)
            .map(|(parts, reports)| (Parts::F32(parts), reports)),
        Array::F64(m) => typed(py, &model, m, floor, check_finite)
            .map(|(parts, reports)| (Parts::F64(parts), reports)),
    }?;
    Ok(Covariance::new(
        parts,
        labels,
        Some(reports),
        floor,
        check_finite,
    ))
}

fn typed<F: Value>(
    py: Python<'_>,
    model: &Model,
    m: &Bound<'_, PyArrayDyn<F>>,
    floor: f64,
    check_finite: bool,
) -> PyResult<(Typed<F>, Reports)> {
    let (shape, n, k) = (m.shape(), model.n(), model.k());
    let count = m.len() / (n * n);
    let u_array = arrays::empty_like::<F>(py, shape, Some(k))?;
    let d_array = arrays::empty_like::<F>(py, shape, None)?;
    let variances = diagonal(py, m)?;
    let mut room = Room::new(shape, count)?;
    // SAFETY: just made.
    let (u, d) = unsafe { (values_mut(&u_array), values_mut(&d_array)) };
    let (m, reports) = (values(m), room.reports());
    let result = py.detach(|| {
        let out = Outputs {
            d: Some(d),
            ..Outputs::default()
        };
        guard(|| model.covariance(m, floor, u, out, Some(reports)))
    });
    let single = room.single();
    outcome(result, check_finite, room.reports(), single, n)?;
    let parts = Typed {
        u: u_array.unbind(),
        d: d_array.unbind(),
        variances: variances.unbind(),
    };
    Ok((parts, room.finish(shape)))
}

/// The variances.
fn diagonal<'py, F: Value>(
    py: Python<'py>,
    m: &Bound<'py, PyArrayDyn<F>>,
) -> PyResult<Bound<'py, PyArrayDyn<F>>> {
    let array = arrays::empty_like::<F>(py, m.shape(), None)?;
    let n = *m.shape().last().unwrap_or(&1);
    // SAFETY: just made.
    let variances = unsafe { values_mut(&array) };
    for (own, m) in variances
        .chunks_exact_mut(n)
        .zip(values(m).chunks_exact(n * n))
    {
        for (i, x) in own.iter_mut().enumerate() {
            *x = m[i * (n + 1)];
        }
    }
    Ok(array)
}

/// Covariances that can be inverted, from loadings that are there already: those of a stream, or of any other method.
///
/// Parameters
/// ----------
/// M : array_like of shape (..., n, n)
///     Only its diagonal counts. A variance that is NaN is not known.
/// loadings : array_like of shape (..., n, k)
///     U.
/// floor : float, default 0.05
///     As for `covariance`.
///
/// Examples
/// --------
/// >>> import numpy as np, denise
/// >>> M = np.ones((4, 4)) + np.eye(4)
/// >>> U = denise.decompose(M, k=1, u=True).loadings
/// >>> sigma = denise.covariance_from_loadings(M, U)
/// >>> np.allclose(sigma.inverse @ sigma.sigma, np.eye(4))
/// True
#[pyfunction]
#[pyo3(signature = (M, loadings, *, floor=Number::Is(DEFAULT_FLOOR)), text_signature = "(M, loadings, *, floor=0.05)")]
#[allow(non_snake_case, reason = "the name in Python")]
pub(crate) fn covariance_from_loadings<'py>(
    M: &Bound<'py, PyAny>,
    loadings: &Bound<'py, PyAny>,
    floor: Number,
) -> PyResult<Covariance> {
    let floor = arguments::floor(floor)?;
    let py = M.py();
    let Input { array, labels } = matrices(M, "M")?;
    let parts = match &array {
        Array::F32(m) => Parts::F32(from_loadings(py, diagonal(py, m)?, loadings, floor)?),
        Array::F64(m) => Parts::F64(from_loadings(py, diagonal(py, m)?, loadings, floor)?),
    };
    Ok(Covariance::new(parts, labels, None, floor, true))
}

fn from_loadings<'py, F: Value>(
    py: Python<'py>,
    variances: Bound<'py, PyArrayDyn<F>>,
    loadings: &Bound<'py, PyAny>,
    floor: f64,
) -> PyResult<Typed<F>> {
    let u = input::typed::<F>(loadings, "loadings")?;
    let d = arrays::empty::<F>(py, variances.shape())?;
    let parts = Typed::checked(u, d, variances)?;
    let (u, d, variances) = (parts.u.bind(py), parts.d.bind(py), parts.variances.bind(py));
    let (n, k) = size(u);
    let out = Outputs {
        // SAFETY: just made, and not yet anybody's.
        d: Some(unsafe { values_mut(d) }),
        ..Outputs::default()
    };
    let (u, variances) = (values(u), values(variances));
    let result = py.detach(|| guard(|| library::from_diagonal(n, k, variances, u, floor, out)));
    result.map_err(|error| match error.status {
        Status::NotFinite => wrong("loadings", "NaN or infinity, there or in the diagonal of M"),
        Status::Singular => wrong(
            "M",
            "there is no positive variance, and no Σ that can be inverted",
        ),
        _ => exception(error),
    })?;
    Ok(parts)
}

/// A stream's Σ: from the U of a tick, and the variances of that tick.
pub(crate) fn of_stream(
    py: Python<'_>,
    leading: &[usize],
    [u, d, variances]: [Vec<f64>; 3],
    k: usize,
    floor: f64,
) -> PyResult<Covariance> {
    let shape: Vec<usize> = leading.iter().copied().chain([k]).collect();
    let parts = Typed::checked(
        arrays::from_values(py, &shape, &u)?,
        arrays::from_values(py, leading, &d)?,
        arrays::from_values(py, leading, &variances)?,
    )?;
    Ok(Covariance::new(Parts::F64(parts), None, None, floor, true))
}

/// Σ⁻¹ b: ``sigma.solve(b)``, or the same from loadings and specific variances.
///
/// Parameters
/// ----------
/// sigma : Covariance, or pair (loadings, specific)
///     What `covariance` gives, or U and d of Σ = U Uᵀ + diag(d).
/// b : array_like of shape (..., n) or (..., n, m)
///     A vector for each Σ, or m of them as columns.
///
/// Examples
/// --------
/// >>> import numpy as np, denise
/// >>> U, d = np.ones((3, 1)), np.array([1.0, 2.0, 2.0])
/// >>> print(denise.solve((U, d), [1.0, 1.0, 1.0]).round(3))
/// [0.333 0.167 0.167]
#[pyfunction]
pub(crate) fn solve<'py>(
    sigma: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(sigma) = sigma.cast::<Covariance>() {
        return sigma.get().solve(b);
    }
    let (u, d): (Bound<'py, PyAny>, Bound<'py, PyAny>) = sigma.extract().map_err(|_| {
        PyTypeError::new_err(
            "sigma: must be what denise.covariance gives, or a pair (loadings, specific)",
        )
    })?;
    // In double precision, unless both are single.
    let single = |array| matches!(Array::exact(array), Some(Array::F32(_)));
    match single(&u) && single(&d) {
        true => pair::<f32>(&u, &d, b),
        false => pair::<f64>(&u, &d, b),
    }
}

fn pair<'py, F: Value>(
    u: &Bound<'py, PyAny>,
    d: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (u, d) = (
        input::typed::<F>(u, "sigma[0]")?,
        input::typed::<F>(d, "sigma[1]")?,
    );
    let parts = Typed::checked(u, d.clone(), d)?;
    if values(parts.d.bind(b.py()))
        .iter()
        .any(|&d| d.into() <= 0.0)
    {
        return Err(wrong("sigma", "every specific variance must be positive"));
    }
    parts.product(b, true, true)
}
