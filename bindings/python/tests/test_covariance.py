"""Σ = U Uᵀ + diag(d)."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import same

import denise


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_its_parts_fit_each_other(windows: Any, dtype: Any) -> None:
    M = (windows * np.outer(np.arange(1, 21), np.arange(1, 21))).astype(dtype)
    sigma = denise.covariance(M, k=3)
    U, d = sigma.loadings, sigma.specific
    assert U.shape == (200, 20, 3) and d.shape == (200, 20) and sigma.log_det.shape == (200,)
    assert U.dtype == d.dtype == sigma.sigma.dtype == dtype
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    full = U @ U.swapaxes(-1, -2) + d[:, :, None] * np.eye(20)
    assert np.allclose(sigma.sigma, full, rtol=tolerance, atol=tolerance)
    eye = sigma.inverse.astype(float) @ sigma.sigma.astype(float)
    assert np.abs(eye - np.eye(20)).max() < 100 * tolerance
    assert np.allclose(sigma.log_det, np.linalg.slogdet(sigma.sigma.astype(float))[1], rtol=1e-5)
    assert np.all(d >= 0.05 * np.einsum("bii->bi", M) * (1 - 1e-6))
    # The same split as decompose, which has this d on its diagonal where it is above the floor.
    L = denise.decompose(M, k=3, correlation=True).low_rank
    assert np.allclose(U @ U.swapaxes(-1, -2), L, rtol=100 * tolerance, atol=100 * tolerance)
    assert sigma.report is not None and np.all(sigma.report.ok)


def test_products(windows: Any) -> None:
    sigma = denise.covariance(windows[:4])
    rng = np.random.default_rng(2)
    one, each, many = rng.normal(size=20), rng.normal(size=(4, 20)), rng.normal(size=(4, 20, 3))
    assert np.allclose(np.einsum("bij,bj->bi", sigma.sigma, sigma.solve(one)), one)
    assert np.allclose(np.einsum("bij,bj->bi", sigma.sigma, sigma.solve(each)), each)
    assert np.allclose(sigma.sigma @ sigma.solve(many), many)
    assert np.allclose(sigma.multiply(many), sigma.sigma @ many)
    assert same(each, np.random.default_rng(2).normal(size=(1 + 4) * 20)[20:].reshape(4, 20)), "b was changed"
    single = denise.covariance(windows[0])
    assert same(single.solve(one), denise.solve(single, one))
    assert same(single.solve(one), denise.solve((single.loadings, single.specific), one))
    assert isinstance(single.log_det, float)
    for wrong in (one[:-1], each[:3], many[:, :5], 1.0):
        with pytest.raises(ValueError, match="^b: "):
            sigma.solve(wrong)
    with pytest.raises(ValueError, match="^b: "):
        sigma.solve(np.full(20, np.nan))
    with pytest.raises(ValueError, match="^sigma: "):
        denise.solve((single.loadings, -single.specific), one)
    with pytest.raises(TypeError, match="^sigma: "):
        denise.solve(windows[0], one)


def test_from_loadings(windows: Any) -> None:
    M = windows[:3]
    U = denise.decompose(M, u=True).loadings
    sigma = denise.covariance_from_loadings(M, U, floor=0.1)
    assert same(sigma.sigma, denise.covariance(M, floor=0.1, correlation=False).sigma)
    with pytest.raises(ValueError, match="^loadings: "):
        denise.covariance_from_loadings(M, U * np.nan)
    with pytest.raises(ValueError, match="^specific|^loadings"):
        denise.covariance_from_loadings(M, U[:2])


def test_whatever_m_is_it_can_be_inverted() -> None:
    rng = np.random.default_rng(3)
    for n, k in ((5, 1), (20, 3), (60, 10)):
        X = rng.normal(size=(n // 2, n))
        for M in (X.T @ X, np.ones((n, n)), rng.normal(size=(n, n)), np.diag(np.logspace(-6, 6, n))):
            M = M + M.T
            sigma = denise.covariance(M, k=k) if np.any(np.diag(M) > 0) else None
            if sigma is not None:
                np.linalg.cholesky(sigma.sigma)
                np.linalg.cholesky(sigma.inverse)


def test_nothing_to_invert(windows: Any) -> None:
    M = windows[:3].copy()
    M[1] = -np.eye(20)
    with pytest.raises(ValueError, match="matrix 1 of the batch has no positive variance"):
        denise.covariance(M)
    sigma = denise.covariance(M, check_finite=False)
    assert sigma.report is not None and list(sigma.report.status) == [0, 11, 0]
    assert np.isnan(sigma.sigma[1]).all() and np.isfinite(sigma.sigma[[0, 2]]).all()
    assert np.isnan(sigma.solve(np.ones(20))[1]).all()
    for floor in (0.0, 2.0, np.nan, -1.0):
        with pytest.raises(ValueError, match="^floor"):
            denise.covariance(windows[0], floor=floor)


def test_labels_and_pickles(returns: Any) -> None:
    names = list("abcdef")
    M = pd.DataFrame(returns[:100, :6], columns=names).cov()
    sigma = denise.covariance(M, k=2)
    assert list(sigma.sigma.index) == list(sigma.inverse.columns) == list(sigma.specific.index) == names
    shuffled = pd.Series(np.arange(6.0), index=names)[["f", "a", "c", "b", "e", "d"]]
    assert np.allclose(sigma.sigma @ sigma.solve(shuffled), shuffled[names])
    assert np.allclose(sigma.multiply(shuffled.to_frame("x"))["x"], sigma.sigma @ shuffled[names])
    with pytest.raises(ValueError, match="^b: its labels"):
        sigma.solve(pd.Series(1.0, index=list("abcdeg")))
    again = pickle.loads(pickle.dumps(sigma))
    assert same(again.sigma, sigma.sigma) and again.sigma.index.equals(sigma.sigma.index)
    assert same(pickle.loads(pickle.dumps(denise.covariance(M.to_numpy()))).inverse, denise.covariance(M).inverse)
