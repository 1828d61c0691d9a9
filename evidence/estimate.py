"""What every estimator gives for a batch of windows: Σ, its inverse and its log-determinant."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Estimate:
    sigma: np.ndarray  # count x n x n
    inverse: np.ndarray  # count x n x n
    log_det: np.ndarray  # count


def from_sigma(sigma):
    """The estimate of an estimator that gives Σ only."""
    return Estimate(sigma, np.linalg.inv(sigma), np.linalg.slogdet(sigma)[1])
