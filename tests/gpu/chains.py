"""Attention and norms as exporters write them, and what is nearly such: which kernel computes them on a GPU, how many copies attention needs, and that results are ONNX
Runtime's, in the emulator of GPUs."""
import pathlib
import re
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

import onnxc

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from networks import reference  # noqa: E402
from units import Unit, emit, judged_in_groups  # noqa: E402

OPTIONS = ("--target=cuda-sm80+x86-64-v3", "--devices=gpu,cpu", "--weights=array")
RANDOM = np.random.default_rng(11)
FORMS = []


class Form:
    """`kernel`: attention, attention_decode or norm, or nothing where each node has its own. `moves`: steps that only copy. `inputs`: extents by name; numbers of other
    kinds are arrays. A name in the place of an extent is a dynamic dimension of the size that `sizes` says."""

    def __init__(self, title, kernel, moves, inputs, text, constants=None, output="y", sizes=None, options=()):
        sizes = sizes or {}
        self.title, self.kernel, self.moves, self.options = title, kernel, moves, options
        self.feeds, declared = {}, []
        for name, shape in inputs.items():
            if isinstance(shape, np.ndarray):
                value, names = shape, shape.shape
            else:
                value, names = RANDOM.normal(size=[sizes.get(e, e) for e in shape]).astype(np.float32), shape
            self.feeds[name] = value
            declared.append(f"{'bool' if value.dtype == bool else 'float'}[{', '.join(map(str, names))}] {name}")
        outputs = ", ".join(f"float[{', '.join('?' * rank)}] {name}" for name, rank in (part.split(":") if ":" in part else (part, 4) for part in output.split()) for rank in [int(rank)])
        self.model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g ({", ".join(declared)}) => ({outputs}) {{ {text} }}')
        for name, value in (constants or {}).items():
            self.model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        FORMS.append(self)


def f32(*values):
    return np.asarray(values if len(values) > 1 else values[0], np.float32)


def i64(*values):
    return np.asarray(values, np.int64)


QKV = {"q": [2, 4, 70, 32], "k": [2, 4, 32, 75], "v": [2, 4, 75, 32]}
FIRST, LAST = "s = MatMul (q, k) ", "p = Softmax <axis = -1> (m) y = MatMul (p, v)"

# Where k lies as the product wants it, its rows are packed.
Form("without a scale", "attention", 1, QKV, "m = MatMul (q, k) " + LAST)
for title, scale in {"a factor": "m = Mul (s, c)", "a factor ahead": "m = Mul (c, s)", "a divisor": "m = Div (s, c)"}.items():
    Form(title, "attention", 1, QKV, FIRST + scale + LAST, {"c": f32(0.3)})
Form("a factor of q", "attention", 1, QKV, "t = Mul (q, c) m = MatMul (t, k) " + LAST, {"c": f32(0.3)})
Form("a divisor of k", "attention", 1, QKV, "t = Div (k, c) m = MatMul (q, t) " + LAST, {"c": f32(3)})
Form("factors of both", "attention", 1, QKV, "t = Mul (q, c) u = Mul (c, k) m = MatMul (t, u) " + LAST, {"c": f32(0.5)})
Form("a factor of each element of k", "attention", 1, QKV, "t = Mul (k, c) m = MatMul (q, t) " + LAST, {"c": RANDOM.normal(size=[32, 1]).astype(np.float32)})
Form("a quotient by scores", None, 0, QKV, FIRST + "e = Exp (s) m = Div (c, e) " + LAST, {"c": f32(0.3)})

# Masks.
for shape in ([70, 75], [75], [1, 1, 70, 75], [2, 1, 1, 75], [2, 1, 70, 75], [2, 4, 70, 75], [70, 1], [4, 1, 1], [1, 1, 1, 1]):
    Form(f"a mask of {shape}", "attention", 1, {**QKV, "mask": shape}, FIRST + "t = Mul (s, c) m = Add (t, mask) " + LAST, {"c": f32(0.3)})
