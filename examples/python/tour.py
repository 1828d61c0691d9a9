"""A tour of the Python package on twenty stocks of the S&P 500, 1990 to 2022.

    pip install denise pandas matplotlib
    python examples/python/tour.py pictures

The pictures go into the folder; without one, into ./tour. Editors that know `# %%` run it cell by cell.
"""

import sys
from pathlib import Path
from time import perf_counter

import denise
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "sp500" / "sp500_dataset.csv.gz"
FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "tour")
FOLDER.mkdir(parents=True, exist_ok=True)


def save(figure: Figure, name: str) -> None:
    figure.savefig(FOLDER / name, dpi=110)
    print(f"   picture: {FOLDER / name}")


# %% Prices, returns, and the correlations of every window of 100 days.

prices = pd.read_csv(DATA, index_col=0, parse_dates=True)
returns = prices.pct_change().dropna()
windows = returns.rolling(100).corr().dropna()
n = len(returns.columns)
count = len(windows) // n
print(f"{n} stocks, {len(returns)} days, {count} windows of 100 days")

# %% All windows in one call. M = L + S: L is what three factors explain, S what they do not.
# A DataFrame comes back as a DataFrame, with the same labels.

start = perf_counter()
L, S = split = denise.decompose(windows, k=3)
seconds = perf_counter() - start
print(f"split {count} windows in {1e3 * seconds:.0f} ms")
print(f"|S| is at most 0.01 in this share of the entries of a window (median): {np.median(split.report.sparsity):.2f}")

# %% The last window, as a picture.

last = windows.index[-1][0]
save(denise.plot(windows.loc[last], k=3, caption=f"100 days to {last:%d %B %Y}, rank 3"), "split.png")

# %% Which pairs have more in common than the three factors explain? The mean of S over all windows, the largest first.

values = S.to_numpy().reshape(count, n, n)
i, j = np.tril_indices(n, -1)
of_pairs = values[:, i, j]
names = returns.columns
pairs = pd.Series(of_pairs.mean(axis=0), index=[f"{names[b]}-{names[a]}" for a, b in zip(i, j)])
print("pairs with the largest mean of S:")
print(pairs.nlargest(6).round(3).to_string())

# %% S of some of these pairs over time, the mean of each year.

years = windows.index.get_level_values(0)[::n].year
yearly = pd.DataFrame(of_pairs, index=years, columns=pairs.index).groupby(level=0).mean()
figure = Figure(figsize=(9.0, 3.6), layout="constrained")
ax = figure.subplots()
for pair, colour, look in zip(pairs.nlargest(3).index, ["#1f5fa8", "#d9542b", "#008a6e"], ["o-", "s--", "^:"]):
    ax.plot(yearly.index, yearly[pair], look, color=colour, markersize=5.0, label=pair)
ax.set_ylabel("S")
ax.set_title("What three factors do not explain, windows of 100 days, mean of each year")
ax.set_ylim(0.0, 0.55)
ax.grid(color="#e4e4e4")
ax.legend(ncols=3, loc="upper left")
save(figure, "pairs.png")

# %% Missing data. Suppose that three technology stocks are quoted on even days only, and three oil stocks on odd days.
# Then nobody can know nine of the correlations. NaN in a DataFrame is what is not known, and L fills it in.

technology, oil = ["AAPL", "AMD", "MSFT"], ["CVX", "RRC", "XOM"]


def with_holes(days: pd.DataFrame) -> pd.DataFrame:
    days = days.copy()
    days.loc[days.index[::2], oil] = np.nan
    days.loc[days.index[1::2], technology] = np.nan
    return days.corr(min_periods=60)


by_year = returns.groupby(returns.index.year)
M = pd.concat({year: with_holes(days) for year, days in by_year})
block = (slice(None), oil), technology
truth = pd.concat({year: days.corr() for year, days in by_year}).loc[block]
known = M.to_numpy().reshape(-1, n, n).copy()
known[:, range(n), range(n)] = np.nan
guess = np.repeat(np.nanmean(known, axis=(1, 2)), len(oil))[:, None]
print(f"mean error of the {truth.size} correlations that nobody knew, nine in each of {len(known)} years:")
print(f"   {(truth - guess).abs().to_numpy().mean():.2f} if all are the mean of the known ones")
for k in 1, 3:
    filled = denise.decompose(M, k=k).low_rank.loc[block]
    print(f"   {(filled - truth).abs().to_numpy().mean():.2f} by L of rank {k}")
# One factor is known well. A sector's own factor is not, where the sector was never seen beside another.
save(denise.plot(M.loc[2022], k=1, caption="2022, nine pairs never quoted together, rank 1"), "missing.png")

# %% A stream: one return per asset in, a split out, that moves as little as it must. 2007 to 2010, day by day.

crisis = returns.loc["2006":"2010"]
stream = denise.Stream(n, k=3, half_life=60.0, correlation=True, warm_up=100)
path = stream.replay(crisis, u=True)
print(f"{len(crisis)} ticks; the state of the stream is {len(stream.save())} bytes")

# U in units of the volatility that each asset has at the time: the correlation with each factor.
U = path.loadings.to_numpy().reshape(-1, n, 3)
variances = np.diagonal((path.low_rank + path.sparse).to_numpy().reshape(-1, n, n), axis1=1, axis2=2)
U = U / np.sqrt(variances)[:, :, None]
seen = crisis.index >= "2007"
caption = "Loadings of twenty stocks, in units of their volatility"
save(denise.plot_path(U[seen], labels=names, times=crisis.index[seen], caption=caption), "loadings.png")

# The share of all variance that the factors explain.
explained = pd.Series((U**2).sum(axis=(1, 2)) / n, index=crisis.index)
for day in ["2007-06-01", "2008-11-20", "2010-12-31"]:
    print(f"the factors explain {explained.asof(pd.Timestamp(day)):.0%} of the variance on {day}")

# %% A covariance to invert, and the portfolio of least variance: Σ = U Uᵀ + diag(d).
# Weights from 252 days are held for 21 days, then made anew.

starts = range(252, len(returns) - 21, 21)
covariances = np.stack([returns.iloc[at - 252 : at].cov().to_numpy() for at in starts])
sigma = denise.covariance(covariances, k=3)
ones = np.ones((len(covariances), n))
weights = {
    "equal weights": ones,
    "sample covariance": np.linalg.solve(covariances, ones[:, :, None])[:, :, 0],
    "denise, k = 3": sigma.solve(ones),
}
later = np.stack([returns.iloc[at : at + 21].to_numpy() for at in starts])
for name, raw in weights.items():
    weight = raw / raw.sum(axis=1, keepdims=True)
    daily = np.einsum("bti,bi->bt", later, weight)
    leverage = np.abs(weight).sum(axis=1).mean()
    print(f"{name:18}: volatility {daily.std() * 252**0.5:.1%} a year, sum of |weights| {leverage:.2f}")

# %% How many factors? A suggestion for each window of a year; it moves, so take the median.

ranks = denise.rank(covariances, observations=252)
print("suggested k:", dict(zip(*[x.tolist() for x in np.unique(ranks, return_counts=True)])))
print(f"the median is {np.median(ranks):.0f}")
