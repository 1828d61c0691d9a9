"""The paper's network (n = 20, k = 3) with random weights, as an ONNX file: python topo0.py topo0.onnx [SEED]

210 -> 4200 -> 840 -> 840 -> 840 -> 60 with ReLU. What the weights are does not matter for speed, but for the
share of zeros after each ReLU: He's initialisation makes it one half.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

N, K = 20, 3
WIDTHS = [210, 4200, 840, 840, 840, 60]


def network(seed):
    random = np.random.default_rng(seed)
    nodes, weights, value = [], [], "x"
    for t, (inputs, outputs) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        w = random.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)
        b = np.zeros(outputs)
        weights.append(numpy_helper.from_array(w.astype(np.float32), f"w{t}"))
        weights.append(numpy_helper.from_array(b.astype(np.float32), f"b{t}"))
        last = t == len(WIDTHS) - 2
        result = "u" if last else f"z{t}"
        nodes.append(helper.make_node("Gemm", [value, f"w{t}", f"b{t}"], [result]))
        if not last:
            value = f"a{t}"
            nodes.append(helper.make_node("Relu", [result], [value]))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTHS[0]])
    u = helper.make_tensor_value_info("u", TensorProto.FLOAT, ["batch", WIDTHS[-1]])
    graph = helper.make_graph(nodes, "topo0", [x], [u], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    onnx.save(network(int(sys.argv[2]) if len(sys.argv) > 2 else 1), sys.argv[1])
