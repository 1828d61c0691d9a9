"""The estimators of Σ. Each takes a batch of centred windows x (count x days x n) and their sample covariances m.

All start from the same m = x'x / (days - 1). Those of the form L + diag(d) work on correlations. Shrinkage takes part
twice: as its authors define it, on covariances, and on correlations.
"""

import numpy as np
from sklearn.covariance import ledoit_wolf, oas

from estimate import from_sigma
from low_rank import eigen_truncation, of_covariances, principal_factors
from qis import qis

RANKS = (1, 3, 5)
REFERENCE = "Ledoit-Wolf"


def sample_covariances(x):
    return np.swapaxes(x, 1, 2) @ x / (x.shape[1] - 1)


def factors_and_diagonal(l, m, floor):
    """Σ = L + diag(d), d_i = max(M_ii - L_ii, floor M_ii): the rule of denise_covariance_batch_f64, for any L."""
    sigma = l.copy()
    variances = np.einsum("cii->ci", m)
    common = np.einsum("cii->ci", l)
    np.einsum("cii->ci", sigma)[...] = common + np.maximum(variances - common, floor * variances)
    return sigma


def linear_shrinkage(shrink):
    """An estimator of scikit-learn, which divides by the number of days, with the divisor of all others here."""
    def estimate(x, m):
        days = x.shape[1]
        return np.stack([shrink(window, assume_centered=True)[0] for window in x]) * (days / (days - 1))
    return estimate


def quadratic_shrinkage(x, m):
    return np.stack([qis(one, x.shape[1] - 1) for one in m])


def of_correlations(estimate):
    """The same estimator for returns in units in which every variance is 1, as Denise does it, scaled back.

    Shrinkage moves all variances towards each other. Where they differ by nature, as those of bonds and oil do, this is
    how its users would apply it.
    """
    def scaled(x, m):
        deviations = np.sqrt(np.einsum("cii->ci", m))
        scale = deviations[:, :, None] * deviations[:, None, :]
        return estimate(x / deviations[:, None, :], m / scale) * scale
    return scaled


def inverted(estimate):
    return lambda x, m: from_sigma(estimate(x, m))


def denise(library, k, floor):
    return lambda x, m: library.covariance(m, k, floor)


def eigen(k, floor):
    return lambda x, m: from_sigma(factors_and_diagonal(of_covariances(eigen_truncation, m, k), m, floor))


def principal(k, floor):
    return lambda x, m: from_sigma(factors_and_diagonal(of_covariances(principal_factors, m, k), m, floor))


def factor_estimators(library, floor):
    """Those of the form L + diag(d): name -> function of (x, m)."""
    chosen = {f"Denise {k}": denise(library, k, floor) for k in RANKS}
    chosen |= {f"eigen {k}": eigen(k, floor) for k in RANKS}
    return chosen | {f"principal {k}": principal(k, floor) for k in RANKS}


def all_estimators(library, floor):
    """Every estimator: name -> function of (x, m)."""
    others = {
        REFERENCE: linear_shrinkage(ledoit_wolf),
        "Ledoit-Wolf, corr.": of_correlations(linear_shrinkage(ledoit_wolf)),
        "OAS": linear_shrinkage(oas),
        "QIS": quadratic_shrinkage,
        "QIS, corr.": of_correlations(quadratic_shrinkage),
        "sample": lambda x, m: m,
    }
    return factor_estimators(library, floor) | {name: inverted(estimate) for name, estimate in others.items()}


def sample_is_invertible(days, n):
    """A centred window of so many days has rank days - 1 at most."""
    return n <= days - 1