Form("a mask ahead", "attention", 1, {**QKV, "mask": [70, 75]}, FIRST + "m = Add (mask, s) " + LAST)
Form("a mask before the scale", "attention", 1, {**QKV, "mask": [70, 75]}, FIRST + "t = Add (s, mask) m = Mul (t, c) " + LAST, {"c": f32(0.3)})
Form("a mask that multiplies", "attention", 1, {**QKV, "mask": [70, 75]}, FIRST + "m = Mul (s, mask) " + LAST)
Form("two masks", "attention", 1, {**QKV, "mask": [70, 75], "other": [2, 1, 1, 75]}, FIRST + "t = Add (s, mask) m = Add (t, other) " + LAST)
CHOSEN = RANDOM.random(size=[2, 1, 70, 75]) < 0.7
Form("a mask that chooses", "attention", 1, {**QKV, "mask": CHOSEN}, FIRST + "m = Where (mask, s, c) " + LAST, {"c": f32(-1e9)})
Form("a mask that chooses the other", "attention", 1, {**QKV, "mask": CHOSEN}, FIRST + "t = Mul (s, d) m = Where (mask, c, t) " + LAST, {"c": f32(-3e38), "d": f32(0.2)})
Form("a mask that chooses, and one that is added", "attention", 1, {**QKV, "mask": CHOSEN, "bias": [4, 70, 75]}, FIRST + "t = Where (mask, s, c) m = Add (t, bias) " + LAST, {"c": f32(-1e4)})
Form("scores choose themselves", None, 0, QKV, FIRST + "z = Greater (s, d) m = Where (z, s, c) " + LAST, {"c": f32(-1), "d": f32(0)})
Form("a soft cap", "attention", 1, {**QKV, "mask": [70, 75]}, FIRST + "t = Div (s, c) u = Tanh (t) w = Mul (u, c) m = Add (w, mask) " + LAST, {"c": f32(3)})
Form("scores that are cut", None, 0, QKV, FIRST + "m = Clip (s, a, b) " + LAST, {"a": f32(-1), "b": f32(1)})
NONE = np.zeros([70, 75], np.float32)
NONE[3] = NONE[5, 1:] = -np.inf
Form("a row without keys", "attention", 1, {**QKV, "mask": NONE}, FIRST + "m = Add (s, mask) " + LAST)
Form("a row without keys that counts as zeros", "attention", 1, {**QKV, "mask": NONE},
     FIRST + "m = Add (s, mask) t = Softmax <axis = -1> (m) n = IsNaN (t) p = Where (n, z, t) y = MatMul (p, v)", {"z": f32(0)})
Form("rows that are cleared", "attention", 1, {**QKV, "mask": NONE},
     FIRST + "m = Add (s, mask) t = Softmax <axis = -1> (m) h = ReduceMax <keepdims = 1> (mask, a) n = Equal (h, i) p = Where (n, z, t) y = MatMul (p, v)",
     {"z": f32(0), "i": f32(-np.inf), "a": i64(-1)})
Form("elements that are cleared", None, 0, {**QKV, "mask": CHOSEN}, FIRST + "t = Softmax <axis = -1> (s) p = Where (mask, z, t) y = MatMul (p, v)", {"z": f32(0)})

