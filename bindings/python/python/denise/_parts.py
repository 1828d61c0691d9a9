"""One part of an archive: a fragment of the source in, a Parquet file out.

A part is written under a temporary name and renamed when it is complete, so there is never half a part. Its metadata
say what it was made of, and how. If they are those of the task, the part is there already and is kept.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrow import pa, pc, pq
from ._windows import Values, least_days, rolling, to_returns
from ._worker import ModelOptions, model, structured

COLUMNS = ("M", "L", "S", "U", "d")
"""What of a split can be written, beside the report."""
METADATA = b"denise.archive"
# Numbers of the matrices that are read at a time, 32 MB.
_BATCH = 1 << 22


@dataclass(frozen=True)
class Options:
    """How an archive is made: the arguments of :func:`denise.archive.run` that change a result."""

    model: ModelOptions
    columns: tuple[str, ...]
    n: int
    dtype: str
    floor: float
    column: str
    """The column of matrices, if there is no window."""
    window: int | None
    step: int
    values: Values
    covariance: bool
    min_days: int | None
    date: str
    universe: tuple[str, ...]
    """The columns that name a universe. Names of folders are none of them."""
    assets: tuple[str, ...]

    @property
    def lead(self) -> int:
        """Rows of the table before the first return."""
        return 0 if self.values == "returns" else 1


@dataclass(frozen=True)
class Fragment:
    """A row group of a file of the source."""

    path: str
    name: str
    """The path within the source."""
    row_group: int
    rows: int
    size: int
    """Bytes of the file. With the time of the last change they tell whether it is still the same file."""
    modified: int

    def read(self, columns: Sequence[str]) -> Any:
        """Read some columns as a table."""
        with pq.ParquetFile(self.path) as file:
            return file.read_row_group(self.row_group, columns=list(columns), use_threads=False)

    def batches(self, rows: int, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Read some or all columns, so many rows at a time."""
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(rows, row_groups=[self.row_group], columns=columns, use_threads=False):
                yield pa.Table.from_batches([batch])


@dataclass(frozen=True)
class Task:
    """All that a worker needs to make one part."""

    fragment: Fragment
    before: tuple[Fragment, ...]
    """Fragments with the rows that the first windows need besides."""
    rows_before: int
    """How many rows of the first row's universe come before it."""
    out: str
    options: Options
    version: str

    def identity(self) -> str:
        """Say what the part is made of, and how. Of files the names and contents count, not where they are."""
        sources = [(f.name, f.row_group, f.rows, f.size, f.modified) for f in (*self.before, self.fragment)]
        options = {**vars(self.options), "model": self.options.model[1:]}
        return json.dumps([self.version, sources, self.rows_before, options])


class Part(NamedTuple):
    """What became of a task."""

    rows: int
    """Rows of the fragment."""
    windows: int
    failed: int
    """Windows whose status is not 0."""
    kept: bool
    """Whether the part was there already."""


