"""Beside LAPACK: the k leading eigenpairs of one matrix by scipy's eigh, on one core, in turns with the library.

Eigenpairs are what a program would compute if it had no libdenise, and the least that any other method for L starts
with. LAPACK gets what makes it fast: only the pairs that are wanted, and no search for NaN. The library reads M and
writes L and S. Prints Markdown.
"""

import argparse
import ctypes
import os

# Before numpy starts its threads.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time  # noqa: E402

import numpy as np  # noqa: E402
import scipy.linalg  # noqa: E402

from options import Options  # noqa: E402

SIZES = [(n, k) for n in [100, 200, 450] for k in [5, 10]]
HEAD = ["n", "k", "precision", "eigh, µs", "libdenise, µs", "× eigh", "fast, µs", "fast × eigh"]


def matrices(n, k, count, kind):
    """Low rank plus sparse, as in the paper."""
    random = np.random.default_rng(n + k)
    u = random.standard_normal((count, n, k))
    s = np.tril(random.uniform(-0.5, 0.5, (count, n, n)) * (random.random((count, n, n)) < 0.1), -1)
    s += s.transpose(0, 2, 1)
    m = u @ u.transpose(0, 2, 1) + s
    m[:, np.arange(n), np.arange(n)] += np.abs(s).sum(axis=2)
    return np.ascontiguousarray(m.astype(kind))


class Denise:
    def __init__(self, library, name, n, k, kind):
        self.library = library
        options = Options()
        library.denise_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.n, options.k, options.threads, options.max_concurrency = n, k, 1, 1
        self.model = ctypes.c_void_p()
        if library.denise_load(name, ctypes.byref(options), ctypes.byref(self.model)) != 0:
            raise SystemExit("denise_load failed")
        self.decompose = library.denise_decompose_batch_f64 if kind == np.float64 else library.denise_decompose_batch
        self.l, self.s = np.zeros((n, n), kind), np.zeros((n, n), kind)

    def __call__(self, m):
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (m, self.l, self.s)]
        status = self.decompose(self.model, ctypes.c_size_t(1), pointers[0], None, pointers[1], pointers[2], None)
        if status != 0:
            raise SystemExit("denise_decompose_batch failed")

    def free(self):
        self.library.denise_free(self.model)


def row(library, n, k, kind, seconds):
    every = matrices(n, k, 8, kind)
    engines = [Denise(library, name, n, k, kind) for name in [None, b"fast"]]

    def eigh(m):
        return scipy.linalg.eigh(m, subset_by_index=[n - k, n - 1], check_finite=False)

    calls = [eigh, *engines]
    for call in calls:
        call(every[0])
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 400):
        m = every[len(times) % len(every)]
        found = []
        for call in calls:
            # Both work on this thread alone; what other programs take of the CPU is nobody's.
            start = time.thread_time()
            call(m)
            found.append((time.thread_time() - start) * 1e6)
        times.append(found)
    for engine in engines:
        engine.free()
    times = np.array(times)
    p50 = np.median(times, axis=0)
    ratios = np.median(times[:, :1] / times[:, 1:], axis=0)
    cells = [str(n), str(k), np.dtype(kind).name.replace("float", "f"), f"{p50[0]:.0f}"]
    for at in [0, 1]:
        cells += [f"{p50[1 + at]:.0f}", f"**{ratios[at]:.2f}**"]
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="libdenise.so")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each row, about; default: 4")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    library = ctypes.CDLL(os.path.abspath(arguments.library))
    library.denise_free.restype = None
    print("### Beside LAPACK\n")
    print(f"One matrix on one core: k leading eigenpairs by eigh of scipy {scipy.__version__}, the split by libdenise.")
    print("× eigh: how many times as fast as eigh, the median over calls in turns.\n")
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    for kind in [np.float32, np.float64]:
        for n, k in SIZES:
            print("| " + " | ".join(row(library, n, k, kind, arguments.seconds)) + " |", flush=True)
    print()


if __name__ == "__main__":
    main()
