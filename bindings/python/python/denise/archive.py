"""Archives: every window of every universe, from Parquet to Parquet.

From Python::

    denise.archive.run("prices.parquet", "splits", window=100, workers=2)

or as a command::

    python -m denise.archive prices.parquet --window 100 --out splits --workers 2

Each row group of the source is a task, and each task writes one file. A run that was stopped goes on where it was.
Needs ``pip install pyarrow``.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import operator
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO, get_args

import numpy as np

from . import __version__
from ._parts import COLUMNS, Options, Part, Task, make
from ._source import Source, matrix_size, number_columns, open_source, tasks
from ._windows import Values
from ._worker import model, model_options, structured

if TYPE_CHECKING:
    from distributed import Client  # type: ignore[import-not-found, unused-ignore]

__all__ = ["Summary", "main", "run"]


class Summary(NamedTuple):
    """What a run did."""

    parts: int
    """Files of the archive."""
    kept: int
    """Those that were there already."""
    windows: int
    """Rows of the archive."""
    failed: int
    """Windows that could not be split; their ``status`` is not 0, and their numbers are NaN."""
    seconds: float


def run(
    source: str | Path,
    out: str | Path,
    *,
    k: int = 3,
    columns: Sequence[str] = ("U", "d"),
    window: int | None = None,
    step: int = 1,
    values: Values = "prices",
    covariance: bool = False,
    date: str = "date",
    universe: str | Sequence[str] | None = None,
    assets: Sequence[str] | None = None,
    column: str = "M",
    missing: bool = False,
    min_days: int | None = None,
    correlation: bool = True,
    careful: bool = False,
    floor: float = 0.05,
    file: str | Path | None = None,
    dtype: Literal["float32", "float64"] | None = None,
    workers: int = 1,
    client: Client | None = None,
    progress: bool = False,
) -> Summary:
    """Split all matrices of a Parquet source, and write the results as Parquet.

    The source is a table of prices or returns if ``window`` is given, and else a table of matrices.
    Each row group is a task. Its results are a file of the same name in ``out``, with the number of the row group.
    Files that are there from the same fragment, with the same options and the same version, are kept.

    Parameters
    ----------
    source
        A Parquet file, or a folder of them, in the order of their names.
    out
        A folder. Only one run may write to it at a time.
    k
        The rank of L.
    columns
        What to write of each split: any of "M", "L", "S" (n² numbers each), "U" (n·k) and "d" (n).
        UUᵀ + diag(d) is a covariance that can be inverted, as from :func:`denise.covariance`.
        The keys of a row (its date and universe, or all columns beside the matrix) and the report are written too.
    window
        Rows in a window of a table. A window's date is that of its last row.
    step
        Rows from one window of a universe to the next.
    values
        What the table holds: "prices" (for simple returns), "log-prices" (prices, for logarithmic returns) or
        "returns".
    covariance
        Split covariances of the windows, instead of correlations.
    date
        The column of dates. Within a universe they must increase.
    universe
        The columns, or keys of folders, that tell universes apart. No window has rows of two of them.
        Rows of a universe must be together.
    assets
        The columns of assets; all others that hold numbers if not given.
    column
        The column of matrices: lists of n·n numbers.
    missing
        Entries may be missing: NaN or null. In a table, entries are computed over the days that both assets have.
        Without it, a matrix or a window with a NaN fails, and the others are split.
    min_days
        With ``missing``, the fewest days of an entry of a window; a third of the window if not given.
    correlation
        Split in units in which all variances are 1, and scale back.
    careful
        The best of several starts, in about four times the time.
    floor
        The least part of a variance that d is.
    file
        A network other than the one of the library.
    dtype
        Of the split and of what is written; float64 for tables, and that of the matrices else.
    workers
        Processes on this machine. With more than one, the call must be under ``if __name__ == "__main__":``.
    client
        A Dask client, whose workers do the tasks. They must see ``source`` and ``out`` under the same names.
    progress
        Show a bar on stderr.

    Examples
    --------
    >>> import tempfile, numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.TemporaryDirectory()
    >>> prices = np.exp(np.random.default_rng(1).normal(size=(300, 6)).cumsum(axis=0) / 100)
    >>> table = {"date": np.arange(300), **{name: prices[:, at] for at, name in enumerate("abcdef")}}
    >>> pq.write_table(pa.table(table), folder.name + "/prices.parquet")
    >>> summary = run(folder.name + "/prices.parquet", folder.name + "/splits", window=100, k=2)
    >>> summary.parts, summary.windows, summary.failed
    (1, 200, 0)
    >>> splits = pq.read_table(folder.name + "/splits")
    >>> U = np.stack(splits["U"].to_numpy()).reshape(-1, 6, 2)
    >>> splits["date"][0].as_py(), U.shape
    (100, (200, 6, 2))
    >>> folder.cleanup()
    """
    began = time.perf_counter()
    given = Path(source).resolve(), Path(out).resolve()
    found = open_source(given[0])
    keys = () if universe is None else (universe,) if isinstance(universe, str) else tuple(universe)
    if window is None:
        content = _matrices(found, column)
    else:
        if found.partitions and universe is None:
            raise ValueError(
                f"universe: the source has folders for {', '.join(found.partitions)}; name those that are universes, "
                "or give an empty list if windows run on from folder to folder"
            )
        _check_windows(window, step, values, min_days)
        content = _table(found, date, keys, assets)
    wrong = [name for name in columns if name not in COLUMNS]
    if wrong or not columns:
        raise ValueError(
            f"columns: {wrong[0]!r} is none of {', '.join(COLUMNS)}" if wrong else "columns: there are none"
        )
    options = Options(
        model=model_options(file, k, missing, correlation, careful),
        columns=tuple(dict.fromkeys(columns)),
        n=content.n,
        dtype=dtype or content.dtype,
        floor=float(floor),
        column=column,
        window=None if window is None else operator.index(window),
        step=operator.index(step),
        values=values,
        covariance=covariance,
        min_days=None if min_days is None else operator.index(min_days),
        date=date,
        universe=tuple(key for key in keys if key not in found.partitions),
        assets=content.assets,
    )
    # What is wrong with the model should be said here, not on a worker.
    report = structured(model(options.model).covariance(np.eye(content.n)[None], floor=floor).report)
    clash = set(content.keys) & {*options.columns, *(report.dtype.names or ())}
    if clash:
        raise ValueError(f"source: the name of column {min(clash)!r} is needed for a result; rename it")
    folders = [key for key in keys if key in found.partitions]
    planned = tasks(found, given[1], options, folders, __version__)
    _prepare(*given, planned)
    parts = []
    with _Bar(sum(task.fragment.rows for task in planned), sys.stderr if progress else None) as bar:
        for part in _results(planned, workers, client):
            parts.append(part)
            bar.show(part)
    kept, windows, failed = (sum(column) for column in zip(*((p.kept, p.windows, p.failed) for p in parts)))
    return Summary(len(parts), kept, windows, failed, time.perf_counter() - began)


class _Content(NamedTuple):
    """What a source holds."""

    n: int
    dtype: str
    assets: tuple[str, ...]
    keys: tuple[str, ...]


def _matrices(found: Source, column: str) -> _Content:
    """Look at a source of matrices."""
    n = matrix_size(found, column)
    single = str(found.schema.field(column).type.value_type) == "float"
    keys = tuple(name for name in found.schema.names if name != column)
    return _Content(n, "float32" if single else "float64", (), keys)


def _table(found: Source, date: str, universe: tuple[str, ...], assets: Sequence[str] | None) -> _Content:
    """Look at a source of prices or returns."""
    known = (*found.schema.names, *found.partitions)
    names = number_columns(found, (date, *universe)) if assets is None else tuple(assets)
    for argument, wanted in (("date", (date,)), ("universe", universe), ("assets", names)):
        for name in wanted:
            if name not in known:
                raise ValueError(f"{argument}: the source has no column {name!r}, but {', '.join(known)}")
    if not names:
        raise ValueError("assets: the source has no columns of numbers")
    return _Content(len(names), "float64", names, (date, *universe))


def _check_windows(window: int, step: int, values: str, min_days: int | None) -> None:
    """Refuse windows that cannot be."""
    if window < 2:
        raise ValueError(f"window is {window}; it must be at least 2")
    if step < 1:
        raise ValueError(f"step is {step}; it must be at least 1")
    if values not in get_args(Values):
        raise ValueError(f"values is {values!r}; it must be one of {', '.join(get_args(Values))}")
    if min_days is not None and not 2 <= min_days <= window:
        raise ValueError(f"min_days is {min_days}; it must be from 2 to the window, {window}")


def _prepare(source: Path, out: Path, planned: Sequence[Task]) -> None:
    """Make the folder. Refuses files that are not of this archive, and removes what a killed worker has left."""
    if out == source or source in out.parents:
        raise ValueError(f"out: {out} is in the source")
    out.mkdir(parents=True, exist_ok=True)
    targets = {task.out for task in planned}
    strange = [path for path in sorted(out.rglob("*.parquet")) if str(path) not in targets and path.name[0] != "."]
    if strange:
        raise ValueError(f"out: {strange[0]} is not of this source; remove it, or take another folder")
    for path in out.rglob(".*.tmp"):
        # The name of the part, without the dot before it and what makes it unique.
        if str(path.with_name(path.name[1:].rsplit(".", 2)[0])) in targets:
            path.unlink()


def _results(planned: Sequence[Task], workers: int, client: Client | None) -> Iterator[Part]:
    """Do all tasks, here, in processes, or on Dask. What is done when one fails stays done."""
    if client is not None:
        dask: Any = client
        # Not pure: a part may have been removed since the same task was done.
        futures = dask.map(make, planned, pure=False)
        try:
            # Not with_results: an error on the way of a result would then wait for ever, and here it is raised.
            for future in _distributed().as_completed(futures):
                yield future.result()
        finally:
            dask.cancel(futures)
    elif workers == 1:
        yield from map(make, planned)
    else:
        # Not fork: pyarrow has threads, which a fork would lose.
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            try:
                for future in as_completed([pool.submit(make, task) for task in planned]):
                    yield future.result()
            except BrokenProcessPool as error:
                raise RuntimeError("a worker has died; the same call again goes on where this one was") from error
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ImportError("a Dask cluster needs distributed: pip install distributed") from error


class _Bar:
    """A bar with the rate, on one line of a terminal, or else on a line every ten seconds."""

    def __init__(self, rows: int, stream: TextIO | None) -> None:
        self.rows, self.stream = rows, stream
        self.began = self.shown = time.perf_counter()
        self.done = self.made = self.windows = 0

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.stream is not None and self.stream.isatty():
            self.stream.write("\n")

    def show(self, part: Part) -> None:
        """Count a part, and draw the bar if it is time."""
        self.done += part.rows
        if not part.kept:
            self.made += part.rows
            self.windows += part.windows
        now = time.perf_counter()
        if self.stream is None:
            return
        terminal = self.stream.isatty()
        if now - self.shown < (0.1 if terminal else 10.0) and self.done < self.rows:
            return
        self.shown = now
        text = self.text(now - self.began)
        self.stream.write(f"\r{text}\x1b[K" if terminal else f"{text}\n")
        self.stream.flush()

    def text(self, seconds: float) -> str:
        """Return what the bar says after so many seconds. What was there already is no work of this run."""
        part = self.done / max(self.rows, 1)
        bar = "#" * int(30 * part)
        left = round((self.rows - self.done) * seconds / max(self.made, 1))
        rate = self.windows / max(seconds, 1e-9)
        return (
            f"[{bar:<30}] {part:4.0%}  {self.windows:,} windows, {rate:,.0f} a second, "
            f"{left // 60}:{left % 60:02d} left"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command ``python -m denise.archive``."""
    parser = _parser()
    given = vars(parser.parse_args(arguments))
    scheduler = given.pop("scheduler")
    try:
        if scheduler is None:
            summary = run(**given, progress=True)
        else:
            with _distributed().Client(scheduler) as client:
                summary = run(**given, client=client, progress=True)
    except (ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        parser.exit(1, f"denise.archive: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "denise.archive: stopped; the same command again goes on from here\n")
    print(
        f"{summary.windows:,} windows in {summary.parts:,} parts, of which {summary.kept:,} were there already: "
        f"{summary.seconds:.1f} s"
    )
    if summary.failed:
        print(f"{summary.failed:,} windows could not be split: their status is not 0")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m denise.archive",
        description="Splits every matrix of a Parquet source, or every rolling window of a table of prices, into "
        "L + S with L = UU'. Each row group is a task, and its results are one Parquet file. "
        "A run that was stopped goes on where it was.",
    )
    add = parser.add_argument
    add("source", help="a Parquet file, or a folder of them")
    add("--out", required=True, help="a folder for the results")
    add("--k", type=int, default=3, help="the rank of L (3)")
    add(
        "--columns",
        nargs="+",
        choices=COLUMNS,
        default=("U", "d"),
        help="what to write of each split, beside its keys and its report; UU' + diag(d) can be inverted (U d)",
    )
    table = parser.add_argument_group("a table with a row per day and a column per asset")
    add = table.add_argument
    add("--window", type=int, help="rows in a window; without it the source is one of matrices")
    add("--step", type=int, default=1, help="rows from one window to the next (1)")
    add("--values", choices=get_args(Values), default="prices", help="what the table holds (prices)")
    add("--covariance", action="store_true", help="split covariances instead of correlations")
    add("--date", default="date", help="the column of dates (date)")
    add("--universe", nargs="*", help="columns, or keys of folders, that tell universes apart")
    add("--assets", nargs="+", help="the columns of assets (all others that hold numbers)")
    add("--min-days", type=int, help="with --missing, the fewest days of an entry (a third of the window)")
    add = parser.add_argument_group("a table of matrices").add_argument
    add("--column", default="M", help="the column with lists of n*n numbers (M)")
    network = parser.add_argument_group("the network")
    add = network.add_argument
    add("--missing", action="store_true", help="NaN and null are entries, prices or returns that are not known")
    add(
        "--correlation",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="split in units in which all variances are 1",
    )
    add("--careful", action="store_true", help="the best of several starts, in about four times the time")
    add("--floor", type=float, default=0.05, help="the least part of a variance that d is (0.05)")
    add("--file", help="a network other than the one of the library")
    add("--dtype", choices=("float32", "float64"), help="of the results (that of the matrices; float64 for tables)")
    add = parser.add_argument_group("who does it").add_argument
    add("--workers", type=int, default=1, help="processes on this machine (1)")
    add("--scheduler", metavar="ADDRESS", help="of a Dask cluster, such as tcp://host:8786")
    return parser


if __name__ == "__main__":
    main()
