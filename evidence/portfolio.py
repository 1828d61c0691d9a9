"""Minimum-variance portfolios, and what becomes of them until the next rebalancing."""

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls


def minimum_variance(inverse):
    """w = Σ⁻¹1 / (1'Σ⁻¹1): the smallest w'Σw with weights that sum to one, of either sign."""
    w = inverse.sum(axis=-1)
    return w / w.sum(axis=-1, keepdims=True)


def long_only(sigma):
    """The smallest w'Σw with weights that sum to one, none of which is negative.

    It is in proportion to the x >= 0 with the smallest x'Σx/2 - 1'x, which with Σ = R'R is the least-squares problem
    min ||Rx - R'⁻¹1||.
    """
    r = cholesky(sigma / np.trace(sigma))
    x, _ = nnls(r, solve_triangular(r, np.ones(len(sigma)), trans="T"))
    return x / x.sum()


def hold(w, returns):
    """Buys w and waits: the returns of the portfolio day by day, and the weights that it has drifted to at the end."""
    growth = np.cumprod(1 + returns, axis=0)
    value = growth @ w
    if value.min() <= 0:
        raise ArithmeticError("a portfolio lost everything")
    return value / np.concatenate([[1.0], value[:-1]]) - 1, w * growth[-1] / value[-1]


def turnover(new, drifted):
    """What is bought and sold: sum of |w_new - w_drifted| over all assets."""
    return np.abs(new - drifted).sum()
