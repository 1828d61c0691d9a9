"""Models on workers: each process loads a model once, whatever number of tasks it gets."""

from __future__ import annotations

import hashlib
import operator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import Model, Report


class ModelOptions(NamedTuple):
    """What makes a model; unlike the model itself it can be a key, and costs nothing to send."""

    file: str | None
    digest: str | None
    """Of the file's content."""
    k: int
    missing: bool
    correlation: bool
    careful: bool


def model_options(file: str | Path | None, k: int, missing: bool, correlation: bool, careful: bool) -> ModelOptions:
    """Put options together, in plain types."""
    path = None if file is None else str(Path(file).resolve())
    return ModelOptions(
        path,
        None if path is None else _digest(path),
        operator.index(k),
        bool(missing),
        bool(correlation),
        bool(careful),
    )


@lru_cache(maxsize=8)
def model(options: ModelOptions) -> Model:
    """Load a model. It uses one thread: more would compete with the other workers."""
    if options.file is not None and _digest(options.file) != options.digest:
        raise ValueError(f"file: {options.file} is not the same for all workers, or has changed")
    return Model(
        options.file,
        k=options.k,
        missing=options.missing,
        correlation=options.correlation,
        careful=options.careful,
        threads=1,
    )


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def structured(report: Report | None) -> npt.NDArray[Any]:
    """Return the reports of an array of matrices as a structured array."""
    assert report is not None, "only a covariance from loadings has none"
    fields = report.as_dict()
    result = np.empty(np.shape(fields["status"]), dtype=[(name, values.dtype) for name, values in fields.items()])
    for name, values in fields.items():
        result[name] = values
    return result
