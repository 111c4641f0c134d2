"""Extents that only a run tells meet in broadcasting: equal, or one of them 1."""
import itertools

import numpy as np

from case import Case, f32, i64, values


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def pairs(shapes, function, names="pq", constants=None):
    """A run for each list of shapes."""
    runs = []
    for number, list in enumerate(shapes):
        feeds = {name: values(*shape, seed=number + 10 * k) for k, (name, shape) in enumerate(zip(names, list))}
        runs.append((feeds, function(*feeds.values())))
    return runs


TWO = [((4, 3), (4, 1)), ((4, 1), (4, 3)), ((4, 3), (4, 3)), ((1, 3), (4, 1)), ((1, 1), (1, 1)), ((1, 1), (5, 2))]
Case("named symbols", "g (float[a, b] p, float[c, d] q) => (float[m, n] y) { y = Sub (p, q) }", pairs(TWO, lambda p, q: [p - q]))
Case("a symbol and a rank less", "g (float[a, b] p, float[c] q) => (float[m, n] y) { y = Mul (p, q) }", pairs([((4, 3), (3,)), ((4, 1), (3,)), ((4, 3), (1,))], lambda p, q: [p * q]))
Case("extents without a name", "g (float[?, ?] p, float[?, ?] q) => (float[?, ?] y) { y = Add (p, q) }", pairs(TWO, lambda p, q: [p + q]))
W = values(2, 3)
Case("a symbol and a constant", "g (float[n, 3] p) => (float[m, 3] y) { y = Max (p, w) }", pairs([((1, 3),), ((2, 3),)], lambda p: [np.maximum(p, W)], "p"), {"w": W})
Case("an expression and a symbol", "g (float[n, 3] p, float[k, 3] q) => (float[m, 3] y) { d = Concat <axis = 0> (p, p)  y = Add (d, q) }",
     pairs([((2, 3), (4, 3)), ((2, 3), (1, 3))], lambda p, q: [np.concatenate([p, p]) + q]))
Case("more than two, and what follows", """g (float[a, 3] p, float[b, 3] q, float[c, 3] r) => (float[m, 3] y, float[n, 3] z, float[k] s) {
  y = Sum (p, q, r)  t = Mul (y, p)  u = Exp (q)  z = Sub (t, u)  s = ReduceSum <keepdims = 0> (z, one) }""",
     pairs([((4, 3), (1, 3), (4, 3)), ((1, 3), (1, 3), (4, 3)), ((4, 3), (4, 3), (4, 3)), ((1, 3), (4, 3), (1, 3))],
           lambda p, q, r: [p + q + r, (p + q + r) * p - np.exp(q), ((p + q + r) * p - np.exp(q)).sum(1)], "pqr"), {"one": i64([1])}, near=1e-5)
Case("a condition of another shape", "g (bool[a, b] c, float[d, e] p, float[f, g] q) => (float[m, n] y) { y = Where (c, p, q) }",
     [({"c": values(*c) > 0, "p": (p := values(*ps)), "q": (q := values(*qs, seed=3))}, [np.where(values(*c) > 0, p, q)])
      for c, ps, qs in [((4, 3), (4, 3), (4, 3)), ((4, 1), (1, 3), (4, 3)), ((1, 1), (4, 3), (1, 3)), ((4, 3), (1, 1), (1, 1))]])
Case("slopes of a PRelu", "g (float[a, b, c] p, float[b2, 1] q) => (float[a, m, c] y) { y = PRelu (p, q) }",
     pairs([((2, 4, 3), (4, 1)), ((2, 4, 3), (1, 1))], lambda p, q: [np.where(p < 0, p * q, p)]))
Case("zeros", "g (float[a, b] p, float[c, d] q) => (float[m, n] y) { y = Add (p, q) }", pairs([((0, 3), (1, 3)), ((1, 3), (0, 3)), ((2, 0), (2, 1))], lambda p, q: [p + q]))
Case("what does not fit", "g (float[a, 3] p, float[b, 3] q) => (float[m, 3] y) { y = Add (p, q) }", [({"p": values(4, 3), "q": values(3, 3)}, "a = 4 must equal b = 3, or one of them be 1")])
Case("an extent that would be dropped", "g (float[a, 1, b] p) => (float[m, n] y) { y = Squeeze (p) }",
     [({"p": values(1, 1, 3)}, "without axes it would drop an extent of 1, and the rank of its result is fixed: a = 1 must not be 1"), ({"p": values(2, 1, 1)}, "b = 1 must not be 1"),
      ({"p": (p := values(2, 1, 3))}, [p[:, 0]]), ({"p": (p := values(0, 1, 3))}, [p[:, 0]])])
