"""Small models for the tests of the server, and what they give by numpy."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, save

TYPES = {
    "FP32": (T.FLOAT, np.float32), "FP64": (T.DOUBLE, np.float64), "FP16": (T.FLOAT16, np.float16), "INT8": (T.INT8, np.int8), "INT16": (T.INT16, np.int16),
    "INT32": (T.INT32, np.int32), "INT64": (T.INT64, np.int64), "UINT8": (T.UINT8, np.uint8), "UINT16": (T.UINT16, np.uint16), "UINT32": (T.UINT32, np.uint32),
    "UINT64": (T.UINT64, np.uint64), "BOOL": (T.BOOL, np.bool_), "BYTES": (T.STRING, np.object_),
}


def _save(path, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "graph", inputs, outputs)
    path.parent.mkdir(parents=True, exist_ok=True)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 10
    save(model, path)


def info(name, shape, type_=T.FLOAT):
    return helper.make_tensor_value_info(name, type_, shape)


def scaled(path, factor=2.0):
    """y = factor x, of [rows, 3]."""
    _save(path, [helper.make_node("Constant", [], ["f"], value_float=factor), helper.make_node("Mul", ["x", "f"], ["y"])], [info("x", ["rows", 3])], [info("y", ["rows", 3])])


def shared_sum(path):
    """A model whose rows depend on each other: y = x - the mean of all rows."""
    _save(path, [helper.make_node("Constant", [], ["axes"], value_ints=[0]), helper.make_node("ReduceMean", ["x", "axes"], ["m"]), helper.make_node("Sub", ["x", "m"], ["y"])], [info("x", ["rows", 3])], [info("y", ["rows", 3])])


def types(path):
    """Each type as an input and the same as an output."""
    _save(path, [helper.make_node("Identity", [f"in_{name}"], [f"out_{name}"]) for name in TYPES], [info(f"in_{name}", ["n"], type_) for name, (type_, _) in TYPES.items()], [info(f"out_{name}", ["n"], type_) for name, (type_, _) in TYPES.items()])


def pick(path):
    """An index among the data, which may be out of range: y = table[index]."""
    table = helper.make_node("Constant", [], ["table"], value=helper.make_tensor("t", T.FLOAT, [3], [10.0, 20.0, 30.0]))
    _save(path, [table, helper.make_node("Gather", ["table", "index"], ["y"])], [info("index", ["n"], T.INT64)], [info("y", ["n"])])


def square(path):
    """y[n, n] = x x': outputs that are larger than the request."""
    _save(path, [helper.make_node("Constant", [], ["a"], value_ints=[-1, 1]), helper.make_node("Constant", [], ["b"], value_ints=[1, -1]), helper.make_node("Reshape", ["x", "a"], ["u"]), helper.make_node("Reshape", ["x", "b"], ["v"]), helper.make_node("Mul", ["u", "v"], ["y"])], [info("x", [1, "n"])], [info("y", ["n", "n"])])


def count(path):
    """y = 0, 1, … n - 1: outputs whose size depends on the data."""
    ends = [helper.make_node("Constant", [], [name], value=helper.make_tensor(name, T.INT64, [], [number])) for name, number in (("zero", 0), ("one", 1))]
    _save(path, [*ends, helper.make_node("Range", ["zero", "n", "one"], ["y"])], [info("n", [], T.INT64)], [info("y", ["numbers"], T.INT64)])


def slow(path, rounds):
    """y = x after a loop that takes a while: rounds times a product of matrices."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("MatMul", ["state", "state"], ["product"]), helper.make_node("Tanh", ["product"], ["next"])],
        "body", [info("i", [], T.INT64), info("go", [], T.BOOL), info("state", [64, 64])], [info("go_on", [], T.BOOL), info("next", [64, 64])])
    nodes = [helper.make_node("Constant", [], ["rounds"], value=helper.make_tensor("r", T.INT64, [], [rounds])), helper.make_node("Loop", ["rounds", "", "x"], ["y"], body=body)]
    _save(path, nodes, [info("x", [64, 64])], [info("y", [64, 64])])
