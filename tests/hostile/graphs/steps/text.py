"""Strings, sequences, optionals."""
import numpy as np
from onnx import helper

from grow import step
from steps.common import axis_of, fits, moved, partner
from values import Unfit


def strings(v):
    return v.dtype == object


@step(1)
def words(g):
    x = g.value(strings)
    kind = g.among(("join", "equal", "match", "length", "where", "label"))
    if kind == "join":
        return g.add("StringConcat", [x, partner(g, x)])
    if kind == "equal":
        return g.add("Equal", [x, partner(g, x)])
    if kind == "match":
        return g.add("RegexFullMatch", [x], {"pattern": g.among(("a.*", "[a-zA-Z]+", ".*", r"-?\d+(\.\d+)?"))})
    if kind == "label":
        return g.add("LabelEncoder", [x], {"keys_strings": ["a", "B", "Zoo"], "values_int64s": [5, 1, 2], "default_int64": -1}, domain="ai.onnx.ml")
    if kind == "where":
        c = g.value(lambda v: v.dtype == bool and fits(v.shape, x.shape))
        return g.add("Where", [c, x, g.constant(np.asarray("none", object))])
    if x.rank == 1 and x.has_elements:
        return g.add("StringSplit", [x], {"delimiter": g.among((",", " ", ""))}, outputs=2)
    raise Unfit


@step(1)
def number_words(g):
    x = g.value(lambda v: v.is_integer and v.array.size < 100)
    text = g.add("Cast", [x], {"to": 8})
    if g.chance(0.5):
        g.add("Cast", [text], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(np.int64))})


@step(2)
def sequence(g):
    """Made and taken apart again."""
    x = g.value(lambda v: v.rank and v.has_elements)
    axis, n = axis_of(g, x), len(g.nodes)
    names, given = [x.name], [x]
    if g.chance(0.5) and x.is_fixed(axis):
        nodes = [helper.make_node("SplitToSequence", [x.name], [f"q{n}"], axis=axis, keepdims=1)]
        count = x.shape[axis]
    else:
        others = [v for v in g.values if v.dtype == x.dtype and v.shape == x.shape]
        given += [g.among(others) for _ in range(g.between(0, 2))]
        names = [v.name for v in given]
        nodes = [helper.make_node("SequenceConstruct", names, [f"q{n}"])]
        count = len(names)
    last = f"q{n}"
    if g.chance(0.3):
        nodes.append(helper.make_node("SequenceInsert", [last, x.name], [f"q{n}i"]))
        last, count = f"q{n}i", count + 1
    if g.chance(0.3) and count > 1:
        nodes.append(helper.make_node("SequenceErase", [last], [f"q{n}e"]))
        last, count = f"q{n}e", count - 1
    bound = lambda y: max(v.error for v in given)  # noqa: E731
    if g.chance(0.5):
        at = g.constant(np.asarray(g.between(-count, count - 1)))
        nodes.append(helper.make_node("SequenceAt", [last, at.name], [f"v{n}_0"]))
        return g.add_nodes(nodes, [*given, at], [f"v{n}_0"], bound, rounds=False)
    nodes.append(helper.make_node("ConcatFromSequence", [last], [f"v{n}_0"], axis=axis, new_axis=g.between(0, 1)))
    g.add_nodes(nodes, given, [f"v{n}_0"], bound, rounds=False)


@step(1)
def optional(g):
    x, n = g.value(lambda v: v.dtype != object), len(g.nodes)
    nodes = [helper.make_node("Optional", [x.name], [f"p{n}"]), helper.make_node("OptionalGetElement", [f"p{n}"], [f"v{n}_0"]), helper.make_node("OptionalHasElement", [f"p{n}"], [f"v{n}_1"])]
    g.add_nodes(nodes, [x], [f"v{n}_0", f"v{n}_1"], lambda y: x.error, rounds=False)


@step(1)
def moved_words(g):
    x = g.value(lambda v: strings(v) and v.rank and v.has_elements)
    kind = g.among(("pick", "tile", "concat", "unsqueeze"))
    if kind == "pick":
        return moved(g, "Slice", x, [g.ints([-1]), g.ints([-(2 ** 31)]), g.ints([axis_of(g, x)]), g.ints([-1])])
    if kind == "tile":
        return moved(g, "Tile", x, [g.ints([2] * x.rank)])
    if kind == "concat":
        return moved(g, "Concat", x, [x], {"axis": 0})
    moved(g, "Unsqueeze", x, [g.ints([0])])
