"""Archives: rolling windows, and from Parquet to Parquet."""

from __future__ import annotations

import inspect
import os
import re
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import denise
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from denise import _parts, _windows, _worker, archive  # noqa: E402

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples/python"


def read_prices(name: str) -> pd.DataFrame:
    frame = pd.read_csv(ROOT / "tests/data" / name)
    frame = frame.rename(columns={frame.columns[0]: "date"})
    return frame.assign(date=pd.to_datetime(frame["date"]))


@pytest.fixture(scope="module")
def stocks() -> pd.DataFrame:
    """Return 1000 days of 20 stocks."""
    return read_prices("sp500/sp500_dataset.csv.gz").iloc[4000:5000].reset_index(drop=True)


@pytest.fixture(scope="module")
def futures() -> pd.DataFrame:
    """Return 400 days of 12 futures, many of them missing."""
    return read_prices("panels/futures12.csv.gz")


def write(frame: pd.DataFrame, path: Path, rows: int = 1 << 20) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=rows)
    return path


def numbers(table: Any, name: str, *shape: int) -> Any:
    """Return a column of lists as an array."""
    return np.stack(table[name].to_numpy()).reshape(-1, *shape)


def returns_of(frame: pd.DataFrame) -> Any:
    prices = frame.drop(columns="date").to_numpy()
    return prices[1:] / prices[:-1] - 1


def all_windows(returns: Any, window: int, **options: Any) -> tuple[Any, Any]:
    chunks = list(_windows.rolling(returns, window, **options))
    return tuple(np.concatenate(parts) for parts in zip(*chunks))


# Rolling windows.


@pytest.mark.parametrize("covariance", [False, True])
def test_windows_are_those_of_numpy(stocks: pd.DataFrame, covariance: bool) -> None:
    returns = returns_of(stocks)
    starts, M = all_windows(returns, 100, covariance=covariance)
    assert (starts == np.arange(900)).all()
    direct = np.stack([(np.cov if covariance else np.corrcoef)(returns[at : at + 100].T) for at in starts])
    assert np.abs(M - direct).max() < 1e-14 * np.abs(direct).max()
    assert (M == M.swapaxes(1, 2)).all()


@pytest.mark.parametrize("covariance", [False, True])
def test_windows_with_gaps_are_those_of_pandas(futures: pd.DataFrame, covariance: bool) -> None:
    returns = returns_of(futures)
    starts, M = all_windows(returns, 60, covariance=covariance, least=20)
    for at, found in zip(starts[::10], M[::10]):
        frame = pd.DataFrame(returns[at : at + 60])
        direct = (frame.cov(min_periods=20) if covariance else frame.corr(min_periods=20)).to_numpy()
        np.testing.assert_allclose(found, direct, rtol=0, atol=1e-13 * np.nanmax(np.abs(direct)))
    assert np.isnan(M).any() and not np.isnan(M).all()


def test_without_least_a_gap_hides_its_windows_and_no_others(stocks: pd.DataFrame) -> None:
    returns = returns_of(stocks)
    _, whole = all_windows(returns, 100)
    returns[300, 7] = np.nan
    _, M = all_windows(returns, 100)
    hidden = np.isnan(M).all(axis=(1, 2))
    assert (np.flatnonzero(hidden) == np.arange(201, 301)).all()
    assert np.abs(M - whole)[~hidden].max() < 1e-14
    _, M = all_windows(returns, 100, least=33)
    assert np.isfinite(M).all()
    assert np.abs(M - whole)[~hidden].max() < 1e-14


def test_a_bad_row_harms_only_its_windows(stocks: pd.DataFrame) -> None:
    """Running sums would carry the rounding of 1e9 through the rest of the table."""
    returns = returns_of(stocks)
    returns[300] = 1e9
    _, M = all_windows(returns, 100)
    for at in (0, 150, 199, 200, 300, 301, 350, 899):
        direct = np.corrcoef(returns[at : at + 100].T)
        assert np.abs(M[at] - direct).max() < 1e-12, at


