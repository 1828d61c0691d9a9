"""Side by side on the paper's network: python compare.py libdenise.so topo0.onnx

libdenise, with weights as they are and as halves, onnxruntime and, if it is installed, tract, on one core, on
the same inputs. Rounds are interleaved: each round times a few calls of every engine in turn, so what disturbs
the machine disturbs all of them; small batches get several calls in a row, as a program that uses one engine would
make them. libdenise's time includes what the others do not do: it reads M, and writes L and S. The time of a call
from Python, a few microseconds, is in every figure. On a busy machine `--clock cpu` counts the time on the core only.

Needs numpy and onnxruntime, and takes tract, from PyPI; topo0.py makes the model.
"""

import argparse
import ctypes
import os
import time

import numpy as np
import onnxruntime

N, K = 20, 3


def matrices(count, seed):
    """As the paper's generator: U U' with normal U, and a sparse part that keeps the diagonal dominant."""
    random = np.random.default_rng(seed)
    u = random.standard_normal((count, N, K))
    m = u @ u.transpose(0, 2, 1)
    share = random.choice([0.6, 0.7, 0.8, 0.9, 0.95], (count, 1, 1))
    s = np.tril(random.uniform(-0.5, 0.5, (count, N, N)), -1)
    s *= random.random((count, N, N)) >= share
    s += s.transpose(0, 2, 1)
    m += s
    i = np.arange(N)
    m[:, i, i] += np.abs(s).sum(axis=2)
    return np.ascontiguousarray(m.astype(np.float32))


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("n", ctypes.c_uint32),
        ("k", ctypes.c_uint32),
        ("max_concurrency", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("message", ctypes.c_char_p),
        ("message_size", ctypes.c_size_t),
    ]


class Denise:
    F16 = 4

    def __init__(self, library, model, flags):
        self.library = ctypes.CDLL(library)
        message = ctypes.create_string_buffer(300)
        options = Options()
        self.library.denise_options_init(ctypes.byref(options))
        options.flags = flags
        options.message = ctypes.cast(message, ctypes.c_char_p)
        options.message_size = len(message)
        self.model = ctypes.c_void_p()
        path = os.fsencode(model)
        status = self.library.denise_load(path, ctypes.byref(options), ctypes.byref(self.model))
        if status != 0:
            raise SystemExit(f"denise_load: status {status}: {message.value.decode()}")

    def call(self, m):
        """A function that decomposes these matrices, and the U that it fills."""
        u = np.zeros((len(m), N, K), np.float32)
        l, s = np.zeros_like(m), np.zeros_like(m)
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (m, u, l, s)]
        count, decompose = ctypes.c_size_t(len(m)), self.library.denise_decompose_batch
        keep = (m, l, s)

        def run(keep=keep):
            if decompose(self.model, count, *pointers, None) != 0:
                raise SystemExit("denise_decompose_batch failed")
            return u

        return run


class OnnxRuntime:
    def __init__(self, model):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])

    def call(self, m):
        x = triangles(m)
        return lambda: self.session.run(None, {"x": x})[0].reshape(-1, N, K)


class Tract:
    def __init__(self, model):
        import tract

        self.tract, self.path = tract, model

    def call(self, m):
        x = triangles(m)
        # A batch of a known size is what tract optimises best.
        model = self.tract.onnx().load(self.path)
        model.set_input_fact(0, f"{len(m)},{x.shape[1]},f32")
        runnable = model.into_model().into_runnable()
        return lambda: runnable.run([x])[0].to_numpy().reshape(-1, N, K)


def triangles(m):
    i, j = np.tril_indices(N)
    return np.ascontiguousarray(m[:, i, j])


def compare(engines, batch, rounds, clock):
    # Several inputs in turn: what is zero after a ReLU must not be learnt by heart.
    count = max(1, min(64, 1024 // batch))
    m = matrices(batch * count, 7).reshape(count, batch, N, N)
    calls = {name: [engine.call(np.ascontiguousarray(x)) for x in m] for name, engine in engines.items()}
    want = calls["onnxruntime"][0]()
    times = {name: [] for name in calls}
    for name in calls:
        error = np.linalg.norm(calls[name][0]() - want) / np.linalg.norm(want)
        assert error < (2e-3 if "f16" in name else 1e-5), f"{name}: U differs from onnxruntime's by {error}"
    burst = max(1, 16 // batch)
    for r in range(rounds):
        for name, variants in calls.items():
            for b in range(burst):
                call = variants[(r * burst + b) % count]
                start = clock()
                call()
                times[name].append((clock() - start) / batch * 1e6)
    theirs = np.array(times["onnxruntime"])
    for name, values in times.items():
        values = np.array(values)
        p10, p50, p99 = np.percentile(values, [10, 50, 99])
        ratio = np.median(theirs / values)
        print(f"| {batch} | {name} | {p10:.1f} | {p50:.1f} | {p99:.1f} | {ratio:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=float, default=1.0, help="multiply the number of rounds")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="what is counted; default: wall")
    parser.add_argument("--cpu", type=int, help="the core to run on; default: any one")
    arguments = parser.parse_args()
    cpu = arguments.cpu if arguments.cpu is not None else max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    engines = {
        "libdenise": Denise(arguments.library, arguments.model, 0),
        "libdenise f16": Denise(arguments.library, arguments.model, Denise.F16),
        "onnxruntime": OnnxRuntime(arguments.model),
    }
    try:
        engines["tract"] = Tract(arguments.model)
    except ImportError:
        print("tract is not installed; left out\n")
    print(f"Microseconds ({arguments.clock} clock) per matrix on one core; the last column is the median of the ratio of")
    print("onnxruntime's time to this one's in the same place of the same round.\n")
    print("| batch | engine | p10 | p50 | p99 | × onnxruntime |")
    print("|---|---|---|---|---|---|")
    clock = time.perf_counter if arguments.clock == "wall" else time.thread_time
    for batch, rounds in [(1, 100), (8, 100), (64, 50), (1024, 15)]:
        compare(engines, batch, max(3, int(rounds * arguments.rounds)), clock)


if __name__ == "__main__":
    main()
