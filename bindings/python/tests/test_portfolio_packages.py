"""The recipes for PyPortfolioOpt and Riskfolio-Lib, with the real packages."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import denise

pd = pytest.importorskip("pandas")

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data"


@pytest.mark.parametrize(("package", "periods"), [("pypfopt", 20), ("riskfolio", 5)])
def test_example_runs(
    package: str, periods: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(package)
    # Not in a process of its own: Riskfolio-Lib takes many seconds to import.
    monkeypatch.setattr(sys, "argv", ["example", str(periods)])
    runpy.run_path(str(ROOT / "examples" / "python" / f"min_variance_{package}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    volatility = dict(re.findall(r"^  (\S.*?)  +volatility (\d+\.\d+) %", printed, flags=re.MULTILINE))
    assert list(volatility) == ["sample covariance", "Denise, k = 3"]
    sample, sigma = (float(value) for value in volatility.values())
    assert 5 < sample < 40 and sigma != sample
    # Without short positions there is little to gain or to lose.
    assert sigma == pytest.approx(sample, rel=0.05)
    assert len(re.findall(r"[A-Z]+ \d+ %", printed)) == 3


def test_both_find_the_portfolio_of_the_library() -> None:
    pypfopt, riskfolio = pytest.importorskip("pypfopt"), pytest.importorskip("riskfolio")
    prices = pd.read_csv(DATA / "sp500" / "sp500_dataset.csv.gz", index_col=0, parse_dates=True)
    returns = prices.pct_change().iloc[-250:]
    sigma = denise.covariance(returns.cov())
    weights = sigma.solve(np.ones(20))
    expected = weights / weights.sum()

    frontier = pypfopt.EfficientFrontier(None, sigma.sigma, weight_bounds=(-1, 1))
    found = pd.Series(frontier.min_volatility())
    assert list(found.index) == list(prices.columns)
    np.testing.assert_allclose(found, expected, atol=1e-3)

    portfolio = riskfolio.Portfolio(returns=returns, sht=True, budgetsht=5, uppersht=1)
    portfolio.assets_stats(method_mu="hist", method_cov="hist")
    portfolio.cov = sigma.sigma
    found = portfolio.optimization(model="Classic", rm="MV", obj="MinRisk")["weights"]
    assert list(found.index) == list(prices.columns)
    np.testing.assert_allclose(found, expected, atol=1e-3)
