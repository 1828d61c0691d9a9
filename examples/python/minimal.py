import denise
import numpy as np

M = np.ones((5, 5))  # five assets that move as one,
M[4, 2] = M[2, 4] = 1.5  # but for one pair
L, S = denise.decompose(M, k=1)
print(f"ok: M = {M[4, 2]:.2f} is L = {L[4, 2]:.2f} plus S = {S[4, 2]:.2f}")
