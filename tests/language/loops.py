"""Loops inside of each other, whose carried values have extents that some of them change."""
import numpy as np

from case import Case, i64, values

A, K = values(2, 3), values(3, 2, 3, seed=8)
COUNTS = [(n, m) for n in (0, 1, 3) for m in (0, 1, 2)]


def nested(inner, after, first="x"):
    return f"""g (float[2, 3] x, int64 n, int64 m) => (float[a, b] y) {{
  y = Loop (n, , {first}) <body = outer (int64 i, bool go, float[] s) => (bool more, float[] t) {{
      more = Identity (go)
      u = Loop (m, , s) <body = middle (int64 j, bool go2, float[] v) => (bool more2, float[] w) {{ more2 = Identity (go2)  {inner} }}>
      {after} }}> }}"""


def runs(inner, after):
    def result(n, m):
        s = A
        for _ in range(n):
            for _ in range(m):
                s = inner(s)
            s = after(s)
        return s

    return [({"x": A, "n": np.int64(n), "m": np.int64(m)}, [result(n, m)]) for n, m in COUNTS]


def longer(v):
    return np.concatenate([v, A])


Case("neither changes", nested("w = Neg (v)", "t = Mul (u, two)"), runs(lambda v: -v, lambda u: u * 2), {"two": np.float32(2)})
Case("the inner one grows", nested("w = Concat <axis = 0> (v, x)", "t = Neg (u)"), runs(longer, lambda u: -u))
Case("the outer one grows", nested("w = Neg (v)", "t = Concat <axis = 0> (u, x)"), runs(lambda v: -v, longer))
Case("both grow", nested("w = Concat <axis = 0> (v, x)", "t = Concat <axis = 0> (x, u)"), runs(longer, lambda u: np.concatenate([A, u])))
Case("the inner one turns", nested("w = Transpose <perm = [1, 0]> (v)", "t = Neg (u)"), runs(lambda v: v.T, lambda u: -u))
Case("the outer one turns what the inner one doubles", nested("w = Concat <axis = 1> (v, v)", "t = Transpose <perm = [1, 0]> (u)"), runs(lambda v: np.concatenate([v, v], 1), lambda u: u.T))

Case("three deep, and slices of the innermost", """g (float[2, 3] x, int64 n) => (float[a, b] y, float[c, d, 3] z) {
  y, z = Loop (n, , x) <body = outer (int64 i, bool go, float[] s) => (bool more, float[] t, float[] last) {
      more = Identity (go)
      t, r = Loop (n, , s) <body = middle (int64 j, bool go2, float[] s2) => (bool more2, float[] t2, float[] r2) {
          more2 = Identity (go2)
          t2, q = Loop (two, , s2) <body = inner (int64 k, bool go3, float[] s3) => (bool more3, float[] t3, float[] q3) {
              more3 = Identity (go3)  t3 = Neg (s3)  q3 = ReduceSum (s3, rows) }>
          r2 = ReduceSum (q, slices) }>
      last = ReduceSum <keepdims = 0> (r, slices) }> }""",
     [({"x": A, "n": np.int64(n)}, [A, np.zeros((n, 1, 3), np.float32)]) for n in (1, 2)], {"two": i64(2), "rows": i64([0]), "slices": i64([0, 1])}, near=1e-5)

Case("a convolution of what a loop stacks", """g (float[2, 5] x, int64 n) => (float[a, 3, 3] y) {
  f, v = Loop (n, , x) <body = b (int64 i, bool go, float[] s) => (bool more, float[] t, float[] w) { more = Identity (go)  t = Neg (s)  w = Identity (s) }>
  y = Conv (v, k) }""",
     [({"x": (x := values(2, 5)), "n": np.int64(n)}, [np.stack([(-1) ** i * np.stack([(K * x[:, p:p + 3]).sum((1, 2)) for p in range(3)], -1) for i in range(n)])]) for n in (1, 4)], {"k": K}, near=1e-5)

Case("sequences mapped inside of each other", """g (float[2, 3] x) => (float[a, b] y) {
  q = SequenceConstruct (x, x)
  r = SequenceMap (q) <body = outer (float[] e) => (float[] o) {
      p = SequenceConstruct (e, e, e)
      d = SequenceMap (p) <body = inner (float[] e2) => (float[] o2) { o2 = Concat <axis = 0> (e2, e2) }>
      o = SequenceAt (d, zero) }>
  y = SequenceAt (r, zero) }""", [({"x": A}, [np.concatenate([A, A])])], {"zero": i64(0)})

# The result has an extent without bound in general, and one that is known where p and the constant are of one shape: a caller gets both in the same way.
ADDED = values(4, seed=9)


def spread(n, m):
    s = values(n)
    for _ in range(m):
        s = s + ADDED
    return s


Case("a carried value spreads", """g (float[n] p, int64 m) => (float[k] y) {
  y = Loop (m, , p) <body = spread (int64 i, bool go, float[] s) => (bool more, float[] t) { more = Identity (go)  t = Add (s, added) }> }""",
     [({"p": values(n), "m": np.int64(m)}, [spread(n, m)]) for n in (1, 4) for m in (0, 1, 3)], {"added": ADDED})

# A condition that is stacked, too, lies in the row of its iteration.
Case("a branch by what the loop stacks", """g (float[n] x, int64 m) => (bool[m] large, float[m, n] y) {
  large, y = Loop (m, , ) <body = b (int64 i, bool go) => (bool more, bool is_large, float[] t) {
      more = Identity (go)
      is_large = Greater (i, two)
      t = If (is_large) <then_branch = yes () => (float[] a) { a = Neg (x) }, else_branch = no () => (float[] b) { b = Identity (x) }> }> }""",
     [({"x": (x := values(3)), "m": np.int64(m)}, [np.arange(m) > 2, np.stack([-x if i > 2 else x for i in range(m)])]) for m in (1, 5)], {"two": np.int64(2)})

Case("an inner loop that ends by what the outer one stacks", """g (int64 m) => (bool[m] small, int64[m] y) {
  small, y = Loop (m, , ) <body = outer (int64 i, bool go) => (bool more, bool is_small, int64 last) {
      more = Identity (go)
      is_small = Less (i, two)
      last = Loop (ten, is_small, zero) <body = inner (int64 j, bool go2, int64 s) => (bool more2, int64 t) { t = Add (s, one)  more2 = Less (t, three) }> }> }""",
     [({"m": np.int64(4)}, [np.array([True, True, False, False]), i64([3, 3, 0, 0])])], {"zero": i64(0), "one": i64(1), "two": i64(2), "three": i64(3), "ten": i64(10)})
