"""Arrays of matrices on Dask: ``denise.dask.decompose``.

Needs ``pip install dask``. For Parquet files see :mod:`denise.archive`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._worker import ModelOptions, model, model_options, structured

try:
    import dask.array as da  # type: ignore[import-not-found, unused-ignore]
except ImportError as error:
    raise ImportError("denise.dask needs Dask: pip install 'dask[array]'") from error

__all__ = ["LazyDecomposition", "decompose"]


class LazyDecomposition(NamedTuple):
    """What :func:`decompose` returns: Dask arrays that have not been computed.

    Compute what you need of them together, as in ``dask.compute(*lazy[:2])``: then each block is split once.
    Two calls of ``compute`` split it twice, as they do with everything in Dask.
    """

    low_rank: da.Array
    """L, like M."""
    sparse: da.Array
    """S, like M."""
    loadings: da.Array | None
    """U, (..., n, k), or None without ``u=True``."""
    report: da.Array
    """A structured array of the leading shape; ``report["l1"]`` and so on are lazy too."""


def decompose(
    M: da.Array,
    k: int = 3,
    *,
    u: bool = False,
    missing: bool = False,
    correlation: bool = False,
    careful: bool = False,
    check_finite: bool = True,
    file: str | Path | None = None,
) -> LazyDecomposition:
    """Split every matrix of a Dask array into L + S, lazily, with one task and one thread for each block.

    Parameters
    ----------
    M
        (..., n, n), with any chunks along the leading axes and one chunk along each of the last two.
        float32 and float64 are kept; other real types become float64.
    k
        The rank of L.
    u
        Also give U.
    missing, correlation, careful, check_finite
        As in :func:`denise.decompose`. An error about an entry appears when its block is computed.
    file
        A network other than the one of the library. Every worker must be able to read it.

    Returns
    -------
    LazyDecomposition
        ``low_rank``, ``sparse``, ``loadings`` and ``report``, with the leading chunks of M.

    Examples
    --------
    >>> import dask, dask.array as da, numpy as np
    >>> M = da.from_array(np.tile(np.eye(5) + 1, (100, 1, 1)), chunks=(25, 5, 5))
    >>> lazy = decompose(M, k=1)
    >>> L, S = dask.compute(lazy.low_rank, lazy.sparse)
    >>> L.shape, bool(np.allclose(L + S, M))
    ((100, 5, 5), True)
    """
    if not isinstance(M, da.Array):
        raise TypeError(f"M must be a Dask array, not {type(M).__name__}; denise.decompose takes the others")
    if M.ndim < 2 or M.shape[-1] != M.shape[-2]:
        raise ValueError(f"M has the shape {M.shape}; it must be (..., n, n)")
    if M.numblocks[-2:] != (1, 1):
        raise ValueError(
            f"M has {M.numblocks[-2]} x {M.numblocks[-1]} chunks along its last two axes, so that no task has a whole "
            "matrix; call M.rechunk({-1: -1, -2: -1}) first"
        )
    if M.dtype.kind not in "fiub":
        raise TypeError(f"M must hold real numbers, not {M.dtype}")
    dtype = M.dtype if M.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    options = model_options(file, k, missing, correlation, careful)
    # What is wrong with the options should be said here, not on a worker.
    kind = structured(model(options).decompose(np.eye(M.shape[-1])[None]).report).dtype

    def meta(axes: int, kind: np.dtype[Any]) -> Any:
        return np.empty((0,) * axes, dtype=kind)

    # The chunks of `split` are tuples of arrays. Nobody sees them but the functions below.
    map_blocks: Any = da.map_blocks
    split = map_blocks(denise_split, M, options, u, check_finite, dtype=dtype, meta=meta(M.ndim, dtype))
    low_rank, sparse = (map_blocks(denise_part, split, at, dtype=dtype, meta=meta(M.ndim, dtype)) for at in (0, 1))
    loadings = None
    if u:
        chunks = (*M.chunks[:-1], (options.k,))
        loadings = map_blocks(denise_part, split, 2, dtype=dtype, meta=meta(M.ndim, dtype), chunks=chunks)
    axes = tuple(range(M.ndim))
    blockwise: Any = da.blockwise
    report = blockwise(denise_report, axes[:-2], split, axes, dtype=kind, meta=meta(M.ndim - 2, kind))
    return LazyDecomposition(low_rank, sparse, loadings, report)


def denise_split(block: Any, options: ModelOptions, u: bool, check_finite: bool) -> tuple[Any, ...]:
    # One axis more, so that the report of a single matrix is an array too.
    result = model(options).decompose(np.asarray(block)[None], u=u, check_finite=check_finite)
    loadings = None if result.loadings is None else result.loadings[0]
    return result.low_rank[0], result.sparse[0], loadings, structured(result.report)[0]


def denise_part(split: tuple[Any, ...], at: int) -> Any:
    return split[at]


def denise_report(split: Any) -> Any:
    while isinstance(split, list):  # one list for each axis that ends here
        split = split[0]
    return split[3]
