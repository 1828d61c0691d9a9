//! What is known of a decomposition.

use crate::error::exception;
use denise::{Error, Report as One};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The reports of a call.
#[derive(Clone)]
pub(crate) enum Reports {
    /// Of a single matrix.
    One(One),
    /// Of an array of matrices, with its leading shape.
    Many(Arc<[One]>, Arc<[usize]>),
}

/// Room for the reports of a call: no allocation for a single matrix.
pub(crate) struct Room {
    one: [One; 1],
    many: Option<Vec<One>>,
}

impl Room {
    /// For matrices of this shape, the last two dimensions included.
    pub(crate) fn new(shape: &[usize], count: usize) -> PyResult<Room> {
        let mut many = None;
        if shape.len() > 2 {
            let mut reports = Vec::new();
            reports
                .try_reserve_exact(count)
                .map_err(|error| exception(Error::from(error)))?;
            reports.resize(count, One::default());
            many = Some(reports);
        }
        Ok(Room {
            one: [One::default()],
            many,
        })
    }

    pub(crate) fn reports(&mut self) -> &mut [One] {
        match &mut self.many {
            Some(many) => many,
            None => &mut self.one,
        }
    }

    /// Whether it is for one matrix that is no array of matrices.
    pub(crate) fn single(&self) -> bool {
        self.many.is_none()
    }

    pub(crate) fn finish(self, shape: &[usize]) -> Reports {
        match self.many {
            Some(many) => Reports::Many(many.into(), shape[..shape.len() - 2].into()),
            None => Reports::One(self.one[0]),
        }
    }
}

/// What is known of each matrix of a decomposition: numbers for a single matrix, arrays of the leading shape for many.
///
/// Attributes
/// ----------
/// l1 : float
///     Sum of the absolute entries of S.
/// residual : float
///     Norm of S beside that of M (Frobenius).
/// sparsity : float
///     Share of entries of S that are at most 0.01 of the mean variance.
/// status : int
///     0: split. 7: NaN or infinity in M. 10: a stream that has not seen enough ticks. 11: no positive variance.
/// unsettled : float
///     Size of the network's last step beside U: small means that more layers would not change the answer.
/// least_specific : float
///     The least S_ii / M_ii. Negative: L explains more than all of a variance.
/// missing : int
///     Entries of the lower triangle that were not known.
/// first_bad : int
///     i * n + j of the first entry that is not finite; -1 if there is none.
/// ok : bool
///     Whether status is 0.
#[pyclass(frozen, module = "denise")]
pub(crate) struct Report {
    pub(crate) reports: Reports,
}

impl Report {
    /// A number, or an array of numbers.
    fn field<'py, T>(
        &self,
        py: Python<'py>,
        value: impl Fn(&One) -> T,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        T: numpy::Element + IntoPyObject<'py>,
    {
        match &self.reports {
            Reports::One(report) => value(report).into_bound_py_any(py),
            Reports::Many(reports, shape) => {
                let values: Vec<T> = reports.iter().map(value).collect();
                let array = values.into_pyarray(py);
                Ok(array.reshape(&shape[..])?.into_any())
            }
        }
    }

    const FIELDS: [&str; 8] = [
        "l1",
        "residual",
        "sparsity",
        "status",
        "unsettled",
        "least_specific",
        "missing",
        "first_bad",
    ];
}

#[pymethods]
impl Report {
    #[getter]
    fn l1<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| report.l1)
    }

    #[getter]
    fn residual<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| report.residual)
    }

    #[getter]
    fn sparsity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| report.sparsity)
    }

    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| report.status)
    }

    #[getter]
    fn unsettled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| report.unsettled)
    }

    #[getter]
    fn least_specific<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| report.least_specific)
    }

    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| report.missing)
    }

    #[getter]
    fn first_bad<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| match report.first_bad {
            One::NONE => -1,
            at => i64::from(at),
        })
    }

    #[getter]
    fn ok<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, |report| report.status == 0)
    }

    /// All of it, by name.
    fn as_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(slf.py());
        for name in Report::FIELDS {
            all.set_item(name, slf.getattr(name)?)?;
        }
        Ok(all)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut text = Vec::new();
        for name in Report::FIELDS {
            let value = slf.getattr(name)?;
            let value = match &slf.get().reports {
                Reports::One(_) => value.str()?.to_string(),
                Reports::Many(..) => value.repr()?.to_string(),
            };
            text.push(format!("{name}={value}"));
        }
        Ok(format!("Report({})", text.join(", ")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let make = py.import("denise._denise")?.getattr("_report")?;
        (make, (Report::as_dict(slf)?,))
            .into_pyobject(py)
            .map(Bound::into_any)
    }
}

/// A report from what [`Report::as_dict`] gave.
#[pyfunction]
#[pyo3(name = "_report")]
pub(crate) fn from_dict(fields: &Bound<'_, PyDict>) -> PyResult<Report> {
    let get = |name: &str| -> PyResult<Bound<'_, PyAny>> {
        let value = fields.get_item(name)?;
        value.ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(name.to_owned()))
    };
    let shape: Option<Vec<usize>> = match get("l1")?.getattr("shape") {
        Ok(shape) => Some(shape.extract()?),
        Err(_) => None,
    };
    let count = shape.as_ref().map_or(1, |shape| shape.iter().product());
    let numbers = |name: &str| -> PyResult<Vec<f64>> {
        let value = get(name)?;
        match shape {
            Some(_) => value
                .call_method0("ravel")?
                .call_method0("tolist")?
                .extract(),
            None => Ok(vec![value.extract()?]),
        }
    };
    let fields: Vec<Vec<f64>> = Report::FIELDS
        .into_iter()
        .map(numbers)
        .collect::<PyResult<_>>()?;
    if fields.iter().any(|field| field.len() != count) {
        return Err(crate::error::wrong("fields", "not all of the same length"));
    }
    let one = |at: usize| One {
        l1: fields[0][at] as f32,
        residual: fields[1][at] as f32,
        sparsity: fields[2][at] as f32,
        status: fields[3][at] as i32,
        unsettled: fields[4][at] as f32,
        least_specific: fields[5][at] as f32,
        missing: fields[6][at] as u32,
        first_bad: if fields[7][at] < 0.0 {
            One::NONE
        } else {
            fields[7][at] as u32
        },
    };
    let reports = match shape {
        Some(shape) => Reports::Many((0..count).map(one).collect(), shape.into()),
        None => Reports::One(one(0)),
    };
    Ok(Report { reports })
}
