"""Whatever a caller gives, as an array that the library takes: float32 or float64, C-ordered, aligned.

The extension module calls these functions for everything that is not such an array already. Each gives the array, and
labels for what comes out, or None.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[Any]


class Labels(Protocol):
    """Gives the arrays that come out the labels of what came in."""

    values: Array

    def square(self, array: Array) -> Any: ...
    def loadings(self, array: Array) -> Any: ...
    def vector(self, array: Array) -> Any: ...
    def each(self, array: Array) -> Any: ...
    def aligned(self, b: Any) -> tuple[Any, Any]: ...


def matrices(given: Any, name: str) -> tuple[Array, Labels | None]:
    """Square matrices: an array of shape (..., n, n)."""
    pandas = _pandas()
    if pandas is not None and isinstance(given, pandas.DataFrame):
        from . import _labels

        labels = _labels.of_matrices(given, name, _plain(_frame_values(given), name))
        return labels.values, labels
    return _plain(given, name), None


def numbers(given: Any, name: str) -> tuple[Array, None]:
    """Any array."""
    return _plain(given, name), None


def singles(given: Any, name: str) -> tuple[Array, None]:
    """Any array, in float32."""
    return np.ascontiguousarray(_plain(given, name), dtype=np.float32), None


def doubles(given: Any, name: str) -> tuple[Array, None]:
    """Any array, in float64."""
    return np.ascontiguousarray(_plain(given, name), dtype=np.float64), None


def returns(given: Any, name: str) -> tuple[Array, Labels | None]:
    """The returns of one tick; a Series gives its labels."""
    pandas = _pandas()
    if pandas is not None and isinstance(given, pandas.Series):
        from . import _labels

        return _plain(_frame_values(given), name), _labels.of_assets(given.index)
    return _plain(_without_labels(given), name), None


def history(given: Any, name: str) -> tuple[Array, Labels | None]:
    """The returns of many ticks; a DataFrame, which has a row for each, gives its labels."""
    pandas = _pandas()
    if pandas is not None and isinstance(given, pandas.DataFrame):
        from . import _labels

        return _plain(_frame_values(given), name), _labels.of_times(given.index, given.columns)
    return _plain(given, name), None


def _pandas() -> Any:
    """pandas, if the caller has imported it: without that nothing can be a DataFrame."""
    return sys.modules.get("pandas")


def _frame_values(given: pd.DataFrame | pd.Series[Any]) -> Any:
    """Values, where what pandas has as missing is NaN."""
    values = given.to_numpy()
    if values.dtype == object:
        # Nullable types; what is no number is refused below.
        try:
            return given.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            return values
    return values


def _without_labels(given: Any) -> Any:
    pandas = _pandas()
    if pandas is not None and isinstance(given, pandas.DataFrame):
        return _frame_values(given)
    return given


def _plain(given: Any, name: str) -> Array:
    if isinstance(given, np.ma.MaskedArray):
        # A mask that is dropped would be a wrong number.
        if given.dtype.kind not in "fiub":
            raise TypeError(f"{name}: dtype {given.dtype} is not one of real numbers")
        given = np.ma.filled(given.astype(np.promote_types(given.dtype, np.float32), copy=False), np.nan)
    array = _array(given, name)
    kind = array.dtype.kind
    if kind not in "fiub":
        raise TypeError(f"{name}: dtype {array.dtype} is not one of real numbers")
    wanted = np.float32 if array.dtype.newbyteorder("=") == np.float32 else np.float64
    if kind in "iu" and array.dtype.itemsize > 8:  # pragma: no cover - no NumPy has such a type
        raise TypeError(f"{name}: dtype {array.dtype} is not one of real numbers")
    # Subclasses such as numpy.matrix lose their class here; order and alignment are made what they must be.
    return np.require(np.asarray(array), dtype=wanted, requirements=["C", "A"])


def _array(given: Any, name: str) -> Array:
    if isinstance(given, np.ndarray):
        return given
    if hasattr(given, "__dlpack__"):
        try:
            return np.from_dlpack(given)
        except (BufferError, RuntimeError, TypeError, ValueError, AttributeError):
            # A type or a device that NumPy cannot see; __array__ may know a way.
            pass
    try:
        return np.asarray(given)
    except MemoryError:
        raise
    except Exception as error:
        raise TypeError(f"{name}: cannot be made an array ({error})") from error
