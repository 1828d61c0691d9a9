#!/usr/bin/env python3
"""Checks that a model file runs in stock onnxruntime and gives what the library gives.

usage: check.py MODEL.onnx M.npy [L.npy]

M.npy holds matrices, [count, n, n], of which the lower triangles are read; L.npy holds the
low-rank parts that the library found. Without L.npy only what must hold for any matrix is checked: use that
for matrices far from positive semidefinite, where the network amplifies rounding and no two
implementations agree.
"""

import sys

import numpy as np
import onnx
import onnxruntime

# The largest difference of L allowed, in units of each matrix's scale.
TOLERANCE = 1e-4


def run(path, m):
    """U, L and S from onnxruntime."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["U", "L", "S"], {"M": m})


def largest(x):
    """The largest absolute value in each matrix."""
    return np.abs(x).max(axis=(1, 2), initial=0.0)


def within(what, difference, allowed):
    """Prints how close the worst matrix comes, and says whether that is close enough."""
    # A zero matrix allows no difference, and has none.
    share = np.divide(difference, allowed, out=np.where(difference > 0, np.inf, 0.0), where=allowed > 0)
    worst = share.max(initial=0.0)
    good = bool(worst <= 1)
    print(f"{'ok' if good else 'FAILED':6} {what}: at most {worst:.2g} of what is allowed")
    return good


def holds(what, condition):
    print(f"{'ok' if condition else 'FAILED':6} {what}")
    return bool(condition)


def check(path, m, expected):
    onnx.checker.check_model(path, full_check=True)
    u, l, s = run(path, m)
    n = m.shape[1]
    whole = (np.tril(m) + np.tril(m, -1).transpose(0, 2, 1)).astype(np.float64)
    # tr(M)/n for any covariance; the second term makes it positive for every matrix but zero.
    scale = np.maximum(np.trace(whole, axis1=1, axis2=2), largest(whole)) / n
    good = holds("U, L and S are finite", all(np.isfinite(x).all() for x in (u, l, s)))
    good &= holds("L and S are symmetric", all((x == x.transpose(0, 2, 1)).all() for x in (l, s)))
    u, l, s = (x.astype(np.float64) for x in (u, l, s))
    # Rounding is relative to the larger of M and L, which may exceed M if M is indefinite.
    size = np.maximum(largest(whole), largest(l))
    good &= within("L + S is M", largest(l + s - whole), 1e-6 * size)
    good &= within("L is U times its transpose", largest(u @ u.transpose(0, 2, 1) - l), 1e-5 * size)
    zero = largest(whole) == 0
    good &= holds("zero matrices give zeros", not (largest(u)[zero].any() or largest(l)[zero].any()))
    if expected is not None:
        difference = largest(l - expected)
        good &= within("L is the library's", difference, TOLERANCE * scale)
    return good


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    path, *arrays = arguments
    m, *expected = (np.load(array) for array in arrays)
    if m.dtype.kind != "f" or m.ndim != 3 or m.shape[1] != m.shape[2] or len(m) == 0:
        sys.exit(f"{arrays[0]}: floats [count, n, n] are wanted, this is {m.dtype} {list(m.shape)}")
    m = m.astype(np.float32)
    if expected and expected[0].shape != m.shape:
        sys.exit(f"{arrays[1]}: its shape is not that of {arrays[0]}")
    print(f"{path}: {len(m)} matrices, onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}")
    if not check(path, m, expected[0] if expected else None):
        sys.exit("the file does not do what it should")


if __name__ == "__main__":
    main(sys.argv[1:])
