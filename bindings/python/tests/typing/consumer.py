"""A program that uses the package, for mypy --strict: what it says of the types is what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from typing_extensions import assert_type

import denise

M: npt.NDArray[np.float64] = np.ones((5, 5))
result = denise.decompose(M, k=1, u=True)
assert_type(result.low_rank, npt.NDArray[np.floating[Any]])
low_rank, sparse = result
assert_type(sparse, npt.NDArray[np.floating[Any]])
status: int = result.report.status

frame = pd.DataFrame(M)
named = denise.decompose(frame, k=1)
assert_type(named, denise.Decomposition[pd.DataFrame])
assert_type(named.sparse, pd.DataFrame)

sigma = denise.covariance(frame, k=1, floor=0.1)
assert_type(sigma.inverse, pd.DataFrame)
weights = sigma.solve(pd.Series(1.0, index=frame.columns))
denise.solve((np.ones((5, 1)), np.ones(5)), [1.0] * 5)

model = denise.Model(k=1, threads=2)
assert_type(model.decompose(M).sparse, npt.NDArray[np.floating[Any]])

stream: denise.Stream = denise.Stream(5, 1, window=20)
assert_type(stream.push([0.01, 0.0, 0.0, 0.02, 0.0]).low_rank, npt.NDArray[np.floating[Any]])
assert_type(stream.replay(frame).low_rank, pd.DataFrame)
state: bytes = stream.save()
assert_type(stream.covariance(), npt.NDArray[np.float64])

k: int = denise.rank(M)
denise.classical(M, "ialm", lam=0.3)


def wrong() -> None:
    denise.decompose(M, "3")  # type: ignore[call-overload]
    denise.classical(M, "svd")  # type: ignore[call-overload]
    stream.restore("state")  # type: ignore[arg-type]
    result.low_rank = M  # type: ignore[misc]
