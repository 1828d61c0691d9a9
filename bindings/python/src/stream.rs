//! Streams: returns in, a split that moves as little as it must.

use crate::arguments::{self, Number, OFF, ON, Switch, Whole};
use crate::arrays::{self, Array, Value, values, values_mut};
use crate::covariance::{Covariance, of_stream};
use crate::decomposition::{Decomposition, make, with_parts};
use crate::error::{exception, guard, outcome, wrong};
use crate::input::{Input, matrices, read};
use crate::model::Model;
use crate::models::{BUILTIN, Kind};
use crate::report::Room;
use denise::covariance::{self as library, DEFAULT_FLOOR};
use denise::{Error, Outputs, Status, StreamOptions};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a stream is made for.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    n: usize,
    /// `None`: the model's own.
    k: Option<usize>,
    options: StreamOptions,
}

impl Settings {
    #[allow(clippy::too_many_arguments, reason = "the options of Python")]
    pub(crate) fn new(
        n: Whole,
        k: Option<Whole>,
        window: Whole,
        half_life: Number,
        correlation: Switch,
        demean: Switch,
        warm_up: Whole,
        streams: Whole,
    ) -> PyResult<Settings> {
        Ok(Settings {
            n: n.at_least("n", 2)?,
            k: k.map(|k| k.at_least("k", 1)).transpose()?,
            options: StreamOptions {
                streams: streams.at_least("streams", 1)?,
                window: window.at_least("window", 0)?,
                half_life: half_life.named("half_life")?,
                correlation: correlation.named("correlation")?,
                demean: demean.named("demean")?,
                warm_up: warm_up.at_least("warm_up", 0)?,
            },
        })
    }
}

/// A stream of returns: at every tick the covariance is estimated again, and its split follows it.
///
/// Columns of U do not flip or change places from tick to tick. Many threads may call: one waits for the other.
///
/// Parameters
/// ----------
/// n : int
///     Assets.
/// k : int, optional
///     Largest rank of L; by default the model's own, which is 3 for the network built in.
/// window : int, default 0
///     Ticks of a moving window; 0 for exponential weights.
/// half_life : float, default 0.0
///     Ticks until an observation counts half; 0 stands for 60.
/// correlation : bool, default False
///     Split the correlation matrix, and scale back.
/// demean : bool, default False
///     Subtract the means of the returns. Otherwise they count as zero, as they nearly are over short times.
/// warm_up : int, default 0
///     Ticks before the first split; 0 stands for 2 k.
/// streams : int, default 1
///     Independent streams that advance together, which is faster than many objects.
/// model : Model, optional
///     The network; k is then the model's own.
///
/// Examples
/// --------
/// >>> import numpy as np, denise
/// >>> stream = denise.Stream(4, k=1, window=8)
/// >>> for market in [0.01, -0.02, 0.015, 0.0, -0.005] * 2:
/// ...     result = stream.push(market * np.array([1.0, 0.5, 2.0, 1.0]), u=True)
/// >>> print((result.loadings[2] / result.loadings[0]).round(2))
/// [2.]
#[pyclass(frozen, module = "denise")]
pub(crate) struct Stream {
    inner: Mutex<Inner>,
    settings: Settings,
    model: Option<Py<Model>>,
    k: usize,
}

struct Inner {
    stream: denise::Stream,
    /// U of the last tick, and the diagonal of its matrix if that was the caller's own.
    u: Vec<f64>,
    given: Option<Vec<f64>>,
}

/// What comes in.
#[derive(Clone, Copy)]
enum What {
    Returns,
    Matrices,
}

