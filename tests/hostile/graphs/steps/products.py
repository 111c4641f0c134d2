"""Products of matrices."""
import numpy as np

from grow import step
from steps.common import moved
from values import MIXED, Unfit


def of_products(x, w, k):
    """What k products of a sum make of the errors of both, and their own."""
    return k * (x.error * (w.size + w.error) + w.error * x.size) + MIXED[x.dtype] * k * x.size * w.size


@step(5)
def matmul(g):
    x = g.value(lambda v: v.is_float and v.rank and v.has_elements)
    k = lambda: x.shape[-1]  # noqa: E731
    if x.rank == 2 and g.chance(0.4):
        turned = g.between(0, 1) if x.is_fixed(0) else 0
        depth = lambda: x.shape[0 if turned else 1]  # noqa: E731
        n, across = g.between(1, 20), g.between(0, 1)
        w = g.operand((n, depth()) if across else (depth(), n), x.dtype)
        b = g.operand(g.among(([n], [1, n], [], [1], [x.shape[1], 1] if turned else [])), x.dtype) if g.chance(0.8) else None
        attributes = {"transA": turned, "transB": across}
        if g.chance(0.5):
            attributes.update(alpha=g.among((0.5, 1.0, -1.5)), beta=g.among((2.0, 1.0, 0.0)))
        return g.add("Gemm", [x, w, b], attributes, lambda y: 1.5 * of_products(x, w, depth()) + (4e-5 * b.size + 2 * b.error if b else 0))
    others = [v for v in g.values if v.dtype == x.dtype and v.rank >= 2 and v.shape[-2] == k() and v.is_finite]
    w = g.among(others) if others and g.chance(0.5) else g.operand(g.among(((k(), g.between(1, 20)),) * 3 + ((k(),), (g.among((1, *x.shape[-3:-2])), k(), g.between(1, 6)))), x.dtype)
    g.add("MatMul", [x, w], None, lambda y: of_products(x, w, k()))


@step(2)
def dense(g):
    """A layer as exporters write it: a product, a bias, an activation."""
    x = g.value(lambda v: v.is_float and v.rank >= 2 and v.has_elements and v.is_fixed(v.rank - 1))
    k, n = x.shape[-1], g.between(1, 17)
    w = g.operand((k, n), x.dtype)
    y = g.add("MatMul", [x, w], None, lambda y: of_products(x, w, k))
    b = g.operand((n,), x.dtype)
    y = g.add("Add", [y, b] if g.chance(0.5) else [b, y], None, lambda z: y.error + b.error)
    g.add(g.among(("Relu", "Tanh", "Sigmoid", "Gelu")), [y], None, lambda z: 1.2 * y.error)


@step(1)
def product_by_transposed(g):
    x = g.value(lambda v: v.is_float and v.rank >= 2 and v.has_elements)
    perm = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    t = moved(g, "Transpose", x, (), {"perm": perm})
    first, second = (x, t) if g.chance(0.5) else (t, x)
    g.add("MatMul", [first, second], None, lambda y: of_products(first, second, first.shape[-1]))


EQUATIONS = ["ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij,kj->ik", "bhid,bhjd->bhij", "ijk,kl->ijl", "ij,ij->i", "abc->cab", "...i,i->...", "ij,jk", "abcd,cd->ab", "ba,cb"]


@step(1)
def einsum(g):
    x = g.value(lambda v: v.dtype in (np.float32, np.float64) and v.rank and v.has_elements)
    equation = g.among([e for e in EQUATIONS if "." in e or len(e.split("->")[0].split(",")[0]) == x.rank])
    terms = equation.split("->")[0].split(",")
    if "..." in equation:
        y = g.operand(x.shape[-1:], x.dtype)
        return g.add("Einsum", [x, y], {"equation": equation}, lambda z: of_products(x, y, x.shape[-1]))
    extent = dict(zip(terms[0], x.shape))
    operands = [x] + [g.operand([extent.setdefault(c, g.between(1, 5)) for c in term], x.dtype) for term in terms[1:]]
    if len(operands) == 1:
        return moved(g, "Einsum", x, (), {"equation": equation})
    summed = set("".join(terms)) - set(equation.split("->")[1]) if "->" in equation else {c for c in "".join(terms) if "".join(terms).count(c) > 1}
    k = int(np.prod([extent[c] for c in summed]))
    g.add("Einsum", operands, {"equation": equation}, lambda z: of_products(x, operands[1], k))


@step(1)
def integer_product(g):
    x = g.value(lambda v: v.dtype in (np.uint8, np.int8) and v.rank >= 2 and v.has_elements)
    kind = g.among((np.uint8, np.int8))
    w = g.operand((x.shape[-1], g.between(1, 18)), kind)
    zeros = [g.constant(np.asarray(g.between(0, 20), k)) if g.chance(0.5) else None for k in (x.dtype, kind)]
    g.add("MatMulInteger", [x, w, *zeros])


@step(1)
def determinant(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.rank >= 2 and v.shape[-1] == v.shape[-2] <= 3 and v.has_elements)
    n = x.shape[-1]
    if n > 3:
        raise Unfit
    g.add("Det", [x], None, lambda y: n * 6 * (x.error + 1e-5 * x.size) * max(1.0, x.size) ** (n - 1))
