"""Any operator in the forms that tests/differential draws, amid others: what it reads comes by a way that does not change it, and others read what it gives."""
import pathlib
import sys

import numpy as np

from grow import step
from steps.common import moved, type_of
from values import TYPES, Unfit

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "differential"))
import families  # noqa: E402, F401  which fills the table
from disagreements import row_for  # noqa: E402
from draw import Draw, schema  # noqa: E402
from oracles import tolerance  # noqa: E402
from spec import GENERATORS  # noqa: E402

NAMES = sorted(name for name in GENERATORS if name not in ("Chain", "Shuffle", "If", "Loop", "Scan", "Gather"))


class DrawOfGraph(Draw):
    """Chance is the graph's, and so is the opset."""

    def __init__(self, graph):
        self.rng, self.version = graph.random, graph.opset

    def opset(self, op, domain="", least=1, most=99):
        try:
            known = schema(op, self.version, domain)
        except Exception as error:
            raise Unfit from error
        if known.deprecated or not least <= self.version <= most:
            raise Unfit
        return self.version


def routed(g, array):
    """A value of these elements, as a constant, an input, or what exact nodes make of one."""
    array = np.asarray(array)
    kind = g.among(("plain", "plain", "turn", "slice", "join", "pick", "reshape", "double", "negative", "split"))
    axis = g.between(0, array.ndim - 1) if array.ndim and array.size else None
    is_number = array.dtype != object
    if kind == "turn" and array.ndim > 1:
        perm = [int(i) for i in g.random.permutation(array.ndim)]
        return moved(g, "Transpose", g.given(array.transpose(np.argsort(perm))), (), {"perm": perm})
    if kind == "slice" and axis is not None:
        longer = np.concatenate([array, array], axis)
        return moved(g, "Slice", g.given(longer), [g.ints([array.shape[axis]]), g.ints([2 ** 62]), g.ints([axis])])
    if kind == "join" and axis is not None and array.shape[axis] > 1:
        first, second = np.split(array, [array.shape[axis] // 2], axis)
        return moved(g, "Concat", g.given(first), [g.given(second)], {"axis": axis})
    if kind == "pick" and axis is not None:
        order = g.random.permutation(array.shape[axis])
        return moved(g, "Gather", g.given(np.take(array, np.argsort(order), axis)), [g.ints(order)], {"axis": axis})
    if kind == "reshape" and array.size:
        return moved(g, "Reshape", g.given(array.reshape(-1)), [g.ints(array.shape)])
    if kind == "split" and axis is not None:
        return moved(g, "Split", g.given(np.concatenate([array, array], axis)), (), {"axis": axis, "num_outputs": 2}, outputs=2)[0]
    if kind == "double" and array.dtype == np.float32:
        wide = moved(g, "Cast", g.given(array), (), {"to": type_of(np.float64)})
        return moved(g, "Cast", wide, (), {"to": type_of(np.float32)})
    if kind == "negative" and is_number and array.dtype.kind in "fi":
        return g.add("Neg", [g.given(np.negative(array))], rounds=False)
    return g.given(array)


@step(8)
def single(g):
    op = g.among(NAMES)
    spec = GENERATORS[op][0](DrawOfGraph(g), op)
    if spec is None or spec.nodes is not None or spec.opset != (21 if spec.domain else g.opset) or spec.int_atol or spec.second is not None:
        raise Unfit
    given = [x for x in spec.inputs if x is not None]
    if not all(isinstance(x, np.ndarray) and x.dtype in TYPES and x.size < 2000 for x in given):
        raise Unfit
    if not all(x.dtype.kind != "f" or np.isfinite(x).all() for x in given) or row_for(spec, True, True, True) is not None:
        raise Unfit
    inputs = []
    for i, x in enumerate(spec.inputs):
        steady = i in spec.fixed or i in spec.constants
        inputs.append(None if x is None else g.constant(x) if steady and (i in spec.fixed or g.chance(0.8)) else routed(g, x))
    for value, x in zip([v for v in inputs if v is not None], given):
        if value.dtype != x.dtype or not np.array_equal(value.array, x):
            raise Unfit
    allowed = tolerance(spec, [np.zeros((), x.dtype) for x in given])
    g.add(spec.op, inputs, spec.attributes, lambda y: allowed["atol"] + allowed["rtol"] * y.size, outputs=spec.outputs, domain=spec.domain)