impl Stream {
    pub(crate) fn make(
        py: Python<'_>,
        settings: Settings,
        model: Option<&Bound<'_, Model>>,
    ) -> PyResult<Stream> {
        let (models, mut kind) = match model {
            Some(model) => (&model.get().models, model.get().kind),
            None => (
                &BUILTIN,
                Kind {
                    k: 0,
                    correlation: false,
                    missing: true,
                    careful: false,
                    threads: 1,
                    half_weights: false,
                    byte_weights: false,
                },
            ),
        };
        if let Some(k) = settings.k {
            kind.k = k;
        }
        // One that is kept would be found again by whoever wants another stream.
        let network = match models.find(settings.n, kind) {
            Some(network) => network,
            None => make(py, models, settings.n, kind)?,
        };
        let stream = py
            .detach(|| guard(|| network.stream(&settings.options)))
            .map_err(exception)?;
        Ok(Stream {
            k: stream.k(),
            inner: Mutex::new(Inner {
                stream,
                u: Vec::new(),
                given: None,
            }),
            settings,
            model: model.map(|model| model.clone().unbind()),
        })
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Inner> {
        self.inner
            .lock_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The shape of what comes out at a tick, but for its last dimensions.
    fn leading(&self) -> &[usize] {
        match &self.settings.options.streams {
            1 => &[],
            streams => std::slice::from_ref(streams),
        }
    }

    /// Takes `ticks` ticks in, which may be one, and gives the splits with this leading shape.
    fn take<'py>(
        &self,
        py: Python<'py>,
        input: &Array<'py>,
        what: What,
        ticks: Option<usize>,
        wish: (bool, bool),
    ) -> PyResult<Decomposition> {
        match input {
            Array::F32(values) => self.take_typed(py, values, what, ticks, wish),
            Array::F64(values) => self.take_typed(py, values, what, ticks, wish),
        }
    }

    fn take_typed<'py, F: Value>(
        &self,
        py: Python<'py>,
        input: &Bound<'py, PyArrayDyn<F>>,
        what: What,
        ticks: Option<usize>,
        (u, check_finite): (bool, bool),
    ) -> PyResult<Decomposition> {
        let (n, k) = (self.settings.n, self.k);
        let leading: Vec<usize> = ticks.iter().chain(self.leading()).copied().collect();
        let shape = |last: [usize; 2]| leading.iter().copied().chain(last).collect::<Vec<_>>();
        let square = shape([n, n]);
        let (l, s) = (
            arrays::empty::<F>(py, &square)?,
            arrays::empty::<F>(py, &square)?,
        );
        // Always computed: `sigma` needs the last.
        let u_array = arrays::empty::<F>(py, &shape([n, k]))?;
        let (streams, ticks) = (self.settings.options.streams, ticks.unwrap_or(1));
        let mut room = Room::new(&square, streams * ticks)?;
        let mut inner = self.lock(py);
        let result = {
            // SAFETY: just made.
            let (l, s, u) = unsafe { (values_mut(&l), values_mut(&s), values_mut(&u_array)) };
            let (all, reports) = (values(input), room.reports());
            let inner = &mut *inner;
            py.detach(|| guard(|| inner.run(all, what, ticks, [l, s, u], reports)))
        };
        drop(inner);
        let single = room.single();
        match result {
            Err(error) if error.status == Status::NotFinite && matches!(what, What::Returns) => {
                if check_finite {
                    return Err(wrong(
                        "returns",
                        "infinity, or a return above 1e100; NaN is a return that is not known",
                    ));
                }
            }
            result => outcome(result, check_finite, room.reports(), single, n)?,
        }
        let u = u.then(|| u_array.into_any().unbind());
        Ok(with_parts(
            l.into_any().unbind(),
            s.into_any().unbind(),
            u,
            Some(room.finish(&square)),
        ))
    }
}