Case("a number of elements that would be dropped", "g (float[a] p) => (int64[n] y) { z = NonZero (p)  y = Squeeze (z) }",
     [({"p": f32([0, 1, 0])}, "must not be 1"), ({"p": f32([0, 1, 2])}, [i64([1, 2])]), ({"p": f32([0, 0])}, [i64([])])])
Case("an inner extent that does not fit", "g (float[2, a] p, float[b, 3] q) => (float[2, 3] y) { y = MatMul (p, q) }",
     [({"p": values(2, 4), "q": values(1, 3)}, "a = 4 must equal b = 1"), ({"p": (p := values(2, 4)), "q": (q := values(4, 3))}, [p @ q])], near=1e-5)

# Images, whose channels lie last inside.
FILTER = values(4, 4, 3, 3)


def conv(x):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sum(np.einsum("nchw,oc->nohw", padded[:, :, i : i + x.shape[2], j : j + x.shape[3]], FILTER[:, :, i, j]) for i in range(3) for j in range(3))


Case("images", "g (float[n, 4, h, w] p, float[m, c, k, l] q) => (float[a, b, d, e] y) { u = Conv <pads = [1, 1, 1, 1]> (p, f)  v = Add (u, q)  y = Relu (v) }",
     pairs([((2, 4, 5, 6), (2, 4, 5, 6)), ((2, 4, 5, 6), (1, 4, 1, 1)), ((1, 4, 5, 6), (2, 1, 5, 6)), ((2, 4, 1, 6), (2, 4, 5, 1))], lambda p, q: [np.maximum(conv(p) + q, 0)]), {"f": FILTER}, near=1e-4)

# Products of stacks of matrices.
Case("stacks of matrices", "g (float[a, b, 2, 4] p, float[c, d, 4, 3] q) => (float[m, n, 2, 3] y) { y = MatMul (p, q) }",
     pairs([((2, 3, 2, 4), (2, 3, 4, 3)), ((1, 3, 2, 4), (2, 1, 4, 3)), ((2, 3, 2, 4), (1, 1, 4, 3)), ((1, 1, 2, 4), (2, 3, 4, 3))], lambda p, q: [p @ q]), near=1e-5)
Case("a matrix of constants and a stack", "g (float[a, 2, 4] p) => (float[3, 2, 3] y) { y = MatMul (p, w) }", pairs([((1, 2, 4),), ((3, 2, 4),)], lambda p: [p @ values(3, 4, 3)], "p"),
     {"w": values(3, 4, 3)}, near=1e-5)
Case("C of a Gemm", "g (float[a, 4] p, float[4, b] q, float[c, d] r) => (float[a, b] y) { y = Gemm (p, q, r) }",
     pairs([((2, 4), (4, 3), (2, 3)), ((2, 4), (4, 3), (1, 3)), ((2, 4), (4, 3), (2, 1)), ((1, 4), (4, 3), (1, 1))], lambda p, q, r: [p @ q + r], "pqr"), near=1e-5)
Case("C of a Gemm that is larger", "g (float[a, 4] p, float[4, b] q, float[c, d] r) => (float[a, b] y) { y = Gemm (p, q, r) }",
     [({"p": values(1, 4), "q": values(4, 3), "r": values(2, 3)}, "must equal")])
Case("the scale of a LayerNormalization", "g (float[a, b] p, float[c] q) => (float[a, b] y) { y = LayerNormalization (p, q) }",
     pairs([((2, 4), (4,)), ((2, 4), (1,))], lambda p, q: [(p - p.mean(-1, keepdims=True)) / np.sqrt(p.var(-1, keepdims=True) + 1e-5) * q]), near=1e-5)

MASK = """g (float[batch, 4, q, k] s, float[mb, 1, mq, mk] mask, float[vb, 4, k, 3] v) => (float[batch, 4, q, 3] y) {
  t = Add (s, mask)  u = Softmax <axis = -1> (t)  y = MatMul (u, v) }"""
Case("an attention mask", MASK, pairs([((2, 4, 5, 6), m, v) for m, v in [((2, 1, 5, 6), (2, 4, 6, 3)), ((1, 1, 5, 6), (1, 4, 6, 3)), ((1, 1, 1, 6), (2, 4, 6, 3)), ((2, 1, 5, 1), (1, 4, 6, 3)), ((1, 1, 1, 1), (2, 4, 6, 3))]],
                                      lambda s, m, v: [softmax(s + m) @ v], ("s", "mask", "v")), near=1e-5)

