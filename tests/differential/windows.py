"""Convolutions and pools."""
import numpy as np

from spec import Spec, generator

I64 = np.int64


def window(d, rank, opset, dilate=True, ceil=True):
    """kernel_shape and attributes of a window over `rank` axes, with the extents it needs at least."""
    kernel = d.ints(rank, 1, 3)
    if rank < 3 and d.chance(0.15):
        kernel[d.int(0, rank - 1)] = d.one(5, 7)
    attributes, dilations = {}, [1] * rank
    if d.chance(0.6):
        attributes["strides"] = d.ints(rank, 1, 3)
    if dilate and d.chance(0.3):
        attributes["dilations"] = dilations = d.ints(rank, 1, 2)
    how = d.one("none", "pads", "pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID")
    reach = [(k - 1) * g + 1 for k, g in zip(kernel, dilations)]
    if how == "pads":
        attributes["pads"] = [d.int(0, k - 1) for k in kernel] + [d.int(0, k - 1) for k in kernel]
    elif how != "none":
        attributes["auto_pad"] = how
    elif d.chance(0.3):
        attributes["auto_pad"] = "NOTSET"
    if ceil and d.chance(0.3):
        attributes["ceil_mode"] = d.int(0, 1)
    return kernel, attributes, reach


def image(d, rank, reach, channels, most=7):
    return [d.int(1, 2), channels] + [d.int(r, most) if r <= most else r for r in reach]


def spatial(d):
    return d.one(1, 2, 2, 2, 3)


