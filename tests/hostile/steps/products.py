"""Products, convolutions, pools and normalisations."""
import math

import numpy as np

from grow import MIXED, Unfit, step


def of_products(x, w, k):
    """What k products of a sum make of the errors of both, and their own."""
    return k * (x.error * (w.size + w.error) + w.error * x.size) + MIXED[x.array.dtype] * k * x.size * w.size


@step(4)
def matmul(g):
    x = g.value(lambda v: v.is_float and v.array.ndim and v.array.size)
    k = x.shape[-1]
    if x.array.ndim == 2 and g.chance(0.4):
        n, across = g.between(1, 20), g.between(0, 1)
        w, b = g.operand((n, k) if across else (k, n), x.array.dtype), g.operand(g.among(([n], [1, n], [])), x.array.dtype)
        return g.add("Gemm", [x, w, b], {"transB": across, "alpha": 0.5, "beta": 2.0}, lambda y: of_products(x, w, k) + 1e-5 * b.size)
    others = [v for v in g.values if v.array.dtype == x.array.dtype and v.array.ndim >= 2 and v.shape[-2] == k]
    w = g.among(others) if others and g.chance(0.5) else g.operand((k, g.between(1, 20)), x.array.dtype)
    g.add("MatMul", [x, w], None, of_products(x, w, k))


@step(4)
def conv(g):
    x = g.value(lambda v: v.is_float and v.array.ndim in (3, 4) and v.array.size and v.shape[1] <= 16)
    rank, c = x.array.ndim - 2, x.shape[1]
    kernel = [g.among([k for k in (1, 2, 3, 5) if k <= e + 2]) for e in x.shape[2:]]
    group = g.among([d for d in (1, 1, c) if c % d == 0])
    m = group * g.between(1, 8 if group == 1 else 2)
    attributes = {"group": group, "strides": [g.among((1, 1, 2)) for _ in range(rank)], "dilations": [g.among((1, 1, 1, 2)) for _ in range(rank)]}
    attributes.update({"auto_pad": g.among(("SAME_UPPER", "SAME_LOWER", "VALID"))} if g.chance(0.2) else {"pads": [g.between(0, min(1, k - 1)) for k in kernel * 2]})
    inputs = [x, g.operand((m, c // group, *kernel), x.array.dtype)]
    count = c // group * math.prod(kernel)
    w = inputs[1]
    if g.chance(0.6):
        inputs.append(g.operand((m,), x.array.dtype))
    g.add("Conv", inputs, attributes, of_products(x, w, count))


@step(1)
def conv_transpose(g):
    x = g.value(lambda v: v.array.dtype == np.float32 and v.array.ndim == 4 and v.array.size and v.array.size < 600 and v.shape[1] <= 8)
    w = g.operand((x.shape[1], g.between(1, 4), g.between(1, 3), g.between(1, 3)), np.float32)
    g.add("ConvTranspose", [x, w], {"strides": [g.between(1, 2)] * 2}, of_products(x, w, x.shape[1] * 9))


@step(3)
def pool(g):
    x = g.value(lambda v: v.is_float and v.array.ndim in (3, 4) and v.array.size)
    kernel = [g.between(1, min(3, e)) for e in x.shape[2:]]
    op = g.among(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool"))
    attributes = {"kernel_shape": kernel, "strides": [g.between(1, 2) for _ in kernel], "pads": [g.between(0, min(1, k - 1)) for k in kernel * 2], "ceil_mode": 0}
    if op == "AveragePool":
        attributes["count_include_pad"] = g.between(0, 1)
    g.add(op, [x], None if op.startswith("Global") else attributes, (9 if op == "LpPool" else 1) * x.error, rounds="Max" not in op)


@step(2)
def normalise(g):
    x = g.value(lambda v: v.is_float and v.array.ndim >= 3 and v.array.size > 8)
    c, dtype = x.shape[1], x.array.dtype
    op = g.among(("BatchNormalization", "InstanceNormalization", "LayerNormalization"))
    if op == "BatchNormalization":
        scale, variance = g.constant(g.fresh((c,), dtype)), g.constant(np.abs(g.fresh((c,), dtype)) + np.asarray(0.5, dtype))
        return g.add(op, [x, scale, g.constant(g.fresh((c,), dtype)), g.constant(g.fresh((c,), dtype)), variance], None, lambda y: scale.size * 1.5 * (x.error + 2e-5 * (x.size + 3)))
    axes = tuple(range(2, x.array.ndim)) if op == "InstanceNormalization" else (x.array.ndim - 1,)
    spread = float(x.array.astype(np.float64).std(axes).min())
    if spread < 0.05:
        raise Unfit
    shape = (c,) if op == "InstanceNormalization" else x.shape[-1:]
    scale, bias = g.constant(g.fresh(shape, dtype)), g.constant(g.fresh(shape, dtype))
    grows = 4 * scale.size * (x.error + 2e-5 * x.size) / spread
    g.add(op, [x, scale, bias], {"epsilon": 1e-3, **({"axis": -1} if op == "LayerNormalization" else {})}, grows)
