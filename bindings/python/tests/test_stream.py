"""Streams."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import same

import denise


def test_the_estimate_is_that_of_numpy(returns: Any) -> None:
    stream = denise.Stream(20, window=100, demean=True)
    for row in returns[:250]:
        stream.push(row)
    assert np.allclose(stream.covariance(), np.cov(returns[150:250].T, bias=True), rtol=1e-10)
    stream = denise.Stream(20, half_life=30)
    stream.replay(returns[:250])
    weights = 0.5 ** (np.arange(250)[::-1] / 30)
    expected = np.einsum("t,ti,tj->ij", weights, returns[:250], returns[:250]) / weights.sum()
    assert np.allclose(stream.covariance(), expected, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_history_is_its_ticks(returns: Any, dtype: Any) -> None:
    R = returns[:60].astype(dtype)
    stream, other = denise.Stream(20, 2, window=30), denise.Stream(20, 2, window=30)
    all_at_once = stream.replay(R, u=True)
    assert all_at_once.low_rank.shape == (60, 20, 20) and all_at_once.low_rank.dtype == dtype
    for tick, row in enumerate(R):
        one = other.push(row, u=True)
        assert same(one.low_rank, all_at_once.low_rank[tick])
        assert same(one.loadings, all_at_once.loadings[tick])
        assert one.report.status == all_at_once.report.status[tick] == (10 if tick < 3 else 0)
    assert same(stream.covariance(), other.covariance())


def test_many_streams_have_the_bits_of_each_alone(returns: Any) -> None:
    R = np.stack([returns[:40], returns[40:80], -2 * returns[80:120]], axis=1)
    together = denise.Stream(20, streams=3).replay(R)
    assert together.low_rank.shape == (40, 3, 20, 20)
    for i in range(3):
        assert same(denise.Stream(20).replay(R[:, i]).low_rank, together.low_rank[:, i])


@pytest.mark.parametrize("how", ["pickle", "copy", "save"])
def test_who_goes_on_has_the_same_bits(returns: Any, how: str) -> None:
    stream = denise.Stream(20, 4, window=50, correlation=True, demean=True)
    stream.replay(returns[:77])
    if how == "pickle":
        other = pickle.loads(pickle.dumps(stream))
    elif how == "copy":
        other = copy.deepcopy(stream)
    else:
        other = denise.Stream(20, 4, window=50, correlation=True, demean=True)
        other.restore(stream.save())
    if how != "save":
        assert same(stream.sigma().sigma, other.sigma().sigma)
    for row in returns[77:120]:
        one, two = stream.push(row, u=True), other.push(row, u=True)
        assert same(one.low_rank, two.low_rank) and same(one.loadings, two.loadings)
    # They are two, not one.
    stream.push(returns[0])
    assert not same(stream.covariance(), other.covariance())


def test_sigma_and_matrices(returns: Any, windows: Any) -> None:
    stream = denise.Stream(20, window=60)
    with pytest.raises(ValueError, match="no tick"):
        stream.sigma()
    stream.push(returns[0])
    with pytest.raises(ValueError, match="no split"):
        stream.sigma()
    result = stream.replay(returns[1:80], u=True)
    sigma = stream.sigma()
    assert same(sigma.loadings, result.loadings[-1])
    expected = denise.covariance_from_loadings(stream.covariance(), result.loadings[-1])
    assert same(sigma.sigma, expected.sigma) and same(sigma.inverse, expected.inverse)
    own = stream.push_matrix(windows[9], u=True)
    assert np.allclose(own.low_rank + own.sparse, windows[9])
    assert same(stream.sigma().sigma, denise.covariance_from_loadings(windows[9], own.loadings).sigma)
    copied = pickle.loads(pickle.dumps(stream))
    assert same(copied.sigma().sigma, stream.sigma().sigma)


def test_returns_that_are_not_known_or_not_finite(returns: Any) -> None:
    R = returns[:60].copy()
    R[20:, 5] = np.nan
    result = denise.Stream(20, window=30).replay(R)
    assert np.all(np.isfinite(result.low_rank[-1]))
    assert np.isnan(result.sparse[-1, 5]).any() and result.report.missing[-1] > 0
    R[30, 4] = np.inf
    with pytest.raises(ValueError, match="^returns: "):
        denise.Stream(20).replay(R)
    result = denise.Stream(20).replay(R, check_finite=False)
    assert result.report.status[30] == 7 and result.report.status[31] == 0


def test_labels(returns: Any) -> None:
    times = pd.date_range("2020-01-01", periods=50, name="day")
    table = pd.DataFrame(returns[:50, :5], index=times, columns=pd.Index(list("abcde"), name="asset"))
    stream = denise.Stream(5, 1)
    result = stream.replay(table, u=True)
    assert result.low_rank.loc[times[-1]].shape == (5, 5)
    assert result.low_rank.index.names == ["day", "asset"]
    assert list(result.loadings.loc[times[-1]].index) == list("abcde")
    one = stream.push(table.iloc[0])
    assert list(one.sparse.index) == list("abcde")


def test_wrong_arguments_are_named(returns: Any) -> None:
    for arguments, name in (
        ({"n": 1}, "n"),
        ({"n": 20, "k": 20}, "k"),
        ({"n": 20, "window": 1}, "window"),
        ({"n": 20, "window": 10, "half_life": 3.0}, "half_life"),
        ({"n": 20, "half_life": np.nan}, "half_life"),
        ({"n": 20, "warm_up": -1}, "warm_up"),
        ({"n": 20, "streams": 0}, "streams"),
        ({"n": 20, "streams": 10**30}, "streams"),
    ):
        with pytest.raises(ValueError, match=name):
            denise.Stream(**arguments)  # type: ignore[arg-type]
    stream = denise.Stream(20)
    for wrong in (returns[0, :5], returns[:2], 1.0):
        with pytest.raises(ValueError, match="^returns: the shape"):
            stream.push(wrong)
    with pytest.raises(TypeError, match="^state"):
        stream.restore("state")  # type: ignore[arg-type]
    state = stream.save()
    for damaged in (b"", state[:-1], state[:40] + b"\xff" + state[41:], denise.Stream(20, 2).save()):
        with pytest.raises(ValueError, match="^state: "):
            stream.restore(damaged)
    assert stream.save() == state
    stream.replay(returns[:30])
    stream.reset()
    assert stream.save() == state
    assert (stream.n, stream.k, stream.streams) == (20, 3, 1) and "half_life=60" in repr(stream)


def test_an_asset_that_is_not_there_changes_nothing(returns: Any) -> None:
    """Not listed yet, at first; then the split is that of all."""
    R = returns[:300].copy()
    wide = np.column_stack([R, np.full((300, 2), np.nan)])
    alone = denise.Stream(20, window=60).replay(R).low_rank
    among = denise.Stream(22, window=60).replay(wide).low_rank
    assert np.all(among[10:, 20:] == 0)
    assert np.allclose(among[10:, :20, :20], alone[10:], rtol=1e-8, atol=1e-12)
    wide[150:, 20] = returns[150:300, 3]
    listed = denise.Stream(22, window=60).replay(wide).low_rank
    assert same(listed[10:150], among[10:150])
    assert np.all(listed[-1, 20, :20] != 0) and np.all(listed[-1, 21] == 0)
