//! The classical methods, to check the network against.

use crate::arguments::{Number, ON, Switch, Whole};
use crate::arrays::{self, Array, values, values_mut};
use crate::decomposition::{Decomposition, with_parts};
use crate::error::{exception, guard, wrong};
use crate::input::{Input, matrices};
use denise::classical::{Method, Solver};
use denise::{Outputs, Status};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

const METHODS: [(&str, Method); 6] = [
    ("eigen", Method::Eigen),
    ("pcp", Method::Pcp),
    ("ialm", Method::Ialm),
    ("fpcp", Method::Fpcp),
    ("rpca_gd", Method::RpcaGd),
    ("masked_pcp", Method::MaskedPcp),
];

/// Split matrices with a classical method, to check the network against. Slow, and in float64.
///
/// Parameters
/// ----------
/// M : array_like of shape (..., n, n)
///     As for `decompose`.
/// method : {'pcp', 'ialm', 'fpcp', 'rpca_gd', 'masked_pcp', 'eigen'}, default 'pcp'
///     Principal component pursuit, inexact augmented Lagrange multipliers, fast principal component pursuit, robust
///     PCA by gradient descent, PCP where NaN is an entry that is not known, or the k largest eigenvalues.
/// k : int, default 3
///     Rank of L, for the methods that take one: eigen, fpcp and rpca_gd.
/// lam : float, optional
///     The parameter λ of the method; by default that of the paper.
/// check_finite : bool, default True
///     As for `decompose`.
///
/// Returns
/// -------
/// Decomposition
///     ``loadings`` and ``report`` are None.
///
/// Examples
/// --------
/// >>> import numpy as np, denise
/// >>> denise.classical(np.ones((5, 5)), 'eigen', k=1).low_rank[0, 1].round(6)
/// np.float64(1.0)
#[pyfunction]
#[pyo3(signature = (M, method=None, k=Whole::Is(3), *, lam=None, check_finite=ON),
       text_signature = "(M, method='pcp', k=3, *, lam=None, check_finite=True)")]
#[allow(non_snake_case, reason = "the name in Python")]
pub(crate) fn classical(
    M: &Bound<'_, PyAny>,
    method: Option<&Bound<'_, PyAny>>,
    k: Whole,
    lam: Option<Number>,
    check_finite: Switch,
) -> PyResult<Decomposition> {
    let py = M.py();
    let wanted = match method {
        Some(method) => method.str()?.to_string(),
        None => "pcp".to_owned(),
    };
    let (_, method) = METHODS
        .iter()
        .find(|(name, _)| *name == wanted)
        .ok_or_else(|| {
            let names = METHODS.map(|(name, _)| name).join(", ");
            wrong("method", format_args!("{wanted:?} is none of {names}"))
        })?;
    let k = k.at_least("k", 1)?;
    let lam = lam.map(|lam| lam.named("lam")).transpose()?;
    let check_finite = check_finite.named("check_finite")?;
    if lam.is_some_and(|lam| lam.is_nan() || lam <= 0.0) {
        return Err(wrong("lam", "must be positive"));
    }
    let Input { array, labels } = matrices(M, "M")?;
    let m = match array {
        Array::F64(m) => m,
        Array::F32(m) => {
            let wide: Vec<f64> = values(&m).iter().map(|&x| x.into()).collect();
            arrays::from_values(py, m.shape(), &wide)?
        }
    };
    let result = solve(py, *method, k, lam.unwrap_or(0.0), &m, check_finite)?;
    result.labelled(py, labels.as_ref())
}

fn solve<'py>(
    py: Python<'py>,
    method: Method,
    k: usize,
    lambda: f64,
    m: &Bound<'py, PyArrayDyn<f64>>,
    check_finite: bool,
) -> PyResult<Decomposition> {
    let shape = m.shape();
    let n = shape[shape.len() - 1];
    let (l, s) = (
        arrays::empty::<f64>(py, shape)?,
        arrays::empty::<f64>(py, shape)?,
    );
    let result = {
        // SAFETY: just made.
        let (l, s) = unsafe { (values_mut(&l), values_mut(&s)) };
        let m = values(m);
        py.detach(|| guard(|| Solver::new(method, n, k, lambda)?.solve(m, Outputs::parts(l, s))))
    };
    match result {
        Err(error) if error.status == Status::NotFinite => {
            if check_finite {
                return Err(wrong("M", "NaN or infinity"));
            }
        }
        Err(error) if error.status == Status::Memory => return Err(exception(error)),
        result => result.map_err(|error| wrong("M, k, lam", error))?,
    }
    Ok(with_parts(
        l.into_any().unbind(),
        s.into_any().unbind(),
        None,
        None,
    ))
}
