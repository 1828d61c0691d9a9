"""Allocations of a call and memory of an engine, in a process of its own: python usage.py ENGINE LIBRARY MODEL, with
the counting allocator (tests/c/count_malloc.c) preloaded. Prints JSON."""

import ctypes
import gc
import json
import os
import subprocess
import sys

from engines import Denise, OnnxRuntime, Tract, matrices

ENGINES = {
    "libdenise": lambda library, model: Denise(library, model),
    "libdenise, 16 bits": lambda library, model: Denise(library, model, flags=Denise.F16),
    "libdenise, 8 bits": lambda library, model: Denise(library, model, flags=Denise.INT8),
    "onnxruntime": lambda library, model: OnnxRuntime(model),
    "tract": lambda library, model: Tract(model),
}


def of_engine(counter, engine, library, model):
    environment = {**os.environ, "LD_PRELOAD": os.path.abspath(counter)}
    command = [sys.executable, __file__, engine, library, model]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)


def resident():
    """What is in use: the allocator gives back what is free, for every engine."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    engine, library, model = sys.argv[1:]
    count = ctypes.CDLL(None).count_malloc_calls
    count.restype = ctypes.c_ulong
    small, large = matrices(1, 7), matrices(1024, 7)
    gc.disable()

    def allocations(call):
        """The fewest in several calls: what Python itself does now and then is not the engine's."""
        found = []
        for _ in range(8):
            before = count()
            call()
            found.append(count() - before)
        return min(found)

    nothing = allocations(lambda: None)
    before = resident()
    engine = ENGINES[engine](library, model)
    call = engine.call(small)
    call()
    loaded = resident() - before
    counts = [allocations(call) - nothing]
    call = engine.call(large)
    before = resident()
    counts.append(allocations(call) - nothing)
    used = loaded + resident() - before
    print(json.dumps({"allocations": counts, "loaded": loaded, "used": used}))


if __name__ == "__main__":
    main()
