"""Small networks with random weights that have each kind of layer, for --math=reproducible.

    for name, (model, shape, output) in networks(random).items():
        model.save(path, shape, output)       # its input is `x`, of that shape
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Model:
    """A graph that grows node by node."""

    def __init__(self, random):
        self.random, self.nodes, self.constants = random, [], []

    def constant(self, *shape, scale=1.0):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array((self.random.standard_normal(shape) * scale).astype(np.float32), name))
        return name

    def add(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"v{len(self.nodes)}"], name=f"n{len(self.nodes)}", **attributes))
        return self.nodes[-1].output[0]

    def conv(self, x, cin, cout, kernel, group=1, **attributes):
        w = self.constant(cout, cin // group, *kernel, scale=1 / np.sqrt(cin // group * np.prod(kernel)))
        return self.add("Conv", x, w, self.constant(cout, scale=0.1), group=group, kernel_shape=kernel, **attributes)

    def save(self, path, shape, output):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
        onnx.save(onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)), path)


def images(random, channels, size):
    """A small network over images, with each kind of convolution and pool."""
    m = Model(random)
    y = m.add("Relu", m.conv("x", channels, 12, [5, 3], pads=[2, 1, 2, 1], strides=[1, 2]))
    y = m.add("Sigmoid", m.conv(y, 12, 12, [3, 3], group=12, pads=[1, 1, 1, 1]))
    z = m.add("Tanh", m.conv(y, 12, 20, [1, 1]))
    z = m.add("MaxPool", z, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    z = m.conv(z, 20, 24, [3, 3], group=4, dilations=[2, 2], pads=[2, 2, 2, 2])
    z = m.add("AveragePool", m.add("HardSwish", z), kernel_shape=[2, 2], strides=[2, 2])
    z = m.add("Relu", m.conv(z, 24, 3, [3, 3], pads=[1, 1, 1, 1]))
    return m, [2, channels, size, size + 3], m.add("Softmax", m.add("Flatten", z), axis=-1)


def rows(random, k):
    """Products, normalisations and functions of rows."""
    m = Model(random)
    y = m.add("Erf", m.add("MatMul", "x", m.constant(k, 37, scale=k**-0.5)))
    y = m.add("LayerNormalization", y, m.constant(37), m.constant(37), axis=-1)
    y = m.add("Gemm", y, m.constant(50, 37, scale=0.2), m.constant(50), transB=1)
    y = m.add("Softmax", m.add("MatMul", y, m.add("Transpose", y, perm=[1, 0])), axis=-1)
    y = m.add("ReduceMean", m.add("Exp", y), keepdims=0)
    return m, [7, k], m.add("Softplus", m.add("Log", y))


def networks(random):
    """{name: (model, shape of the input, name of the output)}"""
    return {f"images_{c}x{s}": images(random, c, s) for c, s in ((1, 16), (3, 20), (8, 13), (16, 17))} | {f"rows_{k}": rows(random, k) for k in (8, 31, 200)}
