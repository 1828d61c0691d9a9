//! Networks: the one that is built in, and those of files.

use crate::arguments::{self, Number, OFF, ON, Switch, Whole};
use crate::covariance::{self, Covariance};
use crate::decomposition::{self, Decomposition, Wish, make};
use crate::error::{exception, guard, wrong};
use crate::models::{BUILTIN, Kind, Models};
use crate::stream::{Settings, Stream};
use denise::covariance::DEFAULT_FLOOR;
use denise::{Error, File, Status};
use pyo3::exceptions::{PyFileNotFoundError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

/// Split matrices: M = L + S, with L of rank at most k and S sparse.
///
/// Parameters
/// ----------
/// M : array_like of shape (..., n, n)
///     Covariance or correlation matrices, n from 2 to 512. Only the lower triangle is read. float32 and float64 are
///     taken as they are, and without a copy if they are C-ordered; other numbers become float64. Anything with
///     ``__array__`` or ``__dlpack__`` will do. A DataFrame of pandas, n by n or with rows of (time, asset) as
///     ``returns.rolling(100).cov()`` has them, gives DataFrames with the same labels, and NaN in it is not known.
/// k : int, default 3
///     Largest rank of L, less than n and at most 32.
/// u : bool, default False
///     Whether to give U too, as ``loadings``.
/// missing : bool, default False
///     NaN means that an entry is not known: L is complete all the same, and S is NaN there.
/// correlation : bool, default False
///     Split the correlation matrix, and scale back: L does not depend on the unit of any asset.
/// careful : bool, default False
///     The best of several starts: about four times the time, smaller errors where outliers are large.
/// threads : int, default 1
///     Threads that may work on a large batch, or on a large matrix.
/// check_finite : bool, default True
///     Whether a matrix with NaN or infinity is a ValueError. Otherwise its results are NaN, and its report says so.
/// out : pair of arrays, optional
///     Where L and S go. The second may be M itself, in whose place S then is.
///
/// Returns
/// -------
/// Decomposition
///     With ``low_rank``, ``sparse``, ``loadings`` and ``report``.
///
/// Examples
/// --------
/// Five assets that move as one, but for one pair:
///
/// >>> import numpy as np, denise
/// >>> M = np.ones((5, 5))
/// >>> M[4, 2] = M[2, 4] = 1.5
/// >>> result = denise.decompose(M, k=1)
/// >>> print(result.low_rank[4, 2].round(2), result.sparse[4, 2].round(2))
/// 1.0 0.5
#[pyfunction]
#[pyo3(signature = (M, k=Whole::Is(3), *, u=OFF, missing=OFF, correlation=OFF, careful=OFF, threads=Whole::Is(1),
                    check_finite=ON, out=None),
       text_signature = "(M, k=3, *, u=False, missing=False, correlation=False, careful=False, threads=1, \
                         check_finite=True, out=None)")]
#[allow(
    non_snake_case,
    clippy::too_many_arguments,
    reason = "the names and options of Python"
)]
pub(crate) fn decompose<'py>(
    M: &Bound<'py, PyAny>,
    k: Whole,
    u: Switch,
    missing: Switch,
    correlation: Switch,
    careful: Switch,
    threads: Whole,
    check_finite: Switch,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Decomposition> {
    let kind = kind(Some(k), correlation, missing, careful, threads)?;
    let wish = Wish {
        u: u.named("u")?,
        check_finite: check_finite.named("check_finite")?,
        out,
    };
    decomposition::decompose(M, &BUILTIN, kind, &wish)
}

/// Covariances that can be inverted: Σ = U Uᵀ + diag(d), d_i = max(S_ii, floor · M_ii).
///
/// L + S is M again, so who needs an inverse needs something else: Σ keeps what the k factors explain, and what each
/// asset does on its own. It is positive definite, whatever M is.
///
/// Parameters
/// ----------
/// M, k, missing, careful, threads, check_finite
///     As for `decompose`.
/// floor : float, default 0.05
///     Least share of a variance that is an asset's own. It bounds the condition number.
/// correlation : bool, default True
///     Split the correlation matrix, and scale back: volatile assets count no more than quiet ones.
///
/// Returns
/// -------
/// Covariance
///     With ``sigma``, ``inverse``, ``log_det``, ``loadings``, ``specific``, ``report``, ``solve`` and ``multiply``.
///
/// Examples
/// --------
/// The portfolio of least variance:
///
/// >>> import numpy as np, denise
/// >>> M = np.ones((4, 4)) + np.diag([0.5, 1.0, 1.5, 2.0])
/// >>> weights = denise.covariance(M, k=1).solve(np.ones(4))
/// >>> print((weights / weights.sum()).round(2))
/// [0.48 0.24 0.16 0.12]
#[pyfunction]
#[pyo3(name = "covariance",
       signature = (M, k=Whole::Is(3), *, floor=Number::Is(DEFAULT_FLOOR), correlation=ON, missing=OFF, careful=OFF,
                    threads=Whole::Is(1), check_finite=ON),
       text_signature = "(M, k=3, *, floor=0.05, correlation=True, missing=False, careful=False, threads=1, \
                         check_finite=True)")]
