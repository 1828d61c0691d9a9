"""What the estimators share: a covariance that grows row by row, and its split, which follows it.

A `denise.Stream` estimates the covariance too, but it can neither forget one asset that has been delisted, nor weigh
all rows alike. So the estimate is kept here, and a stream gets matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import denise

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_EPSILON = float(np.finfo(np.float64).eps)


class Moments:
    """Weighted means and covariances of every pair of columns, over the rows in which both are known.

    Parameters
    ----------
    n : int
        Columns.
    half_life : float or None
        Rows until one counts half; None: all rows count the same. A row in which a pair is not known does not age it.
    centered : bool
        Whether the means are zero.

    Examples
    --------
    >>> moments = Moments(2, half_life=None, centered=False)
    >>> moments.add(np.array([[1.0, 1.0], [3.0, 5.0], [np.nan, 9.0]]))
    >>> moments.mean()
    array([2., 5.])
    >>> moments.covariance(least=2)[0]
    array([1., 2.])
    """

    def __init__(self, n: int, *, half_life: float | None, centered: bool) -> None:
        self._decay = 1.0 if half_life is None else 2.0 ** (-1.0 / half_life)
        self._centered = centered
        # Columns far from zero would lose digits, so sums are about a first guess of the mean.
        self._origin = np.zeros(n) if centered else np.full(n, np.nan)
        # Of pair i, j: how often it was seen, and the sums of weights, of x_i, and of x_i x_j.
        self._seen = np.zeros((n, n))
        self._weight = np.zeros((n, n))
        self._total = np.zeros((n, n))
        self._product = np.zeros((n, n))

    @property
    def count(self) -> Floats:
        """How often each column was known."""
        return self._seen.diagonal()

    def add(self, rows: Floats) -> None:
        """Take rows in; NaN is not known."""
        known = ~np.isnan(rows)
        self._guess(rows, known)
        rows = np.where(known, rows - self._origin, 0.0)
        if self._decay == 1.0 or known.all():
            self._add_at_once(rows, known.astype(np.float64))
        else:
            for row, ones in zip(rows, known.astype(np.float64), strict=True):
                self._add_one(row, ones)

    def forget(self, columns: Bools) -> None:
        """Make columns such that were never seen."""
        for table in (self._seen, self._weight, self._total, self._product):
            table[columns, :] = 0
            table[:, columns] = 0

    def mean(self) -> Floats:
        """Return the means, NaN for columns that were never seen; zeros if they are zero by assumption."""
        if self._centered:
            return np.zeros(len(self._origin))
        with np.errstate(invalid="ignore"):
            return self._origin + self._total.diagonal() / self._weight.diagonal()

    def covariance(self, least: int) -> Floats:
        """Return the covariances, NaN for pairs that were seen less than `least` times."""
        known = self._seen >= max(least, 1)
        weight = np.where(known, self._weight, 1.0)
        square = np.where(known, self._product / weight, np.nan)
        if self._centered:
            return square
        mean = self._total / weight
        m = square - mean * mean.T
        # A column that never changes would have a variance by rounding alone.
        rounding = 16 * _EPSILON * square.diagonal() + (4 * _EPSILON * self._origin) ** 2
        still = m.diagonal() <= rounding
        m[still, still] = 0.0
        return m

    def _guess(self, rows: Floats, known: Bools) -> None:
        new = np.isnan(self._origin) & known.any(axis=0)
        if new.any():
            self._origin[new] = np.nanmean(rows[:, new], axis=0)

    def _add_at_once(self, rows: Floats, ones: Floats) -> None:
        self._seen += ones.T @ ones
        # Each factor of a product has half of the weight.
        half = self._decay ** (np.arange(len(rows))[::-1, None] / 2)
        old, rows, ones = self._decay ** len(rows), rows * half, ones * half
        self._weight = old * self._weight + ones.T @ ones
        self._total = old * self._total + rows.T @ ones
        self._product = old * self._product + rows.T @ rows

    def _add_one(self, row: Floats, ones: Floats) -> None:
        both = np.outer(ones, ones)
        # Only pairs that are seen grow older.
        old = np.where(both > 0, self._decay, 1.0)
        self._seen += both
        self._weight = old * self._weight + both
        self._total = old * self._total + np.outer(row, ones)
        self._product = old * self._product + np.outer(row, row)


@dataclass(frozen=True)
class Split:
    """M = L + S with L = U Uᵀ, and Σ = U Uᵀ + diag(d)."""

    covariance: Floats
    sigma: denise.Covariance[Any]
    report: Any

    @property
    def low_rank(self) -> Floats:
        """L."""
        u: Floats = self.sigma.loadings
        return u @ u.T

    @property
    def sparse(self) -> Floats:
        """S, NaN where M is."""
        return self.covariance - self.low_rank


@dataclass(frozen=True)
class _Part:
    """The assets that have a variance, their M, and a rank that is less than their number."""

    here: Bools
    covariance: Floats
    k: int


class Estimate:
    """Rows in, splits out. The first rows are split from scratch; then U follows M from row to row.

    When assets come or go there is a new split from scratch.

    Parameters
    ----------
    n : int
        Assets.
    k : int or "auto"
        Largest rank of L, made less than n; "auto": as `denise.rank` suggests for the first M, and at least 1.
    floor : float
        Least share of a variance that is an asset's own.
    correlation : bool
        Whether correlations are split.
    half_life, centered
        As for `Moments`.
    least : int
        How often an asset, or a pair of assets, must have been seen before it is known.
    """

    def __init__(
        self,
        n: int,
        *,
        k: int | str,
        floor: float,
        correlation: bool,
        half_life: float | None,
        centered: bool,
        least: int,
    ) -> None:
        self._k = k
        self._floor = floor
        self._correlation = correlation
        self._half_life = half_life
        self._least = least
        self._moments = Moments(n, half_life=half_life, centered=centered)
        self._rows = 0
        # The rank in use; 0: not yet.
        self._largest = 0
        self._part: _Part | None = None
        self._model: denise.Model
        self._stream: denise.Stream | None = None
        self._split: Split | None = None

    @property
    def live(self) -> Bools:
        """Assets that have been seen often enough."""
        return self._moments.count >= self._least

    def mean(self) -> Floats:
        """Return the means, NaN for assets that were never seen; zeros if they are zero by assumption."""
        return self._moments.mean()

    def add(self, rows: Floats, active: Bools | None = None) -> Split | None:
        """Take rows in, and return the split after the last; None as long as nothing is known.

        NaN is not known. An asset that is not `active` in a row is forgotten.
        """
        if active is None:
            active = np.ones(rows.shape, dtype=bool)
        if self._split is None:
            self._take(rows, active)
            self._step()
        else:
            for t in range(len(rows)):
                self._take(rows[t : t + 1], active[t : t + 1])
                self._step()
        return self._split

    def _take(self, rows: Floats, active: Bools) -> None:
        gone: Bools = np.logical_not(active.all(axis=0))
        if gone.any():
            self._moments.forget(gone)
            # What was before an asset was away for the last time does not count.
            away = np.flip(np.logical_or.accumulate(np.flip(~active, axis=0), axis=0), axis=0)
            rows = np.where(away, np.nan, rows)
        self._moments.add(rows)
        self._rows += len(rows)

    def _step(self) -> None:
        m = self._moments.covariance(self._least)
        here = m.diagonal() > 0
        if not here.any():
            # Nothing is known yet, or any more: a new beginning.
            self._split = self._part = None
            return
        if self._largest == 0:
            self._largest = self._rank(m)
        u = np.zeros((len(m), self._largest))
        report = None
        # Assets of which nothing is known are left out: k must be less than the number of the others.
        k = min(self._largest, int(here.sum()) - 1)
        if k > 0:
            part = self._follow(_Part(here, m[np.ix_(here, here)], k))
            u[here, :k], report = part.loadings, part.report
        self._split = Split(m, denise.covariance_from_loadings(m, u, floor=self._floor), report)

    def _follow(self, part: _Part) -> denise.Decomposition[Any]:
        old, self._part = self._part, part
        if old is None or not np.array_equal(old.here, part.here):
            self._model = denise.Model(k=part.k, correlation=self._correlation, missing=True)
            self._stream = None
            return self._model.decompose(part.covariance, u=True)
        if self._stream is None:
            self._stream = self._model.stream(len(part.covariance))
            self._stream.push_matrix(old.covariance)
        return self._stream.push_matrix(part.covariance, u=True)

    def _rank(self, m: Floats) -> int:
        k = self._k
        if k == "auto":
            seen = self._rows
            if self._half_life is not None:
                # What so many weights are worth at most, as if all were alike.
                seen = min(seen, round(2 / np.log(2) * self._half_life))
            k = max(1, int(denise.rank(m, observations=seen)))
        return min(int(k), len(m) - 1)
