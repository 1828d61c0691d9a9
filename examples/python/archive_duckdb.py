#!/usr/bin/env python3
"""An archive on one machine, with DuckDB before and after it.

    pip install denise pyarrow duckdb
    python archive_duckdb.py

1. DuckDB turns a CSV file of prices into Parquet.
2. denise.archive splits the correlations of every window of 100 days.
3. DuckDB asks the archive which years were most unlike a market with three factors.
4. The other way round: DuckDB makes the matrices in SQL, and denise splits them as they stream past.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import denise
import denise.archive
import duckdb
import numpy as np
import pyarrow as pa

PRICES = Path(__file__).parents[2] / "tests/data/sp500/sp500_dataset.csv.gz"


def split_stream(batches: pa.RecordBatchReader, n: int, k: int) -> pa.RecordBatchReader:
    """Split matrices in the column M as they come. Needs memory for one batch, not for all."""
    keys = [field for field in batches.schema if field.name != "M"]
    schema = pa.schema([*keys, ("U", pa.list_(pa.float64(), n * k)), ("l1", pa.float64())])
    model = denise.Model(k=k, correlation=True)

    def results() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            M = batch["M"].flatten().to_numpy(zero_copy_only=False).reshape(-1, n, n)
            split = model.decompose(M, u=True)
            U = pa.FixedSizeListArray.from_arrays(split.loadings.ravel(), n * k)
            rest = [batch[field.name] for field in keys]
            yield pa.record_batch([*rest, U, pa.array(split.report.l1)], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, results())


def main(folder: Path) -> None:
    database = duckdb.connect()
    prices = folder / "prices.parquet"
    database.execute(
        f"copy (select * rename (Date as date) from '{PRICES}' order by date) to '{prices}' (row_group_size 2048)"
    )
    summary = denise.archive.run(prices, folder / "splits", window=100)
    print(f"{summary.windows:,} windows in {summary.parts} parts, {summary.failed} failed")

    print("\nThe years in which three factors left most, and the mean of |S| in them:")
    rows = database.execute(
        f"""select year(date) as year, avg(l1) / 400 as left_over, avg(list_sum(d)) / 20 as specific
            from '{folder}/splits/*.parquet' group by year order by left_over desc limit 5"""
    ).fetchall()
    for year, left_over, specific in rows:
        print(f"  {year}  {left_over:.3f}  ({specific:.0%} of the variance is the stocks' own)")

    # Quarterly covariances in SQL. A matrix is a list of n·n numbers, row by row.
    names = [column[0] for column in database.execute(f"describe from '{prices}'").fetchall() if column[0] != "date"]
    n = len(names)
    returns = ", ".join(f'"{name}" / lag("{name}") over (order by date) - 1 as "{name}"' for name in names)
    entries = ", ".join(f'covar_samp("{a}", "{b}")' for a in names for b in names)
    quarterly = f"""with returns as (select date, {returns} from '{prices}')
                  select date_trunc('quarter', date) as quarter, [{entries}] as M
                  from returns group by quarter having count(*) > 50 order by quarter"""
    matrices = database.cursor().sql(quarterly).to_arrow_reader(64)
    database.register("splits", split_stream(matrices, n, k=3))
    database.execute("create table factors as from splits")
    count, largest = database.execute("select count(*), arg_max(quarter, list_max(U)) from factors").fetchone()
    print(f"\n{count} quarters; the largest loading of all was in the one from {largest:%Y-%m-%d}.")
    assert np.isfinite(database.execute("select sum(l1) from factors").fetchone()[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
