"""Products of matrices, and what is made of them."""
import numpy as np

from draw import is_float
from spec import Spec, generator


def near(kind, terms):
    """What the sum of `terms` products may lose: values are multiples of a quarter of 4 at most, and exact in f32."""
    return {2: 2e-2 * terms, 4: 2e-5, 8: 1e-10}[kind.itemsize] if is_float(kind) else None


@generator("MatMul", weight=2)
def matmul(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    m, k, n = d.one(1, 2, 3, 7, 17), d.one(0, 1, 2, 5, 16, 33) if d.chance(0.9) else 1, d.one(1, 2, 3, 8, 19)
    batch = d.shape(0, 2, 3)
    a, b = [*d.broadcastable(batch), m, k], [*d.broadcastable(batch), k, n]
    if d.chance(0.12):
        a = [k]
    if d.chance(0.12):
        b = [k]
    return Spec(op, [d.array(a, kind, "grid"), d.array(b, kind, "grid")], opset=opset, constants=(1,) if d.chance(0.5) else (), atol=near(kind, 4))


@generator("Gemm")
def gemm(d, op):
    opset = d.opset(op, least=7)
    kind = d.kind(op, opset)
    m, k, n = d.one(1, 2, 7, 17), d.one(1, 2, 5, 33), d.one(1, 3, 8, 19)
    attributes = {}
    ta, tb = d.int(0, 1), d.int(0, 1)
    if ta or d.chance(0.3):
        attributes["transA"] = ta
    if tb or d.chance(0.3):
        attributes["transB"] = tb
    for name in ("alpha", "beta"):
        if d.chance(0.4):
            attributes[name] = float(d.one(0.0, 0.5, 2.0, -1.0)) if is_float(kind) else float(d.one(1, 2))
    c = d.array(d.among([[m, n], [1, n], [m, 1], [n], [1], [], [1, 1]]), kind, "grid") if opset < 11 or d.chance(0.7) else None
    a, b = ([k, m] if ta else [m, k]), ([n, k] if tb else [k, n])
    return Spec(op, [d.array(a, kind, "grid"), d.array(b, kind, "grid"), c], attributes, opset=opset, constants=(1, 2) if d.chance(0.5) else (), atol=near(kind, 4))


EQUATIONS = ["ij,jk->ik", "bij,bjk->bik", "ij->ji", "ii->i", "ii", "ij->", "i,j->ij", "...ij,...jk->...ik", "bhid,bhjd->bhij", "ijk,kl->ijl", "ij,ij->", "ij,kj,lj->ikl",
             "abc->cab", "iij->j", "ij,jk", "...i->...", "b...,b->b...", "ij, jk -> ik", "...ii->...i", "abcd,cd->ab", "i,i->", "ba,cb"]


@generator("Einsum")
def einsum(d, op):
    opset = d.opset(op)
    equation = d.among(EQUATIONS)
    kind = d.kind(op, opset)
    extent = {letter: d.int(1, 4) for letter in "abcdefghijklmnopqrstuvwxyz"}
    dots = d.shape(0, 2, 3, zero=0)
    shapes = []
    for term in equation.split("->")[0].replace(" ", "").split(","):
        shape = []
        if "..." in term:
            before, after = term.split("...")
            shape = [extent[c] for c in before] + dots + [extent[c] for c in after]
        else:
            shape = [extent[c] for c in term]
        shapes.append(shape)
    # Labels broadcast from operand to operand, but not within one. Onnx's shape inference refuses ellipses of extents that differ.
    for term, shape in zip(equation.split("->")[0].replace(" ", "").split(","), shapes):
        if "." not in term and len(set(term)) == len(term):
            shape[:] = [1 if d.chance(0.1) else n for n in shape]
    return Spec(op, [d.array(s, kind, "grid", *(() if is_float(kind) else (0, 3))) for s in shapes], {"equation": equation}, opset=opset, atol=near(kind, 4))


@generator("Det")
def det(d, op):
    opset = d.opset(op)
    n = d.int(1, 4)
    return Spec(op, [d.array(d.shape(0, 2, 3) + [n, n], d.kind(op, opset), "plain", -2, 2)], opset=opset, rtol=1e-3, atol=1e-3)


@generator("MatMulInteger")
def matmul_integer(d, op):
    opset = d.opset(op)
    ka, kb = d.kind(op, opset, "T1"), d.kind(op, opset, "T2")
    m, k, n = d.one(1, 3, 7), d.one(1, 5, 40), d.one(1, 8, 19)
    batch = d.shape(0, 2, 3)
    zero_a = d.maybe(0.6, lambda: d.array(d.among([[], [1]]), ka, "plain", 0, 100))
    zero_b = d.maybe(0.6, lambda: d.array(d.among([[], [1], [n]]), kb, "plain", 0, 100))
    return Spec(op, [d.array(d.broadcastable(batch) + [m, k], ka, "wild"), d.array(d.broadcastable(batch) + [k, n], kb, "wild"), zero_a, zero_b], opset=opset, constants=(1, 2, 3))


@generator("ConvInteger")
def conv_integer(d, op):
    from windows import image, spatial, window

    opset = d.opset(op)
    rank = spatial(d)
    kernel, attributes, reach = window(d, rank, opset, ceil=False)
    ka, kb = d.kind(op, opset, "T1"), d.kind(op, opset, "T2")
    group = d.one(1, 1, 2)
    c, m = group * d.int(1, 4), group * d.int(1, 4)
    if group > 1:
        attributes["group"] = group
    zero_a, zero_b = d.maybe(0.6, lambda: d.array([], ka, "plain", 0, 100)), d.maybe(0.4, lambda: d.array([], kb, "plain", 0, 100))
    return Spec(op, [d.array(image(d, rank, reach, c), ka, "wild"), d.array([m, c // group] + kernel, kb, "wild"), zero_a, zero_b], attributes, opset=opset, constants=(1, 2, 3))