# Near misses.
Form("another axis", None, 0, QKV, FIRST + "p = Softmax <axis = 2> (s) y = MatMul (p, v)")
Form("scores that are an output", None, 0, QKV, FIRST + "p = Softmax <axis = -1> (s) y = MatMul (p, v)", output="y s")
Form("scores that another node reads", None, 0, QKV, FIRST + "p = Softmax <axis = -1> (s) y = MatMul (p, v) z = ReduceMax <keepdims = 1> (s, a)", {"a": i64(-1)}, output="y z")
Form("probabilities that are an output", None, 0, QKV, "m = MatMul (q, k) " + LAST, output="y p")
Form("probabilities that are scaled", None, 0, QKV, FIRST + "t = Softmax <axis = -1> (s) p = Mul (t, c) y = MatMul (p, v)", {"c": f32(2)})
Form("a mask that makes more heads", None, 0, {"q": [1, 1, 10, 32], "k": [1, 1, 32, 12], "v": [1, 4, 12, 32], "mask": [1, 4, 1, 12]}, FIRST + "m = Add (s, mask) " + LAST)
Form("values of more heads", None, 0, {"q": [1, 10, 32], "k": [1, 32, 12], "v": [4, 12, 32]}, "m = MatMul (q, k) " + LAST, output="y:3")
Form("long rows", None, 0, {"q": [10, 160], "k": [160, 12], "v": [12, 32]}, "m = MatMul (q, k) " + LAST, output="y:2")

# Other ranks, and operands that repeat.
Form("one head", "attention", 1, {"q": [800, 32], "k": [32, 75], "v": [75, 24]}, "m = MatMul (q, k) " + LAST, output="y:2")
Form("heads alone", "attention", 1, {"q": [6, 200, 64], "k": [6, 64, 75], "v": [6, 75, 64], "mask": [6, 200, 75]}, FIRST + "m = Add (s, mask) " + LAST, output="y:3")
Form("one head of keys", "attention", 1, {"q": [2, 4, 70, 32], "k": [2, 1, 32, 75], "v": [1, 75, 32]}, "m = MatMul (q, k) " + LAST)
Form("rows of no whole accesses", "attention", 3, {"q": [2, 4, 70, 30], "k": [2, 4, 30, 75], "v": [2, 4, 75, 18]}, "m = MatMul (q, k) " + LAST)

# Heads that lie beside each other.
SPLIT = {"x": [2, 70, 128], "z": [2, 75, 128]}
HEADS = """qs = Reshape (x, parts) ks = Reshape (z, parts) vs = Reshape (z, parts) q = Transpose <perm = [0, 2, 1, 3]> (qs) v = Transpose <perm = [0, 2, 1, 3]> (vs) """
KEYS = {"at once": "k = Transpose <perm = [0, 2, 3, 1]> (ks) ", "in two steps": "kt = Transpose <perm = [0, 2, 1, 3]> (ks) k = Transpose <perm = [0, 1, 3, 2]> (kt) ",
        "by way of three axes": "kt = Transpose <perm = [0, 2, 1, 3]> (ks) kr = Reshape (kt, three) ku = Transpose <perm = [0, 2, 1]> (kr) k = Reshape (ku, four) "}
BACK = " t = Transpose <perm = [0, 2, 1, 3]> (y) r = Reshape (t, whole) o = Neg (r)"
SHAPES = {"parts": i64(0, 0, 4, 32), "three": i64(8, -1, 32), "four": i64(2, 4, 32, -1), "whole": i64(0, 0, 128)}
for title, keys in KEYS.items():
    Form(f"keys that are transposed {title}", "attention", 0, SPLIT, HEADS + keys + "s = MatMul (q, k) m = Div (s, c) " + LAST + BACK, {**SHAPES, "c": f32(5.6)}, output="o:3")
Form("heads of any number of rows", "attention_any", 0, {"x": ["b", "n", 128], "z": ["b", "l", 128], "mask": ["b", 1, 1, "l"]},
     HEADS + KEYS["in two steps"] + FIRST + "m = Add (s, mask) " + LAST + BACK, SHAPES, output="o:3", sizes={"b": 2, "n": 70, "l": 37})
