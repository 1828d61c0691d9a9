"""Portfolios of least variance with Riskfolio-Lib: its sample covariance beside Denise's.

Needs ``pip install denise Riskfolio-Lib``. The whole recipe is one line, `portfolio.cov = ...`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import riskfolio

import denise

PRICES = Path(__file__).parents[2] / "tests" / "data" / "sp500" / "sp500_dataset.csv.gz"
# Days that a covariance is estimated from, and days that a portfolio is then held.
WINDOW, HOLD = 120, 20


def weights(portfolio: riskfolio.Portfolio) -> pd.Series[float]:
    """Return the portfolio of least variance, without short positions."""
    return portfolio.optimization(model="Classic", rm="MV", obj="MinRisk")["weights"]


def main(periods: int) -> None:
    """Rebalance `periods` times, and print what was realised."""
    returns = pd.read_csv(PRICES, index_col=0, parse_dates=True).pct_change().iloc[1:]
    returns = returns.iloc[-(WINDOW + periods * HOLD) :]
    realised: dict[str, list[float]] = {"sample covariance": [], "Denise, k = 3": []}
    for now in range(WINDOW, len(returns), HOLD):
        past, future = returns.iloc[now - WINDOW : now], returns.iloc[now : now + HOLD]
        portfolio = riskfolio.Portfolio(returns=past)
        portfolio.assets_stats(method_mu="hist", method_cov="hist")
        realised["sample covariance"] += list(future @ weights(portfolio))
        portfolio.cov = denise.covariance(past.cov(), k=3).sigma  # a DataFrame with the names of the assets
        realised["Denise, k = 3"] += list(future @ weights(portfolio))
    print(f"{periods} portfolios of {returns.shape[1]} stocks, {WINDOW} days to estimate, {HOLD} days held")
    for name, values in realised.items():
        print(f"  {name:17}  volatility {100 * np.std(values) * 252**0.5:.2f} % a year")
    largest = weights(portfolio).nlargest(3)
    print("  largest today: " + ", ".join(f"{name} {100 * weight:.0f} %" for name, weight in largest.items()))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