@pytest.mark.parametrize("least", [None, 10])
def test_means_far_from_zero(least: int | None) -> None:
    returns = np.random.default_rng(1).normal(size=(300, 4)) + [0, 1e3, 1e6, 0]
    returns[150:, 3] += 1e5  # a jump, so that one centre cannot suit all windows
    if least:
        returns[::7, 0] = np.nan
    starts, M = all_windows(returns, 30, least=least)
    for at in starts[::9]:
        direct = pd.DataFrame(returns[at : at + 30]).corr().to_numpy()
        # What the numbers themselves carry: 1e6 has 1e-10 of a standard deviation.
        assert np.abs(M[at] - direct).max() < 1e-9, at


def test_a_mean_that_stays_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The centre of each chunk takes it away, so that no window has to be computed alone."""
    monkeypatch.delattr(_windows, "_alone")
    returns = np.random.default_rng(1).normal(size=(300, 4)) + 1e3
    _, M = all_windows(returns, 30)
    assert np.abs(M[99] - np.corrcoef(returns[99:129].T)).max() < 1e-12


@pytest.mark.parametrize("least", [None, 10])
def test_an_asset_that_does_not_vary_has_no_correlation(least: int | None) -> None:
    returns = np.random.default_rng(2).normal(size=(200, 3))
    returns[50:150, 1] = 0.1
    if least:
        returns[60, 0] = np.nan
    starts, M = all_windows(returns, 40, least=least)
    still = (starts >= 50) & (starts + 40 <= 150)
    assert (np.isnan(M[:, 1, 1]) == still).all()
    assert (np.isnan(M[:, 2, 1]) == still).all()
    assert not np.isnan(M[:, 2, 0]).any()
    _, C = all_windows(returns, 40, covariance=True, least=least)
    assert (C[still, 1] == 0).all()


@settings(deadline=None, max_examples=60)
@given(
    count=st.integers(0, 40),
    n=st.integers(1, 6),
    window=st.integers(2, 60),
    step=st.integers(1, 9),
    chunk=st.sampled_from([1, 50, 1 << 21]),
    gaps=st.sampled_from([0.0, 0.3]),
    covariance=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_windows(
    count: int, n: int, window: int, step: int, chunk: int, gaps: float, covariance: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    days = window - 1 + count
    returns = rng.normal(size=(days, n))
    returns[rng.random((days, n)) < gaps] = np.nan
    least = max(2, window // 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_windows, "_CHUNK", chunk)  # little memory: fewer windows share a core
        wanted = np.arange(0, count, step)
        chunks = list(_windows.rolling(returns, window, starts=wanted, least=least, covariance=covariance))
    assert [at for starts, _ in chunks for at in starts] == list(wanted)
    for starts, M in chunks:
        for at, found in zip(starts, M):
            frame = pd.DataFrame(returns[at : at + window])
            direct = frame.cov(min_periods=least) if covariance else frame.corr(min_periods=least)
            np.testing.assert_allclose(found, direct.to_numpy(), rtol=0, atol=1e-11)


def test_returns() -> None:
    def returns(rows: Any, values: Any) -> Any:
        table = np.array(rows)
        return _windows.to_returns(table, values, [f"day {at}" for at in range(len(table))], ["x", "y"])

    prices = [[1.0, 4.0], [2.0, np.nan], [1.0, 2.0]]
    np.testing.assert_array_equal(returns(prices, "prices"), [[1, np.nan], [-0.5, np.nan]])
    np.testing.assert_allclose(returns(prices, "log-prices")[:, 0], [np.log(2), -np.log(2)])
    np.testing.assert_array_equal(returns(prices, "returns"), prices)
    with pytest.raises(ValueError, match="day 1, y: the price -2.0 is not a positive number"):
        returns([[1.0, 1.0], [1.0, -2.0]], "prices")
    with pytest.raises(ValueError, match="day 0, x: the price inf is not a positive number"):
        returns([[np.inf, 1.0]], "log-prices")
    with pytest.raises(ValueError, match="day 1, x: the return 1e[+]200 is too large"):
        returns([[1e-100, 1.0], [1e100, 1.0]], "prices")
    with pytest.raises(ValueError, match="day 0, y: the return -inf is too large"):
        returns([[1.0, -np.inf]], "returns")


# Tables.


def test_a_table(stocks: pd.DataFrame, tmp_path: Path) -> None:
    source = write(stocks, tmp_path / "prices.parquet")
    summary = archive.run(source, tmp_path / "out", window=100, columns=("M", "U", "d"))
    assert summary[:4] == (1, 0, 900, 0)
    table = pq.read_table(tmp_path / "out")
    assert table["date"].to_pylist() == stocks["date"].tolist()[100:]
    M = numbers(table, "M", 20, 20)
    returns = returns_of(stocks)
    assert np.abs(M[77] - np.corrcoef(returns[77:177].T)).max() < 1e-14
    sigma = denise.covariance(M, correlation=True)
    np.testing.assert_array_equal(numbers(table, "U", 20, 3), sigma.loadings)
    np.testing.assert_array_equal(numbers(table, "d", 20), sigma.specific)
    for name, values in sigma.report.as_dict().items():
        found = table[name].to_numpy()
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, values)


def test_low_rank_and_sparse(stocks: pd.DataFrame, tmp_path: Path) -> None:
    source = write(stocks, tmp_path / "prices.parquet")
    options: dict[str, Any] = dict(window=250, step=50, k=2, covariance=True, dtype="float32", values="log-prices")
    archive.run(source, tmp_path / "out", columns=("M", "L", "S", "U", "d"), **options)
    table = pq.read_table(tmp_path / "out")
    assert len(table) == 15
    M = numbers(table, "M", 20, 20)
    assert M.dtype == np.float32
    log = np.diff(np.log(stocks.drop(columns="date").to_numpy()), axis=0)
    np.testing.assert_allclose(M[2], np.cov(log[100:350].T), rtol=1e-5, atol=1e-9)
    split = denise.decompose(M, k=2, u=True, correlation=True)
    np.testing.assert_array_equal(numbers(table, "L", 20, 20), split.low_rank)
    np.testing.assert_array_equal(numbers(table, "S", 20, 20), split.sparse)
    np.testing.assert_array_equal(numbers(table, "U", 20, 2), split.loadings)
    archive.run(source, tmp_path / "small", columns=("U", "d"), **options)
    small = pq.read_table(tmp_path / "small")
    for name in ("U", "d", "date"):
        assert small[name].equals(table[name]), name


@pytest.mark.parametrize("values", ["prices", "returns"])
@pytest.mark.parametrize("step", [1, 7])
def test_fragments_do_not_matter(stocks: pd.DataFrame, tmp_path: Path, values: Any, step: int) -> None:
    """Row groups shorter than a window, and files, change neither which windows there are nor what is in them."""
    columns = ["date", *stocks.columns[1:6]]
    frame = stocks[columns].copy()
    if values == "returns":
        frame = pd.concat([frame["date"], frame.drop(columns="date").pct_change()], axis=1).iloc[1:]
    whole = write(frame, tmp_path / "whole.parquet")
    write(frame.iloc[:0], tmp_path / "pieces/0-empty.parquet")
    for at, (begin, end, rows) in enumerate([(0, 10, 3), (10, 400, 17), (400, 1000, 211)]):
        write(frame.iloc[begin:end], tmp_path / f"pieces/{at}.parquet", rows)
    options: dict[str, Any] = dict(window=50, step=step, k=1, columns=("M", "U"), values=values)
    archive.run(whole, tmp_path / "one", **options)
    summary = archive.run(tmp_path / "pieces", tmp_path / "many", **options)
    assert summary.parts == 4 + 23 + 3
    one, many = pq.read_table(tmp_path / "one"), pq.read_table(tmp_path / "many")
    assert one["date"].equals(many["date"])
    assert len(one) == len(range(0, len(frame) - 50 + (values == "returns"), step))
    np.testing.assert_allclose(numbers(many, "M", 5, 5), numbers(one, "M", 5, 5), rtol=0, atol=1e-14)


def universes(stocks: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return three universes of five stocks and different lengths."""
    parts = {"x": (0, 1, 300), "y": (280, 6, 345), "z": (100, 11, 500)}
    result = {}
    for name, (begin, first, end) in parts.items():
        frame = stocks.iloc[begin:end, [0, *range(first, first + 5)]]
        result[name] = frame.set_axis(["date", *"abcde"], axis=1).reset_index(drop=True)
    return result


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("layout", ["column", "folders", "both"])
def test_universes(stocks: pd.DataFrame, tmp_path: Path, layout: str, step: int) -> None:
    """No window has rows of two universes, however they are stored."""
    options: dict[str, Any] = dict(window=60, step=step, k=1, columns=("M",))
    parts = universes(stocks)
    expected = []
    for name, frame in parts.items():
        archive.run(write(frame, tmp_path / f"{name}.parquet"), tmp_path / name, **options)
        expected.append(pq.read_table(tmp_path / name))
    together = pa.concat_tables(expected)
    assert len(expected[1]) == len(range(0, 5, step))
    if layout == "column":
        frame = pd.concat([frame.assign(universe=name) for name, frame in parts.items()])
        write(frame, tmp_path / "source/all.parquet", 71)
        archive.run(tmp_path / "source", tmp_path / "out", universe="universe", **options)
    elif layout == "folders":
        for name, frame in parts.items():
            write(frame, tmp_path / f"source/universe={name}/prices.parquet", 71)
        archive.run(tmp_path / "source", tmp_path / "out", universe=["universe"], **options)
    else:
        for name, frame in parts.items():
            for year, rows in frame.groupby(frame["date"].dt.year):
                write(rows.assign(universe=name), tmp_path / f"source/{name}/year={year}/prices.parquet", 71)
        archive.run(tmp_path / "source", tmp_path / "out", universe="universe", **options)
    found = pq.read_table(tmp_path / "out", partitioning="hive")
    names = [name for name, table in zip(parts, expected) for _ in range(len(table))]
    assert found["universe"].cast(pa.string()).to_pylist() == names
    assert found["date"].equals(together["date"])
    np.testing.assert_allclose(numbers(found, "M", 5, 5), numbers(together, "M", 5, 5), rtol=0, atol=1e-14)


