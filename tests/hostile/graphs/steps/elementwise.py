"""Elementwise operators on floats, and casts."""
import math

import numpy as np

from grow import step
from steps.common import NP_TYPES, axis_of, clear_of, fits, floats, partner, type_of
from values import Unfit

SLOPES = {"Relu": 1, "Tanh": 1, "Sigmoid": 0.25, "Abs": 1, "Neg": 1, "Erf": 1.13, "Softsign": 1, "LeakyRelu": 1, "Elu": 1, "HardSwish": 1.5, "HardSigmoid": 0.2, "Sin": 1, "Cos": 1, "Softplus": 1,
          "Gelu": 1.13, "Mish": 1.1, "Selu": 1.76, "Identity": 1, "ThresholdedRelu": None, "Atan": 1, "Asinh": 1, "Celu": 1, "Shrink": None, "Dropout": 1}
ATTRIBUTES = {"LeakyRelu": {"alpha": 0.1}, "Elu": {"alpha": 0.8}, "HardSigmoid": {"alpha": 0.2}, "ThresholdedRelu": {"alpha": 0.7}, "Shrink": {"lambd": 0.6, "bias": 0.25}}


@step(7)
def unary(g):
    x, op = g.value(floats), g.among(sorted(SLOPES))
    attributes = ATTRIBUTES.get(op)
    if op == "ThresholdedRelu":
        clear_of(x, lambda: x.array - 0.7)
    if op == "Shrink":
        if x.dtype != np.float32:  # ONNX Runtime computes it in f32
            raise Unfit
        clear_of(x, lambda: np.abs(x.array) - 0.6)
    if op == "Gelu" and g.chance(0.5):
        attributes = {"approximate": "tanh"}
    if op == "LeakyRelu" and g.chance(0.3):
        attributes = {"alpha": g.among((0.0, 1.0, -0.5))}
    coarse = 1e-6 if op in ("Erf", "Gelu", "HardSwish") and x.dtype == np.float64 else 0  # bodies of functions have constants in f32, and erf is an approximation
    g.add(op, [x], attributes, lambda y: (SLOPES[op] or 1) * x.error + coarse * y.size, rounds=op not in ("Relu", "Abs", "Neg", "Identity", "Dropout"))


@step(2)
def steep(g):
    x = g.value(floats)
    one = g.constant(np.asarray(1, x.dtype))
    op = g.among(("Exp", "Sqrt", "Log", "Reciprocal", "Square", "Cube", "Sinh", "Cosh"))
    if op in ("Exp", "Sinh", "Cosh"):
        return g.add(op, [x], None, lambda y: math.expm1(x.error) * math.exp(x.size))
    if op in ("Square", "Cube"):
        power = 2 if op == "Square" else 3
        return g.add("Pow", [x, g.constant(np.asarray(power, g.among((x.dtype, np.float32))))], None, lambda y: power * (x.size + x.error) ** (power - 1) * x.error)
    t = g.add("Add", [g.add("Abs", [x], None, lambda y: x.error, rounds=False), one], None, lambda y: x.error)  # 1 at least
    g.add(op, [t], None, lambda y: t.error)


@step(2)
def clip(g):
    x = g.value(lambda v: v.is_float or v.is_integer)
    low, high = sorted(g.fresh((2,), x.dtype).tolist())
    bounds = [g.given(np.asarray(b, x.dtype)) if g.chance(0.8) else None for b in (low, high)]
    g.add("Clip", [x, *bounds], None, lambda y: x.error, rounds=False)


@step(2)
def jump(g):
    x, op = g.value(floats), g.among(("Floor", "Ceil", "Round", "Sign"))
    a = lambda: x.array.astype(np.float64)  # noqa: E731
    clear_of(x, {"Floor": lambda: a() - np.round(a()), "Ceil": lambda: a() - np.round(a()), "Round": lambda: np.abs(a() - np.floor(a())) - 0.5, "Sign": a}[op])
    g.add(op, [x], rounds=False)


