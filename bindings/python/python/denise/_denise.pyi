# The types of the extension module; its docstrings are in src/.
from collections.abc import Iterator
from os import PathLike
from typing import Any, Generic, Literal, Protocol, TypeVar, final, overload

from typing_extensions import Self

import numpy as np
import numpy.typing as npt

__version__: str

_Array = npt.NDArray[np.floating[Any]]

class _Frame(Protocol):
    """A DataFrame of pandas, for callers who need not have pandas."""
    @property
    def columns(self) -> Any: ...
    @property
    def index(self) -> Any: ...
    @property
    def iloc(self) -> Any: ...

class _Column(Protocol):
    """A Series of pandas."""
    @property
    def index(self) -> Any: ...
    @property
    def iloc(self) -> Any: ...
    def to_frame(self) -> Any: ...

_T = TypeVar("_T")
_F = TypeVar("_F", bound=_Frame)
_Out = tuple[npt.NDArray[Any] | None, npt.NDArray[Any] | None]
_Method = Literal["pcp", "ialm", "fpcp", "rpca_gd", "masked_pcp", "eigen"]

@final
class Report:
    """Numbers for a single matrix, arrays of the leading shape for many."""
    @property
    def l1(self) -> Any: ...
    @property
    def residual(self) -> Any: ...
    @property
    def sparsity(self) -> Any: ...
    @property
    def status(self) -> Any: ...
    @property
    def unsettled(self) -> Any: ...
    @property
    def least_specific(self) -> Any: ...
    @property
    def missing(self) -> Any: ...
    @property
    def first_bad(self) -> Any: ...
    @property
    def ok(self) -> Any: ...
    def as_dict(self) -> dict[str, Any]: ...

@final
class Decomposition(Generic[_T]):
    @property
    def low_rank(self) -> _T: ...
    @property
    def sparse(self) -> _T: ...
    @property
    def loadings(self) -> _T | None: ...
    @property
    def report(self) -> Report: ...
    def __iter__(self) -> Iterator[_T]: ...
    def __len__(self) -> int: ...

@final
class Covariance(Generic[_T]):
    @property
    def loadings(self) -> _T: ...
    @property
    def specific(self) -> Any: ...
    @property
    def sigma(self) -> _T: ...
    @property
    def inverse(self) -> _T: ...
    @property
    def log_det(self) -> Any: ...
    @property
    def report(self) -> Report | None: ...
    def solve(self, b: npt.ArrayLike | _Frame | _Column) -> Any: ...
    def multiply(self, b: npt.ArrayLike | _Frame | _Column) -> Any: ...

