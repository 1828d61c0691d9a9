#!/usr/bin/env python3
"""An archive on Spark: DataFrame.mapInArrow over matrices that are in Parquet.

    pip install denise pyarrow pyspark      # and Java 17
    python archive_spark.py

Spark sends batches of Arrow to Python processes, and denise splits a batch in one call, without a loop over rows.
The library uses one thread in each: Spark itself has one task for each core.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import denise
import denise.archive
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

PRICES = Path(__file__).parents[2] / "tests/data/sp500/sp500_dataset.csv.gz"
N, K = 20, 3
SCHEMA = "date timestamp, U array<double>, d array<double>, l1 float, status int"


def split(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Split the matrices of each batch."""
    model = denise.Model(k=K, correlation=True)  # once for each task
    for batch in batches:
        M = batch["M"].flatten().to_numpy(zero_copy_only=False).reshape(-1, N, N)
        sigma = model.covariance(M, check_finite=False)
        offsets = np.arange(len(M) + 1, dtype=np.int32)
        columns = {
            "date": batch["date"],
            "U": pa.ListArray.from_arrays(offsets * (N * K), sigma.loadings.reshape(-1)),
            "d": pa.ListArray.from_arrays(offsets * N, sigma.specific.reshape(-1)),
            "l1": pa.array(sigma.report.l1),
            "status": pa.array(sigma.report.status),
        }
        yield pa.RecordBatch.from_pydict(columns)


def main(folder: Path) -> None:
    # Matrices to split: the correlations of all windows of 100 days. An archive of your own comes in here.
    prices = pyarrow.csv.read_csv(PRICES).rename_columns({"Date": "date"})
    prices = prices.set_column(0, "date", prices["date"].cast(pa.timestamp("us")))
    pq.write_table(prices, folder / "prices.parquet", row_group_size=2048)
    denise.archive.run(folder / "prices.parquet", folder / "matrices", window=100, columns=["M"])

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the Python that has denise
    spark = SparkSession.builder.master("local[2]").appName("denise").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    matrices = spark.read.parquet(str(folder / "matrices")).select("date", "M")
    matrices.mapInArrow(split, SCHEMA).write.parquet(str(folder / "splits"))

    splits = spark.read.parquet(str(folder / "splits"))
    splits.groupBy(F.year("date").alias("year")).agg(
        F.count("*").alias("windows"), F.round(F.avg("l1") / N**2, 3).alias("left_over")
    ).orderBy(F.desc("left_over")).show(5)
    print(f"Spark {spark.version}: {splits.count():,} windows, {splits.where('status != 0').count()} failed")

    # The same bits as without Spark.
    rows = splits.orderBy("date").toArrow()
    M = pq.read_table(folder / "matrices").sort_by("date")["M"].combine_chunks()
    sigma = denise.covariance(M.flatten().to_numpy().reshape(-1, N, N), k=K)
    assert (rows["U"].combine_chunks().flatten().to_numpy() == sigma.loadings.reshape(-1)).all()
    spark.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