@step(7)
def binary(g):
    x = g.value(floats)
    op = g.among(("Add", "Sub", "Mul", "Div", "Max", "Min", "Add", "Mul", "Mean", "Sum"))
    if g.chance(0.06):
        return g.add(g.among(("Add", "Mul", "Sub", "Max")), [x, x], None, lambda y: (2 + 2 * x.size) * x.error)
    y = partner(g, x)
    if op == "Div":
        g.everywhere(lambda: y.least - y.error >= 0.05 or not y.array.size)
        floor = lambda: max(y.least - y.error, 0.05)  # noqa: E731
        return g.add(op, [x, y], None, lambda z: x.error / floor() + x.size * y.error / floor() ** 2)
    if op == "Mul":
        return g.add(op, [x, y], None, lambda z: x.error * (y.size + y.error) + y.error * x.size)
    if g.chance(0.5):
        x, y = y, x
    if op in ("Max", "Min", "Mean", "Sum") and g.chance(0.4):
        them = [x, y, partner(g, x)][:g.among((1, 3))]
        return g.add(op, them, None, lambda z: sum(v.error for v in them) + (1e-5 if op in ("Mean", "Sum") else 0) * sum(v.size for v in them), rounds=op not in ("Max", "Min"))
    # Where terms cancel, their own rounding stays.
    g.add(op, [x, y], None, lambda z: max(x.error, y.error) if op in ("Max", "Min", "Mean") else x.error + y.error, rounds=op not in ("Max", "Min"))


@step(1)
def slopes(g):
    x = g.value(lambda v: v.is_float and v.rank)
    slope = g.operand(g.among(((), x.shape[-1:] if x.is_fixed(x.rank - 1) else (), (x.shape[1], *[1] * (x.rank - 2)) if x.rank > 1 and x.is_fixed(1) else ())), x.dtype, plain=True)
    g.add("PRelu", [x, slope], None, lambda y: max(1, slope.size) * x.error)


@step(2)
def compare(g):
    x, op = g.value(lambda v: v.dtype not in (bool, object)), g.among(("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"))
    if not x.is_float:
        return g.add(op, [x, partner(g, x)])
    if op == "Equal":
        return g.add(g.among(("IsNaN", "IsInf")), [x])
    ordered = np.unique(x.array.astype(np.float64))
    if ordered.size < 2:
        raise Unfit
    gap = int(np.argmax(np.diff(ordered)))  # the widest: results do not hang on rounding
    threshold = np.asarray((ordered[gap] + ordered[gap + 1]) / 2, x.dtype)
    clear_of(x, lambda: x.array - threshold)
    g.add(op, [x, g.constant(threshold)])


@step(3)
def where(g):
    c = g.value(lambda v: v.dtype == bool)
    x = g.value(lambda v: v.dtype != bool and fits(v.shape, c.shape), wild=True)
    y = partner(g, x)
    if not fits(np.broadcast_shapes(x.shape, y.shape), c.shape):
        raise Unfit
    g.add("Where", [c, x, y] if g.chance(0.5) else [c, y, x], None, lambda z: max(x.error, y.error), rounds=False, wild=not x.is_finite)


@step(3)
def cast(g):
    x, to = g.value(lambda v: v.dtype != object), np.dtype(g.among(NP_TYPES))
    if x.is_float and (to.kind in "iu" or to == bool):
        least, most = (-1e6, 1e6) if to.itemsize > 2 else (-100, 100)
        least = 0 if to.kind == "u" else least
        if to != bool:  # out of range is left open by ONNX
            g.everywhere(lambda: not x.array.size or least <= x.array.min() and x.array.max() < most)
        if any(x.errors):
            a = lambda: x.array.astype(np.float64)  # noqa: E731
            clear_of(x, a if to == bool else lambda: np.where(np.abs(a()) < 0.5, 1, a() - np.round(a())))
    narrower = x.is_float and to in (np.dtype(np.float32), np.dtype(np.float16)) and to.itemsize < x.dtype.itemsize
    same = g.chance(0.2) and any(v.dtype == to for v in g.values)
    rounds = narrower or x.is_integer and x.dtype.itemsize >= 4 or to == np.float16
    if same:
        return g.add("CastLike", [x, g.among([v for v in g.values if v.dtype == to])], None, lambda y: x.error, rounds=rounds)
    g.add("Cast", [x], {"to": type_of(to)}, lambda y: x.error, rounds=rounds)


@step(1)
def cumulative(g):
    from values import MIXED
    x = g.value(lambda v: v.rank and v.dtype in (np.float32, np.float64, np.int64, np.int32))
    axis = axis_of(g, x)
    n = lambda: x.shape[axis]  # noqa: E731
    g.add("CumSum", [x, g.given(np.asarray(axis, g.among((np.int64, np.int32))))], {"exclusive": g.between(0, 1), "reverse": g.between(0, 1)},
          lambda y: n() * x.error + (MIXED[x.dtype] * n() * x.size if x.is_float else 0))
