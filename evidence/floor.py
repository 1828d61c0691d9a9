#!/usr/bin/env python3
"""Which floor? Compares floors of d on the first 60 % of the days of every panel, where choices are made.

For each floor: the geometric mean over the windows of a panel of the volatility of minimum-variance portfolios, divided
by that of the smallest floor; and the mean log-likelihood of a day, minus that of the smallest floor.
"""

import argparse
import sys

import numpy as np

import panels
from bootstrap import volatility
from estimators import RANKS, factor_estimators
from library import Library
from summary import table
from walk import estimates, free_track, likelihoods, split_day, steps

FLOORS = (0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3)
NAMES = [f"{kind} {k}" for kind in ("Denise", "eigen") for k in RANKS]  # both, to be fair to the other


def measure(panel, library):
    """name -> windows x floors x (volatility, log-likelihood), from months that end before the split."""
    found = {name: [] for name in NAMES}
    for window in panel.windows:
        walk = steps(panel, window, 0, split_day(panel))
        print(f"{panel.name}, window {window}: {len(walk)} months", file=sys.stderr, flush=True)
        for name in NAMES:
            rows = []
            for floor in FLOORS:
                sigmas = estimates(panel, window, walk, factor_estimators(library, floor)[name])
                daily = free_track(panel, walk, sigmas).daily
                rows.append([volatility(daily), likelihoods(panel, walk, sigmas).mean()])
            found[name].append(rows)
    return {name: np.array(rows) for name, rows in found.items()}


def relative(values):
    """Ratios of the volatilities and differences of the log-likelihoods to the smallest floor, over all windows."""
    ratios = np.exp(np.log(values[:, :, 0] / values[:, :1, 0]).mean(axis=0))
    return ratios, (values[:, :, 1] - values[:, :1, 1]).mean(axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libdenise.so")
    library = Library(parser.parse_args().library)
    loaded, left_out = panels.load(panels.ALL)
    ratio_rows, difference_rows = [], []
    for panel in loaded:
        for name, values in measure(panel, library).items():
            ratios, differences = relative(values)
            ratio_rows.append([panel.name, name] + [f"{ratio:.4f}" for ratio in ratios])
            difference_rows.append([panel.name, name] + [f"{difference:+.3f}" for difference in differences])
    head = ["panel", "method", *FLOORS]
    print(*(f"Left out: {line}" for line in left_out), sep="\n")
    print("Volatility, relative to the smallest floor:", table(head, ratio_rows), sep="\n\n", end="\n\n")
    print("Log-likelihood of a day, minus that of the smallest floor:", table(head, difference_rows), sep="\n\n")


if __name__ == "__main__":
    main()
