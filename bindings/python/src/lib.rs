//! The extension module of the Python package `denise`.
//!
//! - `arrays`: arrays of NumPy, the only unsafe code here. `input`: any other object, through `denise/_inputs.py`.
//! - `arguments` and `error`: numbers that come in, exceptions that go out.
//! - `models`: networks that are ready. `model`, `decomposition`, `covariance`, `stream`, `report`: one class each.
//! - `rank` and `classical`: a function each.

mod arguments;
mod arrays;
mod classical;
mod covariance;
mod decomposition;
mod error;
mod input;
mod model;
mod models;
mod rank;
mod report;
mod stream;

/// denise: low-rank plus sparse splits of covariance matrices.
#[pyo3::pymodule(gil_used = false)]
mod _denise {
    #[pymodule_export]
    use crate::classical::classical;
    #[pymodule_export]
    use crate::covariance::{
        Covariance, covariance_from_loadings, from_parts as _covariance, solve,
    };
    #[pymodule_export]
    use crate::decomposition::{Decomposition, from_parts as _decomposition};
    #[pymodule_export]
    use crate::model::{Model, decompose, from_parts as _model, make_covariance};
    #[pymodule_export]
    use crate::rank::rank;
    #[pymodule_export]
    use crate::report::{Report, from_dict as _report};
    #[pymodule_export]
    use crate::stream::{Stream, from_parts as _stream};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
