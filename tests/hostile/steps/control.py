"""If, Loop and Scan, with small bodies."""
import numpy as np
from onnx import helper

from grow import Value, step
from steps.common import type_of


def small_chain(g, name, x, prefix):
    """Two or three nodes on a float value, for a body: nodes, the result's name."""
    nodes, last = [], name
    for k in range(g.between(1, 3)):
        op = g.among(("Tanh", "Relu", "Neg", "Sigmoid", "Abs"))
        nodes.append(helper.make_node(op, [last], [f"{prefix}{k}"]))
        last = f"{prefix}{k}"
    return nodes, last


@step(1)
def if_(g):
    x = g.value(lambda v: v.is_float)
    flag = g.among([v for v in g.values if v.array.dtype == bool and v.array.shape == ()] + [None])
    if flag is None:
        flag = Value(f"in{len(g.inputs)}", np.asarray(g.chance(0.5)))
        g.inputs.append(flag)
        g.values.append(flag)
    n = len(g.nodes)
    branches = {}
    for branch in ("then_branch", "else_branch"):
        nodes, last = small_chain(g, x.name, x, f"b{n}_{branch[0]}")
        if g.chance(0.3):
            other = g.value(lambda v: v.array.dtype == x.array.dtype and v.shape == x.shape)
            nodes.append(helper.make_node("Add", [last, x.name], [f"b{n}_{branch[0]}s"]))
            last = f"b{n}_{branch[0]}s"
        branches[branch] = helper.make_graph(nodes, branch, [], [helper.make_tensor_value_info(last, type_of(x.array.dtype), [None] * x.array.ndim)])
    g.add("If", [flag], branches, 2 * x.error + 4e-5 * (1 + x.size), captured=[x])


@step(1)
def loop(g):
    x = g.value(lambda v: v.is_float and v.array.size < 300)
    trips, n = g.between(1, 4), len(g.nodes)
    nodes, last = small_chain(g, f"l{n}_in", x, f"l{n}_")
    nodes += [helper.make_node("Add", [last, x.name], [f"l{n}_out"]), helper.make_node("Identity", [f"l{n}_go"], [f"l{n}_go_on"]), helper.make_node("Identity", [last], [f"l{n}_scan"])]
    kind = type_of(x.array.dtype)
    body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(f"l{n}_i", 7, []), helper.make_tensor_value_info(f"l{n}_go", 9, []), helper.make_tensor_value_info(f"l{n}_in", kind, [None] * x.array.ndim)],
                             [helper.make_tensor_value_info(f"l{n}_go_on", 9, []), helper.make_tensor_value_info(f"l{n}_out", kind, [None] * x.array.ndim), helper.make_tensor_value_info(f"l{n}_scan", kind, [None] * x.array.ndim)])
    count = g.constant(np.asarray(trips, np.int64))
    bound = (trips + 1) * (x.error + 4e-5 * (1 + (trips + 1) * x.size))
    g.add("Loop", [count, None, x], {"body": body}, bound, outputs=2, captured=[x])


@step(1)
def scan(g):
    x = g.value(lambda v: v.array.dtype == np.float32 and v.array.ndim >= 2 and v.array.size)
    n, rest = len(g.nodes), list(x.shape[1:])
    nodes = [helper.make_node("Add", [f"s{n}_state", f"s{n}_x"], [f"s{n}_sum"]), helper.make_node("Tanh", [f"s{n}_sum"], [f"s{n}_y"])]
    body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(f"s{n}_state", 1, [None] * len(rest)), helper.make_tensor_value_info(f"s{n}_x", 1, [None] * len(rest))],
                             [helper.make_tensor_value_info(f"s{n}_sum", 1, [None] * len(rest)), helper.make_tensor_value_info(f"s{n}_y", 1, [None] * len(rest))])
    state = g.constant(g.fresh(rest, np.float32))
    g.add("Scan", [state, x], {"body": body, "num_scan_inputs": 1}, (x.shape[0] + 1) * (x.error + 2e-5 * x.size * x.shape[0]), outputs=2)
