"""Small models for cases to damage, and protobuf's messages byte by byte."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

F = T.FLOAT
node = helper.make_node


def value(name, shape=(2, 3), type=F):
    return helper.make_tensor_value_info(name, type, shape)


def tensor(name, array, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def model(nodes, inputs=None, outputs=None, weights=(), opsets=(("", 17),), functions=(), ir=10):
    inputs = [value("x")] if inputs is None else inputs
    outputs = [value("y")] if outputs is None else outputs
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets], functions=list(functions))
    proto.ir_version = ir
    return proto


def one(op, attributes=None, extra=(), weights=(), outputs=None, inputs=None, **rest):
    """y = op(x, extra...), as a node named 'n'."""
    return model([node(op, ["x", *extra], ["y"], name="n", **(attributes or {}))], inputs, outputs, weights, **rest)


def with_weight(w):
    return one("Add", extra=["w"], weights=[w])


def good():
    w = np.random.default_rng(1).standard_normal((3, 4))
    nodes = [node("MatMul", ["x", "w"], ["t"], name="product"), node("Relu", ["t"], ["y"], name="relu")]
    return model(nodes, [value("x", (2, 3))], [value("y", (2, 4))], [tensor("w", w)])


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def message(number, data):
    """A field of protobuf that holds bytes or a message."""
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data