# Labels of an Einsum: their extents broadcast from operand to operand, and are equal within one.


def einsum(title, equation, declared, shapes, constants=None, near=1e-5):
    names = "pqr"[: len(declared)]
    inputs = ", ".join(f"float[{extents}] {name}" for extents, name in zip(declared, names))
    operands = ", ".join([*names, *(constants or {})])
    rank = ", ".join("m%d" % k for k in range(np.einsum(equation, *(np.zeros(s) for s in shapes[0]), *(constants or {}).values()).ndim))
    Case(f"Einsum {equation}, {title}", f'g ({inputs}) => (float[{rank}] y) {{ y = Einsum <equation = "{equation}"> ({operands}) }}',
         pairs(shapes, lambda *list: [np.einsum(equation, *list, *(constants or {}).values())], names), constants, near=near)


einsum("constants, summed", "ij,jk->ik", ["2, 1", "3, 4"], [((2, 1), (3, 4))])
einsum("constants, summed, in the second", "ij,jk->ik", ["2, 3", "1, 4"], [((2, 3), (1, 4))])
einsum("constants, of a batch", "bij,bjk->bik", ["1, 2, 3", "5, 3, 4"], [((1, 2, 3), (5, 3, 4))])
einsum("constants, in both", "ij,ij->ij", ["1, 3", "2, 1"], [((1, 3), (2, 1))], near=0)
einsum("constants, a diagonal", "ii,i->i", ["1, 1", "3"], [((1, 1), (3,))], near=0)
einsum("constants, along a diagonal", "iij,ij->j", ["3, 3, 1", "1, 4"], [((3, 3, 1), (1, 4))])
einsum("constants, three", "ij,jk,jl->il", ["2, 1", "1, 4", "3, 5"], [((2, 1), (1, 4), (3, 5))])
TWO_SUMS = [((2, 3), (3, 4)), ((2, 1), (3, 4)), ((2, 3), (1, 4)), ((2, 1), (1, 4)), ((2, 0), (1, 4))]
einsum("summed", "ij,jk->ik", ["2, a", "b, 4"], TWO_SUMS)
einsum("summed, all named", "ij,jk->ki", ["a, b", "c, d"], [*TWO_SUMS, ((1, 1), (1, 1)), ((1, 1), (5, 1))])
einsum("summed to a scalar", "ij,ij->", ["a, b", "c, d"], [((2, 3), (2, 3)), ((1, 3), (2, 1)), ((2, 1), (1, 1)), ((1, 1), (1, 1))])
einsum("summed with constants", "ij,jk->ik", ["n, k"], [((2, 3),), ((2, 1),), ((1, 1),)], {"w": values(3, 4)})
einsum("a batch", "bij,bjk->bik", ["a, 2, k", "b, k, 4"], [((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)), ((1, 2, 3), (1, 3, 4))])
einsum("nothing summed", "ij,kj->kij", ["a, b", "c, d"], [((2, 3), (4, 3)), ((2, 1), (4, 3)), ((2, 3), (4, 1))], near=0)
einsum("an ellipsis", "...ij,...jk->...ik", ["a, b, 2, c", "d, e, f, 4"], [((5, 6, 2, 3), (5, 6, 3, 4)), ((1, 6, 2, 3), (5, 1, 3, 4)), ((5, 6, 2, 1), (1, 1, 3, 4)), ((1, 1, 2, 1), (1, 6, 1, 4))])
einsum("an ellipsis of ranks that differ", "...ij,...jk->...ik", ["a, b, 2, 3", "c, 3, 4"], [((5, 6, 2, 3), (6, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((5, 6, 2, 3), (1, 3, 4))])
einsum("a diagonal", "ii,i->i", ["a, b", "c"], [((3, 3), (3,)), ((3, 3), (1,)), ((1, 1), (3,)), ((1, 1), (1,))], near=0)
einsum("a diagonal that is summed", "iij,ij->j", ["a, a, b", "c, d"], [((3, 3, 4), (3, 4)), ((3, 3, 1), (3, 4)), ((1, 1, 4), (3, 1)), ((3, 3, 4), (1, 4))])
einsum("three", "ij,jk,jl->il", ["2, a", "b, 4", "c, 5"], [(((2, i), (j, 4), (k, 5))) for i, j, k in itertools.product((1, 3), repeat=3)])
einsum("three, of which the second ends a sum", "ij,jk,kl->il", ["2, a", "b, c", "d, 5"], [(((2, i), (j, k), (m, 5))) for i, j, k, m in itertools.product((1, 3), (1, 3), (1, 4), (1, 4))])
Case("Einsum, what does not fit", 'g (float[2, a] p, float[b, 4] q) => (float[2, 4] y) { y = Einsum <equation = "ij,jk->ik"> (p, q) }', [({"p": values(2, 3), "q": values(2, 4)}, "a = 3 must equal b = 2, or one of them be 1")])
Case("Einsum, a diagonal that is none", 'g (float[a, b] p, float[c] q) => (float[c] y) { y = Einsum <equation = "ii,i->i"> (p, q) }', [({"p": values(1, 3), "q": values(3)}, "must equal"), ({"p": values(3, 1), "q": values(3)}, "must equal")])
Case("Einsum, a count of data", """g (float[n] x, float[k, 2] q) => (float[2] y, float[m, 2] z) {
  i = NonZero (x)  t = Transpose (i)  p = Cast <to = 1> (t)  y = Einsum <equation = "ij,ik->k"> (p, q)  z = Einsum <equation = "ij,ik->ik"> (p, q) }""",
     [({"x": f32(x), "q": (q := values(k, 2))}, [np.einsum("ij,ik->k", p := np.argwhere(f32(x)).astype(np.float32), q), np.einsum("ij,ik->ik", p, q)])
      for x, k in [([0, 1, 2], 2), ([0, 1, 0], 5), ([3, 1, 0], 1), ([3, 0, 0], 1), ([0, 0], 1)]], near=1e-5)

# Expand.
Case("Expand by a shape", "g (float[a, b] p, float[c, d] q) => (float[m, n] y) { s = Shape (q)  y = Expand (p, s) }", pairs(TWO, lambda p, q: [p + 0 * q]))
Case("Expand by data", "g (float[a, 3] p, int64[2] s) => (float[m, n] y) { y = Expand (p, s) }",
     [({"p": (p := values(*shape)), "s": i64(s)}, [p + np.zeros(s, np.float32)]) for shape, s in [((1, 3), [4, 1]), ((4, 3), [1, 3]), ((4, 3), [4, 3]), ((1, 3), [1, 1])]])

# What a NonZero counts.
COUNT = "g (float[n] x, float[k, 2] q) => (float[m, 2] y) { i = NonZero (x)  t = Transpose (i)  p = Cast <to = 1> (t)  y = Add (p, q) }"
Case("a count of data", COUNT, [({"x": f32(x), "q": (q := values(k, 2))}, [np.argwhere(f32(x)).astype(np.float32) + q]) for x, k in [([0, 1, 2], 2), ([0, 1, 0], 5), ([3, 1, 0], 1), ([3, 0, 0], 1), ([0, 0], 1)]])
Case("a count of data in a stack of matrices", "g (float[n] x, float[k, 1, 2] q) => (float[m, 1, 2] y) { i = NonZero (x)  t = Transpose (i)  p = Cast <to = 1> (t)  u = Unsqueeze (p, one)  y = MatMul (u, q) }",
     [({"x": f32(x), "q": (q := values(k, 1, 2))}, [np.argwhere(f32(x)).astype(np.float32)[:, None] @ q]) for x, k in [([0, 1, 2], 2), ([0, 1, 0], 5), ([3, 1, 0, 2], 1)]], {"one": i64([1])})

# In a branch, and in the body of a loop.
Case("in a branch", """g (float[a, 3] p, float[b, 3] q, bool c) => (float[m, 3] y) {
  y = If (c) <then_branch = t () => (float[e, 3] u) { u = Add (p, q) }, else_branch = e () => (float[f, 3] v) { v = Mul (p, q) }> }""",
     [({"p": (p := values(*s)), "q": (q := values(*t, seed=2)), "c": np.array(c)}, [p + q if c else p * q]) for (s, t), c in itertools.product([((4, 3), (4, 3)), ((1, 3), (4, 3)), ((4, 3), (1, 3))], (True, False))])
Case("strings", "g (string[a] p, string[b] q) => (string[m] y) { y = StringConcat (p, q) }",
     [({"p": np.array(p, object), "q": np.array(q, object)}, [np.array([x + y for x, y in zip(p * len(q) if len(p) == 1 else p, q * len(p) if len(q) == 1 else q)], object)]) for p, q in [(["a", "b"], ["c", "d"]), (["a"], ["c", "d"]), (["a", "b"], ["c"])]])
# A name that stands for extents that differ: ONNX does not allow it, and other engines take it.
Case("a name that says nothing", "g (float[a, b] p, float[a, c] q) => (float[m, n] y) { y = Sub (p, q) }", pairs(TWO, lambda p, q: [p - q]), options=["--dim", "a=*"])
