"""If, Loop and Scan, with small bodies that also read values from outside."""
import numpy as np
from onnx import helper

from grow import step
from steps.common import type_of
from values import Unfit, Value


def info(name, dtype, rank):
    return helper.make_tensor_value_info(name, type_of(dtype), [None] * rank)


def small_chain(g, name, prefix):
    """One to three nodes on a float value, for a body: nodes, the result's name. None magnifies."""
    nodes, last = [], name
    for k in range(g.between(1, 3)):
        op = g.among(("Tanh", "Relu", "Neg", "Sigmoid", "Abs", "Identity"))
        nodes.append(helper.make_node(op, [last], [f"{prefix}{k}"]))
        last = f"{prefix}{k}"
    return nodes, last


def flag_of(g):
    """A condition: a boolean of the graph, one that is computed, an input that differs from world to world, or a constant."""
    known = [v for v in g.values if v.dtype == bool and v.shape == ()]
    if known and g.chance(0.5):
        return g.among(known)
    if g.chance(0.3):
        x = g.value(lambda v: v.rank)
        return g.add("Greater", [g.add("Size", [x]), g.ints(g.between(0, 30))])
    if g.chance(0.2):
        return g.constant(np.asarray(g.chance(0.5)))
    return g.add_input(Value(g, f"in{len(g.inputs)}", [np.asarray(g.chance(0.5)) for _ in range(g.worlds)]), [])


def local(a):
    return 2 * a.error + 4e-5 * (1 + a.size) if a.dtype != np.float16 else 2 * a.error + 6e-3 * (1 + a.size)


@step(2)
def if_(g):
    x = g.value(lambda v: v.is_float)
    flag, n = flag_of(g), len(g.nodes)
    captured, branches = [x], {}
    for branch in ("then_branch", "else_branch"):
        nodes, last = small_chain(g, x.name, f"b{n}_{branch[0]}")
        if g.chance(0.4):
            other = g.value(lambda v: v.dtype == x.dtype and v.shape == x.shape)
            g.everywhere(lambda: other.shape == x.shape)
            captured.append(other)
            nodes.append(helper.make_node("Add", [last, other.name], [f"b{n}_{branch[0]}s"]))
            last = f"b{n}_{branch[0]}s"
        if g.chance(0.2):  # a branch that is a value from outside, or a constant
            nodes = [helper.make_node("Identity", [x.name], [f"b{n}_{branch[0]}i"])]
            last = f"b{n}_{branch[0]}i"
        branches[branch] = helper.make_graph(nodes, branch, [], [info(last, x.dtype, x.rank)])
    g.add("If", [flag], branches, lambda y: sum(local(v) for v in captured), captured=captured)


@step(1)
def if_of_shapes(g):
    """Branches whose results differ in extents, or have several."""
    x = g.value(lambda v: v.is_float and v.rank and v.has_elements)
    flag, n = flag_of(g), len(g.nodes)
    axis = g.between(0, x.rank - 1)
    first = [helper.make_node("Concat", [x.name, x.name], [f"b{n}t"], axis=axis), helper.make_node("Shape", [f"b{n}t"], [f"b{n}u"])]
    second = [helper.make_node("Neg", [x.name], [f"b{n}e"]), helper.make_node("Shape", [x.name], [f"b{n}f"])]
    then = helper.make_graph(first, "then", [], [info(f"b{n}t", x.dtype, x.rank), info(f"b{n}u", np.int64, 1)])
    other = helper.make_graph(second, "else", [], [info(f"b{n}e", x.dtype, x.rank), info(f"b{n}f", np.int64, 1)])
    g.add("If", [flag], {"then_branch": then, "else_branch": other}, lambda y: x.error, outputs=2, rounds=False, captured=[x])