def test_gaps_in_a_table(futures: pd.DataFrame, tmp_path: Path) -> None:
    source = write(futures, tmp_path / "prices.parquet", 90)
    summary = archive.run(source, tmp_path / "out", window=60, missing=True, min_days=25, columns=("M", "L"))
    assert summary.failed == 0
    table = pq.read_table(tmp_path / "out")
    M = numbers(table, "M", 12, 12)
    returns = returns_of(futures)
    direct = pd.DataFrame(returns[123:183]).corr(min_periods=25).to_numpy()
    np.testing.assert_allclose(M[123], direct, rtol=0, atol=1e-13)
    split = denise.decompose(M, missing=True, correlation=True)
    np.testing.assert_array_equal(numbers(table, "L", 12, 12), split.low_rank)
    # A third of the window if nobody says.
    archive.run(source, tmp_path / "third", window=60, missing=True, columns=("M",))
    direct = pd.DataFrame(returns[123:183]).corr(min_periods=20).to_numpy()
    third = numbers(pq.read_table(tmp_path / "third"), "M", 12, 12)
    np.testing.assert_allclose(third[123], direct, rtol=0, atol=1e-13)
    assert np.isnan(third).sum() < np.isnan(M).sum()
    # Without `missing`, windows with a gap fail, and say so.
    summary = archive.run(source, tmp_path / "strict", window=60)
    strict = pq.read_table(tmp_path / "strict")
    gaps = np.array([np.isnan(returns[at : at + 60]).any() for at in range(len(strict))])
    assert summary.failed == gaps.sum() > 0
    assert (strict["status"].to_numpy() == np.where(gaps, 7, 0)).all()


