"""Quadratic-inverse shrinkage: Ledoit and Wolf, Quadratic shrinkage for large covariance matrices, Bernoulli 2022.

The sample eigenvectors stay, the eigenvalues move.
With c = n / days and y = 1/λ for the eigenvalues λ > 0 of the sample, the best possible eigenvalue for λ is 1/δ with

    δ = y |1 - c + c (θ(y) + i η(y))|²                        for n <= days,
    δ = y |θ(y) + i η(y)|²                                    for n > days,

and for the eigenvalues that are zero, which there are for n > days, δ = (c - 1) mean(y).
θ is the mean over all j of y_j / (y_j - y), and η is π times a density; both are smoothed with a bandwidth h in
proportion to y_j.
"""

import numpy as np


def smoothed(y, h):
    """θ and η at every y: mean of y_j (y_j - y) / ((y_j - y)² + (h y_j)²), and the same with h y_j above."""
    difference = y[None, :] - y[:, None]
    weight = y[None, :] / (difference**2 + (h * y[None, :]) ** 2)
    return (weight * difference).mean(axis=1), (weight * h * y[None, :]).mean(axis=1)


def shrunk_eigenvalues(eigenvalues, days):
    """The eigenvalues to take for those of a sample of so many independent days, in the same ascending order."""
    n = len(eigenvalues)
    c = n / days
    h = min(c**2, c**-2) ** 0.35 / n**0.35
    zeros = max(0, n - days)
    y = 1 / eigenvalues[zeros:]
    theta, eta = smoothed(y, h)
    if zeros == 0:
        delta = y * ((1 - c + c * theta) ** 2 + (c * eta) ** 2)
    else:
        delta = np.concatenate([np.full(zeros, (c - 1) * y.mean()), y * (theta**2 + eta**2)])
    shrunk = 1 / delta
    # The sum of the sample eigenvalues is right, whatever the dimension: it stays.
    return shrunk * eigenvalues[zeros:].sum() / shrunk.sum()


def qis(m, days):
    """Σ for a sample covariance m of `days` independent days: one less than the days of a window that is centred."""
    eigenvalues, vectors = np.linalg.eigh(m)
    return (vectors * shrunk_eigenvalues(eigenvalues, days)) @ vectors.T