@generator("MaxPool", "AveragePool", "LpPool", weight=2)
def pool(d, op):
    opset = d.opset(op, least=2 if op == "LpPool" else 1)
    rank = spatial(d)
    since_dilations = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op]
    since_ceil = {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[op]
    kernel, attributes, reach = window(d, rank, opset, opset >= since_dilations, opset >= since_ceil)
    if attributes.get("ceil_mode"):  # a window may reach out by less than a stride
        reach = [max(1, r - stride + 1) for r, stride in zip(reach, attributes.get("strides", [1] * rank))]
    outputs = 1
    if op == "AveragePool" and opset >= 7 and d.chance(0.5):
        attributes["count_include_pad"] = d.int(0, 1)
    if op == "LpPool" and d.chance(0.6):
        attributes["p"] = d.one(1, 2, 3)
    if op == "MaxPool" and opset >= 8 and d.chance(0.4):
        outputs = 2
        if d.chance(0.5):
            attributes["storage_order"] = d.int(0, 1)
    kind = d.kind(op, opset)
    return Spec(op, [d.array(image(d, rank, reach, d.int(1, 4)), kind, d.one("grid", "plain"))], {"kernel_shape": kernel, **attributes}, outputs, opset)


@generator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(d, op):
    opset = d.opset(op, least=2 if op == "GlobalLpPool" else 1)
    attributes = {"p": d.one(1, 2, 3)} if op == "GlobalLpPool" and d.chance(0.6) else {}
    return Spec(op, [d.array(image(d, r := spatial(d), [1] * r, d.int(1, 5)), d.kind(op, opset), d.one("grid", "plain"))], attributes, opset=opset)


@generator("Conv", weight=3)
def conv(d, op):
    opset = d.opset(op)
    rank = spatial(d)
    kernel, attributes, reach = window(d, rank, opset, ceil=False)
    kind = d.kind(op, opset)
    group = d.one(1, 1, 1, 2, 3)
    c, m = group * d.int(1, 9), group * d.one(1, 2, 3, 4, 8, 17)
    if d.chance(0.2):  # depthwise
        group = c
        m = c * d.one(1, 1, 2)
    x, w = d.array(image(d, rank, reach, c), kind, "grid"), d.array([m, c // group] + kernel, kind, "grid")
    if group > 1 or d.chance(0.3):
        attributes["group"] = group
    if d.chance(0.5):
        attributes["kernel_shape"] = kernel
    return Spec(op, [x, w, d.maybe(0.6, lambda: d.array([m], kind, "grid"))], attributes, opset=opset, constants=(1, 2), atol=2e-2 if kind.itemsize == 2 else 2e-5)


@generator("ConvTranspose", weight=2)
def conv_transpose(d, op):
    opset = d.opset(op)
    rank = d.one(1, 2, 2, 2, 3)
    kind = d.kind(op, opset)
    group = d.one(1, 1, 2, 3)
    c, m = group * d.int(1, 3), d.one(1, 2, 3, 5)
    kernel = d.ints(rank, 1, 3)
    strides, dilations = d.ints(rank, 1, 3), d.ints(rank, 1, 2) if d.chance(0.3) else [1] * rank
    attributes = {"strides": strides}
    if dilations != [1] * rank:
        attributes["dilations"] = dilations
    padding = [d.int(0, max(s, g) - 1) for s, g in zip(strides, dilations)] if d.chance(0.4) else None
    if padding:
        attributes["output_padding"] = padding
    extents = [d.int(2, 5) for _ in range(rank)]
    how = d.one("none", "pads", "pads", "SAME_UPPER", "SAME_LOWER", "shape")
    if how == "pads":
        attributes["pads"] = [d.int(0, k - 1) for k in kernel] + [d.int(0, k - 1) for k in kernel]
    elif how == "shape":
        attributes["output_shape"] = [max(1, (e - 1) * s + (k - 1) * g + 1 - d.int(0, 2)) for e, s, k, g in zip(extents, strides, kernel, dilations)]
        attributes.pop("output_padding", None)
        if d.chance(0.5):
            attributes["auto_pad"] = d.one("SAME_UPPER", "SAME_LOWER")
    elif how != "none":
        attributes["auto_pad"] = how
    if group > 1:
        attributes["group"] = group
    if d.chance(0.5):
        attributes["kernel_shape"] = kernel
    x, w = d.array([d.int(1, 2), c] + extents, kind, "grid"), d.array([c, m] + kernel, kind, "grid")
    return Spec(op, [x, w, d.maybe(0.6, lambda: d.array([m * group], kind, "grid"))], attributes, opset=opset, constants=(1, 2), atol=2e-2 if kind.itemsize == 2 else 2e-5)


@generator("Col2Im")
def col2im(d, op):
    opset = d.opset(op)
    rank = d.one(1, 2, 2, 3)
    block, extents = d.ints(rank, 1, 3), []
    attributes = {}
    strides = dilations = [1] * rank
    pads = [0] * (2 * rank)
    if d.chance(0.5):
        attributes["strides"] = strides = d.ints(rank, 1, 2)
    if d.chance(0.4):
        attributes["dilations"] = dilations = d.ints(rank, 1, 2)
    if d.chance(0.4):
        attributes["pads"] = pads = d.ints(2 * rank, 0, 1)
    extents = [(b - 1) * g + 1 + d.int(0, 3) for b, g in zip(block, dilations)]
    columns = [(e + pads[k] + pads[k + rank] - (block[k] - 1) * dilations[k] - 1) // strides[k] + 1 for k, e in enumerate(extents)]
    kind = d.kind(op, opset, only=lambda k: k.kind in "fiu")
    x = d.array([d.int(1, 2), d.int(1, 2) * int(np.prod(block)), int(np.prod(columns))], kind, "grid")
    return Spec(op, [x, np.array(extents, I64), np.array(block, I64)], attributes, opset=opset, constants=(1, 2))


@generator("MaxUnpool")
def max_unpool(d, op):
    opset = d.opset(op)
    n, c, h, w, k = d.int(1, 2), d.int(1, 2), d.int(1, 3), d.int(1, 3), d.int(1, 2)
    kind = d.kind(op, opset, "T1")
    area = h * k * w * k
    places = np.stack([np.array(d.permutation(area)[:h * w]).reshape(h, w) + i * area for i in range(n * c)]).reshape(n, c, h, w).astype(I64)
    return Spec(op, [d.array([n, c, h, w], kind), places], {"kernel_shape": [k, k], "strides": [k, k]}, opset=opset)


@generator("MaxRoiPool")
def max_roi_pool(d, op):
    opset = d.opset(op)
    n, h, w, count = d.int(1, 2), d.int(4, 8), d.int(4, 8), d.int(1, 3)
    rois = []
    for _ in range(count):
        (x1, x2), (y1, y2) = sorted(d.ints(2, 0, w - 1)), sorted(d.ints(2, 0, h - 1))
        rois.append([d.int(0, n - 1), x1, y1, x2, y2])
    kind = np.dtype(np.float32)
    return Spec(op, [d.array([n, d.int(1, 3), h, w], kind, "plain"), np.array(rois, kind)], {"pooled_shape": d.ints(2, 1, 3), "spatial_scale": d.one(1.0, 0.5)}, opset=opset)


@generator("RoiAlign")
def roi_align(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset, "T1")
    n, h, w, count = d.int(1, 2), d.int(4, 8), d.int(4, 8), d.int(0 if d.chance(0.1) else 1, 3)
    start = d.array([count, 2], kind, "plain", -1, 5)
    rois = np.concatenate([start, start + d.array([count, 2], kind, "plain", 0.2, 6)], 1).astype(kind)
    attributes = {"output_height": d.int(1, 3), "output_width": d.int(1, 3), "sampling_ratio": d.int(0, 3), "spatial_scale": d.one(1.0, 0.5)}
    if d.chance(0.4):
        attributes["mode"] = d.one("avg", "max")
    if opset >= 16 and d.chance(0.6):
        attributes["coordinate_transformation_mode"] = d.one("half_pixel", "output_half_pixel")
    return Spec(op, [d.array([n, d.int(1, 3), h, w], kind, "plain"), rois, np.array(d.ints(count, 0, n - 1), I64)], attributes, opset=opset)
