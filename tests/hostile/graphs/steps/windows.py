"""Convolutions, pools, resampling."""
import math

import numpy as np

from grow import step
from steps.common import moved
from steps.products import of_products
from values import Unfit


def image(v, ranks=(3, 4, 5)):
    return v.dtype == np.float32 and v.rank in ranks and v.has_elements and v.is_fixed(1) and v.shape[1] <= 40


@step(6)
def conv(g):
    x = g.value(image)
    rank, c = x.rank - 2, x.shape[1]
    kernel = [g.among([k for k in (1, 2, 3, 3, 5) if k <= e + 2]) for e in x.shape[2:]]
    if g.chance(0.25):
        kernel = [1] * rank
    group = g.among([d for d in (1, 1, 1, c, c, 2) if c % d == 0])
    m = group * (g.among((16, 32)) if group == 1 and g.chance(0.15) else g.between(1, 12 if group == 1 else 2))
    attributes = {"group": group, "strides": [g.among((1, 1, 2)) for _ in range(rank)], "dilations": [g.among((1, 1, 1, 2)) for _ in range(rank)]}
    attributes.update({"auto_pad": g.among(("SAME_UPPER", "SAME_LOWER", "VALID"))} if g.chance(0.2) else {"pads": [g.between(0, min(2, k - 1)) for k in kernel * 2]})
    inputs = [x, g.operand((m, c // group, *kernel), x.dtype)]
    count = c // group * math.prod(kernel)
    w = inputs[1]
    if g.chance(0.6):
        inputs.append(g.operand((m,), x.dtype))
    y = g.add("Conv", inputs, attributes, lambda y: of_products(x, w, count))
    if g.chance(0.3):
        op = g.among(("Relu", "Clip", "HardSwish", "LeakyRelu", "Sigmoid"))
        bounds = [g.constant(np.asarray(0, x.dtype)), g.constant(np.asarray(6, x.dtype))] if op == "Clip" else []
        g.add(op, [y, *bounds], None, lambda z: 1.5 * y.error, rounds=op not in ("Relu", "Clip"))


@step(1)
def residual(g):
    """A block that adds what it read."""
    x = g.value(lambda v: image(v, (3, 4)) and all(v.shape[2:]))
    c, rank = x.shape[1], x.rank - 2
    w1, w2 = g.operand((c, c, *[3] * rank), x.dtype), g.operand((c, c, *[1] * rank), x.dtype)
    a = g.add("Conv", [x, w1], {"pads": [1] * 2 * rank}, lambda y: of_products(x, w1, c * 3 ** rank))
    b = g.add("Relu", [a], None, lambda y: a.error, rounds=False)
    d = g.add("Conv", [b, w2], None, lambda y: of_products(b, w2, c))
    g.add("Add", [d, x] if g.chance(0.5) else [x, d], None, lambda y: d.error + x.error)


def layer(g, x):
    """One of an image network, on x."""
    c, rank = x.shape[1], x.rank - 2
    kind = g.among(("conv", "conv", "point", "depth", "depth", "max", "average", "relu", "scale", "double", "squeeze"))
    if kind in ("conv", "point", "depth"):
        k, group = (1 if kind == "point" else 3), (c if kind == "depth" else 1)
        m = c if kind == "depth" else g.among((4, 8, 12, 16))
        w = g.operand((m, c // group, *[k] * rank), x.dtype, plain=True)
        factor = np.asarray(1 / math.sqrt(c // group * k ** rank), x.dtype)  # sizes stay those of the input
        w = g.constant(w.array * factor)
        b = [g.operand((m,), x.dtype, plain=True)] if g.chance(0.5) else []
        strides = [g.among((1, 1, 2))] * rank
        return g.add("Conv", [x, w, *b], {"pads": [k // 2] * 2 * rank, "group": group, "strides": strides}, lambda y: of_products(x, w, c // group * k ** rank) + (2e-5 * b[0].size if b else 0))
    if kind in ("max", "average"):
        op = "MaxPool" if kind == "max" else "AveragePool"
        return g.add(op, [x], {"kernel_shape": [2] * rank, "strides": [g.between(1, 2)] * rank}, lambda y: x.error + 1e-5 * x.size * (kind == "average"), rounds=kind == "average")
    if kind == "relu":
        return g.add("Relu", [x], None, lambda y: x.error, rounds=False)
    if kind == "scale":
        w = g.operand((1, c, *[1] * rank), x.dtype, plain=True)
        return g.add(g.among(("Mul", "Add")), [x, w], None, lambda y: x.error * max(1, w.size) + 1e-5 * w.size)
    if kind == "double":
        return moved(g, "Concat", x, [x if g.chance(0.3) else g.add("Neg", [x], None, lambda y: x.error, rounds=False)], {"axis": 1})
    mean = g.add("GlobalAveragePool", [x], None, lambda y: x.error + 1e-5 * x.size)
    gate = g.add("Sigmoid", [mean], None, lambda y: 0.25 * mean.error)
    return g.add("Mul", [x, gate], None, lambda y: x.error + x.size * gate.error)


@step(3)
def stack(g):
    """Layers, one behind the other; some also read what was before."""
    x = g.value(lambda v: image(v, (3, 4)) and min(v.shape[2:]) >= 3)
    made = [x]
    for _ in range(g.between(2, 6)):
        y = made[-1]
        g.everywhere(lambda: min(y.shape[2:]) >= 2)
        like = [v for v in made[:-1] if all(a.shape == b.shape for a, b in zip(v.arrays, y.arrays))]
        if like and g.chance(0.4):
            other = g.among(like)
            made.append(g.add("Add", [y, other], None, lambda z: y.error + other.error))
        else:
            made.append(layer(g, y))


@step(1)
def conv_transpose(g):
    x = g.value(lambda v: v.dtype == np.float32 and image(v) and v.array.size < 600 and v.shape[1] <= 8)
    rank = x.rank - 2
    group = g.among([1, x.shape[1]])
    w = g.operand((x.shape[1], g.between(1, 4) if group == 1 else 1, *[g.between(1, 3) for _ in range(rank)]), np.float32)
    attributes = {"strides": [g.between(1, 2) for _ in range(rank)], "group": group}
    if g.chance(0.4):
        attributes["dilations"] = [g.between(1, 2) for _ in range(rank)]
    b = [g.operand((w.shape[1] * group,), np.float32)] if g.chance(0.4) else []
    g.add("ConvTranspose", [x, w, *b], attributes, lambda y: of_products(x, w, x.shape[1] // group * 3 ** rank))


@step(4)
def pool(g):
    x = g.value(lambda v: image(v) and min(v.shape[2:]))
    kernel = [g.between(1, min(3, e)) for e in x.shape[2:]]
    op = g.among(("MaxPool", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool"))
    attributes = {"kernel_shape": kernel, "strides": [g.between(1, 2) for _ in kernel], "pads": [g.between(0, min(1, k - 1)) for k in kernel * 2], "ceil_mode": 0}
    if op in ("MaxPool", "AveragePool") and g.chance(0.3):
        attributes["ceil_mode"] = 1
    if op in ("MaxPool", "AveragePool") and g.chance(0.3):
        attributes["dilations"] = [g.between(1, 2) for _ in kernel]
    if op == "AveragePool":
        attributes["count_include_pad"] = g.between(0, 1)
        if attributes["ceil_mode"] and attributes["count_include_pad"]:  # ONNX Runtime counts what lies beyond the pads
            raise Unfit
    reach = [(k - 1) * gap + 1 for k, gap in zip(kernel, attributes.get("dilations", [1] * len(kernel)))]
    room = [sum(attributes["pads"][i::len(kernel)]) - r for i, r in enumerate(reach)]
    # Where a window is longer than its axis ONNX Runtime rounds a negative quotient towards 0.
    g.everywhere(lambda: op.startswith("Global") or attributes["ceil_mode"] or all(e + r >= 0 for e, r in zip(x.shape[2:], room)))
    count = math.prod(x.shape[2:]) if op == "GlobalAveragePool" else 9
    g.add(op, [x], None if op.startswith("Global") else attributes, lambda y: (9 if op == "LpPool" else 1) * x.error + (2e-5 * x.size if count > 1 else 0), rounds="Max" not in op)


@step(2)
def resize(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.rank in (3, 4) and v.array.size < 800 and v.has_elements)
    if g.chance(0.5):
        factor = [1, 1] + [float(g.among((1, 2, 3))) for _ in range(x.rank - 2)]
        mode = g.among((("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("asymmetric", "ceil"))) if 2.0 not in factor else ("asymmetric", "floor")
        return moved(g, "Resize", x, [None, g.constant(np.asarray(factor, np.float32))], {"mode": "nearest", "coordinate_transformation_mode": mode[0], "nearest_mode": mode[1]})
    how = g.among(("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"))
    mode = g.among(("linear", "linear", "cubic")) if x.rank == 4 else "linear"
    grows = lambda y: 3 * x.error + 1e-5 * x.size  # noqa: E731  weights of a cubic sum up to less than 2 in magnitude, in two dimensions
    attributes = {"mode": mode, "coordinate_transformation_mode": how}
    if all(x.is_fixed(a) for a in (0, 1)) and g.chance(0.5):
        sizes = [*x.shape[:2], *[g.between(1, 9) for _ in range(x.rank - 2)]]
        return g.add("Resize", [x, None, None, g.ints(sizes)], attributes, grows)
    scales = [1, 1] + [g.among((1, 2, 0.5)) for _ in range(x.rank - 2)]
    if how != "half_pixel" and how != "asymmetric":
        g.everywhere(lambda: all(float(e * s).is_integer() for e, s in zip(x.shape, scales)))
    g.add("Resize", [x, None, g.constant(np.asarray(scales, np.float32))], attributes, grows)


@step(1)
def conv_integer(g):
    x = g.value(lambda v: v.dtype in (np.uint8, np.int8) and v.rank == 4 and v.has_elements and v.is_fixed(1))
    if x.dtype == np.int8:
        raise Unfit  # no kernel in ONNX Runtime
    w = g.operand((g.between(1, 6), x.shape[1], 3, 3), g.among((np.uint8, np.int8)))
    zeros = [g.constant(np.asarray(g.between(0, 20), x.dtype))] if g.chance(0.5) else []
    g.add("ConvInteger", [x, w, *zeros], {"pads": [1, 1, 1, 1]})
