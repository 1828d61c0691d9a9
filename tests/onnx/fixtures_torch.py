"""PyTorch models, by both of its exporters. Used by make_fixtures.py."""

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from fixtures import COLUMNS, N, K, ROWS, TRIANGLE


class Stack(nn.Module):
    """Linear layers; U as a matrix or flat."""

    def __init__(self, inputs, layers, flat=False):
        super().__init__()
        modules, width = [], inputs
        for layer in layers:
            if isinstance(layer, int):
                modules.append(nn.Linear(width, layer))
                width = layer
            else:
                modules.append(layer)
        modules.append(nn.Linear(width, N * K))
        self.net = nn.Sequential(*modules)
        self.flat = flat

    def forward(self, x):
        u = self.net(x)
        return u if self.flat else u.view(x.shape[0], N, K)


class FromMatrix(nn.Module):
    """From M to L, the lower triangle by its indices."""

    def __init__(self):
        super().__init__()
        self.stack = Stack(TRIANGLE, [16, nn.ReLU(), 8, nn.ReLU()])
        self.register_buffer("rows", torch.from_numpy(ROWS))
        self.register_buffer("columns", torch.from_numpy(COLUMNS))

    def forward(self, m):
        u = self.stack(m[:, self.rows, self.columns])
        return u @ u.transpose(1, 2)


class OneMatrix(nn.Module):
    """Without an axis for a batch, from all of M to U."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(N * N, 10)
        self.second = nn.Linear(10, N * K)

    def forward(self, m):
        return self.second(torch.clamp(self.first(m.flatten()), min=0)).reshape(N, K)


def export_torch(module, shape, path, dynamo, batch=True):
    module.eval()
    example = torch.zeros([3, *shape] if batch else shape)
    if dynamo:
        shapes = ({0: torch.export.Dim("batch")},) if batch else None
        torch.onnx.export(module, (example,), path, dynamo=True, dynamic_shapes=shapes, external_data=False, verbose=False)
    else:
        axes = {"x": {0: "batch"}, "y": {0: "batch"}} if batch else None
        torch.onnx.export(
            module, (example,), path, dynamo=False, input_names=["x"], output_names=["y"], dynamic_axes=axes, opset_version=17
        )


def torch_triangle(dynamo):
    def make(path):
        export_torch(Stack(TRIANGLE, [16, nn.ReLU(), 8, nn.ReLU()]), [TRIANGLE], path, dynamo)
        return ["U"]

    return make


def torch_activations(dynamo):
    def make(path):
        layers = [12, nn.ELU(0.7), 10, nn.LeakyReLU(0.2), 9, nn.Tanh(), 8, nn.Sigmoid()]
        export_torch(Stack(TRIANGLE, layers), [TRIANGLE], path, dynamo)
        return ["U"]

    return make


def torch_matrix(dynamo):
    def make(path):
        export_torch(FromMatrix(), [N, N], path, dynamo)
        return ["L"]

    return make


def torch_one_matrix(path):
    export_torch(OneMatrix(), [N, N], path, dynamo=False, batch=False)
    return ["U"]


def torch_batch_norm(path):
    """A normalisation, a dropout, a batch of exactly one, U flat."""
    norm = nn.BatchNorm1d(9)
    nn.init.normal_(norm.running_mean, std=0.2)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    nn.init.normal_(norm.weight, mean=1, std=0.2)
    nn.init.normal_(norm.bias, std=0.2)
    module = Stack(TRIANGLE, [9, norm, nn.Dropout(0.1), nn.ReLU()], flat=True)
    export_torch(module, [1, TRIANGLE], path, dynamo=False, batch=False)
    return ["U"]


def half(path):
    """Weights stored in half precision, and a cast to single before each use."""
    torch_triangle(False)(path)
    model = onnx.load(path)
    casts = []
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            name = tensor.name
            stored = numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), name + "_half")
            tensor.CopyFrom(stored)
            casts.append(helper.make_node("Cast", [name + "_half"], [name], "cast_" + name, to=TensorProto.FLOAT))
    for cast in reversed(casts):
        model.graph.node.insert(0, cast)
    onnx.save(model, path)
    return ["U"]


def double(path):
    """Everything in double precision, which the library refuses."""
    module = Stack(TRIANGLE, [16, nn.ReLU()]).double().eval()
    example = torch.zeros(1, TRIANGLE, dtype=torch.float64)
    torch.onnx.export(module, (example,), path, dynamo=False, input_names=["x"], output_names=["y"], opset_version=17)
    return ["U"]


def seed(number):
    torch.manual_seed(number)


MODELS = {
    "torch_triangle_legacy": torch_triangle(False),
    "torch_triangle_dynamo": torch_triangle(True),
    "torch_activations_legacy": torch_activations(False),
    "torch_activations_dynamo": torch_activations(True),
    "torch_matrix_legacy": torch_matrix(False),
    "torch_matrix_dynamo": torch_matrix(True),
    "torch_one_matrix": torch_one_matrix,
    "torch_batch_norm": torch_batch_norm,
    "half": half,
    "double": double,
}
