"""com.microsoft, as ONNX Runtime's CPU kernels have it."""
import numpy as np

from quantised import q, scale, zero
from spec import Spec, generator

I64 = np.int64


def ms(op, inputs, attributes=None, **more):
    return Spec(op, inputs, attributes or {}, opset=21, domain="com.microsoft", **{"rtol": 1e-3, "atol": 1e-4, **more})


@generator("BiasGelu", "FastGelu", "QuickGelu", "com.microsoft.Gelu")
def activation(d, op):
    op = op.split(".")[-1]
    x = d.array(d.shape(1, 4, 7), np.float32, "plain")
    bias = d.array(x.shape[-1:], np.float32, "plain")
    if op == "QuickGelu":
        return ms(op, [x], {"alpha": d.uniform(0.5, 2)})
    return ms(op, [x, bias] if op == "BiasGelu" or op == "FastGelu" and d.chance(0.5) else [x])


@generator("FusedMatMul", weight=2)
def fused_matmul(d, op):
    ta, tb = d.int(0, 1), d.int(0, 1)
    m, k, n = d.int(1, 9), d.int(1, 9), d.int(1, 9)
    batch = d.shape(0, 2, 3, zero=0)
    a, b = batch + ([k, m] if ta else [m, k]), (batch if d.chance(0.5) else []) + ([n, k] if tb else [k, n])
    return ms(op, [d.array(a, np.float32, "grid"), d.array(b, np.float32, "grid")], {"transA": ta, "transB": tb, "alpha": d.one(1.0, 0.5, -2.0)}, constants=(1,))


@generator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_norm(d, op):
    shape = [d.int(1, 2), d.int(1, 4), d.one(4, 8, 12)]
    make = lambda s: d.array(s, np.float32, "plain", -2, 2)
    inputs = [make(shape), make(shape), make(shape[-1:])]
    if op == "SkipLayerNormalization":
        inputs.append(d.maybe(0.7, lambda: make(shape[-1:])))
    inputs.append(d.maybe(0.5, lambda: make(shape[-1:])))
    return ms(op, inputs, {"epsilon": 1e-3}, outputs=[True, False, False, d.chance(0.4)], constants=(2, 3, 4))


@generator("QLinearAdd", "QLinearMul", weight=2)
def qlinear_binary(d, op):
    kind = np.dtype(d.one(np.uint8, np.int8))
    shape = d.shape(1, 4)
    return ms(op, [q(d, shape, kind), scale(d), zero(d, kind), q(d, d.broadcastable(shape), kind), scale(d), zero(d, kind), d.array([], np.float32, "plain", 0.02, 0.3), zero(d, kind)],
              constants=(1, 2, 4, 5, 6, 7), int_atol=1)


@generator("QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool", "QLinearAveragePool")
def qlinear_unary(d, op):
    kind = np.dtype(d.one(np.uint8, np.int8))
    shape = d.shape(1, 4) if op in ("QLinearSigmoid", "QLinearLeakyRelu") else [d.int(1, 2), d.int(1, 4), d.int(3, 6), d.int(3, 6)]
    attributes = {}
    if op == "QLinearLeakyRelu":
        attributes = {"alpha": d.uniform(0.05, 0.5)}
    elif op == "QLinearGlobalAveragePool":
        attributes = {"channels_last": d.int(0, 1)}
    elif op == "QLinearAveragePool":
        attributes = {"kernel_shape": d.ints(2, 1, 3), "strides": d.ints(2, 1, 2), "pads": [0, 0, 0, 0], "count_include_pad": d.int(0, 1)}
    return ms(op, [q(d, shape, kind), scale(d), zero(d, kind), scale(d), zero(d, kind)], attributes, constants=(1, 2, 3, 4), int_atol=1)


@generator("QLinearConcat")
def qlinear_concat(d, op):
    kind = np.dtype(d.one(np.uint8, np.int8))
    shape = d.shape(1, 3, zero=0)
    axis = d.axis(len(shape))
    inputs = [scale(d), zero(d, kind)]
    for _ in range(d.int(1, 3)):
        shape[axis] = d.int(1, 4)
        inputs += [q(d, shape, kind), scale(d), zero(d, kind)]
    fixed = tuple(i for i in range(len(inputs)) if i < 2 or (i - 2) % 3)
    return ms(op, inputs, {"axis": axis}, constants=fixed, int_atol=1)


