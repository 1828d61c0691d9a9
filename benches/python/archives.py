#!/usr/bin/env python3
"""How many matrices a second: in a loop, in a batch, on Dask, and from Parquet to Parquet.

    archives.py make prices.parquet     # a table with a million windows, for python -m denise.archive
    archives.py table                   # the tables of bindings/python/docs/archives.md

All ways of a table run in turns, several times, so that what else the machine does meets them alike. Rates are medians;
ratios are medians of the ratios within a turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask.array as da
import denise
import denise.archive
import denise.dask
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster, wait

ASSETS = 20
WINDOW = 100
NAMES = [f"a{asset:02d}" for asset in range(ASSETS)]


def prices(rng: np.random.Generator, days: int) -> npt.NDArray[np.float64]:
    """Draw daily prices of assets with three common factors."""
    loadings = rng.normal(size=(ASSETS, 3)) * (0.003, 0.004, 0.004) + (0.01, 0, 0)
    own = 0.01 * rng.standard_t(5, size=(days, ASSETS))
    return np.asarray(100 * np.exp(np.cumsum(rng.normal(size=(days, 3)) @ loadings.T + own, axis=0)))


def make(path: Path, windows: int, universes: int, row_group: int) -> None:
    """Write the prices of many universes one after another, with so many windows in all."""
    rng = np.random.default_rng(2023)
    tables = []
    for at in range(universes):
        days = prices(rng, windows // universes + (at < windows % universes) + WINDOW)
        keys = {
            "universe": pa.array([f"u{at:04d}"] * len(days)),
            "date": pa.array(np.datetime64("1990-01-01") + np.arange(len(days))),
        }
        tables.append(pa.table(keys | {name: days[:, asset] for asset, name in enumerate(NAMES)}))
    table = pa.concat_tables(tables)
    pq.write_table(table, path, row_group_size=row_group)
    print(f"{path}: {len(table):,} rows, {windows:,} windows of {WINDOW} days of {ASSETS} assets", file=sys.stderr)


def in_turns(ways: dict[str, Callable[[], int]], turns: int) -> dict[str, list[float]]:
    """Measure matrices a second of each way, in turns, after one turn that does not count."""
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            count = way()
            if turn:
                rates[name].append(count / (time.perf_counter() - began))
        last = ", ".join(f"{values[-1]:,.0f}" for values in rates.values() if values)
        print(f"turn {turn} of {turns}: {last}", file=sys.stderr)
    return rates


def markdown(rates: dict[str, list[float]]) -> str:
    """Return the rates as a table, with the ratio of each to the first."""
    base = next(iter(rates.values()))
    lines = ["| | a second | beside the first |", "|---|---|---|"]
    for name, values in rates.items():
        ratio = statistics.median(value / other for value, other in zip(values, base))
        lines.append(f"| {name} | {float(f'{statistics.median(values):.2g}'):,.0f} | {ratio:.2g} |")
    return "\n".join(lines)


def in_memory(clients: dict[str, Client], M: npt.NDArray[Any], turns: int) -> dict[str, Callable[[], int]]:
    """Return ways to split matrices that are in memory. What Dask makes stays on its workers."""

    def loop() -> int:
        for one in M[:10_000]:
            denise.decompose(one)
        return 10_000

    def batch() -> int:
        for at in range(0, len(M), 1000):
            denise.decompose(M[at : at + 1000])
        return len(M)

    def on_dask(client: Client) -> Callable[[], int]:
        # The matrices are on the workers, as if they had read them. Dask does not compute again what it still has, so
        # each turn has its own.
        part = client.scatter(M[: len(M) // 10], broadcast=True)
        chunks = ((len(M) // 10,) * 10, (ASSETS,), (ASSETS,))
        inputs = [
            client.persist(da.map_blocks(_copy, part, turn, chunks=chunks, dtype=M.dtype)) for turn in range(turns)
        ]
        wait(inputs)

        def way() -> int:
            wait(client.persist(denise.dask.decompose(inputs.pop())[:2]))
            return len(M)

        return way

    ways = {"`denise.decompose`, one by one": loop, "`denise.decompose`, 1000 at a time": batch}
    ways |= {f"`denise.dask.decompose`, {name}": on_dask(client) for name, client in clients.items()}
    return ways


def _copy(M: npt.NDArray[Any], turn: int, block_info: Any = None) -> npt.NDArray[Any]:
    """Return a block of its own for each place and turn."""
    return M.copy()


def to_parquet(clients: dict[str, Client], source: Path, folder: Path) -> dict[str, Callable[[], int]]:
    """Return ways from a table of prices to an archive."""
    count = 4000  # days of the first universe

    def loop() -> int:
        table = pq.read_table(source, columns=["date", *NAMES]).slice(0, count + WINDOW)
        days = np.column_stack([table[name].to_numpy() for name in NAMES])
        daily = days[1:] / days[:-1] - 1
        rows = []
        for at in range(count):
            sigma = denise.covariance(np.corrcoef(daily[at : at + WINDOW].T))
            rows.append({"date": table["date"][at + WINDOW].as_py(), "U": sigma.loadings.ravel(), "d": sigma.specific})
        pq.write_table(pa.Table.from_pylist(rows), folder / "loop.parquet")
        return count

    def archive(**who: Any) -> Callable[[], int]:
        def way() -> int:
            with tempfile.TemporaryDirectory(dir=folder) as out:
                return denise.archive.run(source, out, window=WINDOW, universe="universe", **who).windows

        return way

    ways = {"a loop over `np.corrcoef` and `denise.covariance`": loop, "`denise.archive`, serially": archive()}
    ways["`denise.archive`, 2 processes, their start included"] = archive(workers=2)
    ways |= {f"`denise.archive`, {name}": archive(client=client) for name, client in clients.items()}
    return ways


def table(folder: Path, windows: int, turns: int) -> None:
    """Print both tables."""
    source = folder / "prices.parquet"
    make(source, windows, 50, 10_000)
    rng = np.random.default_rng(1)
    X = np.diff(np.log(prices(rng, 50_101)), axis=0)
    some = np.stack([np.corrcoef(X[at : at + WINDOW].T) for at in range(0, 50_000, 10)])
    with ExitStack() as stack:
        clients = {}
        for name, count in (("a Dask cluster of 1 worker", 1), ("a Dask cluster of 2 workers", 2)):
            cluster = LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None)
            clients[name] = stack.enter_context(Client(stack.enter_context(cluster)))
        for ways in (in_memory(clients, np.tile(some, (10, 1, 1)), turns + 1), to_parquet(clients, source, folder)):
            print(markdown(in_turns(ways, turns)), flush=True)
            print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("make", help="write a table of prices")
    made.add_argument("path", type=Path)
    made.add_argument("--windows", type=int, default=1_000_000)
    made.add_argument("--universes", type=int, default=100)
    made.add_argument("--row-group", type=int, default=25_000)
    measured = commands.add_parser("table", help="measure")
    measured.add_argument("--windows", type=int, default=200_000)
    measured.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    if given.command == "make":
        make(given.path, given.windows, given.universes, given.row_group)
        return
    with tempfile.TemporaryDirectory() as folder:
        table(Path(folder), given.windows, given.turns)


if __name__ == "__main__":
    main()
