"""Elementwise operators, comparisons and casts."""
import math

import numpy as np

from grow import INTEGERS, Unfit, Value, step
from steps.common import clear_of, floats, integers, NP_TYPES, type_of

SLOPES = {"Relu": 1, "Tanh": 1, "Sigmoid": 0.25, "Abs": 1, "Neg": 1, "Erf": 1.13, "Softsign": 1, "LeakyRelu": 1, "Elu": 1, "HardSwish": 1.5, "HardSigmoid": 0.2, "Sin": 1, "Cos": 1, "Softplus": 1,
          "Gelu": 1.13, "Mish": 1.1, "Selu": 1.76, "Identity": 1, "ThresholdedRelu": None, "Atan": 1, "Asinh": 1, "Celu": 1}


@step(6)
def unary(g):
    x, op = g.value(floats), g.among(sorted(SLOPES))
    if op == "ThresholdedRelu":
        clear_of(x, x.array - 0.7)
        return g.add(op, [x], {"alpha": 0.7}, x.error)
    attributes = {"LeakyRelu": {"alpha": 0.1}, "Elu": {"alpha": 0.8}, "HardSigmoid": {"alpha": 0.2}}.get(op)
    g.add(op, [x], attributes, SLOPES[op] * x.error, rounds=op not in ("Relu", "Abs", "Neg", "Identity"))


@step(2)
def steep(g):
    x = g.value(floats)
    one = g.constant(np.asarray(1, x.array.dtype))
    op = g.among(("Exp", "Sqrt", "Log", "Reciprocal", "Square", "Cube"))
    if op == "Exp":
        return g.add("Exp", [x], None, lambda y: math.expm1(x.error) * y.size)
    if op in ("Square", "Cube"):
        power = 2 if op == "Square" else 3
        return g.add("Pow", [x, g.constant(np.asarray(power, g.among((x.array.dtype, np.float32))))], None, power * (x.size + x.error) ** (power - 1) * x.error)
    t = g.add("Add", [g.add("Abs", [x], None, x.error, rounds=False), one], None, x.error)  # 1 at least
    g.add(op, [t], None, t.error)


@step(2)
def clip(g):
    x = g.value(lambda v: v.is_float or integers(v))
    low, high = sorted(g.fresh((2,), x.array.dtype).tolist())
    g.add("Clip", [x, g.constant(np.asarray(low, x.array.dtype)), g.constant(np.asarray(high, x.array.dtype)) if g.chance(0.8) else None], None, x.error, rounds=False)


@step(2)
def jump(g):
    x, op = g.value(floats), g.among(("Floor", "Ceil", "Round", "Sign"))
    a = x.array.astype(np.float64)
    clear_of(x, {"Floor": a - np.round(a), "Ceil": a - np.round(a), "Round": np.abs(a - np.floor(a)) - 0.5, "Sign": a}[op])
    g.add(op, [x], rounds=False)


@step(2)
def unary_integer(g):
    x = g.value(lambda v: not v.is_float)
    op = "Not" if x.array.dtype == bool else g.among(("Abs", "Neg", "Sign", "BitwiseNot", "Identity"))
    g.add(op, [x])


def fits(a, b):
    try:
        return math.prod(np.broadcast_shapes(a.shape, b.shape)) <= 4096
    except ValueError:
        return False


def partner(g, x):
    """Another operand that broadcasts with x: a value, or a weight of some shape that does."""
    if g.chance(0.5):
        return g.value(lambda v: v.array.dtype == x.array.dtype and fits(v, x))
    shape = list(x.shape[g.between(0, x.array.ndim):])
    shape = [1 if g.chance(0.3) else e for e in shape]
    return g.operand(shape, x.array.dtype)


@step(6)
def binary(g):
    x = g.value(floats)
    y, op = partner(g, x), g.among(("Add", "Sub", "Mul", "Div", "Max", "Min", "Add", "Mul", "Mean", "Sum"))
    if op == "Div":
        if y.least - y.error < 0.05:
            raise Unfit
        floor = y.least - y.error
        return g.add(op, [x, y], None, x.error / floor + x.size * y.error / floor ** 2)
    if op == "Mul":
        return g.add(op, [x, y], None, x.error * (y.size + y.error) + y.error * x.size)
    if g.chance(0.5):
        x, y = y, x
    g.add(op, [x, y], None, max(x.error, y.error) if op in ("Max", "Min", "Mean") else x.error + y.error, rounds=op not in ("Max", "Min"))


@step(3)
def binary_integer(g):
    x = g.value(integers)
    y, op = partner(g, x), g.among(("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "BitwiseAnd", "BitwiseOr", "BitwiseXor"))
    if op in ("Div", "Mod"):
        y = g.constant(np.maximum(np.abs(g.fresh(y.shape, y.array.dtype).astype(np.int64)), 1).astype(x.array.dtype))
    g.add(op, [x, y])


@step(2)
def compare(g):
    x, op = g.value(lambda v: v.array.dtype != bool), g.among(("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"))
    if not x.is_float:
        return g.add(op, [x, partner(g, x)])
    if op == "Equal":
        raise Unfit
    ordered = np.unique(x.array.astype(np.float64))
    if ordered.size < 2:
        raise Unfit
    gap = int(np.argmax(np.diff(ordered)))  # the widest: results do not hang on rounding
    threshold = np.asarray((ordered[gap] + ordered[gap + 1]) / 2, x.array.dtype)
    clear_of(x, x.array - threshold)
    g.add(op, [x, g.constant(threshold)])


@step(2)
def logic(g):
    x = g.value(lambda v: v.array.dtype == bool)
    g.add(g.among(("And", "Or", "Xor", "Equal")), [x, partner(g, x)])


@step(3)
def where(g):
    c = g.value(lambda v: v.array.dtype == bool)
    x = g.value(lambda v: v.array.dtype != bool and fits(v, c))
    y = partner(g, x)
    if not fits(Value("", np.broadcast_to(x.array, np.broadcast_shapes(x.shape, y.shape))), c):
        raise Unfit
    g.add("Where", [c, x, y] if g.chance(0.5) else [c, y, x], None, max(x.error, y.error), rounds=False)


@step(3)
def cast(g):
    x, to = g.value(), np.dtype(g.among(NP_TYPES))
    a = x.array.astype(np.float64)
    if x.is_float and to in INTEGERS:
        if a.size and (x.size > 1e6 or to == np.uint8 and (a.min() < 0 or a.max() > 250)):
            raise Unfit
        if x.error:
            clear_of(x, np.where(np.abs(a) < 0.5, 1, a - np.round(a)))
    if x.is_float and to == bool and x.error:
        clear_of(x, a)
    if to == np.uint8 and a.size and (a.min() < 0 or a.max() > 255):
        raise Unfit
    narrower = x.array.dtype == np.float64 and to == np.float32
    g.add("Cast", [x], {"to": type_of(to)}, x.error, rounds=narrower)
