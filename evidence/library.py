"""libdenise through its C interface, with ctypes: from covariance matrices to Σ = U U' + diag(d)."""

import ctypes

import numpy as np

from estimate import Estimate

DENISE_FLAG_CORRELATION = 8


class Options(ctypes.Structure):
    """denise_options of denise.h."""

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


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.denise_version.restype = ctypes.c_char_p
        self.c.denise_last_error.restype = ctypes.c_char_p
        self.c.denise_load.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
        self.c.denise_free.argtypes = [ctypes.c_void_p]
        self.c.denise_free.restype = None
        self.c.denise_options_init.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.c.denise_options_init.restype = None
        # model, count, m, floor, u, d, sigma, inverse, log_det, reports
        self.c.denise_covariance_batch_f64.argtypes = (
            [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_double] + [ctypes.c_void_p] * 6
        )

    @property
    def version(self):
        return self.c.denise_version().decode()

    def covariance(self, m, k, floor):
        """Σ of rank k plus a diagonal for each of the matrices m (count x n x n), in one call."""
        m = np.ascontiguousarray(m, dtype=np.float64)
        count, n, _ = m.shape
        u, sigma, inverse, log_det = np.empty((count, n, k)), np.empty_like(m), np.empty_like(m), np.empty(count)
        model = self._load(n, k)
        try:
            self._check(
                self.c.denise_covariance_batch_f64(
                    model, count, m.ctypes.data, floor,
                    u.ctypes.data, None, sigma.ctypes.data, inverse.ctypes.data, log_det.ctypes.data, None,
                )
            )
        finally:
            self.c.denise_free(model)
        return Estimate(sigma, inverse, log_det)

    def _load(self, n, k):
        options, model = Options(), ctypes.c_void_p()
        self.c.denise_options_init(ctypes.byref(options), ctypes.sizeof(options))
        # The split is of the correlation matrix, so that a volatile asset counts no more than a quiet one.
        options.n, options.k, options.max_concurrency, options.flags = n, k, 1, DENISE_FLAG_CORRELATION
        self._check(self.c.denise_load(None, ctypes.byref(options), ctypes.byref(model)))
        return model

    def _check(self, status):
        if status != 0:
            raise RuntimeError(f"libdenise: {self.c.denise_last_error().decode()}")
