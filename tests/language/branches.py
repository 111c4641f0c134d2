"""An If whose branches differ in rank: each run gets its own branch's result, and what follows is right for both."""
import numpy as np

from case import Case, f32, i64, values

YES, NO = np.array(True), np.array(False)
A = values(2, 3)


def squeezing(after, outputs, between=""):
    """What exporters write for "squeeze this axis if its extent is 1"."""
    return f"""g (float[n, 1, 4] x) => ({outputs}) {{
  s = Shape <start = 0, end = 1> (x)  e = Equal (s, one)  c = Squeeze (e) {between}
  r = If (c) <then_branch = t () => (float[] t0) {{ t0 = Squeeze (x, zero) }}, else_branch = e () => (float[] e0) {{ e0 = Identity (x) }}>
  {after} }}"""


W = values(4, 5)
ONES = {"zero": i64([0]), "one": i64([1]), "two": f32(2)}


def images(function):
    return [({"x": (x := values(n, 1, 4))}, function(x[0] if n == 1 else x)) for n in (1, 3, 1, 2)]


Case("as the output", squeezing("y = Identity (r)", "float[] y"), images(lambda r: [r]), ONES)
Case("an elementwise operator behind it", squeezing("y = Mul (r, two)", "float[] y"), images(lambda r: [r * 2]), ONES)
Case("its rank and its sum", squeezing("s1 = Shape (r)  t1 = ReduceSum <keepdims = 0> (r)", "int64[rank] s1, float t1"), images(lambda r: [i64(r.shape), r.sum()]), ONES, near=1e-5)
Case("two outputs of either rank, and one beside", squeezing("y = Neg (r)  z = Exp (r)", "float[] y, float[] z, float[n, 1, 4] w", "w = Abs (x)"),
     [(feeds, [-(r := feeds["x"][0] if len(feeds["x"]) == 1 else feeds["x"]), np.exp(r), np.abs(feeds["x"])]) for feeds, _ in images(lambda r: [])], ONES, near=1e-6)
Case("a product behind it", squeezing("y = MatMul (r, w)  m = ReduceMax <keepdims = 0> (y)", "float[] y, float m"), images(lambda r: [r @ W, (r @ W).max()]), {**ONES, "w": W}, near=1e-5)
Case("one behind the other", squeezing("""q = If (d) <then_branch = t1 () => (float[] a0) { a0 = Unsqueeze (r, zero) }, else_branch = e1 () => (float[] b0) { b0 = Identity (r) }>
  y = Mul (q, two)  k = Size (q)  z = Shape (q)""", "float[] y, int64 k, int64[rank] z").replace("float[n, 1, 4] x", "float[n, 1, 4] x, bool d"),
     [({"x": (x := values(n, 1, 4)), "d": d}, [(q := (x[0] if n == 1 else x)[None] if d else (x[0] if n == 1 else x)) * 2, np.int64(q.size), i64(q.shape)]) for n in (1, 3) for d in (YES, NO)], ONES)

CONSTANTS = """g (bool c) => (float[] y, int64[rank] s, float t) {{
  y = If (c) <then_branch = a () => (float[] a0) {{ a0 = Identity ({0}) }}, else_branch = b () => (float[] b0) {{ b0 = Identity ({1}) }}>
  s = Shape (y)  t = ReduceSum <keepdims = 0> (y) }}"""
for title, first, second in (("a list and a matrix", f32([1, 2, 3]), A), ("a scalar and a list of one", f32(7), f32([8])), ("a list of one and a matrix of one", f32([7]), f32([[8]]))):
    Case(title, CONSTANTS.format("p", "q"), [({"c": c}, [v, i64(v.shape), v.sum()]) for c, v in ((YES, first), (NO, second))], {"p": first, "q": second}, near=1e-6)

Case("within a branch", """g (bool c, bool d) => (float t) {
  t = If (d) <then_branch = o () => (float u) {
      y = If (c) <then_branch = a () => (float[] a0) { a0 = Identity (p) }, else_branch = b () => (float[] b0) { b0 = Identity (q) }>
      u = ReduceSum <keepdims = 0> (y) }, else_branch = z () => (float v) { v = Identity (w) }> }""",
     [({"c": c, "d": d}, [(A if c else f32([1, 2])).sum() if d else f32(5)]) for c in (YES, NO) for d in (YES, NO)], {"p": A, "q": f32([1, 2]), "w": f32(5)}, near=1e-6)

Case("within the body of a loop", """g (float[2, 3] x, int64 n) => (float y) {
  y = Loop (n, , start) <body = b (int64 i, bool go, float s) => (bool more, float t) {
      more = Identity (go)  two = Constant <value_int = 2> ()  k = Mod (i, two)  c = Cast <to = 9> (k)
      r = If (c) <then_branch = a () => (float[] a0) { a0 = Flatten <axis = 0> (x) }, else_branch = b2 () => (float[] b0) { row = Constant <value_int = 0> ()  b0 = Gather <axis = 0> (x, row) }>
      u = ReduceSum <keepdims = 0> (r)  t = Add (s, u) }> }""",
     [({"x": A, "n": np.int64(n)}, [f32(sum(A.sum() if i % 2 else A[0].sum() for i in range(n)))]) for n in (0, 1, 4)], {"start": f32(0)}, near=1e-5)

# What follows is valid for one rank alone: a run that takes the other branch says which.
Case("what only one rank fits", squeezing("y = Transpose <perm = [0, 2, 1]> (r)", "float[a, b, c] y"), [({"x": (x := values(3, 1, 4))}, [x.transpose(0, 2, 1)]), ({"x": values(1, 1, 4)}, "what follows fits one branch alone")], ONES)
