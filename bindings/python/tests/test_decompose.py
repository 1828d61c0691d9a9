"""decompose: what it gives, for every shape and type."""

from __future__ import annotations

import ctypes
import os
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import same

import denise


def test_the_odd_pair_is_found() -> None:
    M = np.ones((5, 5))
    M[4, 2] = M[2, 4] = 1.5
    L, S = denise.decompose(M, k=1)
    assert abs(L[4, 2] - 1.0) < 1e-3
    assert abs(S[4, 2] - 0.5) < 1e-3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_batch_is_its_matrices(windows: Any, dtype: Any) -> None:
    M = windows.astype(dtype)
    all_at_once = denise.decompose(M, u=True)
    assert all_at_once.low_rank.dtype == all_at_once.loadings.dtype == dtype
    for i in range(0, len(M), 37):
        one = denise.decompose(M[i], u=True)
        assert same(one.low_rank, all_at_once.low_rank[i])
        assert same(one.sparse, all_at_once.sparse[i])
        assert same(one.loadings, all_at_once.loadings[i])
        for name, value in one.report.as_dict().items():
            assert value == getattr(all_at_once.report, name)[i], name


@pytest.mark.parametrize("leading", [(), (1,), (6,), (2, 3), (0,), (2, 0, 3), (1, 2, 1, 3)])
def test_any_leading_shape(windows: Any, leading: tuple[int, ...]) -> None:
    count = int(np.prod(leading))
    M = windows[:count].reshape(*leading, 20, 20)
    result = denise.decompose(M, k=2, u=True)
    assert result.low_rank.shape == result.sparse.shape == (*leading, 20, 20)
    assert result.loadings is not None
    assert result.loadings.shape == (*leading, 20, 2)
    assert np.shape(result.report.l1) == leading
    assert np.all(result.report.ok)
    flat = denise.decompose(windows[:count], k=2)
    assert same(result.low_rank.reshape(-1, 20, 20), flat.low_rank)


def test_it_is_a_split(windows: Any) -> None:
    result = denise.decompose(windows, k=3, u=True)
    L, S, U = result.low_rank, result.sparse, result.loadings
    assert np.allclose(L + S, windows, atol=1e-15)
    assert np.allclose(U @ U.swapaxes(-1, -2), L, atol=1e-12)
    assert same(L, L.swapaxes(-1, -2))
    gram = U.swapaxes(-1, -2) @ U
    off = gram * (1 - np.eye(3))
    assert np.abs(off).max() < 1e-9 * gram.max()
    assert np.all(np.diff(np.einsum("...ii->...i", gram)) <= 0)
    assert np.allclose(result.report.l1, np.abs(S).sum((1, 2)), rtol=1e-6)
    ratio = np.linalg.norm(S, axis=(1, 2)) / np.linalg.norm(windows, axis=(1, 2))
    assert np.allclose(result.report.residual, ratio, rtol=1e-5)
    least = (np.einsum("bii->bi", S) / np.einsum("bii->bi", windows)).min(1)
    assert np.allclose(result.report.least_specific, least, rtol=1e-5, atol=1e-7)


def test_only_the_lower_triangle_is_read(windows: Any) -> None:
    lower = np.tril(windows[3])
    assert same(denise.decompose(lower).low_rank, denise.decompose(windows[3]).low_rank)
    # In the order of Fortran too, where the lower triangle lies elsewhere.
    assert same(denise.decompose(np.asfortranarray(lower)).low_rank, denise.decompose(windows[3]).low_rank)


def test_units_do_not_matter_for_correlations(windows: Any) -> None:
    scale = np.exp(np.linspace(-2, 2, 20))
    M = windows[5] * np.outer(scale, scale)
    one = denise.decompose(windows[5], correlation=True).low_rank
    other = denise.decompose(M, correlation=True).low_rank / np.outer(scale, scale)
    assert np.allclose(one, other, rtol=1e-9, atol=1e-12)


def test_careful_explains_no_less(windows: Any) -> None:
    usual, careful = denise.decompose(windows), denise.decompose(windows, careful=True)
    assert not same(usual.low_rank, careful.low_rank)
    root = np.sqrt(np.abs(careful.sparse)).sum() / np.sqrt(np.abs(usual.sparse)).sum()
    assert root < 1.001


def test_missing_entries(windows: Any) -> None:
    M = windows[:3].copy()
    M[1, 7, 2] = M[1, 2, 7] = np.nan
    result = denise.decompose(M, missing=True)
    assert np.all(np.isfinite(result.low_rank))
    assert np.isnan(result.sparse[1]).sum() == 2
    assert list(result.report.missing) == [0, 1, 0]
    whole = denise.decompose(windows[:3])
    assert same(result.low_rank[[0, 2]], whole.low_rank[[0, 2]])


def test_threads_change_no_bit(windows: Any) -> None:
    M = np.tile(windows, (5, 1, 1))
    alone = denise.decompose(M)
    for threads in (2, 3):
        assert same(alone.low_rank, denise.decompose(M, threads=threads).low_rank)


def test_nan_and_infinity(windows: Any) -> None:
    M = windows[:4].copy()
    M[2, 9, 4] = np.inf
    with pytest.raises(ValueError, match=r"M: matrix 2 of the batch has NaN or infinity at \(9, 4\)"):
        denise.decompose(M)
    with pytest.raises(ValueError, match=r"M has NaN or infinity at \(9, 4\)"):
        denise.decompose(M[2], missing=True)
    result = denise.decompose(M, check_finite=False)
    assert list(result.report.status) == [0, 0, 7, 0]
    assert list(result.report.ok) == [True, True, False, True]
    assert result.report.first_bad[2] == 9 * 20 + 4
    assert np.isnan(result.low_rank[2]).all()
    assert same(result.low_rank[[0, 1, 3]], denise.decompose(windows[[0, 1, 3]]).low_rank)


def test_a_result_can_be_pickled_and_shown(windows: Any) -> None:
    for M in (windows[0], windows[:2]):
        result = denise.decompose(M, u=True)
        again = pickle.loads(pickle.dumps(result))
        assert same(result.low_rank, again.low_rank) and same(result.loadings, again.loadings)
        for name, value in result.report.as_dict().items():
            assert same(value, getattr(again.report, name)), name
        assert "Decomposition" in repr(result) and "residual=" in repr(result.report)
    assert len(result) == 2
    assert denise.Decomposition[int].__origin__ is denise.Decomposition


@pytest.mark.skipif("DENISE_LIBRARY" not in os.environ, reason="DENISE_LIBRARY names no libdenise.so")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bits_are_those_of_the_c_library(windows: Any, dtype: Any) -> None:
    c = ctypes.CDLL(os.environ["DENISE_LIBRARY"])
    model = ctypes.c_void_p()
    # By default for n = 20 and k = 3.
    assert c.denise_load(None, None, ctypes.byref(model)) == 0
    M = np.ascontiguousarray(windows, dtype=dtype)
    U, L, S = np.empty((len(M), 20, 3), dtype), np.empty_like(M), np.empty_like(M)
    call = c.denise_decompose_batch if dtype is np.float32 else c.denise_decompose_batch_f64
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (M, U, L, S)]
    assert call(model, ctypes.c_size_t(len(M)), *pointers, None) == 0
    c.denise_free(model)
    result = denise.decompose(M, u=True)
    assert same(result.low_rank, L) and same(result.sparse, S) and same(result.loadings, U)
