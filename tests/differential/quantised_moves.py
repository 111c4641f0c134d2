"""Layers of two operands, pools, functions, moves, and ends of a network."""
import numpy as np

from quantised_layers import added, as_before, finish, layer, output_kind, pick, softmax_of
from quantised_network import MICROSOFT, Ambiguous, Real, U, bound, evaluate


# ---- two operands

def same_shape(n, q):
    return n.d.among([other for other in n.quantised if other.array.shape == q.array.shape and other.array.dtype == q.array.dtype])


@layer(3)
def binary(n):
    d = n.d
    a = pick(n)
    op = d.one("Add", "Add", "Mul")
    b = same_shape(n, a)
    if a.array.dtype.itemsize == 1 and d.chance(0.3):
        x, y = n.dequantised(a, None), n.dequantised(b, None)
        real = evaluate(op, x.array, y.array)
        off = x.off + y.off + 3 * U * (np.abs(x.array) + np.abs(y.array)) if op == "Add" else np.abs(x.array) * y.off + np.abs(y.array) * x.off + 3 * U * np.abs(real)
        c = n.constant
        return n.quantise(Real(None, real, off.astype(np.float64)), a.array.dtype, lambda scale, zero: n.node(
            f"QLinear{op}", a.name, c(a.scale, "scale"), c(a.zero, "zero"), b.name, c(b.scale, "scale"), c(b.zero, "zero"), scale, zero, domain=MICROSOFT))
    return finish(n, added(n, n.dequantise(a), n.dequantise(b), op), a.array.dtype)


@layer(2)
def concat(n):
    d = n.d
    a = pick(n, (2, 3, 4, 5))
    parts = [a] + [same_shape(n, a) for _ in range(d.int(1, 2))]
    axis = d.int(1, a.array.ndim - 1)
    if a.array.size * len(parts) > 8000:
        raise Ambiguous("large")
    if a.array.dtype.itemsize == 1 and d.chance(0.3):
        real = [n.dequantised(q, None) for q in parts]
        known = Real(None, np.concatenate([r.array for r in real], axis), np.concatenate([r.off for r in real], axis))
        operands = lambda: [name for q in parts for name in (q.name, n.constant(q.scale, "scale"), n.constant(q.zero, "zero"))]
        return n.quantise(known, a.array.dtype, lambda scale, zero: n.node("QLinearConcat", scale, zero, *operands(), domain=MICROSOFT, axis=axis))
    real = [n.dequantise(q) for q in parts]
    name = n.node("Concat", *(r.name for r in real), axis=axis)
    unit = min(r.unit for r in real) if all(r.unit is not None for r in real) else None
    known = Real(name, n.arrays[name], np.concatenate([r.off for r in real], axis), unit)
    if all(q.scale == a.scale and q.zero == a.zero for q in parts) and d.chance(0.7):
        return as_before(n, known, a)
    return finish(n, known, a.array.dtype)


# ---- one operand

@layer(3)
def pool(n):
    d = n.d
    q = pick(n, (3, 4, 5))
    rank = q.array.ndim - 2
    op = d.one("MaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean", "GlobalMaxPool")
    attributes, inputs = {}, []
    if op in ("MaxPool", "AveragePool"):
        kernel = [d.int(1, min(3, e)) for e in q.array.shape[2:]]
        attributes = {"kernel_shape": kernel, "strides": [d.int(1, 2) for _ in kernel]}
        if d.chance(0.5):
            attributes["pads"] = [d.int(0, k - 1) for k in kernel] + [d.int(0, k - 1) for k in kernel]
        if op == "AveragePool":
            attributes["count_include_pad"] = d.int(0, 1)
        if d.chance(0.2):
            attributes["ceil_mode"] = 1
    terms = int(np.prod(attributes.get("kernel_shape", q.array.shape[2:])))
    if op == "ReduceMean":
        inputs = [np.arange(2, 2 + rank)]
        attributes = {"keepdims": d.int(0, 1)}
    if q.array.dtype.itemsize == 1 and rank == 2 and op in ("AveragePool", "GlobalAveragePool") and d.chance(0.4):
        x = n.dequantised(q, None)
        array = evaluate(op, x.array, **attributes)
        known = Real(None, array, bound(op, x.off, **attributes) + (terms + 3) * U * bound(op, np.abs(x.array), **attributes))
        return n.quantise(known, q.array.dtype, lambda scale, zero: n.node(f"QLinear{op}", q.name, n.constant(q.scale, "scale"), n.constant(q.zero, "zero"), scale, zero, domain=MICROSOFT, **attributes))
    x = n.dequantise(q)
    name = n.node(op, x.name, *(n.constant(array) for array in inputs), **attributes)
    array = n.arrays[name]
    if "Max" in op:
        low, high = evaluate(op, x.array - x.off, **attributes), evaluate(op, x.array + x.off, **attributes)
        known = Real(name, array, np.maximum(high - array, array - low).astype(np.float64) if x.off.any() else np.zeros(array.shape), x.unit)
        return as_before(n, known, q) if d.chance(0.5) else finish(n, known, q.array.dtype)
    whole = x.unit is not None and terms & (terms - 1) == 0 and "pads" not in attributes and "ceil_mode" not in attributes
    if whole and np.abs(x.array).max(initial=0) * terms / x.unit < 2**24:
        return finish(n, Real(name, array, np.zeros(array.shape), x.unit / terms), q.array.dtype)
    off = bound(op, x.off, *inputs, **attributes) + (terms + 3) * U * bound(op, np.abs(x.array), *inputs, **attributes)
    return finish(n, Real(name, array, off), q.array.dtype)


