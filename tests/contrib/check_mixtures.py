"""com.microsoft.QMoE, against ONNX Runtime's CPU kernel, or numpy for what that leaves out: gates, other forms of SwiGLU, float zero points."""
import os

import numpy as np

from harness import check, numbers

os.environ["ORT_QMOE_CPU_QNBIT_GEMM"] = "fp32"  # its default rounds activations to 8 bits where weights have 8
# By default, products with weights of few bits round their activations to 16 bits, which these tolerances do not allow for.
MS = dict(domain="com.microsoft", rtol=1e-4, atol=1e-4, options=("--math=strict",))
E = 4
sigmoid = lambda x: 1 / (1 + np.exp(-x))


def quantised(rows, k, bits, block, zeros, seed):
    """Weights, scales and zero points of all experts, and the weights as numbers."""
    rng = np.random.default_rng(seed)
    pack = lambda codes: np.packbits(np.unpackbits(codes[..., None], axis=-1, bitorder="little")[..., :bits].reshape(*codes.shape[:-1], -1), axis=-1, bitorder="little")
    codes = rng.integers(0, 1 << bits, (E, rows, k)).astype(np.uint8)
    blocks = -(-k // block) if block else 1
    scales = (rng.uniform(0.2, 1, (E, rows, blocks)) / (1 << bits)).astype(np.float32)
    z = rng.integers(0, 1 << bits, (E, rows, blocks)).astype(np.uint8) if zeros else np.full((E, rows, blocks), 1 << (bits - 1), np.uint8)
    wide = lambda v: np.repeat(v, block or k, 2)[:, :, :k].astype(np.float64)
    values = (codes - wide(z)) * wide(scales)
    return pack(codes), scales if block else scales[..., 0], (pack(z) if block else pack(z[..., 0])) if zeros else None, values


def mixture(x, chosen, activate, w1, b1, w2, b2, w3=None, b3=None):
    y = np.zeros_like(x, np.float64)
    for e in range(E):
        h = activate(x @ w1[e].T + b1[e], None if w3 is None else x @ w3[e].T + b3[e])
        y += chosen[:, e : e + 1] * (h @ w2[e].T + b2[e])
    return y.astype(np.float32)


def routed(scores, k, weights=None, normalise=False):
    best = np.argsort(-scores, 1)[:, :k]
    picked = np.take_along_axis(scores, best, 1)
    picked = np.exp(picked - picked.max(1, keepdims=True))
    picked /= picked.sum(1, keepdims=True)
    if weights is not None:
        picked = np.take_along_axis(weights, best, 1)
        picked = picked / picked.sum(1, keepdims=True) if normalise else picked
    y = np.zeros_like(scores)
    np.put_along_axis(y, best, picked, 1)
    return y


tokens, router = numbers(5, 64), numbers(5, E)
for bits in (2, 4, 8):
    for block in (0, 16, 32):
        for zeros in (False, True):
            w1, s1, z1, _ = quantised(32, 64, bits, block, zeros, 1)
            w2, s2, z2, _ = quantised(64, 32, bits, block, zeros, 2)
            options = dict(k=2, expert_weight_bits=bits, **(dict(block_size=block) if block else {}))
            biases, zero_points = ((None, None), [None, None, None, z1, z2]) if zeros else ((numbers(E, 32), numbers(E, 64)), [])
            check(f"QMoE {bits} bits, blocks of {block}, zeros={zeros}", "QMoE", [tokens, router, w1, s1, biases[0], w2, s2, biases[1], *zero_points],
                  {**options, "activation_type": "relu" if zeros else "silu"}, constants={2, 3, 5, 6, 11, 12}, **MS)
w1, s1, _, v1 = quantised(64, 64, 4, 32, False, 1)
w2, s2, _, v2 = quantised(64, 32, 4, 32, False, 2)
w3, s3, _, v3 = quantised(32, 64, 4, 32, False, 3)
b1, b2, b3 = numbers(E, 64), numbers(E, 64, seed=1), numbers(E, 32)
for extra in ({}, dict(activation_alpha=1.702, activation_beta=1.0, swiglu_limit=0.5)):
    check(f"QMoE swiglu {extra}", "QMoE", [tokens.reshape(1, 5, 64), router, w1, s1, b1, w2, s2, b2],
          dict(k=2, block_size=32, activation_type="swiglu", swiglu_fusion=1, **extra), constants={2, 3, 5, 6}, **MS)
check("QMoE weights that are inputs", "QMoE", [tokens, router, w1, s1, b1, w2, s2, b2], dict(k=1, block_size=32, activation_type="swiglu", swiglu_fusion=1), **MS)
check("QMoE f16", "QMoE", [v.astype(np.float16) if v.dtype == np.float32 else v for v in (tokens, router, w1, s1, b1, w2, s2, b2)],
      dict(k=2, block_size=32, activation_type="swiglu", swiglu_fusion=1), constants={2, 3, 5, 6}, **{**MS, "rtol": 1e-2, "atol": 1e-2})
mixed = np.random.default_rng(1).uniform(0, 1, (5, E)).astype(np.float32)
for normalise in (0, 1):
    check(f"QMoE router_weights {normalise}", "QMoE", [tokens, router, w1, s1, b1, w2, s2, b2, None, None, None, None, None, None, mixed],
          dict(k=2, block_size=32, activation_type="swiglu", swiglu_fusion=1, normalize_routing_weights=normalise), constants={2, 3, 5, 6},
          expect=[mixture(tokens, routed(router, 2, mixed, normalise), lambda g, _: g[:, ::2] * sigmoid(g[:, ::2]) * g[:, 1::2], v1, b1, v2, b2)], **MS)
check("QMoE swiglu halves", "QMoE", [tokens, router, w1, s1, b1, w2, s2, b2], dict(k=2, block_size=32, activation_type="swiglu", swiglu_fusion=2), constants={2, 3, 5, 6},
      expect=[mixture(tokens, routed(router, 2), lambda g, _: g[:, :32] * sigmoid(g[:, :32]) * g[:, 32:], v1, b1, v2, b2)], **MS)
for name, attributes, gate in (("swiglu apart", dict(activation_type="swiglu", swiglu_fusion=0), lambda g, l: g * sigmoid(g) * l), ("gated", dict(activation_type="relu"), lambda g, l: np.maximum(g, 0) * l)):
    check(f"QMoE {name}", "QMoE", [tokens, router, w3, s3, b3, w2, s2, b2, w3, s3, b3], dict(k=2, block_size=32, **attributes), constants={2, 3, 5, 6, 8, 9},
          expect=[mixture(tokens, routed(router, 2), gate, v3, b3, v2, b2, v3, b3)], **MS)
# Rows of a length that no block divides; layers of other widths.
x40 = numbers(3, 40)
w1, s1, z1, v1 = quantised(24, 40, 8, 0, True, 4)
w2, s2, z2, v2 = quantised(40, 24, 4, 0, True, 5)
inputs = [x40, router[:3], w1, s1, None, w2, s2, None, None, None, None, z1, z2]
check("QMoE widths of their own", "QMoE", inputs, dict(k=2, fc1_expert_weight_bits=8), constants={2, 3, 5, 6, 11, 12},
      expect=[mixture(x40, routed(router[:3], 2), lambda g, _: np.maximum(g, 0), v1, np.zeros((E, 24)), v2, np.zeros((E, 40)))], **MS)
check("QMoE fp4", "QMoE", inputs[:7], dict(k=2, quant_type="fp4"), refused="quant_type is 'fp4'", **MS)