#[allow(
    non_snake_case,
    clippy::too_many_arguments,
    reason = "the names and options of Python"
)]
pub(crate) fn make_covariance(
    M: &Bound<'_, PyAny>,
    k: Whole,
    floor: Number,
    correlation: Switch,
    missing: Switch,
    careful: Switch,
    threads: Whole,
    check_finite: Switch,
) -> PyResult<Covariance> {
    let kind = kind(Some(k), correlation, missing, careful, threads)?;
    let floor = arguments::floor(floor)?;
    covariance::split(
        M,
        &BUILTIN,
        kind,
        floor,
        check_finite.named("check_finite")?,
    )
}

/// A network, with its options. Any number of threads may use it at once.
///
/// Parameters
/// ----------
/// file : path or bytes, optional
///     An ONNX file that the program ``denise`` wrote, or a dense network of Keras or PyTorch. Or the name of a network
///     that is built in: ``"fast"``, which takes two thirds of the time and is less accurate, or ``"default"``, which
///     is used without it.
/// k : int, optional
///     Largest rank of L; by default the network's own, which is 3 for the one built in.
/// correlation, missing, careful, threads
///     As for `decompose`.
/// half_weights : bool, default False
///     Keep the weights of a dense network as 16-bit numbers.
/// byte_weights : bool, default False
///     Keep the weights of a dense network as 8-bit numbers: the fastest for one matrix, and U changes by about one part
///     in a hundred. Not together with ``half_weights``.
///
/// Examples
/// --------
/// >>> import numpy as np, denise
/// >>> model = denise.Model(k=1)
/// >>> model.decompose(np.ones((5, 5))).low_rank[4, 2].round(2)
/// np.float64(1.0)
#[pyclass(frozen, module = "denise")]
pub(crate) struct Model {
    pub(crate) models: Models,
    pub(crate) kind: Kind,
    /// The name of a network that is built in, or the bytes of a file, for whoever pickles it.
    file: Option<Py<PyAny>>,
    /// That of a network that has a size of its own, and what the file was made for otherwise.
    own_n: usize,
    own_k: usize,
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (file=None, *, k=None, correlation=OFF, missing=OFF, careful=OFF, threads=Whole::Is(1),
                        half_weights=OFF, byte_weights=OFF),
           text_signature = "(file=None, *, k=None, correlation=False, missing=False, careful=False, threads=1, \
                             half_weights=False, byte_weights=False)")]
    #[allow(clippy::too_many_arguments, reason = "the options of Python")]
    fn new(
        py: Python<'_>,
        file: Option<&Bound<'_, PyAny>>,
        k: Option<Whole>,
        correlation: Switch,
        missing: Switch,
        careful: Switch,
        threads: Whole,
        half_weights: Switch,
        byte_weights: Switch,
    ) -> PyResult<Model> {
        let kind = Kind {
            half_weights: half_weights.named("half_weights")?,
            byte_weights: byte_weights.named("byte_weights")?,
            ..kind(k, correlation, missing, careful, threads)?
        };
        let (file, network) = match file {
            None => (None, None),
            Some(file) => {
                let (file, network) = read(file)?;
                (Some(file), Some(network))
            }
        };
        let models = Models::new(network);
        // Options that do not fit the network are found now. 0 is the size that it was made for.
        let made = py.detach(|| models.make(0, kind)).map_err(|error| {
            match error.message.starts_with("n = ") {
                true => wrong("k", error),
                false => exception(error),
            }
        })?;
        Ok(Model {
            models,
            kind,
            file,
            own_n: made.n(),
            own_k: made.k(),
        })
    }

    /// Largest rank of L.
    #[getter]
    fn k(&self) -> usize {
        self.own_k
    }

    /// The size that the network was trained for. An unrolled network takes any other too.
    #[getter]
    fn n(&self) -> usize {
        self.own_n
    }

    /// The kind of network, and the instruction set that it runs on.
    #[getter]
    fn kernel(&self, py: Python<'_>) -> PyResult<String> {
        let model = match self.models.find(0, self.kind) {
            Some(model) => model,
            None => make(py, &self.models, 0, self.kind)?,
        };
        Ok(model.kernel().to_string_lossy().into_owned())
    }

    /// Split matrices of any size; see `denise.decompose`.
    #[pyo3(signature = (M, *, u=OFF, check_finite=ON, out=None))]
    #[allow(non_snake_case, reason = "the name in Python")]
    fn decompose<'py>(
        &self,
        M: &Bound<'py, PyAny>,
        u: Switch,
        check_finite: Switch,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Decomposition> {
        let wish = Wish {
            u: u.named("u")?,
            check_finite: check_finite.named("check_finite")?,
            out,
        };
        decomposition::decompose(M, &self.models, self.kind, &wish)
    }

    /// Covariances that can be inverted; see `denise.covariance`. Correlations are split if the model was made so.
    #[pyo3(signature = (M, *, floor=Number::Is(DEFAULT_FLOOR), check_finite=ON),
           text_signature = "($self, M, *, floor=0.05, check_finite=True)")]
    #[allow(non_snake_case, reason = "the name in Python")]
    fn covariance(
        &self,
        M: &Bound<'_, PyAny>,
        floor: Number,
        check_finite: Switch,
    ) -> PyResult<Covariance> {
        let floor = arguments::floor(floor)?;
        covariance::split(
            M,
            &self.models,
            self.kind,
            floor,
            check_finite.named("check_finite")?,
        )
    }

    /// A stream of n assets that this network splits; see `denise.Stream`.
    #[pyo3(signature = (n, *, window=Whole::Is(0), half_life=Number::Is(0.0), correlation=OFF, demean=OFF,
                        warm_up=Whole::Is(0),
                        streams=Whole::Is(1)),
           text_signature = "($self, n, *, window=0, half_life=0.0, correlation=False, demean=False, warm_up=0, \
                             streams=1)")]
    #[allow(clippy::too_many_arguments, reason = "the options of Python")]
    fn stream(
        slf: &Bound<'_, Self>,
        n: Whole,
        window: Whole,
        half_life: Number,
        correlation: Switch,
        demean: Switch,
        warm_up: Whole,
        streams: Whole,
    ) -> PyResult<Stream> {
        let settings = Settings::new(
            n,
            None,
            window,
            half_life,
            correlation,
            demean,
            warm_up,
            streams,
        )?;
        Stream::make(slf.py(), settings, Some(slf))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Kind {
            correlation,
            missing,
            careful,
            threads,
            ..
        } = self.kind;
        let kernel = self.kernel(py)?;
        let text = |flag: bool| if flag { "True" } else { "False" };
        Ok(format!(
            "Model({kernel}, k={}, correlation={}, missing={}, careful={}, threads={threads})",
            self.own_k,
            text(correlation),
            text(missing),
            text(careful)
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, own) = (slf.py(), slf.get());
        let options = PyDict::new(py);
        options.set_item("k", (own.kind.k > 0).then_some(own.kind.k))?;
        options.set_item("correlation", own.kind.correlation)?;
        options.set_item("missing", own.kind.missing)?;
        options.set_item("careful", own.kind.careful)?;
        options.set_item("threads", own.kind.threads)?;
        options.set_item("half_weights", own.kind.half_weights)?;
        options.set_item("byte_weights", own.kind.byte_weights)?;
        let file = own.file.as_ref().map(|file| file.bind(py));
        let make = py.import("denise._denise")?.getattr("_model")?;
        (make, (file, options))
            .into_pyobject(py)
            .map(Bound::into_any)
    }
}