@step(2)
def loop(g):
    x = g.value(lambda v: v.is_float and v.array.size < 300)
    trips, n = g.between(0 if g.chance(0.1) else 1, 4), len(g.nodes)
    nodes, last = small_chain(g, f"l{n}_in", f"l{n}_")
    ends_early, limit = g.chance(0.4), None
    extra = []
    if ends_early:
        limit = g.constant(np.asarray(g.between(0, 3)))
        extra.append(limit)
        nodes.append(helper.make_node("Less", [f"l{n}_i", limit.name], [f"l{n}_go_on"]))
    else:
        nodes.append(helper.make_node("Identity", [f"l{n}_go"], [f"l{n}_go_on"]))
    nodes += [helper.make_node("Add", [last, x.name], [f"l{n}_out"]), helper.make_node("Identity", [last], [f"l{n}_scan"])]
    body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(f"l{n}_i", 7, []), helper.make_tensor_value_info(f"l{n}_go", 9, []), info(f"l{n}_in", x.dtype, x.rank)],
                             [helper.make_tensor_value_info(f"l{n}_go_on", 9, []), info(f"l{n}_out", x.dtype, x.rank), info(f"l{n}_scan", x.dtype, x.rank)])
    count = g.given(np.asarray(trips, np.int64)) if g.chance(0.7) else g.constant(np.asarray(trips, np.int64))
    bound = lambda y: (trips + 1) * (x.error + (4e-5 if x.dtype != np.float16 else 6e-3) * (1 + (trips + 1) * x.size))  # noqa: E731
    # The scan first: it has no element where there is no trip.
    g.add("Loop", [count, g.constant(np.asarray(True)) if g.chance(0.3) else None, x], {"body": body}, bound, outputs=2 if trips else [True, False], captured=[x, *extra])


@step(1)
def loop_that_grows(g):
    """A carried value that gets longer."""
    x = g.value(lambda v: v.rank and v.has_elements and v.array.size < 200 and v.dtype != object)
    axis, n, trips = g.between(0, x.rank - 1), len(g.nodes), g.between(1, 3)
    nodes = [helper.make_node("Concat", [f"l{n}_in", x.name], [f"l{n}_out"], axis=axis), helper.make_node("Identity", [f"l{n}_go"], [f"l{n}_go_on"])]
    body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(f"l{n}_i", 7, []), helper.make_tensor_value_info(f"l{n}_go", 9, []), info(f"l{n}_in", x.dtype, x.rank)],
                             [helper.make_tensor_value_info(f"l{n}_go_on", 9, []), info(f"l{n}_out", x.dtype, x.rank)])
    g.add("Loop", [g.given(np.asarray(trips)), None, x], {"body": body}, lambda y: x.error, rounds=False, captured=[x])


@step(1)
def scan(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.rank >= 2 and v.has_elements)
    n, axis = len(g.nodes), g.between(0, min(1, x.rank - 1))
    rest = [e for a, e in enumerate(x.shape) if a != axis]
    if not all(x.is_fixed(a) for a in range(x.rank) if a != axis):
        raise Unfit
    nodes = [helper.make_node("Add", [f"s{n}_state", f"s{n}_x"], [f"s{n}_sum"]), helper.make_node("Tanh", [f"s{n}_sum"], [f"s{n}_y"])]
    body = helper.make_graph(nodes, "body", [info(f"s{n}_state", x.dtype, len(rest)), info(f"s{n}_x", x.dtype, len(rest))], [info(f"s{n}_sum", x.dtype, len(rest)), info(f"s{n}_y", x.dtype, len(rest))])
    state = g.operand(rest, np.float32)
    attributes = {"body": body, "num_scan_inputs": 1, "scan_input_axes": [axis], "scan_input_directions": [g.between(0, 1)], "scan_output_axes": [g.between(0, len(rest))],
                  "scan_output_directions": [g.between(0, 1)]}
    g.add("Scan", [state, x], attributes, lambda y: (x.shape[axis] + 1) * (x.error + 2e-5 * (x.size + state.size) * x.shape[axis]), outputs=2)