def make(task: Task) -> Part:
    """Make a part, unless it is there."""
    found = _find(task)
    if found is not None:
        return found
    target = Path(task.out)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Dask may start a task again while a worker that it has lost still runs it, so the two need different names.
    temporary = temporary_path(target, uuid.uuid4().hex)
    try:
        windows, failed = _write(task, temporary)
        os.replace(temporary, target)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{task.fragment.name}, row group {task.fragment.row_group}: {error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return Part(task.fragment.rows, windows, failed, kept=False)


def temporary_path(target: Path, unique: str) -> Path:
    """Return the name of a part that is being written. Readers of datasets leave out names that begin with a dot."""
    return target.with_name(f".{target.name}.{unique}.tmp")


def _find(task: Task) -> Part | None:
    """Look for the part. None if it is not there, or made of other things or in another way."""
    try:
        metadata = pq.read_metadata(task.out)
        notes = json.loads(metadata.metadata[METADATA])
    except (FileNotFoundError, pa.ArrowInvalid, TypeError, KeyError):
        return None
    if notes["identity"] != task.identity():
        return None
    return Part(task.fragment.rows, metadata.num_rows, notes["failed"], kept=True)


def _write(task: Task, path: Path) -> tuple[int, int]:
    """Write the splits of a fragment to a file. Returns how many there are, and how many failed."""
    windows = failed = 0
    writer = None
    chunks = _matrices(task) if task.options.window is None else _windows(task)
    with open(path, "wb") as file:
        for keys, M in chunks:
            table, lost = _split(task.options, keys, M)
            if writer is None:
                # Numbers that hardly ever repeat gain nothing from a dictionary, and nobody asks for their extremes.
                flat = [field.name for field in table.schema if not pa.types.is_nested(field.type)]
                writer = pq.ParquetWriter(file, table.schema, use_dictionary=flat, write_statistics=flat)
            writer.write_table(table)
            windows += len(table)
            failed += lost
        assert writer is not None
        notes = {"identity": task.identity(), "failed": failed}
        writer.add_key_value_metadata({METADATA: json.dumps(notes).encode()})
        writer.close()
        file.flush()
        os.fsync(file.fileno())  # a name that survives a power cut should have its content
    return windows, failed


def _split(options: Options, keys: Any, M: npt.NDArray[Any]) -> tuple[Any, int]:
    """Split matrices. Returns the keys with the columns asked for and the report, and how many splits failed."""
    M = np.ascontiguousarray(M, dtype=options.dtype)
    network, wanted = model(options.model), options.columns
    found: dict[str, Any] = {"M": M}
    if "L" in wanted or "S" in wanted:
        split = network.decompose(M, u=True, check_finite=False)
        found.update(L=split.low_rank, S=split.sparse, U=split.loadings)
        report = structured(split.report)
    if "d" in wanted or "U" not in found:
        sigma = network.covariance(M, floor=options.floor, check_finite=False)
        found.update(U=sigma.loadings, d=sigma.specific)
        report = structured(sigma.report)
    # Only the columns of the keys: notes in their schema may be about others, which are not here.
    columns = dict(zip(keys.column_names, keys.columns))
    for name in wanted:
        columns[name] = pa.FixedSizeListArray.from_arrays(pa.array(found[name].reshape(-1)), _size(name, options))
    for name in report.dtype.names or ():
        columns[name] = pa.array(np.ascontiguousarray(report[name]))
    return pa.table(columns), int(np.count_nonzero(report["status"]))


def _size(name: str, options: Options) -> int:
    """Return how many numbers a list of this column has."""
    return {"U": options.n * options.model.k, "d": options.n}.get(name, options.n**2)


def _matrices(task: Task) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
    """Read matrices from a column of lists. All other columns are keys."""
    n, name = task.options.n, task.options.column
    for table in task.fragment.batches(max(1, min(_BATCH // n**2, 1 << 16))):
        yield table.drop_columns([name]), matrices_of(table[name], n)


def matrices_of(column: Any, n: int) -> npt.NDArray[Any]:
    """Turn lists of n² numbers into matrices, NaN where a number or a list is null."""
    column = column.combine_chunks()
    lengths = np.asarray(pc.list_value_length(column).drop_null())
    if (lengths != n * n).any():
        raise ValueError(f"a list of {lengths[lengths != n * n][0]} numbers, where the others have {n} x {n}")
    numbers = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, n, n)
    if column.null_count == 0:
        return np.asarray(numbers)
    M = np.full((len(column), n, n), np.nan, dtype=np.result_type(numbers, np.float32))
    M[np.asarray(column.is_valid())] = numbers
    return M


def _windows(task: Task) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
    """Roll windows over a table. A window belongs to the fragment of its last row."""
    options, window, lead = task.options, task.options.window, task.options.lead
    assert window is not None
    names = [options.date, *options.universe, *options.assets]
    table = task.fragment.read(names)
    carried = min(task.rows_before, window + lead - 1)
    if carried:
        earlier = pa.concat_tables([fragment.read(names) for fragment in task.before])
        table = pa.concat_tables([earlier.slice(len(earlier) - carried), table])
    keys = table.select([options.date, *options.universe])
    begins = run_starts(table, options.universe)
    ends = np.append(begins[1:], len(table))
    _check_dates(keys, options.date, begins)
    returns = to_returns(_numbers(table, options.assets), options.values, table[options.date], options.assets)
    if lead:
        returns[begins[1:] - 1] = 0.0  # from one universe to the next: in no window, but near some
    # Windows start at every step-th row of their universe, wherever a fragment begins.
    phases = np.zeros(len(begins), dtype=np.intp)
    phases[0] = -(task.rows_before - carried) % options.step
    starts = np.concatenate(
        [np.arange(a + phase, b - lead - window + 1, options.step) for a, b, phase in zip(begins, ends, phases)]
    )
    least = (options.min_days or least_days(window)) if options.model.missing else None
    for at, M in rolling(returns, window, starts=starts, covariance=options.covariance, least=least):
        yield keys.take(at + (window - 1 + lead)), M
    if not len(starts):
        yield keys.slice(0, 0), np.empty((0, options.n, options.n))


def run_starts(table: Any, names: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return the first row of every run of rows with the same values in some columns."""
    changes = np.zeros(len(table), dtype=np.bool_)
    changes[:1] = True
    for name in names:
        column = table[name].combine_chunks()
        if column.null_count:
            raise ValueError(f"column {name!r} has {column.null_count} nulls; every row must name its universe")
        codes = np.asarray((column if pa.types.is_dictionary(column.type) else column.dictionary_encode()).indices)
        changes[1:] |= codes[1:] != codes[:-1]
    return np.flatnonzero(changes)


def _check_dates(keys: Any, name: str, begins: npt.NDArray[np.intp]) -> None:
    """Refuse dates that do not increase: the rows would be of two universes, or out of order."""
    dates = keys[name].combine_chunks()
    if dates.null_count:
        raise ValueError(f"column {name!r} has {dates.null_count} nulls; every row needs a date")
    values = dates.to_numpy(zero_copy_only=False)
    wrong = np.concatenate(([False], values[1:] <= values[:-1]))
    wrong[begins] = False
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{name} {dates[at]} comes after {dates[at - 1]}; sort the rows of each universe by date, "
            "and name the columns that tell universes apart (universe)"
        )


def _numbers(table: Any, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return columns side by side, NaN for null."""
    numbers = np.empty((len(table), len(names)))
    for at, name in enumerate(names):
        numbers[:, at] = table[name].cast(pa.float64()).to_numpy()
    return numbers
