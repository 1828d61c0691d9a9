#!/usr/bin/env python3
"""write_dense.py OUT.onnx: the paper's network for n = 20, k = 3 with random weights, as an ONNX file.

Nothing but the standard library: a file of this kind is a list of fields (Protocol Buffers).
"""

import array
import random
import sys


def number(x):
    out = bytearray()
    while x >= 0x80:
        out.append(x & 0x7F | 0x80)
        x >>= 7
    return bytes(out + bytes([x]))


def field(tag, value):
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(value)) + value


def tensor(name, sizes, scale, rng):
    count = 1
    for size in sizes:
        count *= size
    values = array.array("f", (rng.gauss(0.0, scale) for _ in range(count)))
    if sys.byteorder == "big":
        values.byteswap()
    dims = b"".join(field(1, size) for size in sizes)
    return field(5, dims + field(2, 1) + field(8, name) + field(9, values.tobytes()))


def port(tag, name, sizes):
    shape = b"".join(field(1, field(1, size)) for size in sizes)
    return field(tag, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))


def node(op, inputs, output):
    parts = [field(1, name) for name in inputs] + [field(2, output), field(4, op)]
    return field(1, b"".join(parts))


def main():
    rng = random.Random(1)
    widths = [210, 4200, 840, 840, 840, 60]
    graph, x = [field(2, "paper")], "x"
    for t, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        graph.append(tensor(f"w{t}", [inputs, outputs], (2 / inputs) ** 0.5, rng))
        graph.append(tensor(f"b{t}", [outputs], 0.01, rng))
        graph.append(node("Gemm", [x, f"w{t}", f"b{t}"], f"y{t}"))
        x = f"y{t}"
        if t + 2 < len(widths):
            graph.append(node("Relu", [x], f"h{t}"))
            x = f"h{t}"
    graph += [port(11, "x", [1, 210]), port(12, x, [1, 60])]
    model = field(1, 8) + field(7, b"".join(graph)) + field(8, field(1, "") + field(2, 17))
    with open(sys.argv[1], "wb") as out:
        out.write(model)


main()
