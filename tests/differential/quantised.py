"""Quantised tensors."""
import ml_dtypes
import numpy as np

from draw import is_float
from spec import Spec, generator


def scale_shape(d, shape, opset):
    """(shape of scale, attributes): per tensor, per axis, in blocks."""
    how = d.one("tensor", "axis", "axis", "block") if shape and opset >= 13 else "tensor"
    if how == "block" and (opset < 21 or 0 in shape):
        how = "axis"
    if how == "tensor":
        return [] if d.chance(0.7) else [1], {}
    axis = d.axis(len(shape))
    if how == "axis":
        return [shape[axis]], {"axis": axis}
    block = d.int(2, 3)
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block)
    if blocks[axis] > 1 and -(-shape[axis] // blocks[axis]) > block:
        block = -(-shape[axis] // blocks[axis])
    return blocks, {"axis": axis, "block_size": block}


@generator("QuantizeLinear", weight=2)
def quantize(d, op):
    opset = d.opset(op)
    shape = d.shape(0, 4)
    kind = d.kind(op, opset, "T1")
    if kind.name not in ("float32", "float16", "bfloat16"):
        kind = np.dtype(np.float32)
    out = np.dtype(d.among(d.kinds(op, opset, "T3" if opset >= 23 else "T2")))
    scales, attributes = scale_shape(d, shape, opset)
    x = d.array(shape, kind, "plain", -20, 20)
    scale = d.array(scales, kind, "plain", 0.05, 2)
    if out.name.startswith("float"):
        zero = np.zeros(scales, out) if d.chance(0.7) else None
        if d.chance(0.3):
            attributes["saturate"] = d.int(0, 1)
    else:
        info = ml_dtypes.iinfo(out)
        zero = d.array(scales, out, "plain", max(info.min, -100), min(info.max, 100)) if d.chance(0.75) else None
    if zero is None:
        if opset >= 21 and d.chance(0.6):
            from onnx import helper
            attributes["output_dtype"] = helper.np_dtype_to_tensor_dtype(out)
    # A quotient of a half has 8 or 11 bits, so that it may fall to another step.
    return Spec(op, [x, scale, zero], attributes, opset=opset, constants=(1, 2), int_atol=1 if kind.itemsize == 2 else 0)


@generator("DequantizeLinear", weight=2)
def dequantize(d, op):
    opset = d.opset(op)
    shape = d.shape(0, 4)
    kind = np.dtype(d.among(d.kinds(op, opset, "T1" if opset >= 19 else "T")))
    scale_kind = d.kind(op, opset, "T2") if opset >= 19 else np.dtype(np.float32)
    if scale_kind.name not in ("float32", "float16", "bfloat16"):
        scale_kind = np.dtype(np.float32)
    scales, attributes = scale_shape(d, shape, opset)
    x = d.array(shape, kind, "wild" if kind.kind in "iu" or "int" in kind.name else "plain")
    zero = None
    if kind == np.int32:
        zero = np.zeros(scales, kind) if d.chance(0.3) else None
    elif kind.name.startswith("float"):
        zero = np.zeros(scales, kind) if d.chance(0.3) else None
    elif d.chance(0.7):
        info = ml_dtypes.iinfo(kind)
        zero = d.array(scales, kind, "plain", max(info.min, -100), min(info.max, 100))
    return Spec(op, [x, d.array(scales, scale_kind, "plain", 0.05, 2), zero], attributes, opset=opset, constants=(1, 2))


@generator("DynamicQuantizeLinear")
def dynamic(d, op):
    opset = d.opset(op)
    return Spec(op, [d.array(d.shape(0, 4, zero=0), np.float32, d.one("grid", "plain"))], outputs=3, opset=opset, int_atol=1)


def q(d, shape, kind):
    return d.array(shape, kind, "wild")


def scale(d, shape=()):
    return d.array(shape, np.float32, "plain", 0.01, 0.1)


def zero(d, kind, shape=()):
    return d.array(shape, kind, "plain", 0 if np.dtype(kind).kind == "u" else -20, 60)


@generator("QLinearMatMul")
def qlinear_matmul(d, op):
    opset = d.opset(op, most=20)
    ka, kb = np.dtype(d.one(np.uint8, np.int8)), np.dtype(d.one(np.uint8, np.int8))
    ky = ka
    m, k, n = d.one(1, 3, 7), d.one(1, 5, 40), d.one(1, 8, 19)
    batch = d.shape(0, 2, 3)
    per_column = d.chance(0.4)
    columns = [n] if per_column else []
    inputs = [q(d, batch + [m, k], ka), scale(d), zero(d, ka), q(d, [k, n] if d.chance(0.5) else batch + [k, n], kb), scale(d, columns if len(batch) == 0 else ()),
              zero(d, kb, columns if len(batch) == 0 else ()), d.array([], np.float32, "plain", 0.5, 3), zero(d, ky)]
    return Spec(op, inputs, opset=opset, constants=(1, 2, 3, 4, 5, 6, 7), int_atol=1)


@generator("QLinearConv", weight=2)
def qlinear_conv(d, op):
    from windows import image, spatial, window

    opset = d.opset(op)
    rank = spatial(d)
    kernel, attributes, reach = window(d, rank, opset, ceil=False)
    ka = np.dtype(d.one(np.uint8, np.int8))
    kw = np.dtype(np.int8) if ka == np.int8 else np.dtype(d.one(np.uint8, np.int8))
    group = d.one(1, 1, 2)
    c, m = group * d.int(1, 5), group * d.int(1, 5)
    if d.chance(0.2):
        group = m = c
    if group > 1:
        attributes["group"] = group
    per_channel = d.chance(0.4)
    channels = [m] if per_channel else []
    bias = d.maybe(0.5, lambda: d.array([m], np.int32, "plain", -1000, 1000))
    zero_w = np.zeros(channels, kw) if per_channel else zero(d, kw)
    inputs = [q(d, image(d, rank, reach, c), ka), scale(d), zero(d, ka), q(d, [m, c // group] + kernel, kw), scale(d, channels), zero_w,
              d.array([], np.float32, "plain", 0.3, 2), zero(d, ka), bias]
    return Spec(op, inputs, attributes, opset=opset, constants=(1, 2, 3, 4, 5, 6, 7, 8), int_atol=1)
