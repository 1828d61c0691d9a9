"""Estimators for skfolio: `DeniseCovariance`, and `DenisePrior`, which hands its factors on.

Needs skfolio: ``pip install skfolio``.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

try:
    import pandas as pd
    from skfolio.moments import BaseCovariance, BaseMu, EWMu
    from skfolio.prior import BasePrior, EmpiricalPrior, FactorModel, ReturnDistribution
    from sklearn.base import clone
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
    from sklearn.utils.validation import validate_data
except ImportError as error:
    raise ImportError("denise.skfolio needs skfolio 1.12 or later: pip install 'skfolio>=1.12'") from error

from ._estimate import Bools, Estimate, Floats, Split

__all__ = ["DeniseCovariance", "DenisePrior"]


class DeniseCovariance(BaseCovariance):  # type: ignore[misc]
    """Covariance of a few common factors and what each asset does on its own, Σ = U Uᵀ + diag(d).

    The covariance M of the returns is split into L + S, L = U Uᵀ of rank at most k and S sparse. Σ keeps L and the
    diagonal of S. It is positive definite for any returns, so nothing needs to be made positive definite afterwards.

    NaN is a return that is not known. As in skfolio's own estimators it means a holiday for an asset that is active:
    its pairs keep their covariances. An asset that is not active (`active_mask` False) is forgotten, and is NaN in
    `covariance_`, as is one that has not been seen `min_observations` times. A pair of assets that has not been seen
    together so often is filled in from the factors.

    Parameters
    ----------
    k : int or "auto", default=3
        Largest rank of L, at most 32; less than the number of assets, or it is made so. "auto" takes what
        `denise.rank` suggests for the first returns, and at least 1.
    floor : float, default=0.05
        Least share of a variance that is an asset's own. It bounds the condition number of Σ.
    correlation : bool, default=True
        Split the correlation matrix, and scale back: then volatile assets count no more than quiet ones.
    half_life : float or None, default=60
        Observations until one counts half; None: all count the same.
    min_observations : int, optional
        Observations before an asset is known. By default the half-life, or 20 if all observations count the same.
    assume_centered : bool, default=True
        Whether the means are zero.

    Attributes
    ----------
    covariance_ : ndarray of shape (n_assets, n_assets)
        Σ; NaN for assets that are not known.
    location_ : ndarray of shape (n_assets,)
        The means; zeros if they are assumed.
    low_rank_, sparse_ : ndarrays of shape (n_assets, n_assets)
        L and S; their sum is M.
    loadings_ : ndarray of shape (n_assets, k_)
        U.
    specific_ : ndarray of shape (n_assets,)
        d.
    k_ : int
        The rank that was used.
    report_ : denise.Report or None
        What the library says about the split; None if fewer than two assets are known.
    n_features_in_, feature_names_in_
        As in every estimator of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from denise.skfolio import DeniseCovariance
    >>> rng = np.random.default_rng(0)
    >>> X = 0.01 * (rng.normal(size=(200, 1)) + rng.normal(size=(200, 5)))
    >>> active = np.ones(X.shape, dtype=bool)
    >>> active[150:, 4] = False  # delisted
    >>> model = DeniseCovariance(k=1).fit(X, active_mask=active)
    >>> np.isnan(model.covariance_.diagonal())
    array([False, False, False, False,  True])
    """

    # Who passes an active_mask through skfolio's routing need not ask for it to arrive here.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"active_mask": True}
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"active_mask": True}

    def __init__(
        self,
        *,
        k: int | Literal["auto"] = 3,
        floor: float = 0.05,
        correlation: bool = True,
        half_life: float | None = 60,
        min_observations: int | None = None,
        assume_centered: bool = True,
    ) -> None:
        super().__init__(assume_centered=assume_centered, nearest=False)
        self.k = k
        self.floor = floor
        self.correlation = correlation
        self.half_life = half_life
        self.min_observations = min_observations

    def fit(
        self, X: npt.ArrayLike, y: None = None, *, active_mask: npt.ArrayLike | None = None
    ) -> DeniseCovariance:
        """Estimate Σ from returns.

        Parameters
        ----------
        X : array-like of shape (n_observations, n_assets)
            Returns; NaN is not known.
        y : Ignored
            There by convention.
        active_mask : array-like of shape (n_observations, n_assets), optional
            Whether an asset is active: False before it is listed and after it is delisted. By default all are.

        Returns
        -------
        self : DeniseCovariance
        """
        if hasattr(self, "_estimate"):
            del self._estimate
        return self.partial_fit(X, y, active_mask=active_mask)

    def partial_fit(
        self, X: npt.ArrayLike, y: None = None, *, active_mask: npt.ArrayLike | None = None
    ) -> DeniseCovariance:
        """Take more returns in, later than those before.

        After the first call U follows M from observation to observation (see `denise.Stream`): it moves as little as
        it must, and so L is not what a new split would give. When assets come or go there is a new split.

        Parameters
        ----------
        X, y, active_mask
            As for `fit`.

        Returns
        -------
        self : DeniseCovariance
        """
        first = not hasattr(self, "_estimate")
        limits = {"ensure_min_features": 2 if first else 1}
        rows = validate_data(self, X, reset=first, dtype=np.float64, ensure_all_finite="allow-nan", **limits)
        active = None if active_mask is None else np.asarray(active_mask, dtype=bool)
        if active is not None and active.shape != rows.shape:
            raise ValueError(f"active_mask: the shape is {active.shape}, where X has {rows.shape}")
        if first:
            self._estimate = self._begin()
        self._store(self._estimate.add(rows, active))
        return self

    def _begin(self) -> Estimate:
        _check(self.k == "auto" or (_is(self.k, Integral) and 1 <= self.k <= 32), "k", self.k, '1 to 32, or "auto"')
        _check(_is(self.floor, Real) and 1e-6 <= self.floor <= 1, "floor", self.floor, "from 1e-6 to 1")
        half_life, least = self.half_life, self.min_observations
        for name, value, kind in (("half_life", half_life, Real), ("min_observations", least, Integral)):
            _check(value is None or (_is(value, kind) and value > 0), name, value, "positive, or None")
        if least is None:
            least = 20 if half_life is None else max(1, int(half_life))
        return Estimate(
            self.n_features_in_,
            k=self.k,
            floor=self.floor,
            correlation=self.correlation,
            half_life=half_life,
            centered=self.assume_centered,
            least=least,
        )

    def _store(self, split: Split | None) -> None:
        n = self.n_features_in_
        unknown = ~self._estimate.live
        if split is None:
            k = 1 if self.k == "auto" else min(self.k, n - 1)
            loadings, specific = np.full((n, k), np.nan), np.full(n, np.nan)
            sigma, low_rank, sparse = (np.full((n, n), np.nan) for _ in range(3))
            self.report_ = None
        else:
            # The library completes everything; here what is not known must be NaN.
            loadings, specific = split.sigma.loadings.copy(), split.sigma.specific.copy()
            sigma, low_rank, sparse = split.sigma.sigma.copy(), split.low_rank, split.sparse
            for table in (loadings, specific, sigma, low_rank, sparse):
                table[unknown] = np.nan
            for table in (sigma, low_rank, sparse):
                table[:, unknown] = np.nan
            self.report_ = split.report
        self.location_ = self._estimate.mean()
        self.loadings_ = loadings
        self.k_ = loadings.shape[1]
        self.specific_ = specific
        self.low_rank_ = low_rank
        self.sparse_ = sparse
        self._set_covariance(sigma)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class DenisePrior(BasePrior):  # type: ignore[misc]
    """Returns, their means, Σ of `DeniseCovariance`, and its factors as a factor model.

    Optimizers take the factor model as it is, U and d: they never see an n×n square root of Σ. Constraints may name
    the factors ("factor_1 <= 0.5"), and skfolio's attribution works with them.

    Parameters
    ----------
    mu_estimator : BaseMu, optional
        The expected returns. By default `skfolio.moments.EWMu`, which takes NaN and `partial_fit`.
    covariance_estimator : DeniseCovariance, optional
        By default one with its defaults.
    max_history : int, optional
        Observations that are kept in `return_distribution_.returns`; by default all.

    Attributes
    ----------
    return_distribution_ : ReturnDistribution
        With `factor_model`: `loading_matrix` U, `factor_covariance` I and `idio_covariance` d. `factor_returns` are
        the returns regressed on U, each asset with the weight 1/d, and `idio_returns` what is left; `factor_mu` and
        `idio_mu` are those of the expected returns. Assets that are not known are NaN.
    mu_estimator_, covariance_estimator_
        As they were fitted.
    n_features_in_, feature_names_in_
        As in every estimator of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from skfolio.optimization import MeanRisk
    >>> from denise.skfolio import DeniseCovariance, DenisePrior
    >>> rng = np.random.default_rng(0)
    >>> X = 0.01 * (rng.normal(size=(200, 1)) + rng.normal(size=(200, 5)))
    >>> model = MeanRisk(prior_estimator=DenisePrior(covariance_estimator=DeniseCovariance(k=1))).fit(X)
    >>> model.prior_estimator_.return_distribution_.factor_model.loading_matrix.shape
    (5, 1)
    """

    def __init__(
        self,
        *,
        mu_estimator: BaseMu | None = None,
        covariance_estimator: DeniseCovariance | None = None,
        max_history: int | None = None,
    ) -> None:
        self.mu_estimator = mu_estimator
        self.covariance_estimator = covariance_estimator
        self.max_history = max_history

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata goes: what `fit` and `partial_fit` get, both estimators may ask for.

        Returns
        -------
        MetadataRouter
        """
        methods = MethodMapping().add(caller="fit", callee="fit").add(caller="partial_fit", callee="partial_fit")
        return MetadataRouter(owner=type(self).__name__).add(prior=self._empirical(), method_mapping=methods)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None, **fit_params: Any) -> DenisePrior:
        """Estimate the distribution of returns.

        Parameters
        ----------
        X : array-like of shape (n_observations, n_assets)
            Returns; NaN is not known.
        y : array-like, optional
            For the estimators that want one.
        **fit_params : dict
            Such as `active_mask`, for the estimators that ask for it, if metadata routing is enabled.

        Returns
        -------
        self : DenisePrior
        """
        return self._fit("fit", X, y, fit_params)

    def partial_fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None, **fit_params: Any) -> DenisePrior:
        """Take more returns in, later than those before.

        Parameters
        ----------
        X, y, **fit_params
            As for `fit`.

        Returns
        -------
        self : DenisePrior
        """
        return self._fit("partial_fit", X, y, fit_params)

    def _fit(
        self, method: Literal["fit", "partial_fit"], X: npt.ArrayLike, y: npt.ArrayLike | None, params: dict[str, Any]
    ) -> DenisePrior:
        routed = process_routing(self, method, **params)
        first = method == "fit" or not hasattr(self, "_prior")
        if first:
            self._prior = clone(self._empirical())
            self._count = 0
            self._labels: pd.Index[Any] | None = None
        getattr(self._prior, method)(X, y, **routed.prior[method])
        rows = validate_data(self, X, reset=first, dtype=np.float64, ensure_all_finite="allow-nan")
        distribution = self._prior.return_distribution_
        labels = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(self._count, self._count + len(rows))
        self._count += len(rows)
        labels = labels if self._labels is None else self._labels.append(labels)
        self._labels = labels[-len(distribution.returns) :]
        self.mu_estimator_ = self._prior.mu_estimator_
        self.covariance_estimator_ = self._prior.covariance_estimator_
        self.return_distribution_ = ReturnDistribution(
            mu=distribution.mu,
            covariance=distribution.covariance,
            returns=distribution.returns,
            factor_model=self._factor_model(distribution.mu, distribution.returns, self._labels.to_numpy()),
        )
        return self

    def _empirical(self) -> EmpiricalPrior:
        covariance = DeniseCovariance() if self.covariance_estimator is None else self.covariance_estimator
        if not isinstance(covariance, DeniseCovariance):
            kind = type(covariance).__name__
            raise TypeError(f"covariance_estimator: must be a denise.skfolio.DeniseCovariance, and is a {kind}")
        mu = EWMu() if self.mu_estimator is None else self.mu_estimator
        return EmpiricalPrior(mu_estimator=mu, covariance_estimator=covariance, max_history=self.max_history)

    def _factor_model(self, mu: Floats, returns: Floats, observations: npt.NDArray[Any]) -> FactorModel:
        u, d = self.covariance_estimator_.loadings_, self.covariance_estimator_.specific_
        known = np.isfinite(d) & np.isfinite(mu)
        factor_mu = _regress(mu[None, :], u, d, known)[0]
        factor_returns = _regress(returns, u, d, known)
        n, k = u.shape
        names = getattr(self, "feature_names_in_", np.array([f"x{i}" for i in range(n)], dtype=object))
        return FactorModel(
            observations=observations,
            asset_names=names,
            factor_names=np.array([f"factor_{j + 1}" for j in range(k)]),
            factor_families=None,
            loading_matrix=u,
            exposures=None,
            factor_covariance=np.eye(k),
            factor_mu=factor_mu,
            factor_returns=factor_returns,
            idio_covariance=d,
            idio_mu=mu - u @ factor_mu,
            idio_returns=returns - factor_returns @ u.T,
            idio_variances=None,
        )


def _regress(rows: Floats, u: Floats, d: Floats, known: Bools) -> Floats:
    """Return the factors that explain rows best, by least squares with weights 1/d over the known assets."""
    root = np.sqrt(d[known])
    # The shortest of those that do, if columns of U are zero or alike.
    factors = np.linalg.lstsq(u[known] / root[:, None], (rows[:, known] / root).T)[0].T
    return factors.astype(np.float64, copy=False)


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _check(right: bool, name: str, value: object, wanted: str) -> None:
    if not right:
        raise ValueError(f"{name}: must be {wanted}, and is {value!r}")
