"""Labels of pandas: what comes out has those of what came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Array = npt.NDArray[Any]


class PandasLabels:
    """The labels of the assets and, for many matrices, those of the matrices (times, as a rule)."""

    def __init__(
        self, assets: pd.Index[Any], times: pd.Index[Any] | None, rows: pd.Index[Any], values: Array | None = None
    ) -> None:
        self.assets = assets
        self.times = times
        #: Those of the rows of a square result: the assets, or (time, asset).
        self.rows = rows
        if values is not None:
            self.values = values

    def square(self, array: Array) -> pd.DataFrame:
        n = len(self.assets)
        return pd.DataFrame(array.reshape(-1, n), index=self.rows, columns=self.assets, copy=False)

    def loadings(self, array: Array) -> pd.DataFrame:
        k = array.shape[-1]
        return pd.DataFrame(array.reshape(-1, k), index=self.rows, columns=pd.RangeIndex(k, name="factor"), copy=False)

    def vector(self, array: Array) -> pd.Series[Any]:
        return pd.Series(array.reshape(-1), index=self.rows, copy=False)

    def each(self, array: Array) -> Any:
        return pd.Series(array.reshape(-1), index=self.times, copy=False)

    def aligned(self, b: Any) -> tuple[Any, Wrap | None]:
        """The values of b in the order of the assets, and how to give the product its labels."""
        if not isinstance(b, (pd.Series, pd.DataFrame)):
            return b, None
        rows = self.rows if len(b) == len(self.rows) else self.assets
        if not b.index.equals(rows):
            if len(b) != len(rows) or not b.index.is_unique or not b.index.isin(rows).all():
                raise ValueError("b: its labels are not those of the assets")
            b = b.reindex(rows)
        values = b.to_numpy(dtype=np.float64, na_value=np.nan)
        if self.times is not None and rows is self.rows:
            values = values.reshape(len(self.times), len(self.assets), *values.shape[1:])
        columns = b.columns if isinstance(b, pd.DataFrame) else None
        return values, Wrap(self.rows, columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return PandasLabels, (self.assets, self.times, self.rows)


class Wrap:
    """Gives a product its labels."""

    def __init__(self, rows: pd.Index[Any], columns: pd.Index[Any] | None) -> None:
        self.rows = rows
        self.columns = columns

    def wrap(self, array: Array) -> pd.DataFrame | pd.Series[Any]:
        if self.columns is None:
            return pd.Series(array.reshape(-1), index=self.rows)
        return pd.DataFrame(array.reshape(-1, len(self.columns)), index=self.rows, columns=self.columns)


def of_matrices(frame: pd.DataFrame, name: str, values: Array) -> PandasLabels:
    """Of an n×n table, or of one whose rows are (time, asset), as ``returns.rolling(100).cov()`` has them."""
    assets, rows = frame.columns, frame.index
    n = len(assets)
    if rows.nlevels == 1 or (rows.nlevels == assets.nlevels and rows.equals(assets)):
        if len(rows) != n:
            raise ValueError(f"{name}: the shape is {frame.shape}; it must be (n, n), or have rows of (time, asset)")
        if not rows.equals(assets):
            raise ValueError(f"{name}: rows and columns have different labels, or another order")
        return PandasLabels(assets, None, rows, values)
    assert isinstance(rows, pd.MultiIndex)
    own = rows.get_level_values(-1)
    if n == 0 or len(rows) % n != 0 or not np.array_equal(own, np.tile(assets, len(rows) // n)):
        raise ValueError(f"{name}: for every time there must be a row for each column, in the same order")
    times = rows.droplevel(-1)[::n]
    if not times.repeat(n).equals(rows.droplevel(-1)):
        raise ValueError(f"{name}: the rows of one time do not stand together")
    return PandasLabels(assets, times, rows, values.reshape(-1, n, n))


def of_assets(assets: pd.Index[Any]) -> PandasLabels:
    """Of one matrix, whose assets have these labels."""
    return PandasLabels(assets, None, assets)


def of_times(times: pd.Index[Any], assets: pd.Index[Any]) -> PandasLabels:
    """Of a matrix for each time."""
    levels: list[Any] = [np.repeat(times, len(assets)), np.tile(assets, len(times))]
    rows = pd.MultiIndex.from_arrays(levels, names=[times.name, assets.name])
    return PandasLabels(assets, times, rows)
