"""Functions of a model: attributes that a call leaves out get the function's defaults, and attributes without one are left out within too."""
import numpy as np

from case import Case, f32, i64, values

X = f32([-2, -0.5, 0, 3])


def elu(x, alpha):
    return f32(np.where(x < 0, np.float32(alpha) * np.expm1(x), x))


BEND = """<domain: "own", opset_import: ["" : 21]>
Bend <height: float = 2.0> (x) => (y) { y = Elu <alpha: float = @height> (x) }
"""
Case("a default of kind float", "g (float[4] x) => (float[4] y, float[4] z) { y = own.Bend (x)  z = own.Bend <height = 0.5> (x) }",
     [({"x": X}, [elu(X, 2), elu(X, 0.5)])], functions=BEND, near=1e-6)

A = values(2, 5)
Case("a default of kind int, which shapes depend on", "g (float[2, 5] x) => (float y, float[1, 1] z) { y = own.Top (x)  z = own.Top <keep = 1> (x) }",
     [({"x": A}, [A.max(), A.max().reshape(1, 1)])], functions="""<domain: "own", opset_import: ["" : 21]>
Top <keep: int = 0> (x) => (y) { y = ReduceMax <keepdims: int = @keep> (x) }
""")

Case("a default of kind ints", "g (float[2, 5] x) => (float[5, 2] y) { y = own.Turn (x) }", [({"x": A}, [A.T])], functions="""<domain: "own", opset_import: ["" : 21]>
Turn <order: ints = [1, 0]> (x) => (y) { y = Transpose <perm: ints = @order> (x) }
""")

Case("a default of kind floats, as a constant", "g (float[3] x) => (float[3] y) { y = own.Scaled (x) }", [({"x": f32([3, 2, 1])}, [f32([3, 4, 4])])],
     functions="""<domain: "own", opset_import: ["" : 21]>
Scaled <factors: floats = [1.0, 2.0, 4.0]> (x) => (y) { c = Constant <value_floats: floats = @factors> ()  y = Mul (x, c) }
""")

Case("a default of kind string", "g (float[2, 5] x, int64[1] at) => (float[2, 5] y) { y = own.Put (x, at) }",
     [({"x": A, "at": i64([1])}, [np.stack([A[0], A[1] + 1])])], functions="""<domain: "own", opset_import: ["" : 21]>
Put <how: string = "add"> (x, at) => (y) {
  one = Constant <value = float[1, 5] {1.0, 1.0, 1.0, 1.0, 1.0}> ()
  minus = Constant <value_ints = [-1, 1]> ()
  where = Reshape (at, minus)
  y = ScatterND <reduction: string = @how> (x, where, one)
}
""")

Case("a default of kind tensor", "g (float[2] x) => (float[2] y) { y = own.Shift (x) }", [({"x": f32([1, 2])}, [f32([11, 22])])],
     functions="""<domain: "own", opset_import: ["" : 21]>
Shift <by: tensor = float[2] {10.0, 20.0}> (x) => (y) { c = Constant <value: tensor = @by> ()  y = Add (x, c) }
""")

# A call within a function leaves attributes out, states them, or passes on what the outer call leaves out.
NESTED = BEND + """<domain: "own", opset_import: ["" : 21, "own" : 1]>
Twice <height: float = 3.0> (x) => (y, z) { y = own.Bend (x)  z = own.Bend <height: float = @height> (x) }
<domain: "own", opset_import: ["" : 21, "own" : 1]>
Passes <height> (x) => (y) { y = own.Bend <height: float = @height> (x) }
"""
Case("calls within functions", "g (float[4] x) => (float[4] a, float[4] b, float[4] c) { a, b = own.Twice (x)  c, d = own.Twice <height = 0.25> (x) }",
     [({"x": X}, [elu(X, 2), elu(X, 3), elu(X, 2)])], functions=NESTED, near=1e-6)
Case("an attribute without a default, left out", "g (float[4] x) => (float[4] a, float[4] b, float[4] c) { a = own.Passes (x)  b = own.Passes <height = 5.0> (x)  c = own.Passes (b) }",
     [({"x": X}, [elu(X, 2), elu(X, 5), elu(elu(X, 5), 2)])], functions=NESTED, near=1e-6)

Case("a default within a branch", """g (float[4] x, bool c) => (float[4] y) {
  y = If (c) <then_branch = t () => (float[4] u) { u = own.Bend (x) }, else_branch = e () => (float[4] v) { v = own.Bend <height = 7.0> (x) }>
}""", [({"x": X, "c": np.array(True)}, [elu(X, 2)]), ({"x": X, "c": np.array(False)}, [elu(X, 7)])], functions=BEND, near=1e-6)

# Nodes in any order, in branches and in the body of a function as well.
Case("nodes that are out of order", """g (float[4] x, bool c) => (float[4] y, float[4] z) {
  y = Add (s, b)
  b = If (c) <then_branch = t () => (float[4] u) { u = Neg (v)  v = Mul (s, x) }, else_branch = e () => (float[4] w) { w = Identity (n) }>
  z = own.Late (b)
  n = Neg (x)
  s = Add (x, x)
}""", [({"x": X, "c": np.array(True)}, [2 * X - 2 * X * X, 2 * X * X + 1]), ({"x": X, "c": np.array(False)}, [X, X + 1])], options=["--repair"],
     functions="""<domain: "own", opset_import: ["" : 21]>
Late (x) => (y) { y = Add (n, one)  n = Neg (x)  one = Constant <value_float = 1.0> () }
""", near=1e-6)
