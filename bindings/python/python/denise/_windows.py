"""Covariances and correlations of every rolling window of a table of returns, in NumPy.

Neighbouring windows share nearly all of their rows, so ``b`` windows at a time share the sum over the rows that all of
them have. Rows before that core are added backwards, rows after it forwards::

    window i of b:   rows i .. b-2   +   rows b-1 .. w-1   +   rows w .. w+i-1
                     (backwards)         (the core)            (forwards)

Every sum is of numbers of its own window only. Nothing is ever subtracted, so errors do not add up along the table as
they do with running sums, and one bad row harms no window that does not hold it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
Values = Literal["prices", "log-prices", "returns"]

# Pairs of assets times groups of windows: the numbers that each step of a sum touches. They should stay in the cache.
_STEP = 1 << 14
# Numbers in the sums of one chunk of windows, 16 MB.
_CHUNK = 1 << 21
# Where a variance is below this part of the mean square about the centre of its chunk, the subtraction of the mean
# costs more than four digits. Such windows are computed alone.
_CANCELLED = 1e-4
# Squares and sums of larger numbers could overflow.
_LARGEST = 1e100


def to_returns(table: Floats, values: Values, dates: Sequence[Any], assets: Sequence[str]) -> Floats:
    """Turn a table with a row per day and a column per asset into returns, one row fewer if it holds prices.

    A price that is not known (NaN) hides the return into it and the one out of it.

    >>> to_returns(np.array([[1.0, 2.0], [1.5, 2.0]]), "prices", ["Monday", "Tuesday"], ["a", "b"])
    array([[0.5, 0. ]])
    """

    def refuse(bad: Flags, what: str) -> None:
        for row, column in np.argwhere(bad)[:1]:
            date = dates[row + len(dates) - len(table)]
            raise ValueError(f"{date}, {assets[column]}: the {what.format(table[row, column])}")

    if values != "returns":
        refuse((table <= 0) | np.isinf(table), "price {} is not a positive number; correct it, or give returns")
        table = np.diff(np.log(table), axis=0) if values == "log-prices" else table[1:] / table[:-1] - 1.0
    refuse(np.abs(table) > _LARGEST, "return {} is too large; correct it, or divide all by a constant")
    return table


def least_days(window: int) -> int:
    """Return the fewest common days of an entry that counts as known: a third of the window, and at least 3."""
    return min(max(window // 3, 3), window)


def rolling(
    returns: Floats,
    window: int,
    *,
    starts: Indices | None = None,
    covariance: bool = False,
    least: int | None = None,
) -> Iterator[tuple[Indices, Floats]]:
    """Yield the first rows of some windows and their matrices, until all windows have been.

    Parameters
    ----------
    returns
        T×n; NaN is a return that is not known.
    window
        Rows in a window, at least 2.
    starts
        The first rows of the windows, ascending; all if not given.
    covariance
        Covariances with the divisor ``window - 1``, instead of correlations.
    least
        If given, each entry is computed over the days on which both returns are known, and is NaN where these are
        fewer than ``least``. Else every entry is NaN in a window that holds a NaN.
        A correlation of an asset that does not vary is NaN in either case.

    Examples
    --------
    >>> returns = np.random.default_rng(1).normal(size=(200, 3))
    >>> starts, M = next(rolling(returns, 100))
    >>> M.shape, bool(np.allclose(M[7], np.corrcoef(returns[7:107].T), rtol=0, atol=1e-14))
    ((101, 3, 3), True)
    """
    if starts is None:
        starts = np.arange(len(returns) - window + 1)
    unknown = np.concatenate(([0], np.cumsum(np.isnan(returns).any(axis=1))))
    gaps = unknown[starts + window] > unknown[starts]
    changes = np.flatnonzero(np.diff(gaps)) + 1
    for some, gap in zip(np.split(starts, changes), np.split(gaps, changes)):
        yield from _alike(returns, window, some, covariance, bool(gap.any()), least)


def _alike(
    returns: Floats, window: int, starts: Indices, covariance: bool, gaps: bool, least: int | None
) -> Iterator[tuple[Indices, Floats]]:
    """Yield windows that all have gaps, or all have none."""
    n = returns.shape[1]
    numbers = (n + 1) * n // 2 * (6 if gaps else 1)
    together = min(window, max(1, _CHUNK // numbers))
    most = max(1, min(_STEP // numbers, _CHUNK // (together * numbers)))
    for here, begins, at in _groups(starts, together, most):
        if gaps and least is None:
            yield starts[here], np.full((len(at), n, n), np.nan)
            continue
        rows = _rows(returns, begins, together + window - 1)
        if gaps:
            assert least is not None
            entries, unsafe = _pairwise(rows, together, window, covariance, least)
        else:
            entries, unsafe = _complete(rows, together, window, covariance)
        M = _matrices(entries, n)
        M = M[: len(at)] if at[-1] == len(at) - 1 else M[at]
        for lost in np.flatnonzero(unsafe[at]):
            start = starts[here][lost]
            M[lost] = _alone(returns[start : start + window], covariance, least)
        yield starts[here], M


def _groups(starts: Indices, together: int, most: int) -> Iterator[tuple[slice, Indices, Indices]]:
    """Cover the windows with groups of neighbours, at most so many at a time.

    Yields which of ``starts`` are covered, the first row of each group, and where each window is among all of them.
    """
    begin = 0
    while begin < len(starts):
        end = begin
        firsts: list[int] = []
        places: list[Indices] = []
        while end < len(starts) and len(firsts) < most:
            next_end = int(np.searchsorted(starts, starts[end] + together))
            places.append(starts[end:next_end] - starts[end] + len(firsts) * together)
            firsts.append(int(starts[end]))
            end = next_end
        yield slice(begin, end), np.array(firsts), np.concatenate(places)
        begin = end


def _rows(returns: Floats, begins: Indices, length: int) -> Floats:
    """Copy the rows of groups of windows as rows × n × groups, the last row again after the end."""
    at = begins + np.arange(length)[:, None]
    return np.ascontiguousarray(returns[np.minimum(at, len(returns) - 1)].transpose(0, 2, 1))


def _sums(rows: Floats, first: Indices, second: Indices, together: int, window: int) -> Floats:
    """Sum the products of two columns over the rows of each window: together × pairs × groups."""
    groups = rows.shape[2]
    sums = np.empty((together, len(first), groups))
    total, product, factor = np.zeros((3, len(first), groups))

    def add(row: int) -> None:
        np.add(total, _outer(rows[row], first, second, product, factor), out=total)

    for row in range(window - 1, together - 2, -1):  # the core
        add(row)
    sums[together - 1] = total
    for row in range(together - 2, -1, -1):
        add(row)
        sums[row] = total
    total[:] = 0.0
    for i in range(1, together):
        add(window - 1 + i)
        sums[i] += total
    return sums


def _complete(rows: Floats, together: int, window: int, covariance: bool) -> tuple[Floats, Flags]:
    """Compute the entries of matrices, together × pairs × groups, and in which windows they are not exact enough."""
    n = rows.shape[1]
    i, j = np.tril_indices(n)
    # Means near 0 keep small what is subtracted below. A row with a NaN is near these windows, and in none of them.
    rows = np.where(np.isnan(rows), 0.0, rows)
    rows -= rows.mean(axis=0)
    # A column of ones makes the sums of the returns out of products.
    ones = np.ones((len(rows), 1, rows.shape[2]))
    columns = np.arange(n)
    sums = _sums(
        np.concatenate((rows, ones), axis=1),
        np.concatenate((i, columns)),
        np.concatenate((j, np.full(n, n))),
        together,
        window,
    )
    entries, totals = sums[:, : len(i)], sums[:, len(i) :]
    diagonal = np.flatnonzero(i == j)
    unsafe = np.empty((together, rows.shape[2]), dtype=np.bool_)
    product, factor = np.empty((2, len(i), rows.shape[2]))
    for at in range(together):  # a part at a time, while it is in the cache
        entry, means = entries[at], totals[at] / np.sqrt(window)
        squares = entry[diagonal]
        entry -= _outer(means, i, j, product, factor)
        variances = entry[diagonal]
        unsafe[at] = (variances <= _CANCELLED * squares).any(axis=0)
        if covariance:
            entry /= window - 1
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                entry *= _outer(1.0 / np.sqrt(variances), i, j, product, factor)
            entry[diagonal] = 1.0
    return entries, unsafe.T.reshape(-1)


def _outer(rows: Floats, i: Indices, j: Indices, product: Floats, factor: Floats) -> Floats:
    """Multiply rows i and j, in memory that is there: to get some from the system costs more than the products."""
    np.take(rows, i, axis=0, out=product, mode="clip")  # "clip" lets NumPy write to `out` directly
    np.take(rows, j, axis=0, out=factor, mode="clip")
    return np.multiply(product, factor, out=product)


def _pairwise(rows: Floats, together: int, window: int, covariance: bool, least: int) -> tuple[Floats, Flags]:
    """Compute the same, with each entry over the days that both assets have."""
    n = rows.shape[1]
    i, j = np.tril_indices(n)
    known = ~np.isnan(rows)
    rows = np.where(known, rows, 0.0)
    rows = np.where(known, rows - rows.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
    x, one, square = (np.arange(n) + n * at for at in range(3))
    first = np.concatenate((x[i], x[i], one[i], one[i], square[i], one[i]))
    second = np.concatenate((x[j], one[j], x[j], one[j], one[j], square[j]))
    sums = _sums(np.concatenate((rows, known, rows**2), axis=1), first, second, together, window)
    entries, total_i, total_j, days, square_i, square_j = np.split(sums, 6, axis=1)
    enough = days >= least
    with np.errstate(invalid="ignore", divide="ignore"):
        entries -= total_i * total_j / days
        variance_i = square_i - total_i**2 / days
        variance_j = square_j - total_j**2 / days
        small = (variance_i <= _CANCELLED * square_i) | (variance_j <= _CANCELLED * square_j)
        entries /= days - 1 if covariance else np.sqrt(variance_i * variance_j)
    if not covariance:
        entries[:, i == j] = 1.0
    entries[~enough] = np.nan
    return entries, (small & enough).any(axis=1).T.reshape(-1)


def _matrices(entries: Floats, n: int) -> Floats:
    """Turn together × pairs × groups into windows × n × n."""
    together, pairs, groups = entries.shape
    place = np.empty((n, n), dtype=np.intp)
    i, j = np.tril_indices(n)
    place[i, j] = place[j, i] = np.arange(pairs)
    M = np.empty((groups, together, n * n))
    square = np.empty((n * n, groups))
    for at in range(together):
        M[:, at] = np.take(entries[at], place.ravel(), axis=0, out=square, mode="clip").T
    return M.reshape(groups * together, n, n)


def _alone(rows: Floats, covariance: bool, least: int | None) -> Floats:
    """Compute the matrix of one window entry by entry, means first."""
    n = rows.shape[1]
    known = ~np.isnan(rows)
    M = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(i + 1):
            both = known[:, i] & known[:, j]
            days = int(both.sum())
            if days < (len(rows) if least is None else least):
                continue
            a, b = rows[both, i], rows[both, j]
            still = bool((a == a[0]).all() or (b == b[0]).all())
            a, b = a - a.mean(), b - b.mean()
            if covariance:
                M[i, j] = M[j, i] = 0.0 if still else np.sum(a * b) / (days - 1)
            elif not still:
                M[i, j] = M[j, i] = 1.0 if i == j else np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b))
    return M