Form("keys that are an output, too", "attention", 1, SPLIT, HEADS + KEYS["in two steps"] + "m = MatMul (q, k) " + LAST + BACK, SHAPES, output="o:3 kt")
Form("heads behind a Split", "attention", 0, {"x": [2, 70, 384]},
     "a, b, d = Split <axis = 2, num_outputs = 3> (x) " + HEADS.replace("(x, ", "(a, ").replace("ks = Reshape (z", "ks = Reshape (b").replace("(z, ", "(d, ") + KEYS["at once"] + "m = MatMul (q, k) " + LAST + BACK,
     SHAPES, output="o:3")
Form("heads behind a Gather", "attention", 0, {"x": [2, 70, 384]},
     """xr = Reshape (x, five) w = Transpose <perm = [2, 0, 3, 1, 4]> (xr) q = Gather <axis = 0> (w, zero) kt = Gather <axis = 0> (w, one) v = Gather <axis = 0> (w, last)
     k = Transpose <perm = [0, 1, 3, 2]> (kt) m = MatMul (q, k) """ + LAST + BACK,
     {**SHAPES, "five": i64(0, 0, 3, 4, 32), "zero": np.int64(0), "one": np.int64(1), "last": np.int64(-1)}, output="o:3")
Form("batches and heads as one axis", "attention", 0, SPLIT,
     HEADS.replace("q = Transpose", "qf = Transpose").replace("v = Transpose", "vf = Transpose") + """kf = Transpose <perm = [0, 2, 1, 3]> (ks)
     q = Reshape (qf, flat) kr = Reshape (kf, flat) v = Reshape (vf, flat) k = Transpose <perm = [0, 2, 1]> (kr) s = MatMul (q, k) m = Mul (s, c) p = Softmax <axis = -1> (m)
     yf = MatMul (p, v) y = Reshape (yf, four) """ + BACK, {**SHAPES, "flat": i64(8, -1, 32), "four": i64(2, 4, -1, 32), "c": f32(0.2)}, output="o:3")
Form("the first axis has the rows", "attention", 0, {"x": [70, 2, 128]},
     """qr = Reshape (x, flat) q = Transpose <perm = [1, 0, 2]> (qr) k = Transpose <perm = [1, 2, 0]> (qr) s = MatMul (q, k) m = Mul (s, c) p = Softmax <axis = -1> (m)
     y = MatMul (p, q) t = Transpose <perm = [1, 0, 2]> (y) r = Reshape (t, back) o = Neg (r)""", {"flat": i64(70, 16, 16), "back": i64(70, 2, -1), "c": f32(0.2)}, output="o:3")
Form("a mask of what q is", "attention", 3, {"x": [2, 4, 64, 64], "v": [2, 4, 64, 32]},
     "q = Transpose <perm = [0, 1, 3, 2]> (x) s = MatMul (q, x) m = Add (s, q) " + LAST)
GROUPS = {"q": [2, 6, "n", 64], "kc": [2, 2, "l", 64], "v0": [2, 2, "l", 64]}
REPEAT = "{0}u = Unsqueeze ({1}, two) {0}e = Expand ({0}u, five) {0}r = Reshape ({0}e, four) "
GROUPED = REPEAT.format("k", "kc") + REPEAT.format("v", "v0") + "k = Transpose <perm = [0, 1, 3, 2]> (kr) m = MatMul (q, k) p = Softmax <axis = -1> (m) y = MatMul (p, vr)"
OF_GROUPS = {"two": i64(2), "five": i64(1, 1, 3, 1, 1), "four": i64(2, 6, -1, 64)}
Form("heads that share keys", "attention_any", 0, GROUPS, GROUPED, OF_GROUPS, sizes={"n": 70, "l": 33})
Form("heads that share values alone", "attention_any", 2, {"q": GROUPS["q"], "k": [2, 6, 64, "l"], "v0": GROUPS["v0"]},
     REPEAT.format("v", "v0") + "m = MatMul (q, k) p = Softmax <axis = -1> (m) y = MatMul (p, vr)", OF_GROUPS, sizes={"n": 5, "l": 33})

