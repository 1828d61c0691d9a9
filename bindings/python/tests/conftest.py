"""Matrices for the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

DATA = Path(__file__).resolve().parents[3] / "tests" / "data"


@pytest.fixture(scope="session")
def returns() -> npt.NDArray[np.float64]:
    """Daily returns of 20 stocks."""
    prices = np.loadtxt(
        DATA / "sp500" / "sp500_dataset.csv.gz", delimiter=",", skiprows=1, usecols=range(1, 21)
    )
    result: npt.NDArray[np.float64] = prices[1:] / prices[:-1] - 1
    return result


@pytest.fixture(scope="session")
def windows(returns: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Correlations of 200 windows of 100 days."""
    starts = np.linspace(0, len(returns) - 100, 200).astype(int)
    return np.stack([np.corrcoef(returns[start : start + 100].T) for start in starts])


def same(one: Any, other: Any) -> bool:
    """Whether two arrays have the same bits."""
    return bool(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True))
