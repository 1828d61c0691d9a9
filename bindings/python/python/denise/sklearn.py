"""A covariance estimator for scikit-learn: `DeniseCovariance`.

Needs scikit-learn: ``pip install scikit-learn``.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

try:
    from scipy.linalg import solve_triangular
    from sklearn.base import _fit_context
    from sklearn.covariance import EmpiricalCovariance
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import Tags
    from sklearn.utils._param_validation import Interval, StrOptions
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("denise.sklearn needs scikit-learn 1.9 or later: pip install 'scikit-learn>=1.9'") from error

import denise

from ._estimate import Bools, Estimate, Floats, Split

__all__ = ["DeniseCovariance"]


class DeniseCovariance(EmpiricalCovariance):  # type: ignore[misc]
    """Covariance of a few common factors and what each feature does on its own, Σ = U Uᵀ + diag(d).

    The sample covariance M is split into L + S, L = U Uᵀ of rank at most k and S sparse. Σ keeps L and the diagonal of
    S. It is positive definite for any data, also for fewer samples than features.

    NaN in X is a value that is not known. Covariances are then taken over the samples that a pair of features has in
    common, and a pair that has too few of them is filled in from the factors.

    Parameters
    ----------
    k : int or "auto", default=3
        Largest rank of L, at most 32; less than the number of features, or it is made so (see `k_`). "auto" takes what
        `denise.rank` suggests, and at least 1.
    floor : float, default=0.05
        Least share of a variance that is a feature's own. It bounds the condition number of Σ.
    correlation : bool, default=True
        Split the correlation matrix, and scale back: then the units of the features do not matter.
    half_life : float or None, default=None
        Samples until one counts half, the last sample in X being the latest. None: all count the same.
    min_observations : int, default=2
        How many samples a pair of features must have in common. If it has fewer, its covariance is not known.
    store_precision : bool, default=True
        Whether `precision_` is stored.
    assume_centered : bool, default=False
        Whether the means are zero.

    Attributes
    ----------
    covariance_ : ndarray of shape (n_features, n_features)
        Σ.
    precision_ : ndarray of shape (n_features, n_features)
        Its inverse, by Woodbury's identity; None if `store_precision` is False.
    location_ : ndarray of shape (n_features,)
        The means. 0 for a feature that was never known.
    low_rank_, sparse_ : ndarrays of shape (n_features, n_features)
        L and S. Their sum is the sample covariance; S is NaN where that is not known.
    loadings_ : ndarray of shape (n_features, k_)
        U.
    specific_ : ndarray of shape (n_features,)
        d.
    k_ : int
        The rank that was used.
    report_ : denise.Report or None
        What the library says about the split; None if fewer than two features have a variance.
    n_features_in_, feature_names_in_
        As in every estimator of scikit-learn.

    Notes
    -----
    A feature that never varies, or was never known, gets the mean of the others' d: it is not one without risk.

    Examples
    --------
    >>> import numpy as np
    >>> from denise.sklearn import DeniseCovariance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 1)) + rng.normal(size=(50, 80))
    >>> model = DeniseCovariance(k=1).fit(X)
    >>> model.covariance_.shape, model.loadings_.shape
    ((80, 80), (80, 1))
    >>> bool(np.linalg.eigvalsh(model.covariance_).min() > 0)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EmpiricalCovariance._parameter_constraints,
        "k": [Interval(Integral, 1, 32, closed="both"), StrOptions({"auto"})],
        "floor": [Interval(Real, 1e-6, 1, closed="both")],
        "correlation": ["boolean"],
        "half_life": [Interval(Real, 0, None, closed="neither"), None],
        "min_observations": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        k: int | Literal["auto"] = 3,
        floor: float = 0.05,
        correlation: bool = True,
        half_life: float | None = None,
        min_observations: int = 2,
        store_precision: bool = True,
        assume_centered: bool = False,
    ) -> None:
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.k = k
        self.floor = floor
        self.correlation = correlation
        self.half_life = half_life
        self.min_observations = min_observations

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: None = None) -> DeniseCovariance:
        """Estimate Σ from X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data; NaN is not known.
        y : Ignored
            There by convention.

        Returns
        -------
        self : DeniseCovariance
        """
        rows = self._rows_to_learn(X, reset=True, least=2)
        self._estimate = self._begin()
        split = self._estimate.add(rows)
        if split is None:
            raise ValueError("X: no feature has a variance that is known and positive")
        self._store(split)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: npt.ArrayLike, y: None = None) -> DeniseCovariance:
        """Take more samples in, later than those before.

        The first call is as `fit`. After that, and after `fit`, U follows the sample covariance from sample to sample
        (see `denise.Stream`): it moves as little as it must, and so L is not what a new split would give.
        When features get their first variance there is a new split. As long as none has one, everything is NaN.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data, in the order of time; NaN is not known.
        y : Ignored
            There by convention.

        Returns
        -------
        self : DeniseCovariance

        Examples
        --------
        >>> import numpy as np
        >>> from denise.sklearn import DeniseCovariance
        >>> X = np.random.default_rng(0).normal(size=(100, 5))
        >>> model = DeniseCovariance(k=1, half_life=30).fit(X[:90])
        >>> for row in X[90:]:
        ...     model = model.partial_fit([row])
        >>> whole = DeniseCovariance(k=1, half_life=30).fit(X)
        >>> np.allclose(model.low_rank_ + model.sparse_, whole.low_rank_ + whole.sparse_)
        True
        """
        first = not hasattr(self, "_estimate")
        rows = self._rows_to_learn(X, reset=first, least=1)
        if first:
            self._estimate = self._begin()
        self._store(self._estimate.add(rows))
        return self

    def get_precision(self) -> Floats:
        """Return the inverse of Σ.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self, "covariance_")
        precision: Floats | None = self.precision_
        if precision is None:
            precision = np.asarray(denise.solve((self.loadings_, self.specific_), np.eye(self.n_features_in_)))
        return precision

    def score(self, X_test: npt.ArrayLike, y: None = None) -> float:
        """Return the mean log-likelihood of samples, if they are normal with `location_` and `covariance_`.

        Parameters
        ----------
        X_test : array-like of shape (n_samples, n_features)
            The samples. Of one with NaN the likelihood is that of what is known; one without a known value is left out.
        y : Ignored
            There by convention.

        Returns
        -------
        float
        """
        rows, known = self._rows_to_judge(X_test)
        if not known.any():
            raise ValueError("X_test: no value is known")
        distances, determinants = self._distances(rows, known)
        each = -0.5 * (distances + determinants + known.sum(axis=1) * np.log(2 * np.pi))
        return float(each[known.any(axis=1)].mean())

    def mahalanobis(self, X: npt.ArrayLike) -> Floats:
        """Return the squared Mahalanobis distances of samples from `location_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples. Of one with NaN the distance is that of what is known.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._distances(*self._rows_to_judge(X))[0]

    def _rows_to_learn(self, X: npt.ArrayLike, *, reset: bool, least: int) -> Floats:
        # One feature has no pair. Later X are held against the first.
        limits = {"ensure_min_samples": least, "ensure_min_features": 2 if reset else 1}
        rows: Floats = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", **limits)
        return rows

    def _begin(self) -> Estimate:
        return Estimate(
            self.n_features_in_,
            k=self.k,
            floor=self.floor,
            correlation=self.correlation,
            half_life=self.half_life,
            centered=self.assume_centered,
            least=self.min_observations,
        )

    def _store(self, split: Split | None) -> None:
        n = self.n_features_in_
        if split is None:
            k = 1 if self.k == "auto" else min(self.k, n - 1)
            location, loadings, specific, *matrices = (
                np.full(shape, np.nan) for shape in ((n,), (n, k), (n,), (n, n), (n, n), (n, n), (n, n))
            )
            sigma, inverse, low_rank, sparse = matrices
            self.report_ = None
        else:
            location = np.nan_to_num(self._estimate.mean())
            loadings, specific = split.sigma.loadings, split.sigma.specific
            sigma, inverse, low_rank, sparse = split.sigma.sigma, split.sigma.inverse, split.low_rank, split.sparse
            self.report_ = split.report
        self.location_ = location
        self.loadings_ = loadings
        self.k_ = loadings.shape[1]
        self.specific_ = specific
        self.covariance_ = sigma
        self.precision_ = inverse if self.store_precision else None
        self.low_rank_ = low_rank
        self.sparse_ = sparse

    def _rows_to_judge(self, X: npt.ArrayLike) -> tuple[Floats, Bools]:
        check_is_fitted(self, "covariance_")
        rows = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        if np.isnan(self.specific_).all():
            raise NotFittedError("no variance is known yet: give partial_fit more samples")
        rows = rows - self.location_
        return rows, ~np.isnan(rows)

    def _distances(self, rows: Floats, known: Bools) -> tuple[Floats, Floats]:
        """Squared distances, and the log-determinants of the Σ of what is known, for each row."""
        distances, determinants = np.zeros(len(rows)), np.zeros(len(rows))
        patterns, which = np.unique(known, axis=0, return_inverse=True)
        for number, here in enumerate(patterns):
            these = which.ravel() == number
            root = np.linalg.cholesky(self.covariance_[np.ix_(here, here)])
            scaled = solve_triangular(root, rows[np.ix_(these, here)].T, lower=True)
            distances[these] = (scaled**2).sum(axis=0)
            determinants[these] = 2 * np.log(root.diagonal()).sum()
        return distances, determinants

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