# Few queries.
CACHE = {"q": [1, 6, 1, 64], "kc": [1, 2, 300, 64], "v0": [1, 2, 300, 64]}
Form("one query", "attention_decode", 0, CACHE, GROUPED, {**OF_GROUPS, "four": i64(1, 6, -1, 64)})
Form("one query of a growing cache", "attention_decode", 0, {**CACHE, "kc": [1, 2, "l", 64], "v0": [1, 2, "l", 64], "mask": [1, 1, 1, "l"]}, GROUPED.replace("m = MatMul (q, k)", "s = MatMul (q, k) m = Add (s, mask)"),
     {**OF_GROUPS, "four": i64(1, 6, -1, 64)}, sizes={"l": 45})
for n in (1, 70):
    Form(f"{n} queries of any number", "attention_any", 0, {"q": [1, 6, "n", 64], "kc": [1, 2, "l", 64], "v0": [1, 2, "l", 64], "mask": [1, 1, "n", "l"]},
         GROUPED.replace("m = MatMul (q, k)", "s = MatMul (q, k) m = Add (s, mask)"), {**OF_GROUPS, "four": i64(1, 6, -1, 64)}, sizes={"n": n, "l": 145})
Form("one query of any number of batches", "attention_any", 0, {"q": ["b", 2, 1, 32], "kt": ["b", 2, "l", 32], "v": ["b", 2, "l", 32]}, "k = Transpose <perm = [0, 1, 3, 2]> (kt) m = MatMul (q, k) " + LAST,
     sizes={"b": 2, "l": 45})
Form("few queries, of long rows", "attention_decode", 0, {"q": [1, 2, 3, 80], "kt": [1, 2, 500, 80], "v": [1, 2, 500, 80], "mask": RANDOM.random(size=[3, 500]) < 0.5},
     "k = Transpose <perm = [0, 1, 3, 2]> (kt) s = MatMul (q, k) m = Where (mask, s, c) " + LAST, {"c": f32(-np.inf)})
Form("many queries of long rows", "attention", 0, {"q": [1, 16, 130, 80], "kt": [1, 16, 130, 80], "v": [1, 16, 130, 80]}, "k = Transpose <perm = [0, 1, 3, 2]> (kt) m = MatMul (q, k) " + LAST)

# Norms, over the last axis.
ROWS, NUMBERS = {"x": [3, 20, 48]}, {"last": i64(-1), "two": f32(2), "eps": f32(1e-5), "g": RANDOM.normal(size=48).astype(np.float32), "b": RANDOM.normal(size=48).astype(np.float32)}
DIFFERENCE, VARIANCE = "m = ReduceMean (x, last) d = Sub (x, m) ", "q = Pow (d, two) v = ReduceMean (q, last) e = Add (v, eps) s = Sqrt (e) "
ROOT = "q = Pow (x, two) v = ReduceMean (q, last) e = Add (v, eps) s = Sqrt (e) "


def norm(title, kernel, text, inputs=ROWS, constants=None, **more):
    Form(title, kernel, 0, inputs, text, {**NUMBERS, **(constants or {})}, **{"output": "y:3", **more})


