"""How to load a model."""

import ctypes


class Options(ctypes.Structure):
    """denise_options."""

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