@final
class Model:
    def __new__(
        cls,
        file: str | PathLike[str] | bytes | None = None,
        *,
        k: int | None = None,
        correlation: bool = False,
        missing: bool = False,
        careful: bool = False,
        threads: int = 1,
        half_weights: bool = False,
        byte_weights: bool = False,
    ) -> Self: ...
    @property
    def n(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def kernel(self) -> str: ...
    @overload
    def decompose(
        self, M: _F, *, u: bool = False, check_finite: bool = True, out: _Out | None = None
    ) -> Decomposition[_F]: ...
    @overload
    def decompose(
        self, M: npt.ArrayLike, *, u: bool = False, check_finite: bool = True, out: _Out | None = None
    ) -> Decomposition[_Array]: ...
    @overload
    def covariance(
        self, M: _F, *, floor: float = 0.05, check_finite: bool = True
    ) -> Covariance[_F]: ...
    @overload
    def covariance(self, M: npt.ArrayLike, *, floor: float = 0.05, check_finite: bool = True) -> Covariance[_Array]: ...
    def stream(
        self,
        n: int,
        *,
        window: int = 0,
        half_life: float = 0.0,
        correlation: bool = False,
        demean: bool = False,
        warm_up: int = 0,
        streams: int = 1,
    ) -> Stream: ...

@final
class Stream:
    def __new__(
        cls,
        n: int,
        k: int | None = None,
        *,
        window: int = 0,
        half_life: float = 0.0,
        correlation: bool = False,
        demean: bool = False,
        warm_up: int = 0,
        streams: int = 1,
        model: Model | None = None,
    ) -> Self: ...
    @property
    def n(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def streams(self) -> int: ...
    # A Series gives DataFrames, which a caller without pandas cannot name.
    @overload
    def push(
        self, returns: _Column, *, u: bool = False, check_finite: bool = True
    ) -> Decomposition[Any]: ...
    @overload
    def push(self, returns: npt.ArrayLike, *, u: bool = False, check_finite: bool = True) -> Decomposition[_Array]: ...
    @overload
    def push_matrix(
        self, M: _F, *, u: bool = False, check_finite: bool = True
    ) -> Decomposition[_F]: ...
    @overload
    def push_matrix(self, M: npt.ArrayLike, *, u: bool = False, check_finite: bool = True) -> Decomposition[_Array]: ...
    @overload
    def replay(
        self, returns: _F, *, u: bool = False, check_finite: bool = True
    ) -> Decomposition[_F]: ...
    @overload
    def replay(
        self, returns: npt.ArrayLike, *, u: bool = False, check_finite: bool = True
    ) -> Decomposition[_Array]: ...
    def covariance(self) -> npt.NDArray[np.float64]: ...
    def sigma(self, *, floor: float = 0.05) -> Covariance[npt.NDArray[np.float64]]: ...
    def save(self) -> bytes: ...
    def restore(self, state: bytes) -> None: ...
    def reset(self) -> None: ...

@overload
def decompose(
    M: _F,
    k: int = 3,
    *,
    u: bool = False,
    missing: bool = False,
    correlation: bool = False,
    careful: bool = False,
    threads: int = 1,
    check_finite: bool = True,
    out: _Out | None = None,
) -> Decomposition[_F]: ...
@overload
def decompose(
    M: npt.ArrayLike,
    k: int = 3,
    *,
    u: bool = False,
    missing: bool = False,
    correlation: bool = False,
    careful: bool = False,
    threads: int = 1,
    check_finite: bool = True,
    out: _Out | None = None,
) -> Decomposition[_Array]: ...
@overload
def covariance(
    M: _F,
    k: int = 3,
    *,
    floor: float = 0.05,
    correlation: bool = True,
    missing: bool = False,
    careful: bool = False,
    threads: int = 1,
    check_finite: bool = True,
) -> Covariance[_F]: ...
@overload
def covariance(
    M: npt.ArrayLike,
    k: int = 3,
    *,
    floor: float = 0.05,
    correlation: bool = True,
    missing: bool = False,
    careful: bool = False,
    threads: int = 1,
    check_finite: bool = True,
) -> Covariance[_Array]: ...
@overload
def covariance_from_loadings(
    M: _F, loadings: npt.ArrayLike | _Frame, *, floor: float = 0.05
) -> Covariance[_F]: ...
@overload
def covariance_from_loadings(
    M: npt.ArrayLike, loadings: npt.ArrayLike, *, floor: float = 0.05
) -> Covariance[_Array]: ...
def solve(sigma: Covariance[Any] | tuple[npt.ArrayLike, npt.ArrayLike], b: npt.ArrayLike | _Frame | _Column) -> Any: ...
def rank(M: npt.ArrayLike | _Frame, *, most: int = 10, observations: float = 0.0) -> Any: ...
@overload
def classical(
    M: _F, method: _Method = "pcp", k: int = 3, *, lam: float | None = None, check_finite: bool = True
) -> Decomposition[_F]: ...
@overload
def classical(
    M: npt.ArrayLike, method: _Method = "pcp", k: int = 3, *, lam: float | None = None, check_finite: bool = True
) -> Decomposition[_Array]: ...