def test_numbers_of_any_kind(tmp_path: Path) -> None:
    """Integers, decimals and nulls are prices too; text is a column to leave out."""
    table = pa.table(
        {
            "day": pa.array(range(30)),
            "note": pa.array(["x"] * 30),
            "a": pa.array([10 + at % 3 for at in range(30)], pa.int16()),
            "b": pa.array([None, *(5 + at % 4 for at in range(29))], pa.decimal128(5, 2)),
            "c": pa.array([1 + at % 5 for at in range(30)], pa.float32()),
        }
    )
    pq.write_table(table, tmp_path / "p.parquet")
    archive.run(tmp_path / "p.parquet", tmp_path / "out", date="day", window=20, k=1, columns=("M",))
    found = pq.read_table(tmp_path / "out")
    assert found.column_names[:2] == ["day", "M"]
    assert (found["status"].to_numpy() == [7, 7] + [0] * 8).sum() == 10 - (found["status"].to_numpy()[1] == 0)
    frame = table.select(["a", "b", "c"]).to_pandas().astype(float)
    np.testing.assert_allclose(numbers(found, "M", 3, 3)[5], frame.pct_change().iloc[6:26].corr(), atol=1e-13)


# Matrices.


@pytest.mark.parametrize("kind", ["fixed float", "list double", "large list double"])
def test_matrices(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 6, 40)) * rng.uniform(1, 9, size=(6, 1))
    M = np.einsum("bit,bjt->bij", X, X) / 40
    if "float" in kind:
        M = M.astype(np.float32)
        lists: Any = pa.FixedSizeListArray.from_arrays(pa.array(M.ravel()), 36)
    else:
        rows: list[Any] = M.reshape(50, 36).tolist()
        rows[7] = None
        rows[9] = [None, *rows[9][1:]]
        lists = pa.array(rows, (pa.large_list if "large" in kind else pa.list_)(pa.float64()))
    keys = pa.table({"book": [f"b{at}" for at in range(50)], "cov": lists, "when": np.arange(50)})
    pq.write_table(keys, tmp_path / "m.parquet", row_group_size=13)
    summary = archive.run(tmp_path / "m.parquet", tmp_path / "out", column="cov", k=2, columns=("L", "U", "d"))
    table = pq.read_table(tmp_path / "out")
    assert table.column_names[:5] == ["book", "when", "L", "U", "d"]
    assert table["book"].equals(keys["book"])
    good = np.ones(50, dtype=bool)
    if "float" not in kind:
        good[[7, 9]] = False
    assert summary[:4] == (4, 0, 50, 50 - good.sum())
    sigma = denise.covariance(M[good], k=2, correlation=True)
    for name, shape, expected in (("U", (6, 2), sigma.loadings), ("d", (6,), sigma.specific)):
        found = numbers(table, name, *shape)
        assert found.dtype == M.dtype
        np.testing.assert_array_equal(found[good], expected)
        assert np.isnan(found[~good]).all()
    split = denise.decompose(M[good], k=2, correlation=True)
    np.testing.assert_array_equal(numbers(table, "L", 6, 6)[good], split.low_rank)


