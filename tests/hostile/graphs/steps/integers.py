"""Integers and booleans: results are exact, and wrap."""
import numpy as np

from grow import step
from steps.common import integers, partner


@step(2)
def unary_integer(g):
    x = g.value(lambda v: v.is_integer or v.dtype == bool)
    op = "Not" if x.dtype == bool else g.among(("Abs", "Neg", "Sign", "BitwiseNot", "Identity"))
    g.add(op, [x])


@step(3)
def binary_integer(g):
    x = g.value(integers)
    y, op = partner(g, x), g.among(("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Pow"))
    attributes = {}
    if op in ("Div", "Mod"):
        y = g.constant(np.maximum(np.abs(g.fresh(y.shape, y.dtype).astype(np.int64)), 1).astype(x.dtype))
        attributes = {"fmod": 1} if op == "Mod" and g.chance(0.3) else {}
    if op == "BitShift":
        y = g.constant((g.fresh(y.shape, np.uint8, plain=True) % (8 * x.dtype.itemsize)).astype(x.dtype))
        attributes = {"direction": g.among(("LEFT", "RIGHT"))}
    if op == "Pow":
        g.everywhere(lambda: x.size <= 100)
        y = g.constant(np.asarray(g.among((0, 1, 2, 3)), x.dtype))
    g.add(op, [x, y], attributes)


@step(2)
def logic(g):
    x = g.value(lambda v: v.dtype == bool)
    g.add(g.among(("And", "Or", "Xor", "Equal")), [x, partner(g, x)])


@step(1)
def integer_from_bool(g):
    x = g.value(lambda v: v.dtype == bool)
    one, other = g.fresh((2,), g.among((np.int64, np.int32, np.uint8)), plain=True)
    g.add("Where", [x, g.constant(one), g.constant(other)])
