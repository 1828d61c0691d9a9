"""Everything side by side in one run: what `make bench` calls after it has measured the kernels alone.

libdenise, onnxruntime and tract run the same two ONNX files on the same inputs: the built-in network, and the paper's (topo0, with
random weights). Rounds are interleaved: each round times a few calls of every engine in turn, so what disturbs the machine disturbs
all of them. Small batches get several calls in a row, as a program that uses one engine would make them. The time of a call from
Python, a few microseconds, is in every figure; libdenise's also includes reading M and writing L and S.
"""

import argparse
import json
import os
import platform
import time

import numpy as np
import onnx
import onnx.inliner
import onnxruntime
import tract

import topo0
import usage
from engines import Challenger, Denise, OnnxRuntime, Tract, matrices

BATCHES = [1, 8, 64, 1024, 10_000]
# Seconds; an engine that needs longer for one call is left out of that batch.
PATIENCE = 3.0
# Seconds between two engines that have threads.
PAUSE = 0.02
OURS = "libdenise"
# How far L may be from onnxruntime's with rounded weights.
ROUNDED = {"16 bits": 2e-3, "8 bits": 5e-2}


def measure(calls, batch, seconds, pause=0.0):
    """Microseconds per matrix of every call, for each engine: {name: [functions, one for each input]}.

    With threads, there is a pause between engines, so that those of one have gone to sleep before the next is timed.
    The first call after it, which wakes them, is not timed.
    """
    lengths = {}
    for name, variants in calls.items():
        start = time.perf_counter()
        variants[0]()
        lengths[name] = time.perf_counter() - start
    burst = max(1, 16 // batch)
    rounds = int(np.clip(seconds / (burst * sum(lengths.values())), 5, 400))
    times = {name: [] for name in calls}
    for r in range(rounds):
        for name, variants in calls.items():
            if pause:
                time.sleep(pause)
                variants[r % len(variants)]()
            for b in range(burst):
                call = variants[(r * burst + b) % len(variants)]
                start = time.perf_counter()
                call()
                times[name].append((time.perf_counter() - start) / batch * 1e6)
    return {name: np.array(values) for name, values in times.items()}


def summary(times):
    """p50, p99, and the median of the ratio to libdenise's time in the same place of the same round."""
    rows = {}
    for name, values in times.items():
        p50, p99 = np.percentile(values, [50, 99])
        rows[name] = {"p50": p50, "p99": p99, "ratio": float(np.median(values / times[OURS]))}
    return rows


def inputs(batch):
    """Several in turn: what is zero after a ReLU must not be learnt by heart."""
    count = max(1, min(64, 1024 // batch))
    return np.split(matrices(batch * count, 7), count)


def check(calls):
    """All engines must compute the same thing, or timing them means nothing. That is L: the library turns the columns of
    U, and a graph leaves them as they are."""

    def low_rank(u):
        return u @ np.swapaxes(u, -1, -2)

    if "onnxruntime" not in calls:
        return  # too slow for this batch; the smaller ones were compared
    want = low_rank(calls["onnxruntime"][0]())
    for name, variants in calls.items():
        got = low_rank(variants[0]())
        error = np.linalg.norm(got - want) / np.linalg.norm(want)
        allowed = next((most for bits, most in ROUNDED.items() if bits in name), 1e-4)
        assert error < allowed, f"{name}: L differs from onnxruntime's by {error}"


def networks(library, files, cores, seconds):
    """Rows of the first table for a number of cores."""
    os.sched_setaffinity(0, CORES[:cores])
    rows = []
    for network, file in files.items():
        engines = {OURS: Denise(library, file["denise"], cores)}
        if network == "topo0":
            engines["libdenise, 16 bits"] = Denise(library, file["denise"], cores, Denise.F16)
            engines["libdenise, 8 bits"] = Denise(library, file["denise"], cores, Denise.INT8)
        engines["onnxruntime"] = OnnxRuntime(file["denise"], cores)
        if cores == 1:
            engines["tract"] = Tract(file["tract"])
        last = {}
        for batch in BATCHES:
            m = inputs(batch)
            fit = {name: x for name, x in engines.items() if last.get(name, 0.0) * batch * 1e-6 < PATIENCE}
            calls = {name: [engine.call(x) for x in m] for name, engine in fit.items()}
            check(calls)
            row = summary(measure(calls, batch, seconds, PAUSE if cores > 1 else 0.0))
            last.update({name: x["p50"] for name, x in row.items()})
            rows.append({"network": network, "batch": batch, "cores": cores, "engines": row})
            print("|", " | ".join(network_cells(rows[-1])), "|", flush=True)
    return rows


NETWORK_HEAD = ["network", "cores", "batch", "× onnxruntime", "16 bits", "8 bits", "× tract"]
NETWORK_HEAD += ["libdenise p50", "p99", "16 bits p50", "p99", "8 bits p50", "p99"]
NETWORK_HEAD += ["onnxruntime p50", "p99", "tract p50", "p99"]


def network_cells(row):
    engines = row["engines"]
    rounded = ["libdenise, 16 bits", "libdenise, 8 bits"]

    def ratio(name, own=None):
        if name not in engines:
            return "–"
        theirs = engines[name]["ratio"]
        return f"{theirs / own['ratio'] if own else theirs:.2f}"

    cells = [row["network"], str(row["cores"]), f"{row['batch']:,}", ratio("onnxruntime")]
    cells += [ratio("onnxruntime", engines[name]) if name in engines else "–" for name in rounded]
    cells += [ratio("tract")]
    for name in [OURS, *rounded, "onnxruntime", "tract"]:
        cells += [f"{engines[name][p]:.1f}" if name in engines else "–" for p in ["p50", "p99"]]
    return cells


def challengers(library, model, seconds):
    """The classical methods beside the built-in network, on one core."""
    os.sched_setaffinity(0, CORES[:1])
    engines = {OURS: Denise(library, model)}
    engines.update({name: Challenger(library, name) for name in Challenger.METHODS})
    rows = []
    for batch in [1, 64]:
        calls = {name: [engine.call(x) for x in inputs(batch)] for name, engine in engines.items()}
        for name, row in summary(measure(calls, batch, seconds)).items():
            rows.append({"method": name, "batch": batch, **row})
            print("|", " | ".join(challenger_cells(rows[-1])), "|", flush=True)
    return rows


CHALLENGER_HEAD = ["method", "batch", "× the time of libdenise", "p50", "p99"]


def challenger_cells(row):
    return [row["method"], str(row["batch"]), f"{row['ratio']:,.1f}", f"{row['p50']:.1f}", f"{row['p99']:.1f}"]


USAGE_HEAD = ["engine", "network", "allocations and releases, batch 1", "batch 1,024", "memory once loaded"]
USAGE_HEAD += ["after batches of 1,024"]


def usage_cells(row):
    cells = [row["engine"], row["network"], *(str(count) for count in row["allocations"])]
    return cells + [f"{row[key] / 2**20:.1f} MB" for key in ["loaded", "used"]]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def tables_of(text):
    """The tables of a Markdown text, as lists of {column: cell}."""
    found, block = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            block.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif block:
            head, _, *rows = block
            found.append([dict(zip(head, row)) for row in rows])
            block = []
    return found


def processor():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libdenise.so")
    parser.add_argument("model", help="the built-in network as an ONNX file: models/default.onnx")
    parser.add_argument("counter", help="the library that counts allocations: tests/c/count_malloc.c, compiled")
    parser.add_argument("--out", required=True, help="directory for bench.md and bench.json")
    parser.add_argument("--progress", nargs="*", default=[], help="Markdown that stands first, to include")
    parser.add_argument("--native", nargs="*", default=[], help="Markdown of the benches of the kernels, to include")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each row, about; default: 6")
    arguments = parser.parse_args()
    library = os.path.abspath(arguments.library)
    os.makedirs(arguments.out, exist_ok=True)
    dense = os.path.join(arguments.out, "topo0.onnx")
    onnx.save(topo0.network(1), dense)
    # tract does not know functions of a model; inlined, the graph is the same.
    inlined = os.path.join(arguments.out, "built-in.onnx")
    onnx.save(onnx.inliner.inline_local_functions(onnx.load(arguments.model)), inlined)
    files = {
        "built-in": {"denise": arguments.model, "tract": inlined},
        "topo0": {"denise": dense, "tract": dense},
    }

    result = {
        "processor": processor(),
        "versions": {"onnxruntime": onnxruntime.__version__, "tract": tract.version()},
        "unit": "microseconds per matrix",
    }
    print("\n".join(table(NETWORK_HEAD, [])[:2]))
    result["networks"] = [row for cores in [1, 2][: len(CORES)] for row in networks(library, files, cores, arguments.seconds)]
    print("\n" + "\n".join(table(CHALLENGER_HEAD, [])[:2]))
    result["challengers"] = challengers(library, arguments.model, arguments.seconds)
    print("\n" + "\n".join(table(USAGE_HEAD, [])[:2]))
    result["usage"] = []
    for network, file in files.items():
        for engine in usage.ENGINES:
            if engine in ("libdenise, 16 bits", "libdenise, 8 bits") and network == "built-in":
                continue  # its few weights are never rounded
            row = usage.of_engine(arguments.counter, engine, library, file["tract" if engine == "tract" else "denise"])
            result["usage"].append({"engine": engine, "network": network, **row})
            print("|", " | ".join(usage_cells(result["usage"][-1])), "|", flush=True)
    progress, native = ([open(path).read() for path in paths] for paths in (arguments.progress, arguments.native))
    for key, texts in (("progress", progress), ("kernels", native)):
        result[key] = [rows for text in texts for rows in tables_of(text)]

    lines = ["# Progress", "", *progress] if progress else []
    lines += ["# Side by side", "", f"{result['processor']}; onnxruntime {onnxruntime.__version__}, tract {tract.version()};"]
    lines += [f"n = 20, k = 3; {result['unit']}. A ratio above 1 means that libdenise is faster; it is the median over", ""]
    lines[-2] += " interleaved calls. – : not there, or a call would take longer than " + f"{PATIENCE:.0f} s."
    lines += table(NETWORK_HEAD, [network_cells(row) for row in result["networks"]])
    lines += ["Classical methods (in double precision) and the built-in network, one core:", ""]
    lines += table(CHALLENGER_HEAD, [challenger_cells(row) for row in result["challengers"]])
    lines += ["Allocations and releases of a call, and growth of the resident memory:", ""]
    lines += table(USAGE_HEAD, [usage_cells(row) for row in result["usage"]])
    lines += ["## The kernels alone", ""] + native
    with open(os.path.join(arguments.out, "bench.md"), "w") as file:
        file.write("\n".join(lines))
    with open(os.path.join(arguments.out, "bench.json"), "w") as file:
        json.dump(result, file, indent=1)
    print(f"\nwritten: {arguments.out}/bench.md and bench.json")


CORES = sorted(os.sched_getaffinity(0))[::-1]

if __name__ == "__main__":
    main()
