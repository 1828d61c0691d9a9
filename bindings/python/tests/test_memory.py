"""What is copied, and what is not: by address, and by what NumPy allocates."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from conftest import same

import denise


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def allocated(call: Any) -> int:
    """Bytes that arrays took at the most during a call."""
    call()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = call()
        peak = tracemalloc.get_traced_memory()[1]
        del result
        return peak - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fitting_array_is_not_copied(windows: Any, dtype: Any) -> None:
    M = windows.astype(dtype)
    # L and S, and nothing of the size of M beside them.
    assert 2 * M.nbytes <= allocated(lambda: denise.decompose(M)) < 2.1 * M.nbytes
    # Read-only is as good.
    M.flags.writeable = False
    assert allocated(lambda: denise.decompose(M)) < 2.1 * M.nbytes
    # Another order, and another type, are copied once.
    assert allocated(lambda: denise.decompose(M[::2])) >= 3 * M[::2].nbytes
    assert allocated(lambda: denise.decompose(M.astype(np.float16))) >= 3 * 8 * M.size


def test_results_go_where_they_are_wanted(windows: Any) -> None:
    expected = denise.decompose(windows)
    L, S = np.empty_like(windows), np.empty_like(windows)
    before = address(L), address(S)
    result = denise.decompose(windows, out=(L, S))
    assert result.low_rank is L and result.sparse is S
    assert (address(result.low_rank), address(result.sparse)) == before
    assert same(L, expected.low_rank) and same(S, expected.sparse)
    assert allocated(lambda: denise.decompose(windows, out=(L, S))) < 0.1 * L.nbytes
    result = denise.decompose(windows, out=(None, S))
    assert result.sparse is S and address(result.low_rank) not in before


def test_s_may_take_the_place_of_m(windows: Any) -> None:
    expected = denise.decompose(windows)
    M = windows.copy()
    where = address(M)
    result = denise.decompose(M, out=(None, M))
    assert result.sparse is M and address(M) == where
    assert same(M, expected.sparse) and same(result.low_rank, expected.low_rank)


def test_outputs_that_do_not_fit_are_refused_and_left_alone(windows: Any) -> None:
    M = windows[:4].copy()
    kept = M.copy()
    spoilt = np.full_like(M, 7.0)
    readonly = np.empty_like(M)
    readonly.flags.writeable = False
    big = np.full((6, 20, 20), 7.0)
    for out in (
        (spoilt.astype(np.float32), None),
        (spoilt[:3], None),
        (np.asfortranarray(spoilt), None),
        (None, readonly),
        (spoilt, spoilt),
        (M, None),
        (None, M[:3]),
        (big[:4], big[2:]),
        ("no array", None),
    ):
        with pytest.raises(ValueError, match=r"^out"):
            denise.decompose(M, out=out)  # type: ignore[arg-type]
    for wrong in (5, (spoilt,), (spoilt, spoilt, spoilt)):
        with pytest.raises(TypeError, match=r"^out"):
            denise.decompose(M, out=wrong)  # type: ignore[arg-type]
    # Parts that overlap M without being it.
    with pytest.raises(ValueError, match="overlap"):
        denise.decompose(big[:4], out=(None, big[1:5]))
    assert same(M, kept) and np.all(spoilt == 7.0) and np.all(big == 7.0)


def test_memory_that_is_not_there_is_a_memory_error() -> None:
    huge = np.broadcast_to(np.eye(20), (10**12, 20, 20))
    with pytest.raises(MemoryError):
        denise.decompose(huge)


def test_nothing_leaks(windows: Any) -> None:
    def rounds(count: int) -> int:
        for _ in range(count):
            denise.decompose(windows, u=True).report.as_dict()
            denise.covariance(windows).inverse  # noqa: B018
            try:
                denise.decompose(np.full((20, 20), np.nan))
            except ValueError:
                pass
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        rounds(3)
        first = rounds(3)
        assert rounds(20) - first < 10_000
    finally:
        tracemalloc.stop()
