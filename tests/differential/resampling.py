"""Operators that read images between their pixels."""
import numpy as np

from spec import Spec, generator

I64 = np.int64


@generator("Resize", weight=4)
def resize(d, op):
    opset = d.opset(op)
    mode = d.one("nearest", "nearest", "linear", *(["cubic"] if opset >= 11 else []))
    rank = 4 if mode == "cubic" else d.int(1, 4) if mode == "nearest" else d.int(2, 4)
    shape = d.ints(rank, 2, 6)
    if rank >= 3:
        shape[:2] = d.ints(2, 1, 2)
    changed = list(range(rank)) if rank < 3 else list(range(2, rank))
    kind = np.dtype(np.float32) if d.chance(0.8) else d.kind(op, opset, "T" if opset < 11 else "T1", only=lambda k: k.kind in "fiu")
    attributes = {"mode": mode} if mode != "nearest" or d.chance(0.7) else {}
    by_scale = d.chance(0.5) or opset < 11
    scales = [1.0] * rank
    sizes = list(shape)
    for k in changed:
        scales[k] = d.one(0.5, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 2.3)
        if int(shape[k] * scales[k]) < 1:
            scales[k] = 1.0
        sizes[k] = d.int(1, 9)
    x = d.array(shape, kind, "plain") if kind.kind == "f" else d.array(shape, kind)
    if opset < 11:
        return Spec(op, [x, np.array(scales, np.float32)], attributes, opset=opset, constants=(1,))
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"] + (["half_pixel_symmetric"] if opset >= 19 else []) + ["tf_crop_and_resize"]
    if d.chance(0.75):
        attributes["coordinate_transformation_mode"] = d.among(coordinates)
    roi = None
    if attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        start = [d.uniform(0, 0.4) if k in changed else 0.0 for k in range(rank)]
        end = [d.uniform(0.6, 1.2) if k in changed else 1.0 for k in range(rank)]
        roi = np.array(start + end, np.float32)
        if d.chance(0.5):
            attributes["extrapolation_value"] = d.uniform(-2, 2)
    elif opset < 13:
        roi = np.array([], np.float32)
    if mode == "nearest" and d.chance(0.7):
        attributes["nearest_mode"] = d.one("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        if d.chance(0.4):
            attributes["cubic_coeff_a"] = d.one(-0.5, -0.75)
        if d.chance(0.4):
            attributes["exclude_outside"] = d.int(0, 1)
    if opset >= 18 and mode != "nearest" and d.chance(0.3):
        attributes["antialias"] = 1
    axes = list(range(rank))
    if opset >= 18 and d.chance(0.3):
        axes = changed
        attributes["axes"] = axes
        scales, sizes = [scales[k] for k in axes], [sizes[k] for k in axes]
        if roi is not None and roi.size:
            roi = np.array([start[k] for k in axes] + [end[k] for k in axes], np.float32)
    if opset >= 18 and not by_scale and roi is None and d.chance(0.3):
        attributes["keep_aspect_ratio_policy"] = d.one("stretch", "not_larger", "not_smaller")
        if attributes["keep_aspect_ratio_policy"] != "stretch" and len(axes) > 2:
            attributes["axes"] = changed
            sizes = sizes[-len(changed):] if len(sizes) == rank else sizes
    # How an aspect ratio is kept decides about extents by comparing quotients: sizes are known.
    fixed = (3,) if attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch" else ()
    inputs = [x, roi, np.array(scales, np.float32)] if by_scale else [x, roi, None if opset >= 13 else np.array([], np.float32), np.array(sizes, I64)]
    return Spec(op, inputs, attributes, opset=opset, constants=(1, 2, 3), fixed=fixed, rtol=1e-4 if kind.itemsize > 2 else None, atol=1e-4 if kind.itemsize > 2 else None,
                int_atol=1 if mode != "nearest" else 0)


@generator("Upsample")
def upsample(d, op):
    opset = d.one(7, 8, 9)
    shape = d.ints(2, 1, 2) + d.ints(2, 2, 4)
    scales = [1.0, 1.0, d.one(1.0, 1.5, 2.0, 2.5), d.one(1.0, 2.0, 3.0)]
    mode = d.one("nearest", "linear")
    x = d.array(shape, np.float32, "plain")
    if opset < 9:
        return Spec(op, [x], {"mode": mode, "scales": scales}, opset=opset)
    return Spec(op, [x, np.array(scales, np.float32)], {"mode": mode}, opset=opset, constants=(1,))


@generator("GridSample", weight=2)
def grid_sample(d, op):
    opset = d.opset(op)
    rank = 2 if opset < 20 or d.chance(0.7) else 3
    kind = d.kind(op, opset, "T1", only=lambda k: k.kind == "f")
    n = d.int(1, 2)
    names = ("bilinear", "nearest", "bicubic") if opset < 20 else ("linear", "nearest", "cubic")
    mode = d.among(names[:2] if rank == 3 else names)
    attributes = {name: value for name, value in {"mode": mode, "padding_mode": d.one("zeros", "border", "reflection"), "align_corners": d.int(0, 1)}.items() if d.chance(0.8)}
    grid = d.array([n] + d.ints(rank, 1, 4) + [rank], kind, "plain", -1.4, 1.4)
    x = d.array([n, d.int(1, 2)] + d.ints(rank, 2, 5), kind, "plain")
    return Spec(op, [x, grid], attributes, opset=opset, rigid=(1,), rtol=1e-3 if kind.itemsize > 2 else None, atol=1e-4 if kind.itemsize > 2 else 2e-2)


@generator("AffineGrid")
def affine_grid(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset, "T1")
    rank, n = d.int(2, 3), d.int(1, 3)
    return Spec(op, [d.array([n, rank, rank + 1], kind, "plain", -1, 1), np.array([n, d.int(1, 3)] + d.ints(rank, 2, 5), I64)], d.one({}, {"align_corners": d.int(0, 1)}),
                opset=opset, constants=(1,), rigid=(0,))


@generator("DeformConv")
def deform_conv(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    group, offset_group = d.one(1, 1, 2), d.one(1, 2)
    c, m = 2 * d.int(1, 2), 2 * d.int(1, 2)
    kernel, strides, pads = d.ints(2, 1, 3), d.ints(2, 1, 2), d.ints(4, 0, 1)
    h, w = d.int(4, 6), d.int(4, 6)
    out = [(e + pads[k] + pads[k + 2] - kernel[k]) // strides[k] + 1 for k, e in enumerate((h, w))]
    n, area = d.int(1, 2), kernel[0] * kernel[1]
    inputs = [d.array([n, c, h, w], kind, "plain", -2, 2), d.array([m, c // group] + kernel, kind, "plain", -1, 1), d.array([n, offset_group * area * 2] + out, kind, "plain", -1, 1),
              d.maybe(0.5, lambda: d.array([m], kind, "plain")), d.maybe(0.5, lambda: d.array([n, offset_group * area] + out, kind, "plain", 0, 1))]
    attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads, "group": group, "offset_group": offset_group}
    return Spec(op, inputs, attributes, opset=opset, constants=(1, 3), rtol=1e-3 if kind.itemsize > 2 else 2e-2, atol=1e-4 if kind.itemsize > 2 else 5e-2)


@generator("NonMaxSuppression")
def suppression(d, op):
    opset = d.opset(op)
    n, boxes, classes = d.int(1, 2), d.int(1, 8), d.int(1, 2)
    center = d.int(0, 1)
    start = d.array([n, boxes, 2], np.float32, "plain", 0, 4)
    size = d.array([n, boxes, 2], np.float32, "plain", 0.5, 3)
    data = np.concatenate([start, size if center else start + size], 2)
    inputs = [data, d.array([n, classes, boxes], np.float32, "plain", 0, 1), np.array([d.int(0, 5)], I64), d.maybe(0.8, lambda: np.array([d.uniform(0, 0.8)], np.float32)),
              d.maybe(0.6, lambda: np.array([d.uniform(0, 0.6)], np.float32))]
    return Spec(op, inputs, d.one({}, {"center_point_box": center}) if not center else {"center_point_box": 1}, opset=opset, constants=(2, 3, 4))
