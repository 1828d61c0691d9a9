"""Splits covariance matrices into low rank plus sparse, in microseconds.

M = L + S: L = U Uᵀ is positive semidefinite with rank at most k, what a few common factors explain; S is sparse, the few
entries that they do not.

>>> import numpy as np, denise
>>> M = np.ones((5, 5))  # five assets that move as one,
>>> M[4, 2] = M[2, 4] = 1.5  # but for one pair
>>> L, S = denise.decompose(M, k=1)
>>> print(f"M = {M[4, 2]:.2f} is L = {L[4, 2]:.2f} plus S = {S[4, 2]:.2f}")
M = 1.50 is L = 1.00 plus S = 0.50

- `decompose`: one matrix, or an array of them. `Model`: the same with a network of your own. `finetune` makes one.
- `covariance`: Σ = U Uᵀ + diag(d), which can be inverted; `covariance_from_loadings`, `solve`.
- `Stream`: returns in, tick by tick, a split that moves as little as it must.
- `rank`: which k. `classical`: PCP and others, to compare with. `plot`: M, L and S side by side;
  `plot_path`: loadings over time.
- `denise.sklearn`, `denise.skfolio`: estimators. `denise.dask`, `denise.archive`: many matrices.
"""

from ._denise import (
    Covariance,
    Decomposition,
    Model,
    Report,
    Stream,
    __version__,
    classical,
    covariance,
    covariance_from_loadings,
    decompose,
    rank,
    solve,
)
from ._finetune import Finetuned, finetune
from ._plot import plot, plot_path

__all__ = [
    "Covariance",
    "Decomposition",
    "Finetuned",
    "Model",
    "Report",
    "Stream",
    "__version__",
    "classical",
    "covariance",
    "covariance_from_loadings",
    "decompose",
    "finetune",
    "plot",
    "plot_path",
    "rank",
    "solve",
]
