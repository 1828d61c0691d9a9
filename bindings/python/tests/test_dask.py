"""Arrays of matrices on Dask."""

from __future__ import annotations

import os
import signal
from typing import Any

import denise
import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

import denise.dask  # noqa: E402


def matrices(*shape: int, n: int = 6, seed: int = 0) -> Any:
    X = np.random.default_rng(seed).normal(size=(*shape, n, 40))
    return X @ X.swapaxes(-1, -2) / 40


def report_of(split: Any) -> Any:
    """Return a report as a structured array, without the functions under test."""
    fields = {name: np.asarray(values) for name, values in split.report.as_dict().items()}
    types = {"status": "i4", "missing": "u4", "first_bad": "i8"}
    result = np.empty(fields["l1"].shape, dtype=[(name, types.get(name, "f4")) for name in fields])
    for name, values in fields.items():
        result[name] = values
    return result


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "chunks"),
    [((), ()), ((10,), (3,)), ((10,), (10,)), ((4, 9), (3, 2)), ((0,), (1,)), ((2, 3, 2), (1, 2, 2))],
)
def test_results_are_those_without_dask(shape: tuple[int, ...], chunks: tuple[int, ...], dtype: Any) -> None:
    M = matrices(*shape).astype(dtype)
    lazy = denise.dask.decompose(da.from_array(M, chunks=(*chunks, 6, 6)), k=2, u=True, correlation=True)
    found = dask.compute(*lazy, scheduler="synchronous")
    split = denise.decompose(M, k=2, u=True, correlation=True)
    expected = (split.low_rank, split.sparse, split.loadings, report_of(split))
    for part, result, array in zip(lazy, found, expected):
        assert part is not None
        assert part.shape == np.shape(result) == array.shape
        assert part.dtype == result.dtype == array.dtype == part._meta.dtype
        assert part._meta.ndim == part.ndim and isinstance(part._meta, np.ndarray)
        np.testing.assert_array_equal(result, array)


def test_without_u_there_are_no_loadings() -> None:
    assert denise.dask.decompose(da.ones((5, 3, 3)), k=1).loadings is None


def test_other_numbers_become_double() -> None:
    M = da.from_array(np.stack([np.eye(3, dtype=np.int32)] * 4), chunks=(2, 3, 3))
    lazy = denise.dask.decompose(M, k=1)
    assert lazy.low_rank.dtype == lazy.low_rank.compute().dtype == np.float64


def test_each_block_is_split_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if several results are asked for, and go on into other graphs."""
    split, calls = denise.dask.denise_split, []

    def counted(block: Any, *rest: Any) -> Any:
        calls.append(block.shape)
        return split(block, *rest)

    monkeypatch.setattr(denise.dask, "denise_split", counted)
    lazy = denise.dask.decompose(da.from_array(matrices(10), chunks=(3, 6, 6)), k=2, u=True)
    assert not calls
    L, S, U = lazy.low_rank, lazy.sparse, lazy.loadings
    wanted = (L.sum(), abs(S).mean(axis=(1, 2)), (U @ U.swapaxes(1, 2) - L), lazy.report["l1"].max(), L + S)
    dask.compute(*wanted, scheduler="synchronous")
    assert sorted(calls) == [(1, 6, 6), (3, 6, 6), (3, 6, 6), (3, 6, 6)]


def test_the_report_is_lazy_too() -> None:
    M = matrices(10)
    report = denise.dask.decompose(da.from_array(M, chunks=(4, 6, 6)), k=2).report
    np.testing.assert_array_equal(report["l1"].compute(), denise.decompose(M, k=2).report.l1)


def test_entries_that_are_not_known() -> None:
    M = matrices(10)
    M[7, 3, 2] = np.nan
    lazy = da.from_array(M, chunks=(4, 6, 6))
    with pytest.raises(ValueError, match="M"):
        denise.dask.decompose(lazy, k=2).low_rank.compute()
    one = denise.dask.decompose(lazy, k=2, check_finite=False)
    assert (one.report["status"].compute() == [0] * 7 + [7] + [0] * 2).all()
    known = denise.dask.decompose(lazy, k=2, missing=True)
    np.testing.assert_array_equal(known.low_rank.compute(), denise.decompose(M, k=2, missing=True).low_rank)


def test_chunks_of_unknown_length() -> None:
    M = matrices(10)
    lazy = da.from_array(M, chunks=(4, 6, 6))
    some = lazy[da.from_array(np.arange(10) % 2 == 0, chunks=4)]
    found = denise.dask.decompose(some, k=2).low_rank.compute()
    np.testing.assert_array_equal(found, denise.decompose(M[::2], k=2).low_rank)


def test_errors() -> None:
    with pytest.raises(TypeError, match="M must be a Dask array, not ndarray"):
        denise.dask.decompose(np.eye(3))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"M has the shape \(4, 3\)"):
        denise.dask.decompose(da.ones((4, 3)))
    with pytest.raises(ValueError, match=r"2 x 3 chunks .*rechunk\(\{-1: -1, -2: -1\}\)"):
        denise.dask.decompose(da.ones((5, 6, 6), chunks=(5, 3, 2)))
    with pytest.raises(TypeError, match="M must hold real numbers, not complex128"):
        denise.dask.decompose(da.ones((3, 3), dtype=complex))
    with pytest.raises(ValueError, match="k"):
        denise.dask.decompose(da.ones((5, 3, 3)), k=4)


def test_a_killed_worker_loses_nothing() -> None:
    """Two worker processes; one of them is killed in the middle, with results in its memory."""
    distributed = pytest.importorskip("distributed")
    M = da.map_blocks(_draw, chunks=((10,) * 100, (20,), (20,)), dtype=np.float64, meta=np.empty((0, 0, 0)))
    lazy = denise.dask.decompose(M, u=True)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.scheduler_info()["workers"]))
        client.run(_die_at_call, 21, workers=[victim])
        persisted = client.persist(lazy[:3])
        found = client.compute(persisted, sync=True)
        assert victim not in client.scheduler_info()["workers"]
    expected = dask.compute(*lazy[:3], scheduler="synchronous")
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


def _die_at_call(number: int) -> None:
    """Let this process be killed, as by the system, in the middle of the call with this number."""
    split, calls = denise.dask.denise_split, []

    def deadly(*arguments: Any) -> Any:
        calls.append(None)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return split(*arguments)

    denise.dask.denise_split = deadly


def _draw(block_info: Any = None) -> Any:
    at = block_info[None]["chunk-location"][0]
    return matrices(10, n=20, seed=at)
