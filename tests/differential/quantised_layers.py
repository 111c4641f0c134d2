"""What random layers of a quantised network (quantised_network.py) are made of: operands, what is known of results, and functions behind a layer. The layers are in quantised_products.py and
quantised_moves.py, in the forms that quantisers write: QDQ, QLinear, integer products, and what a dynamic quantiser makes."""
import ml_dtypes
import numpy as np

from quantised_network import Ambiguous, Quantised, Real, U, bound, evaluate, is_power_of_two

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


def softmax_of(n, x):
    axis = n.d.one(-1, -1, x.array.ndim - 1)
    name = n.node("Softmax", x.name, axis=axis)
    y = n.arrays[name].astype(np.float64)
    off = y * (2 * x.off.max(axis=axis, keepdims=True) + (x.array.shape[axis] + 48) * U)
    return Real(name, n.arrays[name], off + np.finfo(np.float32).tiny)  # what is below the smallest normal number may be 0: docs/numerics.md


def as_before(n, x, q):
    """Quantised again by the scale that it was dequantised by, as quantisers do behind what only moves values."""
    if q.low is not None:
        return n.quantise(x, q.array.dtype)
    names, attributes = n.quantisation(q.scale, q.zero)
    name = n.node("QuantizeLinear", x.name, *names, **attributes)
    again = Quantised(name, n.arrays[name], q.scale, q.zero)
    n.quantised.append(again)
    return again