def test_missing_entries_of_matrices(tmp_path: Path) -> None:
    M = np.eye(4) + 1
    M = np.stack([M, M])
    M[1, 2, 0] = np.nan
    pq.write_table(pa.table({"M": M.reshape(2, 16).tolist()}), tmp_path / "m.parquet")
    archive.run(tmp_path / "m.parquet", tmp_path / "out", k=1, missing=True, columns=["L"])
    table = pq.read_table(tmp_path / "out")
    expected = denise.decompose(M, k=1, missing=True, correlation=True).low_rank
    np.testing.assert_array_equal(numbers(table, "L", 4, 4), expected)


# Runs that were stopped, and others.


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in folder.rglob("*.parquet")}


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_parts_are_kept_only_if_nothing_has_changed(stocks: pd.DataFrame, tmp_path: Path) -> None:
    source, out = write(stocks.iloc[:400, :6], tmp_path / "p/prices.parquet", 100), tmp_path / "out"

    def again(**options: Any) -> int:
        """Return how many parts were kept, and see that they were not touched."""
        before = snapshot(out)
        kept = archive.run(tmp_path / "p", out, **{"window": 50, "k": 1, **options}).kept
        after = snapshot(out)
        assert sum(before.get(name) == there for name, there in after.items()) == kept
        return kept

    assert again() == 0
    first = contents(out)
    assert again() == 4
    (out / "prices-0002.parquet").unlink()
    (out / "prices-0001.parquet").write_bytes(first["prices-0001.parquet"][:1000])
    (out / ".prices-0003.parquet.0123.tmp").write_bytes(b"half")
    assert again() == 2
    assert contents(out) == first
    for change in ({"k": 2}, {"columns": ["U"]}, {"step": 2}, {"floor": 0.1}, {"careful": True}, {"dtype": "float32"}):
        assert again(**change) == 0, change
        assert again(**change) == 4, change
    assert again() == 0
    assert contents(out) == first
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "__version__", "another")
        assert again() == 0
    assert again() == 0
    os.utime(source, ns=(1, 1))
    assert again() == 0
    # A file more: what was there stays, and windows run on into it.
    write(stocks.iloc[400:500, :6], tmp_path / "p/rest.parquet")
    assert again() == 4
    assert len(pq.read_table(out)) == 450


