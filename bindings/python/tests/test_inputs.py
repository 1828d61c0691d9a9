"""Whatever can be made an array of numbers is taken; all else is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import same

import denise


class WithArray:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.array, dtype=dtype)


class WithDlpack:
    """What arrays of other libraries offer, and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_every_kind_of_array(windows: Any) -> None:
    M = windows[:3]
    double, single = denise.decompose(M), denise.decompose(M.astype(np.float32))
    unaligned = np.frombuffer(b"x" + M.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(M.shape)
    assert not unaligned.flags.aligned
    for given in (
        M.tolist(),
        tuple(map(tuple, M)),
        WithArray(M),
        WithDlpack(M),
        memoryview(M),
        M.astype(">f8"),
        np.asfortranarray(M),
        np.concatenate([M, M], axis=2)[:, :, :20],
        M[::-1][::-1],
        unaligned,
        M.astype(np.longdouble),
    ):
        result = denise.decompose(given)  # type: ignore[call-overload]
        assert result.low_rank.dtype == np.float64
        assert same(result.low_rank, double.low_rank), type(given)
    for given in (M.astype("<f4"), M.astype(">f4"), WithDlpack(M.astype(np.float32))):
        result = denise.decompose(given)
        assert result.low_rank.dtype == np.float32
        assert same(result.low_rank, single.low_rank)
    assert type(denise.decompose(np.asmatrix(M[0])).low_rank) is np.ndarray


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.uint64, np.float16])
def test_other_numbers_become_float64(dtype: Any) -> None:
    M = (np.ones((6, 6)) + 3 * np.eye(6)).astype(dtype)
    result = denise.decompose(M, k=1)
    assert result.low_rank.dtype == np.float64
    assert same(result.low_rank, denise.decompose(M.astype(float), k=1).low_rank)


def test_a_mask_is_not_dropped(windows: Any) -> None:
    M = np.ma.masked_array(windows[0], mask=np.zeros((20, 20), bool))
    assert same(denise.decompose(M).low_rank, denise.decompose(windows[0]).low_rank)
    M[7, 3] = np.ma.masked
    with pytest.raises(ValueError, match=r"\(7, 3\)"):
        denise.decompose(M)
    assert denise.decompose(M, missing=True).report.missing == 1


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (None, TypeError),
        ("matrix", TypeError),
        (object(), TypeError),
        ([[1.0, 2.0], [3.0]], TypeError),
        (np.eye(4, dtype=complex), TypeError),
        (np.eye(4).astype(object), TypeError),
        (np.eye(4).astype(str), TypeError),
        (np.zeros((4, 4), "datetime64[s]"), TypeError),
        (np.zeros((4, 4), [("a", float)]), TypeError),
        (pd.DataFrame([["a", "b"], ["c", "d"]]), TypeError),
        (1.0, ValueError),
        (np.ones(9), ValueError),
        (np.ones((4, 3)), ValueError),
        (np.ones((3, 0, 0)), ValueError),
        (np.ones((1, 1)), ValueError),
        (np.ones((513, 513)), ValueError),
    ],
)
def test_what_is_no_matrix_is_refused_by_name(given: Any, error: Any) -> None:
    for call in (denise.decompose, denise.covariance, denise.rank, denise.classical):
        with pytest.raises(error, match=r"^M"):
            call(given)


@pytest.mark.parametrize(
    ("options", "error", "name"),
    [
        ({"k": 0}, ValueError, "k"),
        ({"k": -(10**30)}, ValueError, "k"),
        ({"k": 20}, ValueError, "M, k"),
        ({"k": 10**30}, ValueError, "M, k"),
        ({"k": 2.5}, TypeError, "k"),
        ({"k": "3"}, TypeError, "k"),
        ({"k": None}, TypeError, "k"),
        ({"threads": 0}, ValueError, "threads"),
        ({"threads": 10**9}, ValueError, "threads"),
        ({"threads": "2"}, TypeError, "threads"),
        ({"u": "yes"}, TypeError, "u"),
        ({"missing": 3}, TypeError, "missing"),
        ({"unknown": 1}, TypeError, "unknown"),
    ],
)
def test_wrong_options_are_named(options: Any, error: Any, name: str) -> None:
    with pytest.raises(error, match=f"{name}\\b.*: |'{name}'|^{name} is"):
        denise.decompose(np.eye(20), **options)