norm("a norm", "norm", DIFFERENCE + VARIANCE + "n = Div (d, s) t = Mul (n, g) y = Add (t, b)")
norm("a norm with its parts ahead", "norm", DIFFERENCE + VARIANCE.replace("Add (v, eps)", "Add (eps, v)") + "n = Div (d, s) t = Mul (g, n) y = Add (b, t)")
norm("a norm of squares by a product", "norm", DIFFERENCE + VARIANCE.replace("Pow (d, two)", "Mul (d, d)") + "n = Div (d, s) t = Mul (n, g) y = Add (t, b)")
norm("a norm by a reciprocal", "norm", DIFFERENCE + VARIANCE + "i = Reciprocal (s) n = Mul (d, i) y = Add (n, b)")
norm("a norm alone", "norm", DIFFERENCE + VARIANCE + "y = Div (d, s)")
norm("a norm of any number of rows", "norm", DIFFERENCE + VARIANCE + "n = Div (d, s) t = Mul (n, g) y = Add (t, b)", {"x": ["b0", "n0", 48]}, sizes={"b0": 2, "n0": 7})
norm("a root mean square", "norm", ROOT + "i = Reciprocal (s) n = Mul (x, i) y = Mul (g, n)")
norm("a root mean square that divides", "norm", ROOT + "n = Div (x, s) y = Mul (n, g)")
norm("a norm whose difference is an output", "norm", DIFFERENCE + VARIANCE + "n = Div (d, s) y = Mul (n, g)", output="y:3 d:3")
norm("a norm around the mean of another", "norm", "m = ReduceMean (z, last) d = Sub (x, m) " + VARIANCE + "y = Div (d, s)", {"x": [3, 20, 48], "z": [3, 20, 48]})
norm("a norm of one row, by itself", None, DIFFERENCE + VARIANCE + "n = Div (d, s) y = Mul (n, d)", {"x": [1, 1, 48]})
norm("a norm over another axis", None, (DIFFERENCE + VARIANCE).replace("last", "other") + "y = Div (d, s)", constants={"other": i64(1)})
norm("a norm of one element less", None, DIFFERENCE + "q = Mul (d, d) u = ReduceSum (q, last) v = Div (u, less) e = Add (v, eps) s = Sqrt (e) y = Div (d, s)", constants={"less": f32(47)})
norm("an epsilon behind the root", None, DIFFERENCE + "q = Mul (d, d) v = ReduceMean (q, last) r = Sqrt (v) s = Add (r, eps) y = Div (d, s)")
norm("a norm that is turned", None, DIFFERENCE + VARIANCE + "y = Div (s, d)")
norm("cubes", None, DIFFERENCE + VARIANCE + "y = Div (d, s)", constants={"two": f32(4)})
norm("a scale of each row", None, DIFFERENCE + VARIANCE + "n = Div (d, s) y = Mul (n, h)", constants={"h": RANDOM.normal(size=[20, 1]).astype(np.float32)})
norm("a deviation that is an output", None, DIFFERENCE + VARIANCE + "y = Div (d, s)", output="y:3 s:3")

Form("strictly", None, 0, QKV, "m = MatMul (q, k) " + LAST, options=("--math=strict",))


def units(form):
    return [Unit(form.model, (*OPTIONS, *form.options))]


def judge(form, session):
    if isinstance(session, onnxc.CompileError):
        return str(session)
    with np.errstate(all="ignore"):
        wanted, found = reference(form.model, form.feeds), session.run(None, form.feeds)
    for a, e in zip(found, wanted, strict=True):
        # Scores of some 40 are off by a few units of 2^-18, and so is the share of a key in a result of the size of 1.
        if a.shape != e.shape or not np.allclose(a, e, rtol=1e-4, atol=4e-5, equal_nan=True):
            return f"largest error {np.nanmax(np.abs(a - e)) if a.shape == e.shape else a.shape}"
    text = "".join(content.decode() for content in emit(units(form)[0], "unit").files.values() if b"gpu::" in content)
    kernels = re.findall(r"gpu::(attention\w*|norm)<", text)
    if kernels != ([form.kernel] if form.kernel else []):
        return f"its kernels are {kernels}"
    moves = len(re.findall(r"gpu::(?:copy_strided|pack_rows)\(", text))
    if form.kernel and form.kernel != "norm" and moves != form.moves:
        return f"{moves} copies"
    return None


def main():
    warnings.simplefilter("ignore")
    failed = 0
    for form, problem in zip(FORMS, judged_in_groups(FORMS, units, judge), strict=True):
        if problem is not None:
            print(f"FAILED {form.title}: {problem}")
            failed += 1
    print(f"{len(FORMS) - failed} chains are right, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
