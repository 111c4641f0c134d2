"""Operators of com.microsoft, against ONNX Runtime's CPU kernels, or where it has none against their definition in numpy."""
import math

import numpy as np
from onnx import TensorProto as T

from harness import check, numbers

MS = dict(domain="com.microsoft")
erf = np.vectorize(math.erf)
gelu = lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2)))
sigmoid = lambda x: 1 / (1 + np.exp(np.minimum(-x, 700)))
f32 = lambda *v: [x.astype(np.float32) for x in v]
ints = lambda *v: np.array(v, np.int64)

x, bias = numbers(2, 3, 8), numbers(8)
check("BiasGelu", "BiasGelu", [x, bias], **MS)
check("FastGelu", "FastGelu", [x], **MS)
check("FastGelu bias", "FastGelu", [x, bias], **MS)
far = -np.array([2, 4, 6, 8, 20, 100, 3e4])
# The exponent has up to 90 units, which are rounded by 2^-24 of their size.
check("FastGelu far from 0", "FastGelu", f32(far), expect=f32(far * sigmoid(np.sqrt(8 / np.pi) * (far + 0.044715 * far**3))), rtol=1e-5, atol=0, **MS)
check("QuickGelu", "QuickGelu", [x], **MS)
check("QuickGelu alpha", "QuickGelu", [x], dict(alpha=0.7), **MS)
check("Gelu", "Gelu", [x], **MS)
check("BiasAdd", "BiasAdd", [x, bias, numbers(2, 3, 8, seed=1)], expect=f32(x + bias + numbers(2, 3, 8, seed=1)), **MS)
y = x + bias
check("BiasSplitGelu", "BiasSplitGelu", [x, bias], expect=f32(y[..., :4] * gelu(y[..., 4:])), **MS)
z = numbers(2, 4, 5, 6) + numbers(2, 1, 1, 6)
softmax = lambda v, axis=-1: np.exp(v - v.max(axis, keepdims=True)) / np.exp(v - v.max(axis, keepdims=True)).sum(axis, keepdims=True)
check("BiasSoftmax", "BiasSoftmax", [numbers(2, 4, 5, 6), numbers(2, 1, 1, 6)], dict(axis=3, is_inner_broadcast=1), expect=f32(softmax(z)), **MS)
check("BiasSoftmax axis 2", "BiasSoftmax", [numbers(2, 4, 5, 6), numbers(2, 1, 1, 6)], dict(axis=2, is_inner_broadcast=1),
      expect=f32(softmax(z.reshape(2, 4, 30)).reshape(z.shape)), **MS)
p, q = numbers(3, 5, 2), numbers(3, 5, 2, seed=1)
cp, cq = p[..., 0] + 1j * p[..., 1], q[..., 0] + 1j * q[..., 1]
pairs = lambda v: np.stack([v.real, v.imag], -1).astype(np.float32)
check("ComplexMul", "ComplexMul", [p, q], expect=[pairs(cp * cq)], **MS)
check("ComplexMulConj", "ComplexMulConj", [p, q], expect=[pairs(cp * cq.conj())], **MS)

for op in ("FusedMatMul", "TransposeMatMul"):
    for ta in (0, 1):
        for tb in (0, 1):
            a, w = numbers(*((2, 4, 3) if ta else (2, 3, 4))), numbers(*((2, 5, 4) if tb else (2, 4, 5)), seed=1)
            check(f"{op} {ta}{tb}", op, [a, w], dict(transA=ta, transB=tb, alpha=0.5), **MS)
for ta in (0, 1):
    a = numbers(*((4, 2, 3) if ta else (3, 2, 4)))
    check(f"FusedMatMul transBatchA {ta}", "FusedMatMul", [a, numbers(2, 4, 5)], dict(transA=ta, transBatchA=1), **MS)
    b = numbers(*((5, 2, 4) if ta else (4, 2, 5)))
    check(f"FusedMatMul transBatchB {ta}", "FusedMatMul", [numbers(2, 3, 4), b], dict(transB=ta, transBatchB=1), **MS)
for activation in ("Relu", "Tanh", "Sigmoid", "LeakyRelu"):
    extra = dict(activation_alpha=0.2) if activation == "LeakyRelu" else {}
    check(f"FusedGemm {activation}", "FusedGemm", [numbers(3, 4), numbers(5, 4), numbers(5)], dict(activation=activation, transB=1, alpha=0.5, beta=2.0, **extra), **MS)
image, kernel = numbers(1, 4, 7, 6), numbers(6, 4, 3, 3, scale=0.3)
for activation, parameters in (("Relu", None), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.5]), ("HardSigmoid", [0.1, 0.4]), ("Tanh", None)):
    extra = dict(activation_params=parameters) if parameters else {}
    check(f"FusedConv {activation}", "FusedConv", [image, kernel, numbers(6)], dict(activation=activation, pads=[1, 1, 1, 1], **extra), constants={1, 2}, **MS)
