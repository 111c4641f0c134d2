"""Attention as exporters write it, with what stands around it."""
import math

import numpy as np

from grow import step
from steps.common import moved
from steps.products import of_products
from values import Unfit


def projected(g, x, width):
    w = g.operand((x.shape[-1], width), x.dtype, plain=True)
    y = g.add("MatMul", [x, w], None, lambda y: of_products(x, w, x.shape[-1]))
    if g.chance(0.5):
        b = g.operand((width,), x.dtype, plain=True)
        z = g.add("Add", [y, b], None, lambda z: y.error + b.error)
        return z
    return y


def in_heads(g, x, heads, perm):
    size = x.shape[-1] // heads
    split = moved(g, "Reshape", x, [g.ints([0, 0, heads, size])])
    return moved(g, "Transpose", split, (), {"perm": perm})


@step(2)
def attention(g):
    x = g.value(lambda v: v.dtype in (np.float32, np.float64) and v.rank == 3 and v.has_elements and v.is_fixed(2) and v.array.size < 500)
    heads, size = g.among((1, 2)), g.among((2, 3, 4))
    width = heads * size
    q, k, v = (projected(g, x, width) for _ in range(3))
    q, v = in_heads(g, q, heads, [0, 2, 1, 3]), in_heads(g, v, heads, [0, 2, 1, 3])
    k = in_heads(g, k, heads, [0, 2, 3, 1])
    scores = g.add("MatMul", [q, k], None, lambda y: of_products(q, k, size))
    factor = g.constant(np.asarray(1 / math.sqrt(size), x.dtype))
    scaled = g.add("Mul", [scores, factor], None, lambda y: scores.error)
    kind = g.among(("none", "causal", "infinite", "bias"))
    if kind == "causal":  # a triangle of ones, as long as the sequence
        length = g.add("Shape", [x], {"start": 1, "end": 2})
        ones = g.add("ConstantOfShape", [g.add("Concat", [length, length], {"axis": 0})], None, rounds=False)
        filled = g.add("Add", [ones, g.constant(np.asarray(1, np.float32))], rounds=False)
        seen = g.add("Cast", [g.add("Trilu", [filled], {"upper": 0}, rounds=False)], {"to": 9})
        low = g.constant(np.asarray(g.among((-np.inf, -1e4, np.finfo(x.dtype).min)), x.dtype))
        scaled = g.add("Where", [seen, scaled, low], None, lambda y: scaled.error, rounds=False, wild=True)
    elif kind == "infinite" and x.is_fixed(1):
        mask = g.fresh((x.shape[1], x.shape[1]), bool)
        mask[:, 0] = True  # a row without any key has no meaning
        low = g.constant(np.asarray(-np.inf, x.dtype))
        scaled = g.add("Where", [g.given(mask), scaled, low], None, lambda y: scaled.error, rounds=False, wild=True)
    elif kind == "bias" and x.is_fixed(1):
        bias = g.operand((1, heads, x.shape[1], x.shape[1]), x.dtype, plain=True)
        biased = g.add("Add", [scaled, bias], None, lambda y: scaled.error)
        scaled = biased
    weights = g.add("Softmax", [scaled], {"axis": -1}, lambda y: 2 * scaled.error)
    y = g.add("MatMul", [weights, v], None, lambda y: of_products(weights, v, weights.shape[-1]))
    joined = moved(g, "Reshape", moved(g, "Transpose", y, (), {"perm": [0, 2, 1, 3]}), [g.ints([0, 0, width])])
    if g.chance(0.5) and width == x.shape[-1]:
        g.add("Add", [joined, x], None, lambda z: joined.error + x.error)


@step(1)
def gated(g):
    """SiLU and its relatives, with the gate beside."""
    x = g.value(lambda v: v.dtype in (np.float32, np.float64))
    gate = g.add("Sigmoid", [x], None, lambda y: 0.25 * x.error)
    y = g.add("Mul", [x, gate] if g.chance(0.5) else [gate, x], None, lambda y: x.error + x.size * gate.error)
    if g.chance(0.4):
        g.add("Mul", [y, x], None, lambda z: y.error * (x.size + x.error) + x.error * y.size)


@step(1)
def rotated(g):
    """Rotary positions: halves change places, one of them negated."""
    x = g.value(lambda v: v.dtype in (np.float32, np.float64) and v.rank >= 2 and v.is_fixed(v.rank - 1) and v.shape[-1] % 2 == 0 and v.shape[-1] > 0)
    half = x.shape[-1] // 2
    if not x.array.size:
        raise Unfit
    first = moved(g, "Slice", x, [g.ints([0]), g.ints([half]), g.ints([-1])])
    second = moved(g, "Slice", x, [g.ints([half]), g.ints([2 ** 62]), g.ints([-1])])
    turned = moved(g, "Concat", g.add("Neg", [second], None, lambda y: second.error, rounds=False), [first], {"axis": -1})
    cos, sin = g.constant(np.cos(g.fresh((2 * half,), x.dtype))), g.constant(np.sin(g.fresh((2 * half,), x.dtype)))
    a = g.add("Mul", [x, cos], None, lambda y: x.error)
    b = g.add("Mul", [turned, sin], None, lambda y: turned.error)
    g.add("Add", [a, b], None, lambda y: a.error + b.error)
