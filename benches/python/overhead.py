"""What a call from Python costs above the library's own time, in one run, interleaved, medians.

    python benches/python/overhead.py LOOP PRICES [--rounds N] [--json FILE]

LOOP is benches/python/loop.c as a shared library, linked with libdenise.so; PRICES a table of prices, from which real
matrices are made. `make bench-python` builds and runs all of it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import time
from typing import Any

import numpy as np

import denise


class Loop:
    """The same calls from C."""

    def __init__(self, path: str) -> None:
        self.c = ctypes.CDLL(path)
        self.model = ctypes.c_void_p()
        # By default for n = 20 and k = 3.
        if self.c.denise_load(None, None, ctypes.byref(self.model)) != 0:
            raise SystemExit("denise_load failed")

    def prepare(self, M: Any) -> Any:
        """Seconds of so many calls, into memory that is there."""
        L, S = np.empty_like(M), np.empty_like(M)
        count = M.size // (M.shape[-1] ** 2)
        reports = np.empty((count, 8), np.uint32)
        call = self.c.calls_f32 if M.dtype == np.float32 else self.c.calls_f64
        call.restype = ctypes.c_double
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (M, L, S, reports)]

        def run(calls: int) -> float:
            seconds = float(call(self.model, ctypes.c_size_t(calls), ctypes.c_size_t(count), *pointers))
            if seconds < 0:
                raise SystemExit("denise_decompose_batch failed")
            return seconds

        run.keep = (M, L, S, reports)  # type: ignore[attr-defined]
        return run


    def fresh(self, M: Any) -> Any:
        """The same into memory that is new for each call, as results in Python are."""
        count = M.size // (M.shape[-1] ** 2)
        call = self.c.fresh_f32 if M.dtype == np.float32 else self.c.fresh_f64
        call.restype = ctypes.c_double

        def run(calls: int) -> float:
            pointer, sizes = ctypes.c_void_p(M.ctypes.data), (ctypes.c_size_t(count), ctypes.c_size_t(M.size))
            seconds = float(call(self.model, ctypes.c_size_t(calls), sizes[0], pointer, sizes[1]))
            if seconds < 0:
                raise SystemExit("denise_decompose_batch failed")
            return seconds

        return run


def python(M: Any, **options: Any) -> Any:
    def run(calls: int) -> float:
        decompose, of = denise.decompose, range(calls)
        start = time.perf_counter()
        for _ in of:
            decompose(M, **options)
        return time.perf_counter() - start

    return run


def medians(contenders: dict[str, Any], calls: int, rounds: int) -> dict[str, Any]:
    """Seconds a call of each, and of each the median of its differences from C and of its ratios to C."""
    for run in contenders.values():
        run(calls)
    seen: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            seen[name].append(run(calls) / calls)
    base = seen["C"]
    return {
        name: {
            "seconds": statistics.median(times),
            "above": statistics.median(a - b for a, b in zip(times, base, strict=True)),
            "ratio": statistics.median(a / b for a, b in zip(times, base, strict=True)),
        }
        for name, times in seen.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What a call from Python costs above the library's own time.")
    parser.add_argument("loop", help="benches/python/loop.c as a shared library")
    parser.add_argument("prices", help="a table of prices")
    parser.add_argument("--rounds", type=int, default=41, help="rounds, of which medians are taken")
    parser.add_argument("--json", help="where to write the figures")
    given = parser.parse_args()
    prices = np.loadtxt(given.prices, delimiter=",", skiprows=1, usecols=range(1, 21))
    returns = prices[1:] / prices[:-1] - 1
    windows = np.stack([np.corrcoef(returns[start : start + 100].T) for start in range(0, len(returns) - 100, 5)])
    loop = Loop(given.loop)
    figures: dict[str, Any] = {}
    for dtype in (np.float32, np.float64):
        one = np.ascontiguousarray(windows[700], dtype=dtype)
        out = (np.empty_like(one), np.empty_like(one))
        contenders = {
            "C": loop.prepare(one),
            "C, new memory": loop.fresh(one),
            "Python": python(one),
            "Python, out=": python(one, out=out),
        }
        figures[f"1 matrix, {np.dtype(dtype)}"] = medians(contenders, 500, given.rounds)
        many = np.ascontiguousarray(np.resize(windows, (10_000, 20, 20)), dtype=dtype)
        out = (np.empty_like(many), np.empty_like(many))
        contenders = {
            "C": loop.prepare(many),
            "C, new memory": loop.fresh(many),
            "Python": python(many),
            "Python, out=": python(many, out=out),
        }
        figures[f"10,000 matrices, {np.dtype(dtype)}"] = medians(contenders, 1, given.rounds)
    print("| | | a call | above C | by C |\n|---|---|---|---|---|")
    for what, rows in figures.items():
        for name, row in rows.items():
            seconds, above = 1e6 * row["seconds"], 1e6 * row["above"]
            print(f"| {what} | {name} | {seconds:.2f} µs | {above:+.2f} µs | {row['ratio']:.3f} |")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