check("FusedConv sum", "FusedConv", [image, kernel, numbers(6), numbers(1, 6, 7, 6)], dict(activation="Relu", pads=[1, 1, 1, 1]), constants={1, 2}, **MS)
for dilation in (1, 2):
    for activation in ("none", "silu"):
        for last in (0, 1):
            shape = (2, 5, 3) if last else (2, 3, 5)
            state = (2, 3 * dilation, 3) if last else (2, 3, 3 * dilation)
            for past in (None, numbers(*state, seed=2)):
                check(f"CausalConvWithState {dilation} {activation} last={last} past={past is not None}", "CausalConvWithState", [numbers(*shape), numbers(3, 1, 4), numbers(3), past],
                      dict(activation=activation, dilation=dilation, channels_last=last), outputs=2, **MS)

for last in (0, 1):
    v, kernel, before = numbers(2, 3, 5), numbers(3, 1, 4), numbers(2, 3, 3, seed=2)
    turned = (lambda a: np.ascontiguousarray(np.moveaxis(a, -1, -2))) if last else (lambda a: a)
    all = np.concatenate([before, v], 2)
    convolved = sum(all[:, :, j : j + 5] * kernel[None, :, 0, j, None] for j in range(4))
    for window in (1, 3, 7):
        held = [all[:, :, n : n + 3] if n > 0 else np.zeros_like(before) for n in range(6 - window, 6)]
        check(f"CausalConvWithState window of {window} last={last}", "CausalConvWithState", [turned(v), kernel, None, np.stack([turned(np.full_like(before, 9))] * (window - 1) + [turned(before)])],
              dict(channels_last=last, state_window=window), outputs=2, expect=[turned(convolved).astype(np.float32), turned(np.stack(held))], **MS)

gamma, beta, skip = numbers(8, seed=3), numbers(8, seed=4), numbers(2, 3, 8, seed=5)
for name, inputs in (("plain", [x, skip, gamma, beta]), ("bias", [x, skip, gamma, beta, bias]), ("no beta", [x, skip, gamma, None, bias])):
    check(f"SkipLayerNormalization {name}", "SkipLayerNormalization", inputs, dict(epsilon=1e-5), outputs=4, **MS)