impl Inner {
    /// Tick after tick.
    fn run<F: Value>(
        &mut self,
        all: &[F],
        what: What,
        ticks: usize,
        [l, s, u]: [&mut [F]; 3],
        reports: &mut [denise::Report],
    ) -> Result<(), Error> {
        let (n, k, streams) = (self.stream.n(), self.stream.k(), self.stream.streams());
        let (square, factor) = (streams * n * n, streams * n * k);
        let each = match what {
            What::Returns => streams * n,
            What::Matrices => square,
        };
        let mut outcome = Ok(());
        for tick in 0..ticks {
            let given = &all[tick * each..][..each];
            let out = Outputs {
                u: Some(&mut u[tick * factor..][..factor]),
                l: Some(&mut l[tick * square..][..square]),
                s: Some(&mut s[tick * square..][..square]),
                reports: Some(&mut reports[tick * streams..][..streams]),
            };
            let result = match what {
                What::Returns => self.stream.push(given, out),
                What::Matrices => self.stream.push_matrices(given, out),
            };
            match result {
                Err(error) if error.status != Status::NotFinite => return Err(error),
                Err(error) => outcome = Err(error),
                Ok(()) => {}
            }
        }
        if ticks > 0 {
            self.u.clear();
            self.u.try_reserve_exact(factor)?;
            self.u.extend(
                u[(ticks - 1) * factor..]
                    .iter()
                    .map(|&x| -> f64 { x.into() }),
            );
            let last = &all[(ticks - 1) * each..];
            self.given = matches!(what, What::Matrices).then(|| {
                let diagonal =
                    |m: &[F]| (0..n).map(|i| m[i * (n + 1)].into()).collect::<Vec<f64>>();
                last.chunks_exact(n * n).flat_map(diagonal).collect()
            });
        }
        outcome
    }
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (n, k=None, *, window=Whole::Is(0), half_life=Number::Is(0.0), correlation=OFF, demean=OFF,
                        warm_up=Whole::Is(0), streams=Whole::Is(1), model=None),
           text_signature = "(n, k=None, *, window=0, half_life=0.0, correlation=False, demean=False, warm_up=0, \
                             streams=1, model=None)")]
    #[allow(clippy::too_many_arguments, reason = "the options of Python")]
    fn new(
        py: Python<'_>,
        n: Whole,
        k: Option<Whole>,
        window: Whole,
        half_life: Number,
        correlation: Switch,
        demean: Switch,
        warm_up: Whole,
        streams: Whole,
        model: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Stream> {
        let model = model
            .map(|model| model.cast::<Model>())
            .transpose()
            .map_err(|_| PyTypeError::new_err("model: must be a denise.Model"))?;
        let settings = Settings::new(
            n,
            k,
            window,
            half_life,
            correlation,
            demean,
            warm_up,
            streams,
        )?;
        Stream::make(py, settings, model)
    }

    /// Assets.
    #[getter]
    fn n(&self) -> usize {
        self.settings.n
    }

    /// Largest rank of L.
    #[getter]
    fn k(&self) -> usize {
        self.k
    }

    /// Independent streams that advance together.
    #[getter]
    fn streams(&self) -> usize {
        self.settings.options.streams
    }

    /// A tick: take the returns in, estimate the covariance again, and split it.
    ///
    /// Parameters
    /// ----------
    /// returns : array_like of shape (n,), or (streams, n)
    ///     NaN is a return that is not known. float32 gives float32.
    /// u : bool, default False
    ///     Whether to give U too, as ``loadings``.
    /// check_finite : bool, default True
    ///     Whether infinity is a ValueError. Otherwise the results of its stream are NaN. The tick counts either way.
    ///
    /// Returns
    /// -------
    /// Decomposition
    ///     NaN, with status 10 in its report, until there have been enough ticks. ``sparse`` is NaN for pairs of assets
    ///     that have not been seen together often enough.
    #[pyo3(signature = (returns, *, u=OFF, check_finite=ON))]
    fn push(
        &self,
        returns: &Bound<'_, PyAny>,
        u: Switch,
        check_finite: Switch,
    ) -> PyResult<Decomposition> {
        let Input { array, labels } = read(returns, "returns", "returns")?;
        self.expect("returns", array.shape(), &[self.settings.n], None)?;
        let result = self.take(
            returns.py(),
            &array,
            What::Returns,
            None,
            wish(u, check_finite)?,
        )?;
        result.labelled(returns.py(), labels.as_ref())
    }

    /// A tick with a covariance of the caller's own, which leaves the estimate as it is.
    ///
    /// Parameters
    /// ----------
    /// M : array_like of shape (n, n), or (streams, n, n)
    ///     NaN is an entry that is not known; with a ``model``, only if that was made so.
    /// u, check_finite
    ///     As for `push`. A stream whose matrix is not finite stays where it was.
    #[pyo3(signature = (M, *, u=OFF, check_finite=ON))]
    #[allow(non_snake_case, reason = "the name in Python")]
    fn push_matrix(
        &self,
        M: &Bound<'_, PyAny>,
        u: Switch,
        check_finite: Switch,
    ) -> PyResult<Decomposition> {
        let Input { array, labels } = matrices(M, "M")?;
        let n = self.settings.n;
        self.expect("M", array.shape(), &[n, n], None)?;
        let result = self.take(M.py(), &array, What::Matrices, None, wish(u, check_finite)?)?;
        result.labelled(M.py(), labels.as_ref())
    }

    /// Many ticks at once, as `push` would take them one by one.
    ///
    /// Parameters
    /// ----------
    /// returns : array_like of shape (T, n), or (T, streams, n)
    ///     A row for each tick. A DataFrame with a row for each tick gives DataFrames with rows of (time, asset).
    /// u, check_finite
    ///     As for `push`.
    ///
    /// Returns
    /// -------
    /// Decomposition
    ///     With the leading shape (T,), or (T, streams).
    #[pyo3(signature = (returns, *, u=OFF, check_finite=ON))]
    fn replay(
        &self,
        returns: &Bound<'_, PyAny>,
        u: Switch,
        check_finite: Switch,
    ) -> PyResult<Decomposition> {
        let Input { array, labels } = read(returns, "returns", "history")?;
        let ticks = array.shape().first().copied().unwrap_or(0);
        self.expect("returns", array.shape(), &[self.settings.n], Some(ticks))?;
        let result = self.take(
            returns.py(),
            &array,
            What::Returns,
            Some(ticks),
            wish(u, check_finite)?,
        )?;
        result.labelled(returns.py(), labels.as_ref())
    }

    /// The covariance that has been estimated from returns, NaN where too little is known.
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let n = self.settings.n;
        let shape: Vec<usize> = self.leading().iter().copied().chain([n, n]).collect();
        let m = arrays::empty::<f64>(py, &shape)?;
        let inner = self.lock(py);
        // SAFETY: just made.
        let all = unsafe { values_mut(&m) };
        guard(|| inner.stream.covariance(all)).map_err(exception)?;
        Ok(m.into_any())
    }

    /// A covariance that can be inverted, Σ = U Uᵀ + diag(d), from the last tick; see `denise.covariance`.
    #[pyo3(signature = (*, floor=Number::Is(DEFAULT_FLOOR)), text_signature = "($self, *, floor=0.05)")]
    fn sigma(&self, py: Python<'_>, floor: Number) -> PyResult<Covariance> {
        let floor = arguments::floor(floor)?;
        let (n, k, streams) = (self.settings.n, self.k, self.settings.options.streams);
        let inner = self.lock(py);
        if inner.u.is_empty() {
            return Err(wrong("stream", "there has been no tick yet"));
        }
        let mut m = vec![0.0; streams * n * n];
        let variances = match &inner.given {
            Some(given) => given.clone(),
            None => {
                guard(|| inner.stream.covariance(&mut m)).map_err(exception)?;
                (0..streams * n)
                    .map(|at| m[at / n * n * n + at % n * (n + 1)])
                    .collect()
            }
        };
        let mut d = vec![0.0; streams * n];
        let out = library::Outputs {
            d: Some(&mut d),
            ..library::Outputs::default()
        };
        guard(|| library::from_diagonal(n, k, &variances, &inner.u, floor, out)).map_err(
            |error| match error.status {
                Status::NotFinite => wrong("stream", "there was no split at the last tick"),
                _ => exception(error),
            },
        )?;
        let leading: Vec<usize> = self.leading().iter().copied().chain([n]).collect();
        of_stream(py, &leading, [inner.u.clone(), d, variances], k, floor)
    }

    /// All that the stream knows, as bytes that any machine can read, also by the library's C interface.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let inner = self.lock(py);
        let size = inner.stream.state_size();
        PyBytes::new_with(py, size, |state| {
            guard(|| inner.stream.save(state)).map_err(exception)
        })
    }

    /// Go on where `save` was called, on this object or on another one that was made alike: with the same bits.
    fn restore(&self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let state = bytes(state)?;
        let mut inner = self.lock(py);
        guard(|| inner.stream.restore(state)).map_err(|error| wrong("state", error))?;
        inner.u.clear();
        inner.given = None;
        Ok(())
    }

    /// Forget everything.
    fn reset(&self, py: Python<'_>) {
        let mut inner = self.lock(py);
        inner.stream.reset();
        inner.u.clear();
        inner.given = None;
    }

    fn __repr__(&self) -> String {
        let StreamOptions {
            streams,
            window,
            half_life,
            ..
        } = self.settings.options;
        let memory = match (window, half_life) {
            (0, 0.0) => "half_life=60.0".to_owned(),
            (0, half_life) => format!("half_life={half_life:?}"),
            (window, _) => format!("window={window}"),
        };
        format!(
            "Stream({}, k={}, {memory}, streams={streams})",
            self.settings.n, self.k
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, own) = (slf.py(), slf.get());
        let options = PyDict::new(py);
        let StreamOptions {
            streams,
            window,
            half_life,
            correlation,
            demean,
            warm_up,
        } = own.settings.options;
        options.set_item("n", own.settings.n)?;
        options.set_item("k", own.settings.k)?;
        options.set_item("streams", streams)?;
        options.set_item("window", window)?;
        options.set_item("half_life", half_life)?;
        options.set_item("correlation", correlation)?;
        options.set_item("demean", demean)?;
        options.set_item("warm_up", warm_up)?;
        options.set_item("model", own.model.as_ref().map(|model| model.bind(py)))?;
        let inner = own.lock(py);
        let state = PyBytes::new_with(py, inner.stream.state_size(), |state| {
            guard(|| inner.stream.save(state)).map_err(exception)
        })?;
        let last = (inner.u.clone(), inner.given.clone());
        drop(inner);
        let make = py.import("denise._denise")?.getattr("_stream")?;
        (make, (options, state, last))
            .into_pyobject(py)
            .map(Bound::into_any)
    }

    fn __deepcopy__<'py>(
        slf: &Bound<'py, Self>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let parts = Stream::__reduce__(slf)?;
        let (make, arguments): (Bound<'py, PyAny>, Bound<'py, pyo3::types::PyTuple>) =
            parts.extract()?;
        make.call1(arguments)
    }
}

