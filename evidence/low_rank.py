"""Other ways to L of rank k, all of the correlation matrix: what Denise's Σ has to be better than to be worth it."""

import numpy as np
from scipy.linalg import eigh


def leading(r, k):
    """The part of r that its k largest eigenvalues make, as far as they are positive."""
    n = len(r)
    eigenvalues, vectors = eigh(r, subset_by_index=[n - k, n - 1])
    u = vectors * np.sqrt(np.maximum(eigenvalues, 0))
    return u @ u.T


def eigen_truncation(r, k):
    """Explains all of r, and so the variances of the assets too, as well as rank k can in least squares."""
    return leading(r, k)


def principal_factors(r, k, rounds=20, enough=1e-4):
    """Explains the correlations between assets alone, in least squares: the variances in r give way to those of L.

    The classical iteration of factor analysis, until L moves by less than `enough`. After 20 rounds that is so for most
    windows, and for the others L is within a few percent of where it converges.
    """
    l = leading(r, k)
    for _ in range(rounds):
        # An asset cannot have more in common with the others than all of its variance.
        before, l = l, leading(r - np.diag(1 - np.minimum(np.diag(l), 1)), k)
        if np.linalg.norm(l - before) < enough * np.linalg.norm(l):
            break
    return l


def of_covariances(split, m, k):
    """L of covariance matrices (count x n x n): that of their correlation matrices, scaled back."""
    deviations = np.sqrt(np.einsum("cii->ci", m))
    scale = deviations[:, :, None] * deviations[:, None, :]
    return np.stack([split(r, k) for r in m / scale]) * scale
