"""What all fixtures have in common. Used by make_fixtures.py."""

import numpy as np
import onnx
import onnxruntime

N, K = 6, 2
ROWS, COLUMNS = np.tril_indices(N)
TRIANGLE = len(ROWS)


def strip_traces(path):
    """Takes out where on the exporting machine each node comes from."""
    model = onnx.load(path)
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if "stack_trace" not in entry.key]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        node.doc_string = ""
    onnx.save(model, path)
    assert b".py" not in model.SerializeToString(), path


def run(path, kinds, out):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (port,) = session.get_inputs()
    random = np.random.default_rng(7)
    for _ in range(3):
        factors = random.normal(size=(N, 3))
        m = (factors @ factors.T / 3 + np.diag(random.uniform(0, 0.5, N))).astype(np.float32)
        sizes = [size if isinstance(size, int) else 1 for size in port.shape]
        x = m[ROWS, COLUMNS] if np.prod(sizes) == TRIANGLE else m
        x = x.reshape(sizes).astype(np.float64 if "double" in port.type else np.float32)
        outputs = session.run(None, {port.name: x})
        for name, value in [("M", m), *zip(kinds, outputs, strict=True)]:
            print(name, *(repr(float(v)) for v in np.asarray(value, np.float32).ravel()), file=out)