impl Stream {
    fn expect(
        &self,
        name: &str,
        shape: &[usize],
        last: &[usize],
        ticks: Option<usize>,
    ) -> PyResult<()> {
        let wanted: Vec<usize> = ticks
            .iter()
            .chain(self.leading())
            .chain(last)
            .copied()
            .collect();
        if shape != wanted {
            let first = match ticks {
                Some(_) => "(ticks, …) as in ",
                None => "",
            };
            return Err(wrong(
                name,
                format_args!("the shape is {shape:?}; it must be {first}{wanted:?}"),
            ));
        }
        Ok(())
    }
}

/// Whether U is wanted, and whether what is not finite is an error.
fn wish(u: Switch, check_finite: Switch) -> PyResult<(bool, bool)> {
    Ok((u.named("u")?, check_finite.named("check_finite")?))
}

type Last = (Vec<f64>, Option<Vec<f64>>);

/// A stream from its options, its state, and what is known of its last tick.
#[pyfunction]
#[pyo3(name = "_stream")]
pub(crate) fn from_parts<'py>(
    options: &Bound<'py, PyDict>,
    state: &Bound<'py, PyAny>,
    last: Last,
) -> PyResult<Bound<'py, PyAny>> {
    let py = options.py();
    let stream = py.get_type::<Stream>().call((), Some(options))?;
    let own = stream.cast::<Stream>()?.get();
    own.restore(py, state)?;
    let (n, k, streams) = (own.settings.n, own.k, own.settings.options.streams);
    let (u, given) = last;
    let fits = |len: usize, each: usize| len == streams * each;
    if !(u.is_empty() || fits(u.len(), n * k))
        || given.as_ref().is_some_and(|given| !fits(given.len(), n))
    {
        return Err(wrong("last", "not that of such a stream"));
    }
    let mut inner = own.lock(py);
    inner.u = u;
    inner.given = given;
    drop(inner);
    Ok(stream)
}

fn bytes<'a>(state: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    let state = state
        .cast::<PyBytes>()
        .map_err(|_| PyTypeError::new_err("state: must be bytes"))?;
    Ok(state.as_bytes())
}