/// What a network is made for; without k, the network's own.
fn kind(
    k: Option<Whole>,
    correlation: Switch,
    missing: Switch,
    careful: Switch,
    threads: Whole,
) -> PyResult<Kind> {
    Ok(Kind {
        k: k.map(|k| k.at_least("k", 1)).transpose()?.unwrap_or(0),
        correlation: correlation.named("correlation")?,
        missing: missing.named("missing")?,
        careful: careful.named("careful")?,
        threads: threads.at_least("threads", 1)?,
        half_weights: false,
        byte_weights: false,
    })
}

/// A model from its file and options.
#[pyfunction]
#[pyo3(name = "_model", signature = (file, options))]
pub(crate) fn from_parts<'py>(
    file: Option<&Bound<'py, PyAny>>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let kind = options.py().get_type::<Model>();
    kind.call((file,), Some(options))
}

/// A network from a name, a path or bytes; and its name or bytes.
fn read(file: &Bound<'_, PyAny>) -> PyResult<(Py<PyAny>, File)> {
    let py = file.py();
    if let Some(named) = file
        .extract::<PyBackedStr>()
        .ok()
        .and_then(|name| File::named(&name))
    {
        return Ok((file.clone().unbind(), named.map_err(exception)?));
    }
    let bytes = bytes(file)?;
    let network = py
        .detach(|| guard(|| File::read(&bytes)))
        .map_err(about_file)?;
    Ok((PyBytes::new(py, &bytes).into_any().unbind(), network))
}

/// The bytes of a file, or the bytes that were given.
fn bytes(file: &Bound<'_, PyAny>) -> PyResult<Arc<[u8]>> {
    if let Ok(bytes) = file.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().into());
    }
    let path: PathBuf = file.extract().map_err(|_| {
        PyTypeError::new_err(
            "file: must be a path, the bytes of a file, a name such as \"fast\", or None for the network built in",
        )
    })?;
    if !path.exists() {
        let message = format!("file: there is no {}", path.display());
        return Err(PyFileNotFoundError::new_err(message));
    }
    let bytes = file
        .py()
        .detach(|| File::bytes(&path))
        .map_err(about_file)?;
    Ok(bytes.into())
}

fn about_file(error: Error) -> PyErr {
    match error.status {
        Status::Io | Status::Memory => exception(error),
        status => exception(Error::format(status, format_args!("file: {error}"))),
    }
}