def test_a_network_of_your_own(stocks: pd.DataFrame, tmp_path: Path) -> None:
    """The content of its file counts, and is looked at wherever it is loaded."""
    source, out = write(stocks.iloc[:200, :6], tmp_path / "prices.parquet"), tmp_path / "out"
    network = tmp_path / "network.onnx"
    network.write_bytes((ROOT / "models/default.onnx").read_bytes())

    def again() -> int:
        return archive.run(source, out, window=50, k=np.int64(1), file=network).kept

    assert (again(), again()) == (0, 1)
    options = _worker.model_options(network, 1, False, True, False)
    network.rename(tmp_path / "gone.onnx")
    with pytest.raises(OSError, match="network.onnx"):
        again()
    network.write_bytes((ROOT / "models/default.onnx").read_bytes() + b"\0")
    _worker.model.cache_clear()
    with pytest.raises(ValueError, match="network.onnx is not the same for all workers, or has changed"):
        _worker.model(options)


def test_parts_know_the_rows_before_them(stocks: pd.DataFrame, tmp_path: Path) -> None:
    """A part depends on the file before it, where its first windows begin."""
    first = write(stocks.iloc[:200, :6], tmp_path / "p/1.parquet")
    write(stocks.iloc[200:400, :6], tmp_path / "p/2.parquet")
    archive.run(tmp_path / "p", tmp_path / "out", window=50, k=1)
    os.utime(first, ns=(1, 1))
    assert archive.run(tmp_path / "p", tmp_path / "out", window=50, k=1).kept == 0


