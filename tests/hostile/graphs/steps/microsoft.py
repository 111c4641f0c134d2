"""Operators that ONNX Runtime adds to ONNX's."""
import numpy as np

from grow import step
from steps.products import of_products
from steps.quantised import BYTES, drawn_scale, is_byte

MICROSOFT = {"domain": "com.microsoft"}


@step(1)
def activation(g):
    x, op = g.value(lambda v: v.dtype == np.float32 and v.rank), g.among(("Gelu", "QuickGelu", "FastGelu", "BiasGelu"))
    slope = lambda y: 1.2 * x.error + (5e-4 if op == "FastGelu" else 0)  # noqa: E731  an approximation of tanh in ONNX Runtime
    if op == "BiasGelu" and x.is_fixed(x.rank - 1) and x.array.size:
        b = g.operand(x.shape[-1:], np.float32)
        return g.add(op, [x, b], None, lambda y: 1.2 * (x.error + 1e-5 * b.size), **MICROSOFT)
    g.add(op if op != "BiasGelu" else "Gelu", [x], {"alpha": 1.5} if op == "QuickGelu" else {}, lambda y: 1.6 * slope(y), **MICROSOFT)


@step(1)
def fused_matmul(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.rank >= 2 and v.has_elements)
    turned = g.between(0, 1)
    k = x.shape[-2 if turned else -1]
    across = g.between(0, 1)
    n = g.between(1, 8)
    w = g.operand((n, k) if across else (k, n), np.float32)
    g.add("FusedMatMul", [x, w], {"transA": turned, "transB": across, "alpha": g.among((1.0, 0.5, -2.0))}, lambda y: 2 * of_products(x, w, x.shape[-2 if turned else -1]), **MICROSOFT)


@step(1)
def skip_norm(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.rank == 3 and v.has_elements and v.is_fixed(2) and v.shape[2] > 1)
    s = g.value(lambda v: v.dtype == np.float32 and v.shape == x.shape)
    both = lambda: x.array.astype(np.float64) + s.array  # noqa: E731
    simple = g.chance(0.4)
    spread = (lambda: float(np.sqrt((both() ** 2).mean(-1)).min())) if simple else lambda: float(both().std(-1).min())  # noqa: E731
    g.everywhere(lambda: x.shape == s.shape and spread() >= 0.1)
    w = g.operand(x.shape[-1:], np.float32, plain=True)
    others = [] if simple else [g.operand(x.shape[-1:], np.float32, plain=True) if g.chance(0.6) else None]
    g.add("SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization", [x, s, w, *others], {"epsilon": 1e-3},
          lambda y: 4 * max(1, w.size) * (x.error + s.error + 2e-5 * (x.size + s.size)) * 4 / spread(), outputs=[True, False, False, g.chance(0.4)], **MICROSOFT)


@step(1)
def qlinear_binary(g):
    x = g.value(is_byte)
    y = g.value(lambda v: v.dtype == x.dtype and v.shape == x.shape) if g.chance(0.5) else g.constant(g.fresh((), x.dtype))
    op = g.among(("QLinearAdd", "QLinearMul"))
    sa, sb, za, zb = np.float32(0.05), np.float32(0.03), np.asarray(g.between(0, 9), x.dtype), np.asarray(g.between(0, 9), x.dtype)

    def real():
        a, b = (x.array.astype(np.float64) - za) * float(sa), (y.array.astype(np.float64) - zb) * float(sb)
        return a + b if op == "QLinearAdd" else a * b

    def quotients(scale):
        q = real() / float(scale)
        return q, 2e-3 + 2e-6 * np.abs(q)
    sy, zy = drawn_scale(g, quotients, max([float(np.ptp(real())) for _ in g.in_worlds()]), x.dtype)
    one = lambda v: g.constant(np.asarray(v))  # noqa: E731
    g.add(op, [x, one(sa), one(za), y, one(sb), one(zb), sy, zy], **MICROSOFT)


@step(1)
def to_float(g):
    x = g.value(lambda v: v.dtype == np.uint8 and v.rank == 2 and v.has_elements and v.is_fixed(1))
    kind = g.among(BYTES)
    w = g.constant(g.random.integers(0, 100, (x.shape[1], g.between(1, 9))).astype(kind))
    one = lambda v, k=np.float32: g.constant(np.asarray(v, k))  # noqa: E731
    bias = g.operand((w.shape[1],), np.float32) if g.chance(0.5) else None
    g.add("MatMulIntegerToFloat", [x, w, one(0.02), one(0.01), one(g.between(0, 9), np.uint8), one(g.between(0, 9), kind), bias], None,
          lambda y: 1e-6 * x.shape[1] * 255 * 110 * 2e-4 + 1e-5 * (bias.size if bias else 0), **MICROSOFT)
