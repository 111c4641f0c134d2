"""Normalisations: errors grow as the spread of what is normalised is small."""
import numpy as np

from grow import step
from values import Unfit


@step(3)
def normalise(g):
    x = g.value(lambda v: v.dtype in (np.float32, np.float64) and v.rank >= 3 and v.array.size > 8 and v.has_elements and v.is_fixed(1))
    c, dtype = x.shape[1], x.dtype
    op = g.among(("BatchNormalization", "BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization"))
    plain = lambda shape: g.operand(shape, dtype, plain=True)  # noqa: E731
    if op == "BatchNormalization":
        scale, shift, mean = (g.constant(g.fresh((c,), dtype)) for _ in range(3))
        variance = g.constant(np.abs(g.fresh((c,), dtype)) + np.asarray(0.5, dtype))
        attributes = {"epsilon": 1e-3} if g.chance(0.5) else {}
        return g.add(op, [x, scale, shift, mean, variance], attributes, lambda y: scale.size * 1.5 * (x.error + 2e-5 * (x.size + mean.size + 1)))
    if op == "GroupNormalization":
        groups = g.among([d for d in range(1, c + 1) if c % d == 0])
        spread = lambda: float(x.array.astype(np.float64).reshape(x.shape[0], groups, -1).std(-1).min())  # noqa: E731
        shape, attributes = (c,), {"num_groups": groups, "epsilon": 1e-3}
    elif op == "InstanceNormalization":
        spread = lambda: float(x.array.astype(np.float64).std(tuple(range(2, x.rank))).min())  # noqa: E731
        shape, attributes = (c,), {"epsilon": 1e-3}
    else:
        axis = g.between(1, x.rank - 1)
        if not all(x.is_fixed(a) for a in range(axis, x.rank)):
            raise Unfit
        spread = lambda: float(x.array.astype(np.float64).std(tuple(range(axis, x.rank))).min())  # noqa: E731
        shape, attributes = x.shape[axis:], {"epsilon": 1e-3, "axis": axis if g.chance(0.5) else axis - x.rank}
    g.everywhere(lambda: spread() >= 0.05)
    scale = plain(shape)
    bias = plain(shape) if op != "LayerNormalization" or g.chance(0.7) else None
    g.add(op, [x, scale, bias], attributes, lambda y: 4 * scale.size * (x.error + 2e-5 * x.size) * (1 + 3) / spread())


@step(1)
def written_out(g):
    """LayerNormalization as exporters of old wrote it."""
    x = g.value(lambda v: v.dtype == np.float32 and v.rank >= 2 and v.has_elements and v.is_fixed(v.rank - 1) and v.shape[-1] > 1)
    spread = lambda: float(x.array.astype(np.float64).std(-1).min())  # noqa: E731
    g.everywhere(lambda: spread() >= 0.05)
    axis = g.ints([-1])
    mean = g.add("ReduceMean", [x, axis], None, lambda y: x.error)
    centred = g.add("Sub", [x, mean], None, lambda y: x.error + mean.error)
    square = g.add("Pow", [centred, g.constant(np.asarray(2, np.float32))], None, lambda y: 2 * (centred.size + centred.error) * centred.error)
    variance = g.add("ReduceMean", [square, axis], None, lambda y: square.error)
    shifted = g.add("Add", [variance, g.constant(np.asarray(1e-2, np.float32))], None, lambda y: variance.error)
    root = g.add("Sqrt", [shifted], None, lambda y: shifted.error / (2 * spread()))
    divided = g.add("Div", [centred, root], None, lambda y: centred.error / spread() + centred.size * root.error / spread() ** 2)
    w, b = g.operand(x.shape[-1:], np.float32, plain=True), g.operand(x.shape[-1:], np.float32, plain=True)
    scaled = g.add("Mul", [divided, w], None, lambda y: divided.error * w.size)
    g.add("Add", [scaled, b], None, lambda y: scaled.error)


@step(1)
def root_mean_square(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.rank >= 2 and v.has_elements and v.is_fixed(v.rank - 1))
    scale = lambda: float(np.sqrt((x.array.astype(np.float64) ** 2).mean(-1)).min())  # noqa: E731
    g.everywhere(lambda: scale() >= 0.05)
    w = g.operand(x.shape[-1:], np.float32, plain=True)
    g.add("SimplifiedLayerNormalization", [x, w], {"epsilon": 1e-3, "axis": -1}, lambda y: 4 * max(1.0, w.size) * (x.error + 2e-5 * x.size) * 2 / scale())