def test_wrong_options_of_the_others_are_named() -> None:
    M = np.eye(20)
    for call, name in (
        (lambda: denise.covariance(M, floor="x"), "floor"),  # type: ignore[call-overload]
        (lambda: denise.covariance(M, correlation=2), "correlation"),  # type: ignore[call-overload]
        (lambda: denise.classical(M, lam="x"), "lam"),  # type: ignore[call-overload]
        (lambda: denise.rank(M, observations=M), "observations"),  # type: ignore[arg-type]
        (lambda: denise.Model(careful="no"), "careful"),  # type: ignore[arg-type]
        (lambda: denise.Stream(5, half_life="x"), "half_life"),  # type: ignore[arg-type]
        (lambda: denise.Stream(5, model=3), "model"),  # type: ignore[arg-type]
        (lambda: denise.Stream(5).push(np.zeros(5), u=[]), "u"),  # type: ignore[call-overload]
    ):
        with pytest.raises(TypeError, match=f"^{name}: must be"):
            call()


def test_integers_of_numpy_are_integers() -> None:
    M = np.ones((6, 6)) + np.eye(6)
    assert same(denise.decompose(M, k=np.int16(2)).low_rank, denise.decompose(M, k=2).low_rank)  # type: ignore[arg-type]


def test_a_table_keeps_its_labels(returns: Any) -> None:
    names = [f"asset {i}" for i in range(20)]
    table = pd.DataFrame(returns, columns=names)
    M = table.iloc[:200].corr()
    result = denise.decompose(M, u=True)
    assert list(result.low_rank.index) == list(result.sparse.columns) == names
    assert list(result.loadings.index) == names and list(result.loadings.columns) == [0, 1, 2]
    assert same(result.low_rank, denise.decompose(M.to_numpy()).low_rank)
    # What is missing in a table is not known.
    M.loc["asset 3", "asset 1"] = M.loc["asset 1", "asset 3"] = np.nan
    result = denise.decompose(M)
    assert result.report.missing == 1 and np.isfinite(result.low_rank.to_numpy()).all()
    nullable = M.astype("Float64")
    nullable.loc["asset 3", "asset 1"] = pd.NA
    assert same(denise.decompose(nullable).low_rank, result.low_rank)
    with pytest.raises(ValueError, match="M: rows and columns"):
        denise.decompose(M.iloc[::-1])


def test_a_table_of_windows(returns: Any) -> None:
    times = pd.date_range("2020-01-01", periods=40, name="day")
    table = pd.DataFrame(returns[:40, :6], index=times, columns=list("abcdef"))
    M = table.rolling(20).cov().dropna()
    result = denise.decompose(M, k=2, u=True)
    assert result.low_rank.index.equals(M.index) and result.sparse.columns.equals(M.columns)
    assert result.loadings.shape == (len(M), 2)
    day = times[30]
    assert same(result.low_rank.loc[day], denise.decompose(M.loc[day].to_numpy(), k=2).low_rank)
    assert np.shape(result.report.l1) == (21,)
    sigma = denise.covariance(M, k=2)
    assert sigma.sigma.index.equals(M.index)
    assert sigma.log_det.index.equals(times[19:])
    assert denise.rank(M).index.equals(times[19:])
    ones = pd.Series(1.0, index=list("fedcba"))
    weights = sigma.solve(ones)
    assert weights.index.equals(M.index)
    assert np.allclose(sigma.sigma.loc[day] @ weights.loc[day], 1.0)
    # The windows that are not full have nothing known: zeros, and no error.
    unfilled = denise.decompose(table.rolling(20).cov(), k=2)
    assert (unfilled.low_rank.loc[times[3]] == 0).all(axis=None)
    for wrong in (M.iloc[:-1], M.iloc[::-1], M.sort_index(level=1)):
        with pytest.raises(ValueError, match="^M: "):
            denise.decompose(wrong, k=2)
