"""What is compared: libdenise, onnxruntime, tract, and the classical methods.

An engine's `call(m)` gives a function without arguments that decomposes these matrices and returns U, or L where an engine has no
U. Whatever can be prepared is prepared before; what an engine must do for every new input is in the function.
"""

import ctypes
import os

import numpy as np
import onnxruntime
import tract

from options import Options

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


def triangles(m):
    i, j = np.tril_indices(N)
    return np.ascontiguousarray(m[:, i, j])


class Denise:
    """Its time includes what the others leave to the caller: it reads M, and writes L and S."""

    F16 = 4
    INT8 = 64

    def __init__(self, library, model, threads=1, flags=0):
        self.library = ctypes.CDLL(library)
        message = ctypes.create_string_buffer(300)
        options = Options()
        self.library.denise_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.threads, options.flags = threads, flags
        options.message = ctypes.cast(message, ctypes.c_char_p)
        options.message_size = len(message)
        self.model = ctypes.c_void_p()
        path = os.fsencode(model)
        status = self.library.denise_load(path, ctypes.byref(options), ctypes.byref(self.model))
        if status != 0:
            raise SystemExit(f"denise_load: status {status}: {message.value.decode()}")

    def call(self, m):
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
    def __init__(self, model, threads=1):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        # Its threads would spin on after a call for as long as the process lives, on the core of the next engine's.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self.session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])

    def call(self, m):
        (port,) = self.session.get_inputs()
        x = m if len(port.shape) == 3 else triangles(m)
        return lambda: self.session.run(None, {port.name: x})[0].reshape(-1, N, K)


class Tract:
    """On one core. It is told the size of the batch beforehand, which it optimises best."""

    def __init__(self, model):
        self.path = model
        self.wide = self.load().input_fact(0).dump().count(",") > 2

    def load(self):
        return tract.onnx().load(self.path)

    def call(self, m):
        x = m if self.wide else triangles(m)
        model = self.load()
        model.set_input_fact(0, ",".join(map(str, x.shape)) + ",f32")
        runnable = model.into_model().into_runnable()
        return lambda: runnable.run([x])[0].to_numpy().reshape(-1, N, K)


class Challenger:
    """A method of denise_solve_batch, in double precision."""

    METHODS = {"PCP": 2, "IALM": 3, "FPCP": 4, "RPCA-GD": 5, "eigen-truncation": 1}

    def __init__(self, library, method):
        self.library, self.method = ctypes.CDLL(library), self.METHODS[method]

    def call(self, m):
        m = m.astype(np.float64)
        l, s = np.zeros_like(m), np.zeros_like(m)
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (m, l, s)]
        keep = (m, s)

        def run(keep=keep):
            size, lam = ctypes.c_uint32(N), ctypes.c_double(0)
            status = self.library.denise_solve_batch(
                ctypes.c_int32(self.method), size, ctypes.c_uint32(K), lam, ctypes.c_size_t(len(l)), *pointers
            )
            if status != 0:
                raise SystemExit(f"denise_solve_batch: status {status}")
            return l

        return run
