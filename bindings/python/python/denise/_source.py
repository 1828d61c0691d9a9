"""What there is to do: the fragments of a source, and a task for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._arrow import pa, pc, pq
from ._parts import Fragment, Options, Task, matrices_of, run_starts


@dataclass(frozen=True)
class Source:
    """A Parquet file, or a folder of them."""

    fragments: tuple[Fragment, ...]
    schema: Any
    partitions: tuple[str, ...]
    """Keys of folders named ``key=value``."""


def open_source(path: Path) -> Source:
    """List the row groups of all files, in the order of their names."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.parquet") if not _hidden(file.relative_to(path)))
        base = path
    else:
        files, base = [path], path.parent
    if not files:
        raise ValueError(f"source {path} has no Parquet files")
    fragments: list[Fragment] = []
    schema = None
    for file in files:
        try:
            status, metadata = file.stat(), pq.read_metadata(file)
        except (OSError, pa.ArrowInvalid) as error:
            raise ValueError(f"source {file}: {error}") from error
        schema = schema or metadata.schema.to_arrow_schema()
        name = file.relative_to(base).as_posix()
        fragments += (
            Fragment(str(file.resolve()), name, at, metadata.row_group(at).num_rows, status.st_size, status.st_mtime_ns)
            for at in range(metadata.num_row_groups)
            if metadata.row_group(at).num_rows
        )
    if not fragments:
        raise ValueError(f"source {path} has no rows")
    names = dict.fromkeys(key for fragment in fragments for key in partition(fragment))
    return Source(tuple(fragments), schema, tuple(names))


def _hidden(name: Path) -> bool:
    """Tell names that all readers of datasets leave out."""
    return any(part.startswith((".", "_")) for part in name.parts)


def partition(fragment: Fragment) -> dict[str, str]:
    """Return the values in the names of a fragment's folders."""
    folders = fragment.name.split("/")[:-1]
    return dict(folder.split("=", 1) for folder in folders if "=" in folder)


def matrix_size(source: Source, column: str) -> int:
    """Return n, from the first list of a column."""
    if column not in source.schema.names:
        raise ValueError(f"the source has no column {column!r} of matrices; for a table of prices, say window")
    kind = source.schema.field(column).type
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if not lists or not _is_number(kind.value_type):
        raise ValueError(f"column {column!r} must hold lists of n x n numbers, not {kind}")
    for table in (table for fragment in source.fragments for table in fragment.batches(64, [column])):
        lengths = pc.list_value_length(table[column]).drop_null()
        if len(lengths):
            length = int(lengths[0].as_py())
            n = math.isqrt(length)
            if n * n != length or n == 0:
                raise ValueError(f"column {column!r} has lists of {length} numbers, which is not n x n")
            return n
    raise ValueError(f"column {column!r} is null everywhere")


def number_columns(source: Source, others: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that can be assets: all that hold numbers, but for some."""
    return tuple(field.name for field in source.schema if field.name not in others and _is_number(field.type))


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def tasks(source: Source, out: Path, options: Options, folders: Sequence[str], version: str) -> list[Task]:
    """Plan a part for each fragment. ``folders`` are keys of folders that tell universes apart."""
    before = _rows_before(source, options.universe, folders) if options.window is not None else None
    planned = []
    for at, fragment in enumerate(source.fragments):
        rows = before[at] if before is not None else 0
        needed = min(rows, (options.window or 1) - 1 + options.lead)
        first = at
        while needed > 0:
            first -= 1
            needed -= source.fragments[first].rows
        name = Path(fragment.name)
        target = out / name.with_name(f"{name.stem}-{fragment.row_group:04d}.parquet")
        planned.append(Task(fragment, source.fragments[first:at], rows, str(target), options, version))
    return planned


def _rows_before(source: Source, columns: Sequence[str], folders: Sequence[str]) -> list[int]:
    """Count, for each fragment, the rows before it that are of its first row's universe."""
    counts = []
    universe: tuple[Any, ...] | None = None
    count = 0
    for fragment in source.fragments:
        keys = partition(fragment)
        place = tuple(keys.get(name) for name in folders)
        table = fragment.read(columns) if columns else None
        first, last = ((*place, *(table[name][row].as_py() for name in columns)) if table else place for row in (0, -1))
        begins = run_starts(table, columns) if table else [0]
        counts.append(count if first == universe else 0)
        count = fragment.rows - int(begins[-1]) + (counts[-1] if len(begins) == 1 else 0)
        universe = last
    return counts
