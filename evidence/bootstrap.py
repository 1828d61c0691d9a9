"""Intervals by the circular block bootstrap (Politis and Romano 1992), with the same blocks for every method."""

import numpy as np


def block_indices(length, block, resamples, seed):
    """resamples x length: blocks of consecutive places, which go on at the beginning after the end."""
    count = -(-length // block)
    starts = np.random.default_rng(seed).integers(length, size=(resamples, count))
    places = (starts[:, :, None] + np.arange(block)) % length
    return places.reshape(resamples, -1)[:, :length]


def resampled(statistic, series, indices):
    """The statistic of every resample. The series may have several columns, one for each method."""
    return np.stack([statistic(series[places]) for places in indices])


def volatility(returns):
    """Standard deviation of each column."""
    return returns.std(axis=0)


def mean(values):
    """Mean of each column."""
    return values.mean(axis=0)


def interval(values):
    """The middle 95 % of what the resamples gave."""
    low, high = np.quantile(values, [0.025, 0.975])
    return [float(low), float(high)]
