"""How good the covariances of `denise.skfolio` are, and what is gained if U follows M from day to day.

    python benches/python/estimators.py tests/data/sp500/sp500_dataset.csv.gz tests/data/panels/stocks74.csv.gz

prints the figures of bindings/python/docs/estimators.md as Markdown: which half-life is the best, what skfolio's
referee says, and the section Following. It runs on one core and needs bindings/python/requirements-test.txt.
Half-lives are compared on the first 60 % of the days; all other figures are of the last 40 %.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import denise
import numpy as np
import numpy.typing as npt
import pandas as pd
from denise.skfolio import DeniseCovariance
from skfolio.model_selection import online_covariance_forecast_evaluation
from skfolio.moments import EWCovariance, RegimeAdjustedEWCovariance
from threadpoolctl import threadpool_limits

Floats = npt.NDArray[np.float64]

RANKS = (1, 3, 5)
HALF_LIFE = 60
HALF_LIVES = (40, 60, 90, 120, 250)
WARM_UP = 252  # days that the referee lets an estimator see first
BEFORE = 250  # days whose mean is the first M, where U follows


@dataclass
class Record:
    """What one covariance a day was worth on the day after."""

    likelihoods: list[float] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)  # of the portfolio of least variance
    earned: list[float] = field(default_factory=list)

    def add(self, sigma: denise.Covariance[Any], x: Floats) -> None:
        """Take in Σ of a day and the returns of the next."""
        solved = np.asarray(sigma.solve(np.column_stack([x, np.ones(len(x))])))
        self.likelihoods.append(float(-0.5 * (len(x) * np.log(2 * np.pi) + sigma.log_det + x @ solved[:, 0])))
        self.weights.append(solved[:, 1] / solved[:, 1].sum())
        self.earned.append(float(self.weights[-1] @ x))

    def likelihood(self) -> float:
        """Mean log-likelihood of a day."""
        return float(np.mean(self.likelihoods))

    def cells(self) -> list[str]:
        """Write the likelihood, and the turnover: the mean over the days of the sum of |change of a weight|."""
        turnover = np.abs(np.diff(self.weights, axis=0)).sum(axis=1).mean()
        return [short(self.likelihood(), 2), short(turnover, 3)]


@dataclass
class Comparison:
    """U that follows M, beside a new split on every day."""

    followed: Record = field(default_factory=Record)
    anew: Record = field(default_factory=Record)
    sigma_differs: list[float] = field(default_factory=list)
    low_rank_differs: list[float] = field(default_factory=list)

    def higher(self) -> float:
        """By how many per cent the volatility is higher if U follows."""
        return float(100 * (np.std(self.followed.earned) / np.std(self.anew.earned) - 1))


def walk(R: Floats, days: range, model: denise.Model, half_life: float) -> Iterator[tuple[Floats, Any, Floats]]:
    """Yield for each day M, Σ of the U that follows it, and the returns of the next day."""
    stream = model.stream(R.shape[1], correlation=True)
    before = R[days.start - BEFORE : days.start]
    M, keep = before.T @ before / BEFORE, 0.5 ** (1 / half_life)
    for day in days:
        M = keep * M + (1 - keep) * np.outer(R[day], R[day])
        U = np.asarray(stream.push_matrix(M, u=True).loadings)
        yield M, denise.covariance_from_loadings(M, U), R[day + 1]


def rank_model(k: int) -> denise.Model:
    """Return the model that the estimators use."""
    return denise.Model(k=k, correlation=True, missing=True)


def compare(R: Floats, k: int) -> Comparison:
    """Follow the last 40 % of the days."""
    model, found = rank_model(k), Comparison()
    for M, followed, x in walk(R, range(int(0.6 * len(R)), len(R) - 1), model, HALF_LIFE):
        anew = model.covariance(M)
        found.followed.add(followed, x)
        found.anew.add(anew, x)
        found.sigma_differs.append(distance(followed.sigma, anew.sigma))
        one, other = np.asarray(followed.loadings), np.asarray(anew.loadings)
        found.low_rank_differs.append(distance(one @ one.T, other @ other.T))
    return found


def distance(A: Any, B: Any) -> float:
    """Per cent by which A differs from B, in the Frobenius norm."""
    return float(100 * np.linalg.norm(A - B) / np.linalg.norm(B))


def best_half_life(R: Floats, k: int) -> int:
    """Return the half-life with the greatest likelihood of the next day on the first 60 % of the days."""
    likelihoods = {}
    for half_life in HALF_LIVES:
        record = Record()
        for _, sigma, x in walk(R, range(BEFORE, int(0.6 * len(R)) - 1), rank_model(k), half_life):
            record.add(sigma, x)
        likelihoods[half_life] = record.likelihood()
    progress(f"{R.shape[1]} stocks, k = {k}: " + ", ".join(f"{days}: {it:.3f}" for days, it in likelihoods.items()))
    return max(likelihoods, key=likelihoods.__getitem__)


def referee(R: Floats, estimator: Any) -> list[str]:
    """Return Mahalanobis ratio, bias and QLIKE on the last 40 % of the days."""
    seen = R[int(0.6 * len(R)) - WARM_UP :]
    found = online_covariance_forecast_evaluation(estimator, seen, warmup_size=WARM_UP, test_size=5)
    ratio, qlike = found.mahalanobis_calibration_ratio.mean(), found.portfolio_variance_qlike_loss.mean()
    return [short(figure, 3) for figure in (ratio, found.bias_statistic[0], qlike)]


def short(x: float, digits: int) -> str:
    """Write a number as the pages do: no zero before the point, and a true minus sign."""
    text = f"{abs(x):.{digits}f}"
    return ("−" if x < 0 else "") + (text[1:] if text.startswith("0.") else text)


def higher(x: float) -> str:
    return f"{short(abs(x), 1)} % {'higher' if x > 0 else 'lower'}"


def table(panels: list[Floats], columns: list[str], rows: dict[str, list[list[str]]]) -> str:
    """Return a Markdown table with the same columns for each panel."""
    head = [f"{R.shape[1]} stocks: {columns[0]} | {' | '.join(columns[1:])} |" for R in panels]
    lines = ["| | " + " ".join(head), "|" + "---|" * (1 + len(panels) * len(columns))]
    for name, parts in rows.items():
        lines.append(f"| {name} | " + " | ".join(cell for cells in parts for cell in cells) + " |")
    return "\n".join(lines)


def progress(text: str) -> None:
    print(f"{time.process_time():6.1f} s  {text}", file=sys.stderr, flush=True)


def show(text: str) -> None:
    print(text if text.startswith("|") else textwrap.fill(text, 120), end="\n\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("panels", nargs="+", metavar="PRICES", help="table of prices: a date, then a column an asset")
    panels = [pd.read_csv(path, index_col=0).pct_change().iloc[1:].to_numpy() for path in parser.parse_args().panels]

    best = {k: " and ".join(str(best_half_life(R, k)) for R in panels) for k in RANKS}
    tried = f"{', '.join(map(str, HALF_LIVES[:-1]))} and {HALF_LIVES[-1]} days"
    show(f"Best half-life of {tried}: " + ", ".join(f"{days} with k = {k}" for k, days in best.items()) + ".")

    estimators = {f"`DeniseCovariance(k={k})`": DeniseCovariance(k=k, half_life=HALF_LIFE) for k in RANKS}
    for kind in (EWCovariance, RegimeAdjustedEWCovariance):
        estimators[f"`{kind.__name__}`"] = kind(half_life=HALF_LIFE)
    judged: dict[str, list[list[str]]] = {}
    for name, estimator in estimators.items():
        judged[name] = [referee(R, estimator) for R in panels]
        progress(name)
    show(table(panels, ["Mahalanobis", "bias", "QLIKE"], judged))

    found: dict[int, list[Comparison]] = {}
    rows: dict[str, list[list[str]]] = {}
    for k in RANKS:
        found[k] = [compare(R, k) for R in panels]
        rows[f"k = {k}, followed"] = [one.followed.cells() for one in found[k]]
        rows[f"k = {k}, new split"] = [one.anew.cells() for one in found[k]]
        progress(f"k = {k}, followed and anew")
    show(table(panels, ["likelihood", "turnover"], rows))

    every = [one for ones in found.values() for one in ones]
    sigma = sorted(float(np.median(one.sigma_differs)) for one in every)
    low_rank = sorted(float(np.median(one.low_rank_differs)) for one in every)
    differs = f"Σ of the two differs by {sigma[0]:.0f} to {sigma[-1]:.0f} % in the median"
    show(f"{differs}, and L by {low_rank[0]:.0f} to {low_rank[-1]:.0f} %.")
    first, *others = RANKS
    rest = sorted(one.higher() for k in others for one in found[k])
    one_factor = f"{' and '.join(higher(one.higher()) for one in found[first])} with k = {first}"
    more = f"between {higher(rest[0])} and {higher(rest[-1])} with k = {' and '.join(map(str, others))}"
    show(f"If U follows, the realised volatility of the portfolios is {one_factor}, and {more}.")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
