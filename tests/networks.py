"""Pieces of small networks for checks: nodes and weights with random values of the size of 1 after each layer."""
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper as h
from onnx import numpy_helper

RANDOM = np.random.default_rng(3)


def node(op, inputs, outputs, **attributes):
    return h.make_node(op, inputs.split(), outputs.split(), **attributes)


def conv(inputs, output, kernel=3, **attributes):
    return node("Conv", inputs, output, **{"pads": [kernel // 2] * 4, **attributes})


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def weights(cout, cin, *kernel):
    return values(cout, cin, *kernel) * np.float32(0.12)


def make_model(title, nodes, constants, outputs, feeds, dims=None, opset=17):
    """`dims`: names of dimensions of the inputs that are open, by axis."""
    names = dims or {}
    info = lambda name, shape: h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    shape = lambda v: [names.get(axis, extent) for axis, extent in enumerate(v.shape)]
    graph = h.make_graph(nodes, title, [info(k, shape(v)) for k, v in feeds.items()], [info(name, None) for name in outputs.split()],
                         [numpy_helper.from_array(v, k) for k, v in constants.items()])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8)


def reference(model, feeds):
    """ONNX Runtime's outputs."""
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)


TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}  # values have the size of 1, and sums come in another order


def agree(actual, expected):
    """Shapes are equal, and values within TOLERANCE."""
    return all(a.shape == e.shape and np.allclose(a, e, **TOLERANCE) for a, e in zip(actual, expected, strict=True))
