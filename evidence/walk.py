"""Walks through a panel: estimates Σ from a window, holds the portfolio for a month, goes on with the next month."""

from dataclasses import dataclass

import numpy as np

from estimators import sample_covariances, sample_is_invertible
from portfolio import hold, long_only, minimum_variance, turnover

FEWEST_ASSETS = 10


@dataclass
class Step:
    day: int  # the first day of the month; the window ends just before it
    assets: np.ndarray  # columns of the panel


@dataclass
class Track:
    """What one method did, over all steps."""

    daily: np.ndarray  # returns of the portfolio
    turnover: float  # mean over rebalancings, the first one excepted
    leverage: float  # mean of sum |w|


@dataclass
class Record:
    log_likelihood: np.ndarray  # mean of a day, for each month
    free: Track  # weights of either sign
    long: Track  # no negative weights


def split_day(panel):
    """Choices are made before this day, and what is reported happened from it on."""
    return int(0.6 * len(panel.returns))


def steps(panel, window, first, last):
    """Rebalancing days from `first` on, with months that end by `last`.

    An asset takes part if its returns are complete in the window and in the month after it, and if it moved on at least
    half of the days of the window.
    """
    found = []
    for day in range(max(first, window), last - panel.hold + 1, panel.hold):
        past, future = panel.returns[day - window : day], panel.returns[day : day + panel.hold]
        complete = np.isfinite(past).all(axis=0) & np.isfinite(future).all(axis=0)
        assets = np.flatnonzero(complete & ((past != 0).mean(axis=0) >= 0.5))
        if len(assets) >= FEWEST_ASSETS:
            found.append(Step(day, assets))
    return found


def estimates(panel, window, walk, estimator):
    """Σ, Σ⁻¹ and log det Σ at every step, from the window before it alone."""
    sizes = np.array([len(step.assets) for step in walk])
    found = [None] * len(walk)
    for n in np.unique(sizes):
        # All windows with as many assets make one batch.
        places = np.flatnonzero(sizes == n)
        x = np.stack([panel.returns[walk[p].day - window : walk[p].day, walk[p].assets] for p in places])
        x = x - x.mean(axis=1, keepdims=True)
        batch = estimator(x, sample_covariances(x))
        for place, *one in zip(places, batch.sigma, batch.inverse, batch.log_det):
            found[place] = one
    return found


def month(panel, step):
    return panel.returns[step.day : step.day + panel.hold, step.assets]


def log_likelihood(inverse, log_det, returns):
    """Mean over the days of the Gaussian log-likelihood of all returns of a day, with mean zero."""
    squares = (returns @ inverse * returns).sum(axis=1)
    return -0.5 * (returns.shape[1] * np.log(2 * np.pi) + log_det + squares.mean())


def follow(panel, walk, weights):
    """Holds the weights of each step for its month, in which they drift with the prices."""
    daily, trades = [], []
    drifted = None
    for step, w in zip(walk, weights):
        bought = np.zeros(panel.returns.shape[1])
        bought[step.assets] = w
        if drifted is not None:
            trades.append(turnover(bought, drifted))
        returns, end = hold(w, month(panel, step))
        daily.append(returns)
        drifted = np.zeros_like(bought)
        drifted[step.assets] = end
    leverage = np.mean([np.abs(w).sum() for w in weights])
    return Track(np.concatenate(daily), float(np.mean(trades)), float(leverage))


def likelihoods(panel, walk, found):
    """The log-likelihood of a day in each month."""
    return np.array([log_likelihood(inverse, log_det, month(panel, step))
                     for step, (_, inverse, log_det) in zip(walk, found)])


def free_track(panel, walk, found):
    return follow(panel, walk, [minimum_variance(inverse) for _, inverse, _ in found])


def long_track(panel, walk, found):
    return follow(panel, walk, [long_only(sigma) for sigma, _, _ in found])


def record(panel, window, walk, estimator):
    """What an estimator achieves over all steps."""
    found = estimates(panel, window, walk, estimator)
    return Record(likelihoods(panel, walk, found), free_track(panel, walk, found), long_track(panel, walk, found))


def equal_weights(panel, walk):
    return follow(panel, walk, [np.full(len(step.assets), 1 / len(step.assets)) for step in walk])


def why_no_sample(window, walk):
    """Why the sample covariance cannot take part, or None."""
    largest = max(len(step.assets) for step in walk)
    if sample_is_invertible(window, largest):
        return None
    return f"{window} days do not make a covariance of {largest} assets that can be inverted"
