"""A case: a small model in ONNX's text form, inputs, and the outputs that ONNX's specification gives for them."""
import numpy as np
import onnx
from onnx import numpy_helper

CASES = []


class Case:
    """`text`: of the model, without its header. `runs`: pairs of inputs by name and outputs in order; a string in the place of outputs is what the message
    of a run must hold that ends with a status. `constants`: initialisers by name, which the text need not declare."""

    def __init__(self, title, text, runs, constants=None, options=(), functions="", opset=21, near=0.0):
        domains = f'"" : {opset}, "own" : 1, "com.microsoft" : 1'
        self.title, self.runs, self.options, self.near = title, runs, list(options), near
        self.model = onnx.parser.parse_model(f"<ir_version: 10, opset_import: [{domains}]>\n{text}\n{functions}")
        for name, value in (constants or {}).items():
            self.model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        CASES.append(self)


def values(*shape, seed=7):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def f32(list):
    return np.asarray(list, np.float32)


def i64(list):
    return np.asarray(list, np.int64)
