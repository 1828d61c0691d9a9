#!/usr/bin/env python3
"""Is Σ = U U' + diag(d) of libdenise a good covariance matrix? Minimum-variance portfolios and likelihoods of returns
that came later, beside eigen-truncation, principal factors, Ledoit-Wolf, OAS, QIS and the sample covariance, on panels
of real returns.

Writes everything to a JSON file, and a summary in Markdown to the standard output.
"""

import argparse
import datetime
import json
import os
import platform
import shlex
import sys
import time

import numpy as np
import scipy
import sklearn

import panels
import summary
from bootstrap import block_indices, interval, mean, resampled, volatility
from estimators import RANKS, REFERENCE, all_estimators
from library import Library
from walk import equal_weights, record, split_day, steps, why_no_sample

FLOOR = 0.05  # evidence/floor.py shows why
KINDS = ("free", "long")


def say(text):
    print(text, file=sys.stderr, flush=True)


def pairs(names):
    """Which methods are compared: each with the reference, and Denise with those that one would take instead."""
    chosen = [(name, REFERENCE) for name in names if name != REFERENCE]
    for k in RANKS:
        rivals = (f"eigen {k}", f"principal {k}", "Ledoit-Wolf, corr.", "OAS", "QIS", "QIS, corr.", "sample", "equal weights")
        chosen += [(f"Denise {k}", rival) for rival in rivals if rival in names]
    return chosen


def places(names):
    """The pairs, and where their names stand."""
    return [(a, b, names.index(a), names.index(b)) for a, b in pairs(names)]


def compare_volatilities(tracks, panel, resamples, seed):
    """Volatilities a year with intervals, and their ratios with intervals, for one kind of portfolio."""
    names = list(tracks)
    daily = np.column_stack([tracks[name].daily for name in names])
    draws = resampled(volatility, daily, block_indices(len(daily), panel.block, resamples, seed))
    whole, yearly = volatility(daily), np.sqrt(panel.a_year)
    methods = {
        name: {
            "volatility": float(whole[i] * yearly),
            "interval": interval(draws[:, i] * yearly),
            "turnover": tracks[name].turnover,
            "leverage": tracks[name].leverage,
        }
        for i, name in enumerate(names)
    }
    ratios = [
        {"method": a, "to": b, "ratio": float(whole[i] / whole[j]), "interval": interval(draws[:, i] / draws[:, j])}
        for a, b, i, j in places(names)
    ]
    return {"methods": methods, "ratios": ratios}


def compare_likelihoods(records, panel, resamples, seed):
    """Log-likelihoods of a day, and their differences with intervals; a block is as long as for the volatilities."""
    names = list(records)
    monthly = np.column_stack([records[name].log_likelihood for name in names])
    draws = resampled(mean, monthly, block_indices(len(monthly), panel.block // panel.hold, resamples, seed))
    whole = mean(monthly)
    differences = [
        {
            "method": a,
            "to": b,
            "difference": float(whole[i] - whole[j]),
            "interval": interval(draws[:, i] - draws[:, j]),
        }
        for a, b, i, j in places(names)
    ]
    return {"methods": {name: float(whole[i]) for i, name in enumerate(names)}, "differences": differences}


def measure(panel, window, library, resamples, seed):
    """One panel and one length of the window: everything about every method, on the last 40 % of the days."""
    walk = steps(panel, window, split_day(panel), len(panel.returns))
    estimators = all_estimators(library, FLOOR)
    no_sample = why_no_sample(window, walk)
    if no_sample:
        del estimators["sample"]
    records = {name: record(panel, window, walk, estimator) for name, estimator in estimators.items()}
    portfolios = {}
    for kind in KINDS:
        tracks = {name: getattr(one, kind) for name, one in records.items()}
        tracks["equal weights"] = equal_weights(panel, walk)
        portfolios[kind] = compare_volatilities(tracks, panel, resamples, seed)
    return {
        "window": window,
        "rebalancings": len(walk),
        "assets": float(np.mean([len(step.assets) for step in walk])),
        "no_sample": no_sample,
        "portfolios": portfolios,
        "log_likelihood": compare_likelihoods(records, panel, resamples, seed),
    }


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return {"cpu": models[0] if models else platform.processor(), "cores": os.cpu_count()}


def versions(library):
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "libdenise": library.version,
    }


def measure_all(library, chosen, windows, resamples, seed):
    """All panels, with as many of their windows as asked for."""
    loaded, left_out = panels.load(chosen)
    for line in left_out:
        say(f"left out: {line}")
    results = []
    for panel in loaded:
        rows, assets = panel.returns.shape
        result = {
            "name": panel.name, "source": panel.source, "version": panel.version, "licence": panel.licence,
            "sha256": panel.sha256, "rows": rows, "columns": assets, "reported_from_row": split_day(panel),
            "hold": panel.hold, "block": panel.block, "notes": panel.notes, "windows": [],
        }
        for window in windows(panel):
            start = time.monotonic()
            result["windows"].append(measure(panel, window, library, resamples, seed))
            say(f"{panel.name}, window {window}: {time.monotonic() - start:.1f} s")
        results.append(result)
    return results, left_out


def rounded(value):
    """Six digits of every number are enough to read, and make a smaller file."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libdenise.so")
    parser.add_argument("--out", required=True, help="the JSON file to write")
    parser.add_argument("--quick", action="store_true", help="two panels, one window, 100 resamples: some seconds")
    parser.add_argument("--seed", type=int, default=2026, help="of the bootstrap; 2026 if left alone")
    return parser.parse_args()


def main():
    options = arguments()
    library = Library(options.library)
    start = time.monotonic()
    if options.quick:
        chosen, windows, resamples = panels.QUICK, lambda panel: (252,), 100
    else:
        chosen, windows, resamples = panels.ALL, lambda panel: panel.windows, 1000
    results, left_out = measure_all(library, chosen, windows, resamples, options.seed)
    report = {
        "command": shlex.join(["python", *sys.argv]),
        "seed": options.seed,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": versions(library),
        "seconds": round(time.monotonic() - start, 1),
        "floor": FLOOR,
        "resamples": resamples,
        "left_out": left_out,
        "panels": results,
    }
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(rounded(report), file, indent=1)
        file.write("\n")
    print(summary.markdown(report))


if __name__ == "__main__":
    main()