def test_a_bad_fragment_leaves_the_others(stocks: pd.DataFrame, tmp_path: Path) -> None:
    frame = stocks.iloc[:400, :6].copy()
    frame.iloc[250, 3] = -1.0
    source, out = write(frame, tmp_path / "prices.parquet", 100), tmp_path / "out"
    place = f"prices.parquet, row group 2: {frame['date'][250]}, BAC: the price -1.0 is not"
    with pytest.raises(ValueError, match=place):
        archive.run(source, out, window=50, k=1)
    assert sorted(contents(out)) == ["prices-0000.parquet", "prices-0001.parquet"]


def test_errors(stocks: pd.DataFrame, tmp_path: Path) -> None:
    frame = stocks.iloc[:100, :4]
    source, out = write(frame, tmp_path / "p.parquet"), tmp_path / "out"
    pq.write_table(pa.table({"M": [[1.0] * 6]}), tmp_path / "six.parquet")
    pq.write_table(pa.table({"M": [[1.0] * 4, [1.0] * 9]}), tmp_path / "two.parquet")
    pq.write_table(pa.table({"M": [1.0]}), tmp_path / "flat.parquet")
    pq.write_table(pa.table({"M": [[1.0] * 4], "status": [1]}), tmp_path / "clash.parquet")
    write(pd.concat([frame, frame]), tmp_path / "twice.parquet")
    write(frame, tmp_path / "years/year=2005/p.parquet")
    out = write(frame, tmp_path / "good/p.parquet").parent / "out"
    (tmp_path / "none").mkdir()
    (tmp_path / "text.parquet").write_text("no")

    def refuses(message: str, given: Path = source, **options: Any) -> None:
        with pytest.raises(ValueError, match=message):
            archive.run(given, out, **{"window": 50, "k": 1, **options})

    refuses("window is 1", window=1)
    refuses("step is 0", step=0)
    refuses("values is 'price'", values="price")
    refuses("min_days is 51", min_days=51)
    refuses("columns: 'X' is none of M, L, S, U, d", columns=["X"])
    refuses("columns: there are none", columns=[])
    refuses("date: the source has no column 'day'", date="day")
    refuses("universe: the source has no column 'u'", universe="u")
    refuses("assets: the source has no column 'b'", assets=["b"])
    refuses("no column 'M' of matrices", window=None)
    refuses("k", k=5)
    refuses("out: .* is in the source", given=tmp_path / "good")
    refuses("has no Parquet files", given=tmp_path / "none")
    refuses("p2.parquet", given=tmp_path / "p2.parquet")
    refuses("text.parquet", given=tmp_path / "text.parquet")
    refuses("lists of 6 numbers", given=tmp_path / "six.parquet", window=None)
    refuses("a list of 9 numbers, where the others have 2 x 2", given=tmp_path / "two.parquet", window=None)
    refuses("must hold lists of n x n numbers, not double", given=tmp_path / "flat.parquet", window=None)
    refuses("column 'status' is needed", given=tmp_path / "clash.parquet", window=None)
    refuses("date .* comes after", given=tmp_path / "twice.parquet")
    refuses("folders for year; name those that are universes", given=tmp_path / "years")
    archive.run(tmp_path / "years", tmp_path / "years-out", window=50, k=1, universe=[])
    assert not list(out.rglob("*.parquet"))
    (out / "other.parquet").write_bytes(b"")
    refuses("other.parquet is not of this source")


# Workers.


