"""Random layers of a quantised network (quantised_network.py), in the forms that quantisers write: QDQ, QLinear, integer products, and what a dynamic quantiser makes."""
import ml_dtypes
import numpy as np

from quantised_network import MICROSOFT, U, Ambiguous, Real, bound, evaluate, is_power_of_two

LAYERS = {}


def layer(weight=1):
    def register(function):
        LAYERS[function.__name__] = (function, weight)
        return function
    return register


# ---- operands

def pick(n, ranks=None, of_eight_bits=False):
    """A quantised value of the network; the last ones more often."""
    found = [q for q in n.quantised if (ranks is None or q.array.ndim in ranks) and (not of_eight_bits or q.array.dtype.itemsize == 1)]
    if not found:
        raise Ambiguous("no such value")
    return found[-1] if n.d.chance(0.7) else n.d.among(found)


def output_kind(n, like):
    """Mostly the type that activations have already."""
    return np.dtype(n.d.one(like, like, like, like, like, np.uint8, np.int8, *((np.uint16, np.int16) if like.itemsize == 2 else ())))


class Weights:
    """Constant weights and their scales along `axis`: the name of the dequantised ones, the array, its bound, the unit."""

    def __init__(self, n, shape, axis, spread, kinds, block=None):
        d = n.d
        kind = np.dtype(d.among(kinds))
        info = ml_dtypes.iinfo(kind)
        low, high = int(info.min), int(info.max)
        self.q = np.asarray(d.rng.integers(low, high + 1, shape)).astype(kind) if d.chance(0.8) else np.asarray(d.rng.choice([low, high, 0, 1], shape)).astype(kind)
        channels = d.chance(0.5)
        self.attributes = {}
        self.scale_shape = [shape[axis]] if channels else []
        if channels:
            self.attributes["axis"] = axis - len(shape) if d.chance(0.2) else axis
        if block:
            self.attributes = {"axis": block[0], "block_size": block[1]}
            self.scale_shape = [-(-e // block[1]) if k == block[0] else e for k, e in enumerate(shape)]
        around = spread / max(-low, high, 1)
        scales = np.array([n.draw_scale(around) for _ in range(int(np.prod(self.scale_shape)))], np.float32)
        self.scale = scales.reshape(self.scale_shape)
        middle = 0 if low < 0 else (low + high + 1) // 2
        points = d.rng.integers(low, high + 1, self.scale_shape) if d.chance(0.2) else np.full(self.scale_shape, middle) if d.chance(0.9) else np.full(self.scale_shape, d.one(low, high))
        self.zero = np.asarray(points).astype(kind)
        self.absent_zero = not self.zero.astype(np.int64).any() and d.chance(0.3)
        self.n = n
        self.array = evaluate("DequantizeLinear", self.q, self.scale, self.zero, **self.attributes)
        exact = is_power_of_two(self.scale)
        self.off = np.zeros(shape) if exact else 2 * U * np.abs(self.array).astype(np.float64)
        self.unit = float(self.scale.min()) if exact else None

    def dequantised(self):
        n = self.n
        weights = n.input(self.q) if self.q.dtype.itemsize == 1 and self.q.dtype in (np.int8, np.uint8) and n.d.chance(0.06) else n.constant(self.q, "w")  # computed by what is not shown
        return n.node("DequantizeLinear", weights, n.constant(self.scale, "scale"), None if self.absent_zero else n.constant(self.zero, "zero"), **self.attributes)

    def real(self, name=None):
        return Real(name, self.array, self.off, self.unit)


def weight_kinds(n, bits4=True):
    return n.d.one([np.int8], [np.int8], [np.uint8], [ml_dtypes.int4, ml_dtypes.uint4] if bits4 else [np.int8])


# ---- bounds

def of_product(op, x, w, bias, array, terms, **attributes):
    """What is known of a product: Real without a name."""
    magnitude = bound(op, np.abs(x.array), np.abs(w.array), None if bias is None else np.abs(bias.array), **attributes)
    unit = x.unit * w.unit if x.unit is not None and w.unit is not None and (bias is None or bias.unit is not None) else None
    if unit is not None and bias is not None:
        unit = min(unit, bias.unit)
    if unit is not None and magnitude.max(initial=0) / unit < 2**24:
        return Real(None, array, np.zeros(array.shape), unit)
    off = (terms + 3) * U * magnitude + bound(op, x.off, np.abs(w.array), None if bias is None else bias.off, **attributes) + bound(op, np.abs(x.array) + x.off, w.off, **attributes)
    return Real(None, array, off)


def named(real, name):
    return Real(name, real.array, real.off, real.unit)


def rounded(array, off, terms=1):
    return Real(None, array, off + terms * U * np.abs(array).astype(np.float64))


def activated(n, x):
    """One of the functions behind a layer, or none."""
    d = n.d
    op = d.one(None, None, "Relu", "Relu", "Relu", "Clip", "LeakyRelu", "HardSwish", "Sigmoid", "Gelu", "HardSigmoid", "Tanh")
    if op is None or op == "Relu" and np.mean(x.array > 0) < 0.3:
        return x
    if op in ("Relu", "Clip"):
        bounds = []
        if op == "Clip":
            low = np.float32(d.one(0, 0, -1))
            bounds = [n.constant(low), n.constant(np.float32(d.one(6, 1, 2)))] if d.chance(0.9) else [n.constant(low)]
        unit = x.unit if x.unit is not None and x.unit <= 1 else None
        name = n.node(op, x.name, *bounds)
        return Real(name, n.arrays[name], x.off if unit is not None or x.unit is None else x.off + U * np.abs(x.array), unit)
    # Slope, and what the function is known to: polynomials of both programs are a few units of 1, or of x where the function grows with it.
    attributes = {"LeakyRelu": {"alpha": d.one(0.125, 0.1)}, "HardSigmoid": {"alpha": d.one(0.2, 0.125)}}.get(op, {})
    slope = {"LeakyRelu": 1, "HardSwish": 1.5, "Sigmoid": 0.25, "Gelu": 1.13, "HardSigmoid": 0.2, "Tanh": 1}[op]
    name = n.node(op, x.name, **attributes)
    magnitude = np.abs(x.array).astype(np.float64)
    own = {"LeakyRelu": 2 * U * magnitude, "HardSwish": 8 * U * (magnitude + 1), "Gelu": 32 * U * (magnitude + 1)}.get(op, 32 * U)
    return Real(name, n.arrays[name], slope * x.off + own)


def finish(n, x, kind):
    return n.quantise(activated(n, x), output_kind(n, kind))


# ---- products

def bias_for(n, x, w, channels):
    """(name, Real) of a bias as a quantiser writes it, i32 with the scale of the product, or as a float; or nothing."""
    d = n.d
    form = d.one("none", "integer", "integer", "float")
    if form == "none":
        return None, None
    product = np.asarray(x.scale * w.scale, np.float32)
    if form == "integer" and product.ndim <= 1:
        q = np.asarray(d.rng.integers(-3000, 3000, channels)).astype(np.int32)
        attributes = {"axis": 0} if product.ndim else {}
        name = n.node("DequantizeLinear", n.constant(q, "bias"), n.constant(product, "scale"), n.constant(np.zeros(product.shape, np.int32), "zero") if d.chance(0.5) else None, **attributes)
        array = n.arrays[name]
        exact = is_power_of_two(product)
        return name, Real(name, array, np.zeros(array.shape) if exact else 2 * U * np.abs(array).astype(np.float64), float(product.min()) if exact else None)
    # Multiples of 1/8 are exact.
    array = (np.asarray(d.rng.integers(-16, 17, channels)) / 8).astype(np.float32)
    return n.constant(array, "bias"), Real(None, array, np.zeros(array.shape), 0.125)


def window(n, x, c):
    """(channels out, group, shape of weights, attributes) of a convolution on x."""
    d, rank = n.d, x.array.ndim - 2
    how = d.one("dense", "dense", "depthwise", "grouped")
    group = {"dense": 1, "depthwise": c}.get(how) or d.among([g for g in range(1, c + 1) if c % g == 0])
    m = d.one(1, 3, 4, 8, 16, 19) if group == 1 else group * d.one(1, 1, 2, 4) if group < 24 else group
    kernel = [min(d.one(1, 3, 3, 5, 2) if rank < 3 else d.one(1, 2, 3), x.array.shape[2 + k] + 1) for k in range(rank)]
    dilations = [d.one(1, 1, 1, 2) for _ in range(rank)]
    attributes = {"group": group} if group > 1 else {}
    if d.chance(0.4):
        attributes["strides"] = [d.one(1, 2, 2, 3) for _ in range(rank)]
    if any(v > 1 for v in dilations):
        attributes["dilations"] = dilations
    if d.chance(0.15):
        attributes["auto_pad"] = d.one("SAME_UPPER", "SAME_LOWER", "VALID")
        attributes.pop("dilations", None)
    elif d.chance(0.8):
        reach = [(k - 1) * v for k, v in zip(kernel, dilations)]
        attributes["pads"] = [r // 2 for r in reach] * 2 if d.chance(0.6) else [d.int(0, r) for r in reach] + [d.int(0, r) for r in reach]
    reach = [(k - 1) * attributes.get("dilations", [1] * rank)[i] + 1 for i, k in enumerate(kernel)]
    if "auto_pad" not in attributes or attributes["auto_pad"] == "VALID":
        pads = attributes.get("pads", [0] * 2 * rank)
        if any(x.array.shape[2 + i] + pads[i] + pads[i + rank] < reach[i] for i in range(rank)):
            raise Ambiguous("the kernel is larger than the image")
    return m, [m, c // group, *kernel], attributes


@layer(10)
def convolution(n):
    d = n.d
    x = pick(n, (3, 4, 5))
    c = x.array.shape[1]
    m, shape, attributes = window(n, x, c)
    terms = int(np.prod(shape[1:]))
    eight = x.array.dtype.itemsize == 1
    form = d.one("qdq", "qdq", "qdq", "qlinear", "integer") if eight else "qdq"
    kinds = weight_kinds(n) if form == "qdq" else [np.int8] if x.array.dtype == np.int8 else [d.one(np.int8, np.uint8)]
    w = Weights(n, shape, 0, 4 / terms**0.5, kinds)
    if form == "qdq":
        xd = n.dequantise(x)
        wd = w.dequantised()
        name, bias = bias_for(n, x, w, m)
        y = n.node("Conv", xd.name, wd, name, **attributes)
        return finish(n, named(of_product("Conv", xd, w.real(), bias, n.arrays[y], terms + 1, **attributes), y), x.array.dtype)
    xr = n.dequantised(x, None)
    if w.scale.ndim and w.zero.astype(np.int64).any() and len(set(w.zero.ravel().tolist())) > 1:
        raise Ambiguous("ONNX Runtime wants one zero point")
    if form == "integer":
        if w.scale.ndim:
            w.zero = w.zero.ravel()[:1].reshape(())
            w.array = evaluate("DequantizeLinear", w.q, w.scale, np.full(w.scale.shape, w.zero, w.q.dtype), axis=0)
        else:
            w.zero = w.zero.reshape(())
        sums = n.node("ConvInteger", x.name, n.constant(w.q, "w"), n.constant(x.zero, "zero"), n.constant(w.zero, "zero"), **attributes)
        factor = np.asarray(x.scale * w.scale, np.float32)
        y = n.node("Mul", n.node("Cast", sums, to=1), n.constant(factor.reshape(-1, *[1] * (x.array.ndim - 2)) if factor.ndim else factor, "factor"))
        known = of_product("Conv", xr, w.real(), None, n.arrays[y], 3, **attributes)
        return finish(n, named(known, y), x.array.dtype)
    bias = np.asarray(d.rng.integers(-3000, 3000, m)).astype(np.int32) if d.chance(0.6) else None
    product = np.broadcast_to(np.asarray(x.scale * w.scale, np.float64), (m,))
    addend = None
    if bias is not None:
        values = (bias * product).astype(np.float32)
        exact = xr.unit is not None and w.unit is not None
        addend = Real(None, values, np.zeros(m) if exact else 2 * U * np.abs(values).astype(np.float64), float(product.min()) if exact else None)
    real = evaluate("Conv", xr.array, w.array, None if addend is None else addend.array, **attributes)
    known = of_product("Conv", xr, w.real(), addend, real, terms + 1, **attributes)
    operands = lambda scale, zero: [x.name, n.constant(x.scale, "scale"), n.constant(x.zero, "zero"), n.constant(w.q, "w"), n.constant(w.scale, "scale"), n.constant(w.zero, "zero"), scale, zero,
                                    None if bias is None else n.constant(bias, "bias")]
    return n.quantise(known, x.array.dtype, lambda scale, zero: n.node("QLinearConv", *operands(scale, zero), **attributes))


@layer(5)
def product(n):
    d = n.d
    x = pick(n, (2, 3, 4))
    k, columns = x.array.shape[-1], d.one(1, 3, 8, 16, 19, 40)
    eight = x.array.dtype.itemsize == 1
    form = d.one("matmul", "matmul", "gemm", "left", "qlinear", "integer", "to float") if eight else d.one("matmul", "gemm", "left")
    if form == "gemm" and x.array.ndim != 2:
        form = "matmul"
    if form == "left":  # constant weights are the first operand
        w = Weights(n, [columns, x.array.shape[-2]], 0, 4 / x.array.shape[-2]**0.5, weight_kinds(n))
        xd = n.dequantise(x)
        y = n.node("MatMul", w.dequantised(), xd.name)
        return finish(n, named(of_product("MatMul", w.real(), xd, None, n.arrays[y], x.array.shape[-2]), y), x.array.dtype)
    transposed = form == "gemm" and d.chance(0.6)
    shape, axis = ([columns, k], 0) if transposed else ([k, columns], 1)
    block = None
    if form == "matmul" and d.chance(0.25):
        block = (0, d.one(2, 4, 16, 32))
    w = Weights(n, shape, axis, 4 / k**0.5, weight_kinds(n) if form in ("matmul", "gemm") else [np.int8] if x.array.dtype == np.int8 else [np.int8, np.uint8], block)
    if form == "matmul":
        xd = n.dequantise(x)
        y = n.node("MatMul", xd.name, w.dequantised())
        known = named(of_product("MatMul", xd, w.real(), None, n.arrays[y], k), y)
        if d.chance(0.5):
            name, bias = bias_for(n, x, w, columns) if not block else (None, None)
            if name:
                known = added(n, known, named(bias, name))
        return finish(n, known, x.array.dtype)
    if form == "gemm":
        xd, wd = n.dequantise(x), w.dequantised()
        name, bias = bias_for(n, x, w, columns)
        attributes = {"transB": 1} if transposed else {}
        if d.chance(0.15):
            attributes |= {d.one("alpha", "beta"): d.one(0.5, 2.0)}
        y = n.node("Gemm", xd.name, wd, name, **attributes)
        return finish(n, named(of_product("Gemm", xd, w.real(), bias, n.arrays[y], k + 3, **attributes), y), x.array.dtype)
    if w.scale.ndim and form != "to float":  # zero points along columns, where ONNX Runtime takes them
        w.zero = np.full(w.scale.shape, w.zero.ravel()[0], w.q.dtype)
        w.array = evaluate("DequantizeLinear", w.q, w.scale, w.zero, **w.attributes)
    xr = n.dequantised(x, None)
    real = evaluate("MatMul", xr.array, w.array)
    known = of_product("MatMul", xr, w.real(), None, real, k)
    c = lambda array, prefix: n.constant(array, prefix)
    if form == "qlinear":
        return n.quantise(known, x.array.dtype, lambda scale, zero: n.node("QLinearMatMul", x.name, c(x.scale, "scale"), c(x.zero, "zero"), c(w.q, "w"), c(w.scale, "scale"), c(w.zero, "zero"), scale, zero))
    if form == "integer":
        sums = n.node("MatMulInteger", x.name, c(w.q, "w"), c(x.zero, "zero"), c(w.zero, "zero"))
        y = n.node("Mul", n.node("Cast", sums, to=1), c(np.asarray(x.scale * w.scale, np.float32), "factor"))
    else:
        bias = c((np.asarray(d.rng.integers(-16, 17, columns)) / 8).astype(np.float32), "bias") if d.chance(0.5) else None
        y = n.node("MatMulIntegerToFloat", x.name, c(w.q, "w"), c(x.scale, "scale"), c(w.scale, "scale"), c(x.zero, "zero"), c(w.zero, "zero"), bias, domain=MICROSOFT)
        if bias:
            known = of_product("Gemm", xr, w.real(), Real(None, n.arrays[bias], np.zeros(columns), 0.125), n.arrays[y], k + 1) if x.array.ndim == 2 else rounded(n.arrays[y], known.off + U * 2, 4)
    return finish(n, Real(y, n.arrays[y], known.off, known.unit), x.array.dtype)


@layer(1)
def attention(n):
    """A product of two activations, and perhaps Softmax between two of these."""
    d = n.d
    x = pick(n, (2, 3, 4))
    a, b = n.dequantise(x), n.dequantise(x)
    turned = n.node("Transpose", b.name, perm=[*range(x.array.ndim - 2), x.array.ndim - 1, x.array.ndim - 2])
    other = Real(turned, n.arrays[turned], np.swapaxes(b.off, -1, -2), b.unit)
    y = n.node("MatMul", a.name, turned)
    s = n.quantise(named(of_product("MatMul", a, other, None, n.arrays[y], x.array.shape[-1]), y), x.array.dtype)
    if s in n.ends or d.chance(0.4):
        return s
    p = n.quantise(softmax_of(n, n.dequantise(s)), x.array.dtype)
    if p in n.ends:
        return p
    left, right = n.dequantise(p), n.dequantise(x)
    y = n.node("MatMul", left.name, right.name)
    return finish(n, named(of_product("MatMul", left, right, None, n.arrays[y], x.array.shape[-2]), y), x.array.dtype)


@layer(1)
def dynamic(n):
    """What quantize_dynamic makes of a product."""
    d = n.d
    x = pick(n, (2, 3))
    xd = n.dequantise(x)
    if xd.unit is None or not n.dyadic:  # the scale that a run finds is known only where what comes in is
        raise Ambiguous("the scale would not be known")
    k, columns = x.array.shape[-1], d.one(1, 8, 19)
    w = Weights(n, [k, columns], 1, 4 / k**0.5, [np.int8, np.uint8])
    if w.scale.ndim:
        w.zero = np.full(w.scale.shape, w.zero.ravel()[0], w.q.dtype)
    q, scale, zero = n.node("DynamicQuantizeLinear", xd.name, outputs=3)
    sums = n.node("MatMulInteger", q, n.constant(w.q, "w"), zero, n.constant(w.zero, "zero"))
    factor = n.node("Mul", scale, n.constant(w.scale, "scale"))
    y = n.node("Mul", n.node("Cast", sums, to=1), factor)
    # A quotient near a tie makes either byte.
    quotient = xd.array.astype(np.float64) / float(n.arrays[scale])
    if (np.abs(np.abs(quotient - np.floor(quotient)) - 0.5) <= 3 * U * np.abs(quotient)).any():
        raise Ambiguous("near a tie")
    known = Real(y, n.arrays[y], 6 * U * np.abs(n.arrays[y]).astype(np.float64))
    if d.chance(0.6):
        bias = (np.asarray(d.rng.integers(-16, 17, columns)) / 8).astype(np.float32)
        known = added(n, known, Real(n.constant(bias, "bias"), bias, np.zeros(columns), 0.125))
    return finish(n, known, x.array.dtype)


# ---- two operands

def added(n, a, b, op="Add"):
    name = n.node(op, a.name, b.name)
    y = n.arrays[name]
    if op == "Add":
        unit = min(a.unit, b.unit) if a.unit is not None and b.unit is not None else None
        off = a.off + b.off
    else:
        unit = a.unit * b.unit if a.unit is not None and b.unit is not None else None
        off = np.abs(a.array) * b.off + np.abs(b.array) * a.off + a.off * b.off
    if unit is not None and max(np.abs(v).max(initial=0) for v in (y, a.array, b.array)) / unit < 2**24:
        return Real(name, y, np.zeros(y.shape), unit)
    # One program may add what the other has scaled before: the error of the operands counts, not that of a difference.
    size = np.abs(a.array).astype(np.float64) + np.abs(b.array) if op == "Add" else np.abs(y).astype(np.float64)
    return Real(name, y, np.broadcast_to(off, y.shape) + 3 * U * size)


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


def as_before(n, x, q):
    """Quantised again by the scale that it was dequantised by, as quantisers do behind what only moves values."""
    from quantised_network import Quantised

    if q.low is not None:
        return n.quantise(x, q.array.dtype)
    names, attributes = n.quantisation(q.scale, q.zero)
    name = n.node("QuantizeLinear", x.name, *names, **attributes)
    again = Quantised(name, n.arrays[name], q.scale, q.zero)
    n.quantised.append(again)
    return again


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

def softmax_of(n, x):
    axis = n.d.one(-1, -1, x.array.ndim - 1)
    name = n.node("Softmax", x.name, axis=axis)
    y = n.arrays[name].astype(np.float64)
    off = y * (2 * x.off.max(axis=axis, keepdims=True) + (x.array.shape[axis] + 48) * U)
    return Real(name, n.arrays[name], off + np.finfo(np.float32).tiny)  # what is below the smallest normal number may be 0: docs/numerics.md


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