@generator("MatMulIntegerToFloat", "DynamicQuantizeMatMul")
def integer_product(d, op):
    m, k, n = d.int(1, 5), d.int(1, 20), d.int(1, 9)
    kb = np.dtype(d.one(np.uint8, np.int8))
    columns = [n] if d.chance(0.5) else []
    b = [q(d, [k, n], kb), scale(d, columns), zero(d, kb, columns) if d.chance(0.6) else None, d.maybe(0.5, lambda: d.array([n], np.float32, "plain"))]
    if op == "DynamicQuantizeMatMul":
        return ms(op, [d.array([m, k], np.float32, "plain", -2, 2), *b], constants=(1, 2, 3, 4), rtol=2e-2, atol=2e-1)
    ka = np.dtype(np.uint8)
    return ms(op, [q(d, [m, k], ka), b[0], scale(d), b[1], zero(d, ka), b[2], b[3]], constants=(1, 2, 3, 4, 5, 6), rtol=1e-3, atol=1e-2)


@generator("com.microsoft.Trilu", "ExpandDims")
def tensors(d, op):
    op = op.split(".")[-1]
    if op == "Trilu":
        return ms(op, [d.array(d.shape(2, 4), d.one(np.float32, np.int64)), np.array(d.int(-3, 3), I64)], {"upper": d.int(0, 1)}, constants=(1,))
    x = d.array(d.shape(0, 3), np.float32)
    return ms(op, [x, np.array(d.int(-x.ndim - 1, x.ndim), np.int32)], constants=(1,))


@generator("ScaledSiLU", "GatedAdd", "CDist")
def scaled(d, op):
    shape = d.shape(1, 3, 7)
    if op == "ScaledSiLU":
        return ms(op, [d.array(shape, np.float32, "plain"), d.maybe(0.5, lambda: d.array([], np.float32, "plain", -2, 2))], {"alpha": d.uniform(0.5, 2)})
    if op == "GatedAdd":
        return ms(op, [d.array(shape, np.float32, "plain"), d.array(shape, np.float32, "plain"), d.array([*shape[:-1], 1], np.float32, "plain")])
    columns = d.int(1, 9)
    return ms(op, [d.array([d.int(1, 5), columns], np.float32, "plain"), d.array([d.int(1, 5), columns], np.float32, "plain")], {"metric": d.one("euclidean", "sqeuclidean")})


@generator("UnfoldTensor", "com.microsoft.GatherND", "com.microsoft.Pad")
def moved(d, op):
    op = op.split(".")[-1]
    shape = d.shape(1, 3, 7, zero=0)
    x = d.array(shape, np.float32)
    if op == "UnfoldTensor":
        axis = d.axis(len(shape))
        return ms(op, [x], {"dim": axis, "size": d.int(1, shape[axis]), "step": d.int(1, 3)})
    if op == "GatherND":
        depth, rows = d.int(1, len(shape)), d.int(1, 4)
        return ms(op, [x, np.array([[d.int(0, n - 1) for n in shape[:depth]] for _ in range(rows)], d.one(np.int32, I64))], rigid=(1,))
    return ms(op, [x, np.array(d.ints(2 * len(shape), 0, 2), I64), d.maybe(0.5, lambda: d.array([], np.float32, "plain"))])


@generator("CropAndResize", "MaxpoolWithMask", "NGramRepeatBlock")
def window(d, op):
    if op == "NGramRepeatBlock":
        batch = d.int(1, 3)
        return ms(op, [np.array([d.ints(8, 0, 3) for _ in range(batch)], I64), d.array([batch, 5], np.float32, "plain")], {"ngram_size": d.int(1, 4)}, rigid=(0,))
    image = d.array([d.int(1, 2), d.int(1, 3), d.int(2, 6), d.int(2, 6)], np.float32, "plain")
    if op == "CropAndResize":
        boxes = d.int(1, 4)
        return ms(op, [image, d.array([boxes, 4], np.float32, "plain", -0.2, 1.2), np.array(d.ints(boxes, 0, image.shape[0] - 1), np.int32), np.array(d.ints(2, 1, 5), np.int32)],
                  {"extrapolation_value": d.uniform(-2, 2)}, constants=(3,), rigid=(2,))
    mask = (d.array([1, 1, *image.shape[2:]], np.float32, "plain", 0, 1) < 0.8).astype(np.int32)
    return ms(op, [image, mask], {"kernel_shape": d.ints(2, 1, 2), "strides": d.ints(2, 1, 2), "pads": [0, 0, 0, 0]}, rigid=(1,))
