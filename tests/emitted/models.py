"""Small models that between them use most families of kernels, with inputs and the answers of ONNX's own reference."""
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

node = helper.make_node


@dataclass
class Model:
    name: str
    proto: onnx.ModelProto
    feeds: dict
    symbols: list
    tolerance: float = 1e-4

    def expected(self):
        return ReferenceEvaluator(self.proto).run(None, self.feeds)


def random(*shape, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) / 2).astype(np.float32)


def build(name, nodes, inputs, outputs, weights, feeds, symbols=(), tolerance=1e-4):
    def info(item):
        return helper.make_tensor_value_info(item[0], item[2] if len(item) > 2 else T.FLOAT, item[1])

    graph = helper.make_graph(nodes, name, [info(i) for i in inputs], [info(o) for o in outputs], [numpy_helper.from_array(a, n) for n, a in weights.items()])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    proto.ir_version = 10
    return Model(name, proto, feeds, list(symbols), tolerance)


def image():
    """Convolutions of every kind: the stem, 1x1, 3x3, strided, depthwise, grouped; pools, an addition and a reshape between them."""
    weights = {"w0": random(16, 3, 3, 3), "b0": random(16), "w1": random(40, 16, 1, 1), "w2": random(40, 1, 3, 3), "w3": random(24, 40, 3, 3, seed=3) / 8, "b3": random(24),
               "w4": random(24, 12, 3, 3) / 4, "w5": random(17, 24, 5, 5) / 8, "f": random(17, 11), "g": random(11), "scale": random(16), "shift": random(16),
               "mean": random(16), "var": np.abs(random(16)) + 1}
    nodes = [node("Conv", ["x", "w0", "b0"], ["c0"], strides=[2, 2], pads=[1, 1, 1, 1]), node("BatchNormalization", ["c0", "scale", "shift", "mean", "var"], ["n0"]),
             node("Relu", ["n0"], ["r0"]), node("Conv", ["r0", "w1"], ["c1"]), node("HardSwish", ["c1"], ["r1"]),
             node("Conv", ["r1", "w2"], ["c2"], group=40, pads=[1, 1, 1, 1]), node("Add", ["c2", "r1"], ["a2"]),
             node("Conv", ["a2", "w3", "b3"], ["c3"], pads=[1, 1, 1, 1]), node("MaxPool", ["c3"], ["p3"], kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", ["p3", "w4"], ["c4"], group=2, pads=[1, 1, 1, 1]), node("Conv", ["c4", "w5"], ["c5"], pads=[2, 2, 2, 2], dilations=[1, 1]),
             node("GlobalAveragePool", ["c5"], ["gap"]), node("Flatten", ["gap"], ["flat"]), node("Gemm", ["flat", "f", "g"], ["y"])]
    return build("image", nodes, [("x", [2, 3, 21, 19])], [("y", [2, 11])], weights, {"x": random(2, 3, 21, 19)})


def attention():
    """Matrix products of two inputs, softmax, layer normalisation, transposes, gather."""
    weights = {"table": random(50, 32), "q": random(32, 32) / 4, "k": random(32, 32, seed=1) / 4, "v": random(32, 32, seed=2) / 4, "gain": random(32), "bias": random(32),
               "heads": np.array([0, 0, 4, 8], np.int64), "whole": np.array([0, 0, 32], np.int64), "root": np.array(2.83, np.float32)}
    nodes = [node("Gather", ["table", "ids"], ["e"])]
    for side, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [node("MatMul", ["e", side], [f"{side}1"]), node("Reshape", [f"{side}1", "heads"], [f"{side}2"]), node("Transpose", [f"{side}2"], [f"{side}3"], perm=perm)]
    nodes += [node("MatMul", ["q3", "k3"], ["s0"]), node("Div", ["s0", "root"], ["s1"]), node("Softmax", ["s1"], ["s2"], axis=-1), node("MatMul", ["s2", "v3"], ["o0"]),
              node("Transpose", ["o0"], ["o1"], perm=[0, 2, 1, 3]), node("Reshape", ["o1", "whole"], ["o2"]), node("Add", ["o2", "e"], ["o3"]),
              node("LayerNormalization", ["o3", "gain", "bias"], ["o4"], axis=-1), node("Erf", ["o4"], ["y"])]
    ids = np.random.default_rng(5).integers(0, 50, (2, 9))
    return build("attention", nodes, [("ids", [2, 9], T.INT64)], [("y", [2, 9, 32])], weights, {"ids": ids})


def dynamic():
    """Dynamic dimensions: the arena's plan is computed when the model runs."""
    weights = {"w": random(10, 70), "v": random(70, 5)}
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Tanh", ["a"], ["b"]), node("ReduceMax", ["b"], ["m"], axes=[-1], keepdims=1), node("Sub", ["b", "m"], ["c"]),
             node("MatMul", ["c", "v"], ["y"]), node("Concat", ["y", "x"], ["z"], axis=2)]
    return build("dynamic", nodes, [("x", ["batch", "steps", 10])], [("y", ["batch", "steps", 5]), ("z", ["batch", "steps", 15])], weights,
                 {"x": random(3, 7, 10)}, [3, 7])


def branch():
    """If, with captures; integers and booleans."""
    then = helper.make_graph([node("Exp", ["x"], ["t0"]), node("Add", ["t0", "w"], ["t"])], "then", [], [helper.make_tensor_value_info("t", T.FLOAT, [4, 6])])
    other = helper.make_graph([node("Neg", ["x"], ["o"])], "else", [], [helper.make_tensor_value_info("o", T.FLOAT, [4, 6])])
    nodes = [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["c"]), node("If", ["c"], ["b"], then_branch=then, else_branch=other),
             node("Cast", ["b"], ["i"], to=T.INT32), node("Mod", ["i", "three"], ["y"]), node("Clip", ["b", "zero"], ["z"])]
    weights = {"w": random(6), "zero": np.array(0, np.float32), "three": np.array(3, np.int32)}
    return build("branch", nodes, [("x", [4, 6])], [("y", [4, 6], T.INT32), ("z", [4, 6])], weights, {"x": random(4, 6) * 5})


def halves():
    """float16, in the interface too."""
    nodes = [node("Mul", ["x", "x"], ["a"]), node("Sqrt", ["a"], ["b"]), node("Add", ["b", "w"], ["y"])]
    return build("halves", nodes, [("x", [5, 33], T.FLOAT16)], [("y", [5, 33], T.FLOAT16)], {"w": random(33).astype(np.float16)}, {"x": random(5, 33).astype(np.float16)}, (), 2e-3)


def weights():
    """More weights than an array takes: asm, string, object."""
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Sigmoid", ["a"], ["b"]), node("MatMul", ["b", "v"], ["y"])]
    return build("weights", nodes, [("x", [3, 150])], [("y", [3, 31])], {"w": random(150, 170) / 4, "v": random(170, 31) / 4}, {"x": random(3, 150)})


ALL = [image, attention, dynamic, branch, halves, weights]