@layer(2)
def function(n):
    """A function alone between scales, and com.microsoft's forms of two."""
    d = n.d
    q = pick(n)
    if q.array.dtype.itemsize == 1 and d.chance(0.3):
        x = n.dequantised(q, None)
        op, attributes = d.one(("Sigmoid", {}), ("LeakyRelu", {"alpha": 0.125}))
        array = evaluate(op, x.array, **attributes)
        known = Real(None, array, x.off + (32 * U if op == "Sigmoid" else 2 * U * np.abs(array).astype(np.float64)))
        return n.quantise(known, q.array.dtype, lambda scale, zero: n.node(f"QLinear{op}", q.name, n.constant(q.scale, "scale"), n.constant(q.zero, "zero"), scale, zero, domain=MICROSOFT, **attributes))
    return finish(n, n.dequantise(q), q.array.dtype)


@layer(2)
def requantise(n):
    q = pick(n)
    return n.quantise(n.dequantise(q), np.dtype(n.d.one(q.array.dtype, np.uint8, np.int8)))


@layer(3)
def move(n):
    d = n.d
    q = pick(n)
    x, rank = n.dequantise(q), q.array.ndim
    kind = d.one("Transpose", "Reshape", "Slice", "Pad", "Resize", "Squeeze", "Flatten")
    ints = lambda values: n.constant(np.array(values, np.int64))
    shape = list(q.array.shape)
    same = True
    attributes = {}
    if kind == "Transpose":
        attributes, inputs = {"perm": [0] + [1 + p for p in d.permutation(rank - 1)]}, []
    elif kind == "Reshape":
        if rank < 3:
            raise Ambiguous("nothing to reshape")
        inputs = [ints([0, *shape[1:-2], -1])] if d.chance(0.6) or rank < 4 else [ints([0, -1])]
    elif kind == "Flatten":
        inputs = []
    elif kind == "Squeeze":
        inputs = [ints([rank])]
        kind = "Unsqueeze"
        if rank > 4:
            raise Ambiguous("rank")
    elif kind == "Slice":
        axis = d.int(1, rank - 1)
        step = d.one(1, 1, 2, -1)
        start, end = (d.int(0, shape[axis] - 1), 2**40) if step > 0 else (-1, -(2**40))
        inputs = [ints([start]), ints([end]), ints([axis]), ints([step])]
    elif kind == "Pad":
        if rank < 3:
            raise Ambiguous("rank")
        pads = [0, 0] + [d.int(0, 1) for _ in shape[2:]] + [0, 0] + [d.int(0, 1) for _ in shape[2:]]
        mode = d.one("constant", "constant", "edge", "reflect")
        if mode == "reflect" and min(shape[2:]) < 2:
            raise Ambiguous("too small")
        attributes, inputs = {"mode": mode}, [ints(pads)] + ([n.constant(np.float32(d.one(0, 1)))] if mode == "constant" and d.chance(0.4) else [])
        same = False
    else:
        if rank != 4 or q.array.size > 1500:
            raise Ambiguous("rank")
        mode = d.one("nearest", "nearest", "linear")
        attributes = {"mode": mode, "coordinate_transformation_mode": d.one("asymmetric", "half_pixel")} | ({"nearest_mode": "floor"} if mode == "nearest" else {})
        inputs = [None, n.constant(np.array([1, 1, 2, 2], np.float32))]
        same = mode == "nearest"
    name = n.node(kind, x.name, *inputs, **attributes)
    array = n.arrays[name]
    values = [n.arrays[i] if i else None for i in inputs]
    if kind == "Pad":  # bounds of what is beside the image are 0
        values = values[:1]
    off = bound(kind, x.off, *values, **attributes)
    if kind == "Resize" and not same:
        return finish(n, Real(name, array, off + 6 * U * bound(kind, np.abs(x.array), *values, **attributes)), q.array.dtype)
    unit = x.unit if kind != "Pad" or (x.unit is not None and x.unit <= 1) else None
    known = Real(name, array, off if unit is not None or x.unit is None else off + U * np.abs(array), unit)
    if n.d.chance(0.75) and same:
        return as_before(n, known, q)
    return finish(n, known, q.array.dtype)


# ---- ends

@layer(1)
def tail(n):
    """Softmax or LayerNormalization, as a float result or quantised once more."""
    d = n.d
    q = pick(n, (2, 3))
    x = n.dequantise(q)
    if d.chance(0.6):
        y = softmax_of(n, x)
    else:
        size = x.array.shape[-1]
        if size < 4:
            raise Ambiguous("few values")
        gain, bias = (np.asarray(d.rng.integers(-8, 9, size) / 8).astype(np.float32) for _ in range(2))
        name = n.node("LayerNormalization", x.name, n.constant(gain), n.constant(bias), axis=-1, epsilon=1e-2)
        deviation = np.sqrt(x.array.astype(np.float64).var(-1, keepdims=True) + 1e-2)
        # Mean, deviation and quotient of values of this size: each loses (size + 8) u of what it adds up.
        size_of_x = np.abs(x.array).max(-1, keepdims=True).astype(np.float64)
        off = np.abs(gain) * 3 * (x.off.max(-1, keepdims=True) + (size + 8) * U * size_of_x) / deviation * (1 + size_of_x / deviation) + 4 * U * np.abs(n.arrays[name])
        y = Real(name, n.arrays[name], off)
    if d.chance(0.5):
        return n.quantise(y, output_kind(n, q.array.dtype))
    n.ends.append(y)
    return y
