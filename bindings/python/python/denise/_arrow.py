"""pyarrow, or an error that says how to get it."""

from __future__ import annotations

from typing import Any

try:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow.compute  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow.parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError as error:
    raise ImportError("denise.archive needs pyarrow: pip install pyarrow") from error

pa: Any = pyarrow
pc: Any = pyarrow.compute
pq: Any = pyarrow.parquet
