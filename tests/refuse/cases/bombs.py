"""Bombs: little that stands for much; and constants whose arithmetic has no answer."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper

from .case import BUDGET, INVALID, case
from .models import F, message, model, node, one, tensor, value


# ---- bombs


def if_tree(depth, name="root"):
    """2^depth branches."""
    branches = {}
    for side in ("then_branch", "else_branch"):
        inner = if_tree(depth - 1, f"{name}_{side[0]}") if depth > 1 else [node("Relu", ["x"], [f"{name}_{side}"])]
        result = inner[-1].output[0]
        branches[side] = helper.make_graph(inner, side, [], [value(result)])
    return [node("If", ["c"], [name], name=name, **branches)]


@case({0, INVALID, BUDGET})
def nested_if():
    return model([*if_tree(8), node("Identity", ["root"], ["y"])], [value("x"), value("c", (), T.BOOL)])


@case(INVALID, "nested")
def deep_if():
    """Written byte by byte, since ONNX's Python refuses to make it."""

    def branch(name, graph):
        return message(5, message(1, name) + message(6, graph) + b"\xa0\x01\x05")

    def graph_of(node, output):
        return message(1, node) + message(2, "g") + message(12, message(1, output))

    graph = graph_of(message(1, "x") + message(2, "v0") + message(4, "Relu"), "v0")
    for k in range(1, 101):
        other = graph_of(message(1, "x") + message(2, f"o{k}") + message(4, "Relu"), f"o{k}")
        name = f"v{k}" if k < 100 else "y"
        node = message(1, "c") + message(2, name) + message(4, "If") + branch("then_branch", graph) + branch("else_branch", other)
        graph = graph_of(node, name)
    proto = one("Relu", inputs=[value("x"), value("c", (), T.BOOL)])
    del proto.graph.node[:]
    whole = proto.graph.SerializeToString() + message(1, node)
    proto.ClearField("graph")
    return proto.SerializeToString() + message(7, whole)


def function(name, nodes):
    return helper.make_function("local", name, ["a"], ["b"], nodes, [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])


def call(f, a, b):
    return node(f, [a], [b], domain="local")


OPSETS = (("", 17), ("local", 1))


@case(BUDGET, "nodes", code="E0909")
def function_bomb():
    functions = [function("f0", [node("Relu", ["a"], ["b"])])]
    functions += [function(f"f{k}", [call(f"f{k - 1}", "a", "t"), call(f"f{k - 1}", "t", "b")]) for k in range(1, 60)]
    return model([call("f59", "x", "y")], functions=functions, opsets=OPSETS)


@case(BUDGET, "nodes")
def function_bomb_in_a_branch():
    functions = [function("f0", [node("Relu", ["a"], ["b"])])]
    functions += [function(f"f{k}", [call(f"f{k - 1}", "a", "t"), call(f"f{k - 1}", "t", "b")]) for k in range(1, 60)]
    then = helper.make_graph([call("f59", "x", "v")], "t", [], [value("v")])
    other = helper.make_graph([node("Relu", ["x"], ["o"])], "e", [], [value("o")])
    return model([node("If", ["c"], ["y"], then_branch=then, else_branch=other)], [value("x"), value("c", (), T.BOOL)], functions=functions, opsets=OPSETS)


@case(INVALID, "calls itself", code="E0208")
def recursive_function():
    return model([call("f", "x", "y")], functions=[function("f", [call("f", "a", "b")])], opsets=OPSETS)


@case(INVALID, "calls itself")
def recursive_functions():
    functions = [function("f", [call("g", "a", "b")]), function("g", [call("f", "a", "b")])]
    return model([call("f", "x", "y")], functions=functions, opsets=OPSETS)


@case(INVALID, "calls itself")
def recursive_function_in_a_branch():
    then = helper.make_graph([call("f", "a", "v")], "t", [], [value("v", None)])
    other = helper.make_graph([node("Relu", ["a"], ["o"])], "e", [], [value("o", None)])
    body = [node("Constant", [], ["c"], value=helper.make_tensor("", T.BOOL, [], [1])), node("If", ["c"], ["b"], then_branch=then, else_branch=other)]
    return model([call("f", "x", "y")], functions=[function("f", body)], opsets=OPSETS)


@case(0)
def deep_functions():
    functions = [function("f0", [node("Relu", ["a"], ["b"])])]
    functions += [function(f"f{k}", [call(f"f{k - 1}", "a", "b")]) for k in range(1, 30)]
    return model([call("f29", "x", "y")], functions=functions, opsets=OPSETS)