@pytest.fixture(scope="module")
def large(stocks: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """Return a source with 40 row groups, and the archive that a serial run makes of it."""
    folder = tmp_path_factory.mktemp("large")
    frame = pd.concat([stocks.assign(universe=name) for name in "abcdefgh"])
    source = write(frame, folder / "prices.parquet", 200)
    assert archive.run(source, folder / "serial", window=60, universe="universe").parts == 40
    return source, contents(folder / "serial")


def test_processes_make_the_same(large: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    """One command, with a bar; the same bytes as from a serial run."""
    source, expected = large
    command = [sys.executable, "-m", "denise.archive", str(source), "--out", str(tmp_path), "--window", "60"]
    command += ["--universe", "universe", "--workers", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "7,520 windows in 40 parts, of which 0 were there already" in done.stdout
    assert "] 100%  7,520 windows, " in done.stderr and " a second" in done.stderr
    assert contents(tmp_path) == expected


def test_the_command(large: tuple[Path, dict[str, bytes]], tmp_path: Path, capsys: Any) -> None:
    source, expected = large
    for name, data in list(expected.items())[5:]:
        (tmp_path / name).write_bytes(data)
    command = [str(source), "--out", str(tmp_path), "--window", "60", "--universe", "universe"]
    archive.main(command)
    assert "7,520 windows in 40 parts, of which 35 were there already" in capsys.readouterr().out
    assert contents(tmp_path) == expected
    with pytest.raises(SystemExit) as failed:
        archive.main([*command, "--k", "99"])
    message = capsys.readouterr().err
    assert failed.value.code == 1 and message.startswith("denise.archive: ") and "k = 99" in message


def test_every_option_of_the_command_is_one_of_the_function() -> None:
    given = vars(archive._parser().parse_args(["source", "--out", "out"]))
    parameters = inspect.signature(archive.run).parameters
    for name, value in given.items():
        if name in ("source", "out", "scheduler"):
            continue
        assert parameters[name].default == value, name
    assert set(parameters) - set(given) == {"client", "progress"}


def test_a_killed_process_loses_nothing(large: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    source, expected = large

    def kill() -> None:
        while not list(tmp_path.glob("*.parquet")):
            time.sleep(0.001)
        active_children()[0].kill()

    threading.Thread(target=kill, daemon=True).start()
    with pytest.raises(RuntimeError, match="a worker has died"):
        archive.run(source, tmp_path, window=60, universe="universe", workers=2)
    whole = {name: data for name, data in contents(tmp_path).items() if not name.startswith(".")}
    assert 1 <= len(whole) < 40
    assert whole.items() <= expected.items()
    assert archive.run(source, tmp_path, window=60, universe="universe").kept == len(whole)
    assert contents(tmp_path) == expected


def test_a_killed_worker_of_dask_loses_nothing(large: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    """Two worker processes, one of them killed in the middle of a part. Its tasks run again elsewhere."""
    distributed = pytest.importorskip("distributed")
    source, expected = large
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.scheduler_info()["workers"]))
        client.run(_die_at_part, 6, workers=[victim])
        summary = archive.run(source, tmp_path, window=60, universe="universe", client=client)
        assert victim not in client.scheduler_info()["workers"]
    assert summary.windows == 7520
    parts = contents(tmp_path)
    half = [name for name in parts if name.startswith(".")]
    assert len(half) == 1  # what the worker was writing; readers leave it out, and the next run removes it
    assert {name: data for name, data in parts.items() if name not in half} == expected
    assert archive.run(source, tmp_path, window=60, universe="universe").kept == 40
    assert contents(tmp_path) == expected


def _die_at_part(number: int) -> None:
    """Let this process be killed, as by the system, in the middle of the part with this number."""
    split, calls = _parts._split, []

    def deadly(*arguments: Any) -> Any:
        calls.append(None)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return split(*arguments)

    _parts._split = deadly


def test_the_example_with_duckdb() -> None:
    pytest.importorskip("duckdb")
    done = subprocess.run([sys.executable, EXAMPLES / "archive_duckdb.py"], capture_output=True, text=True, check=True)
    assert "2000  0.085" in done.stdout and "132 quarters" in done.stdout


def test_the_documentation_prints_what_it_says() -> None:
    pytest.importorskip("dask")
    text = (ROOT / "bindings/python/docs/archives.md").read_text()
    found = re.findall(r"```python\n(.*?)```\n\nIt prints `(.*?)`", text, re.DOTALL)
    assert len(found) == text.count("```python")
    for code, output in found:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == output + "\n"