check("SkipLayerNormalization broadcast", "SkipLayerNormalization", [x, skip[0], gamma, beta], dict(epsilon=1e-5), **MS)
check("SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], dict(epsilon=1e-5), outputs=4, wanted=[0, 3], **MS)
check("SkipSimplifiedLayerNormalization f16", "SkipSimplifiedLayerNormalization", [v.astype(np.float16) for v in (x, skip, gamma)], dict(epsilon=1e-5), rtol=5e-3, atol=5e-3, **MS)
check("SimplifiedLayerNormalization", "SimplifiedLayerNormalization", [x, gamma], dict(epsilon=1e-5, axis=-1))
ids = np.random.default_rng(0).integers(0, 9, (2, 5)).astype(np.int32)
tables = [numbers(9, 8), numbers(7, 8), numbers(2, 8)]
mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
for name, segment, m, position in (("all", ids % 2, mask, None), ("no mask", ids % 2, None, None), ("positions", ids % 2, mask, ids % 7)):
    for wanted in ([0, 1], [0, 1, 2]):
        check(f"EmbedLayerNormalization {name} {wanted}", "EmbedLayerNormalization", [ids, segment, *tables, gamma, beta, m, position], dict(epsilon=1e-5), outputs=3, wanted=wanted,
              out_types={0: T.FLOAT, 1: T.INT32, 2: T.FLOAT}, **MS)


def group_norm(v, groups, scale, shift, act, last, epsilon=1e-5):
    v = np.moveaxis(v, -1, 1) if last else v
    g = v.reshape(v.shape[0], groups, -1)
    g = (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + epsilon)
    v = g.reshape(v.shape) * scale[:, None, None] + shift[:, None, None]
    v = v * sigmoid(v) if act else v
    return np.moveaxis(v, 1, -1) if last else v


for last in (0, 1):
    for act in (0, 1):
        v = numbers(*((2, 4, 3, 8) if last else (2, 8, 4, 3)))
        options = dict(groups=4, activation=act, channels_last=last, epsilon=1e-5)
        check(f"GroupNorm {last} {act}", "GroupNorm", [v, gamma, beta], options, expect=f32(group_norm(v, 4, gamma, beta, act, last)), **MS)
        add = numbers(2, 8)
        total = v + (add[:, None, None] if last else add[:, :, None, None]) + (bias if last else bias[:, None, None])
        check(f"SkipGroupNorm {last} {act}", "SkipGroupNorm", [v, gamma, beta, add, bias], options, outputs=2, expect=f32(group_norm(total, 4, gamma, beta, act, last), total), **MS)
for activation in ({}, {"activation": "sigmoid"}, {"activation": "swish"}):
    check(f"GatedRMSNorm {activation}", "GatedRMSNorm", [numbers(2, 3, 24), gamma, numbers(2, 3, 24, seed=1)], activation, **MS)

check("ExpandDims", "ExpandDims", [x, np.array([1], np.int32)], constants={1}, **MS)
check("ExpandDims from the end", "ExpandDims", [x, np.array([-1], np.int32)], constants={1}, **MS)
check("Range", "Range", [np.array([1.0], np.float32), np.array([4.0], np.float32), np.array([0.5], np.float32)], constants={0, 1, 2}, **MS)
check("Range without delta", "Range", [np.array([1], np.int64), np.array([4], np.int64)], constants={0, 1}, **MS)
check("Pad", "Pad", [numbers(2, 3), ints(0, 1, 2, 3), np.array([1.5], np.float32)], constants={1, 2}, **MS)
check("Pad reflect", "Pad", [numbers(4, 5), ints(1, 1, 2, 3)], dict(mode="reflect"), constants={1}, **MS)
check("Trilu", "Trilu", [numbers(3, 4)], dict(upper=0), **MS)
check("Trilu k", "Trilu", [numbers(2, 3, 4), np.array(1, np.int64)], constants={1}, **MS)
for n in (6, 7):
    check(f"Rfft {n}", "Rfft", [numbers(2, n)], dict(signal_ndim=1, onesided=1, normalized=0), expect=[pairs(np.fft.rfft(numbers(2, n).astype(np.float64)))], **MS)
check("Rfft two axes", "Rfft", [numbers(2, 4, 6)], dict(signal_ndim=2, onesided=1, normalized=0), expect=[pairs(np.fft.rfft2(numbers(2, 4, 6).astype(np.float64)))], **MS)
spectrum = np.fft.rfft2(numbers(2, 4, 6).astype(np.float64))
check("Irfft two axes", "Irfft", [pairs(spectrum)], dict(signal_ndim=2, onesided=1, normalized=0), expect=[numbers(2, 4, 6)], **MS)
for size in (1, 2, 5):
    m = numbers(3, size, size) + 2 * np.eye(size, dtype=np.float32)
    check(f"Inverse {size}", "Inverse", [m], **MS)


def t5_buckets(q, k, buckets, furthest, both_ways):
    n = -(np.arange(k)[None] - np.arange(q)[:, None])
    first = 0
    if both_ways:
        buckets //= 2
        first = (n < 0) * buckets
        n = np.abs(n)
    else:
        n = np.maximum(n, 0)
    exact = buckets // 2
    large = exact + (np.log(np.maximum(n, 1).astype(np.float32) / exact) / np.float32(math.log(furthest / exact)) * (buckets - exact)).astype(int)
    return first + np.where(n < exact, n, np.minimum(large, buckets - 1))


for both in (0, 1):
    table = numbers(16, 3)
    check(f"RelativePositionBias {both}", "RelativePositionBias", [table, np.array([20], np.int64), np.array([20], np.int64)], dict(max_distance=32, is_bidirectional=both),
          constants={1, 2}, expect=[table[t5_buckets(20, 20, 16, 32, both)].transpose(2, 0, 1)[None]], **MS)

E, I = 4, 6
tokens, router = numbers(5, 8), numbers(5, E)
w2, b2 = numbers(E, 8, I, seed=3), numbers(E, 8, seed=4)
for k in (1, 2, 4):
    for normalise in (0, 1):
        for activation in ("relu", "gelu", "silu", "identity"):
            check(f"MoE {k} {normalise} {activation}", "MoE", [tokens, router, numbers(E, I, 8, seed=1), numbers(E, I, seed=2), w2, b2],
                  dict(k=k, normalize_routing_weights=normalise, activation_type=activation), **MS)
for extra in ({}, dict(activation_alpha=1.702, activation_beta=1.0), dict(swiglu_limit=0.5)):
    check(f"MoE swiglu {extra}", "MoE", [tokens.reshape(1, 5, 8), router, numbers(E, 2 * I, 8, seed=1), numbers(E, 2 * I, seed=2), w2, b2],
          dict(k=2, normalize_routing_weights=1, activation_type="swiglu", swiglu_fusion=1, **extra), **MS)
check("MoE without biases", "MoE", [tokens, router, numbers(E, I, 8, seed=1), None, w2], dict(k=2), **MS)