def constant_grows(nodes, weights):
    """y = x + bomb, where bomb depends on constants alone."""
    return model([*nodes, node("ReduceSum", ["bomb"], ["total"], keepdims=0), node("Add", ["x", "total"], ["y"])], weights=weights)


HUGE = tensor("shape", [1 << 20, 1 << 20], np.int64)


@case(BUDGET, "arena")
def constant_of_shape():
    return constant_grows([node("ConstantOfShape", ["shape"], ["bomb"], name="n")], [HUGE])


@case(BUDGET, "arena")
def expand():
    return constant_grows([node("Expand", ["w", "shape"], ["bomb"], name="n")], [HUGE, tensor("w", [1.0])])


@case(BUDGET, "arena")
def tile():
    return constant_grows([node("Tile", ["w", "shape"], ["bomb"], name="n")], [HUGE, tensor("w", [[1.0]])])


@case(BUDGET, "arena")
def pad():
    return constant_grows([node("Pad", ["w", "shape"], ["bomb"], name="n")], [tensor("shape", [1 << 40, 0], np.int64), tensor("w", [1.0])])


@case({INVALID, BUDGET})
def range_of_a_terabyte():
    weights = [tensor("a", 0, np.int64), tensor("b", 1 << 40, np.int64), tensor("c", 1, np.int64)]
    nodes = [node("Range", ["a", "b", "c"], ["r"], name="n"), node("Cast", ["r"], ["bomb"], to=F)]
    return constant_grows(nodes, weights)


@case({INVALID, BUDGET})
def range_by_nothing():
    weights = [tensor("a", 0, np.int64), tensor("b", 10, np.int64), tensor("c", 0, np.int64)]
    nodes = [node("Range", ["a", "b", "c"], ["r"], name="n"), node("Cast", ["r"], ["bomb"], to=F)]
    return constant_grows(nodes, weights)


@case({INVALID, BUDGET})
def overflowing_shape():
    return constant_grows([node("ConstantOfShape", ["s"], ["bomb"], name="n")], [tensor("s", [1 << 62, 1 << 62], np.int64)])


@case(INVALID, "ConstantOfShape 'n'")
def negative_shape():
    return constant_grows([node("ConstantOfShape", ["s"], ["bomb"], name="n")], [tensor("s", [-5], np.int64)])


@case({0, BUDGET})
def doubling():
    """Each node doubles what the one before it made: 2^50 elements."""
    nodes = [node("Identity", ["w"], ["v0"])] + [node("Concat", [f"v{k}", f"v{k}"], [f"v{k + 1}"], axis=0) for k in range(50)]
    return constant_grows([*nodes, node("Identity", ["v50"], ["bomb"])], [tensor("w", [1.0])])


def sum_of_constants(count, elements):
    """y = x and the sums of so many constants, of so many elements each."""
    nodes = []
    for k in range(count):
        nodes += [node("ConstantOfShape", ["s"], [f"c{k}"], value=helper.make_tensor("", F, [1], [float(k)])),
                  node("ReduceSum", [f"c{k}"], [f"r{k}"], keepdims=0), node("Add", ["x" if k == 0 else f"a{k - 1}", f"r{k}"], [f"a{k}"])]
    return model([*nodes, node("Identity", [f"a{count - 1}"], ["y"])], weights=[tensor("s", [elements], np.int64)])


@case({0, BUDGET})
def many_large_constants():
    """Each is small enough to be folded; all together are not."""
    return sum_of_constants(200, 1 << 24)


# ---- arithmetic on constants


@case({0, INVALID})
def division_by_zero():
    weights = [tensor("a", [1, 2, -(2**31)], np.int32), tensor("b", [0, 0, -1], np.int32)]
    return model([node("Div", ["a", "b"], ["q"]), node("Mod", ["a", "b"], ["m"]), node("Add", ["q", "m"], ["y"])], [], [value("y", (3,), T.INT32)], weights)


@case({0, INVALID})
def shift_too_far():
    weights = [tensor("a", [1, 2], np.uint32), tensor("b", [32, 1000], np.uint32)]
    return model([node("BitShift", ["a", "b"], ["y"], direction="LEFT")], [], [value("y", (2,), T.UINT32)], weights)


@case({0, INVALID})
def cast_out_of_range():
    weights = [tensor("a", [1e30, -1e30, np.nan, np.inf])]
    return model([node("Cast", ["a"], ["y"], to=T.INT32)], [], [value("y", (4,), T.INT32)], weights)
