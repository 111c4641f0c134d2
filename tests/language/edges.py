"""Values at the edges of what ONNX allows: pads that crop more than what they add, steps longer than any axis, conditions of other ranks."""
import sys

import numpy as np

from case import Case, i64, values


def padded(x, pads, value=0):
    """By index, as the specification has it: y[o] = x[o - before], where there is such an element."""
    rank = x.ndim
    y = np.full([n + pads[k] + pads[rank + k] for k, n in enumerate(x.shape)], value, x.dtype)
    for at in np.ndindex(y.shape):
        source = tuple(o - pads[k] for k, o in enumerate(at))
        if all(0 <= s < n for s, n in zip(source, x.shape)):
            y[at] = x[source]
    return y


# What is cropped on one side reaches into what is padded on the other, or takes all of the input.
for pads in ([0, 2, 0, -2], [0, 1, 0, -2], [-2, 1, 1, -2], [3, 0, -4, 0], [0, -1, 0, 3], [2, 3, -3, -3], [-3, 0, 4, 0]):
    shapes = [s for s in ((3, 1), (3, 2), (3, 5)) if all(s[k] + pads[k] + pads[2 + k] >= 0 for k in range(2))]
    Case(f"pads {pads}", "g (float[n, k] x) => (float[a, b] y) { y = Pad (x, pads) }", [({"x": (x := values(*s))}, [padded(x, pads)]) for s in shapes], {"pads": i64(pads)})
    for s in shapes[:1]:
        Case(f"pads {pads} of {list(s)}", f"g (float[{s[0]}, {s[1]}] x) => (float[a, b] y) {{ y = Pad (x, pads) }}", [({"x": (x := values(*s))}, [padded(x, pads)])], {"pads": i64(pads)})
Case("pads that crop, by attributes", "g (float[3, 1] x) => (float[3, 1] y) { y = Pad <pads = [0, 2, 0, -2], value = 7.0> (x) }", [({"x": values(3, 1)}, [np.full((3, 1), 7, np.float32)])], opset=10)

# Only the first, or the last, is taken; how many there are does not matter.
LONGEST = sys.maxsize
for start, end, step in ((0, LONGEST, LONGEST), (0, LONGEST, 2**62), (1, LONGEST, 2**40), (LONGEST, -LONGEST - 1, -(2**62)), (LONGEST, -LONGEST - 1, -LONGEST - 1)):
    Case(f"every {step}th from {start}", "g (float[n, k] x) => (float[n, m] y) { y = Slice (x, starts, ends, axes, steps) }",
         [({"x": (x := values(2, k))}, [x[:, start:end:step] if step > 0 else x[:, ::-1][:, :1]]) for k in (0, 1, 2, 5)],
         {"starts": i64([start]), "ends": i64([end]), "axes": i64([1]), "steps": i64([step])})

# A condition has one element, of whatever rank.
BODY = """body (int64 i, bool c, float[2, 3] s) => (bool more, float[2, 3] t) { h = ReduceMax (s)  more = Cast <to = 9> (h)  t = Neg (s) }"""
X = values(2, 3)
Case("a body's condition of rank 2", f"g (float[2, 3] x, int64 m) => (float[2, 3] y) {{ y = Loop (m, , x) <body = {BODY}> }}",
     [({"x": X, "m": np.int64(m)}, [X * (-1) ** m]) for m in (0, 1, 2)] + [({"x": X * 0, "m": np.int64(5)}, [X * 0])])
Case("a first condition of rank 2", "g (float[2, 3] x, bool[1, 1] c) => (float[2, 3] y) { m = Constant <value_int = 3> ()  y = Loop (m, c, x) <body = b (int64 i, bool go, float[2, 3] s) => (bool more, float[2, 3] t) "
     "{ more = Identity (go)  t = Neg (s) }> }", [({"x": X, "c": np.array([[c]])}, [-X if c else X]) for c in (True, False)])
