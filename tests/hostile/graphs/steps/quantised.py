"""Islands of integers: QuantizeLinear and its inverse around operators, and operators on integers with scales. A quotient never lies near a tie, so integers are exact."""
import numpy as np
from onnx import helper

from grow import session_of, step
from steps.common import moved, type_of
from steps.products import of_products
from steps.windows import image
from values import Unfit

BYTES = (np.uint8, np.int8)


def is_byte(v):
    return v.dtype in BYTES and v.has_elements


def evaluated(op, *arrays, **attributes):
    """On floats, outside of the graph: of small integers all is exact."""
    names = [f"a{i}" for i in range(len(arrays))]
    infos = [helper.make_tensor_value_info(n, 1, a.shape) for n, a in zip(names, arrays)]
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "one", infos, [helper.make_empty_tensor_value_info("y")])
    return session_of(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)).run(None, {n: np.asarray(a, np.float32) for n, a in zip(names, arrays)})[0].astype(np.float64)


def drawn_scale(g, quotients, spread, kind):
    """(scale, zero point) for which no quotient(scale) in any world is near a tie. `quotients`: a function of the scale, which gives distances in steps and their doubt."""
    info = np.iinfo(kind)
    for _ in range(8):
        scale = np.float32(max(spread, 1e-3) / (info.max - info.min) * g.random.uniform(0.5, 2.5))
        if g.chance(0.2):
            scale = np.float32(2.0 ** np.round(np.log2(scale)))
        zero = g.among((0, (info.max + info.min + 1) // 2, g.between(int(info.min), int(info.max))))

        def is_clear():
            quotient, doubt = quotients(scale)
            return not quotient.size or bool((np.abs(np.abs(quotient - np.floor(quotient)) - 0.5) > doubt).all())
        if all([is_clear() for _ in g.in_worlds()]):
            return g.constant(np.asarray(scale)), g.constant(np.asarray(zero, kind))
    raise Unfit


def spread_of(x):
    return max(float(np.ptp(a.astype(np.float64))) if a.size else 0.0 for a in x.arrays)


def quantised(g, x, kind=None):
    kind = kind or g.among((*BYTES, *BYTES, np.int16, np.uint16))

    def quotients(scale):
        q = x.array.astype(np.float64) / float(scale)
        return q, 4 * x.error / float(scale) + 1e-3 + 1e-6 * np.abs(q)
    scale, zero = drawn_scale(g, quotients, spread_of(x), kind)
    return g.add("QuantizeLinear", [x, scale, zero]), scale, zero


def dequantised(g, q, scale, zero):
    return g.add("DequantizeLinear", [q, scale, zero], None, lambda y: 1e-6 * y.size, rounds=False)


@step(2)
def there_and_back(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.has_elements)
    q, scale, zero = quantised(g, x)
    if g.chance(0.3):
        q = moved(g, "Transpose", q) if g.chance(0.5) else moved(g, "Flatten", q)
    dequantised(g, q, scale, zero)


@step(1)
def from_bytes(g):
    x = g.value(is_byte)
    scale = np.float32(g.random.uniform(0.01, 0.1))
    if x.rank > 1 and x.is_fixed(1) and g.chance(0.4):
        n = x.shape[1]
        scales, zeros = g.constant((g.random.uniform(0.01, 0.1, n)).astype(np.float32)), g.constant(g.fresh((n,), x.dtype, plain=True))
        return g.add("DequantizeLinear", [x, scales, zeros], {"axis": 1}, lambda y: 1e-6 * y.size, rounds=False)
    dequantised(g, x, g.constant(np.asarray(scale)), g.constant(np.asarray(g.between(0, 9), x.dtype)) if g.chance(0.7) else None)


def weights(g, shape, axis):
    """Quantised, with a scale for each row or one for all, and what DequantizeLinear makes of them."""
    w = g.constant(g.random.integers(-127, 128, shape).astype(np.int8))
    if g.chance(0.5):
        scale = g.constant(g.random.uniform(0.004, 0.02, shape[axis]).astype(np.float32))
        return g.add("DequantizeLinear", [w, scale, g.constant(np.zeros(shape[axis], np.int8)) if g.chance(0.5) else None], {"axis": axis}, lambda y: 1e-6 * y.size, rounds=False, keep=())
    return g.add("DequantizeLinear", [w, g.constant(np.asarray(0.01, np.float32))], None, lambda y: 1e-6 * y.size, rounds=False, keep=())


@step(3)
def island(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.rank >= 2 and v.has_elements)
    kind = g.among(BYTES)
    a = dequantised(g, *quantised(g, x, kind))
    if image(x, (3, 4)) and g.chance(0.6):
        c, rank = x.shape[1], x.rank - 2
        group, k = g.among((1, 1, c)), g.among((1, 3))
        w = weights(g, (group * g.between(1, 6), c // group, *[k] * rank), 0)
        y = g.add("Conv", [a, w], {"group": group, "pads": [k // 2] * 2 * rank}, lambda y: of_products(a, w, c // group * k ** rank))
    elif x.is_fixed(x.rank - 1) and g.chance(0.7):
        w = weights(g, (x.shape[-1], g.between(1, 12)), 1)
        y = g.add("MatMul", [a, w], None, lambda y: of_products(a, w, x.shape[-1]))
    else:
        b = dequantised(g, *quantised(g, g.value(lambda v: v.dtype == np.float32 and v.shape == x.shape and v.has_elements), kind))
        y = g.add(g.among(("Add", "Mul")), [a, b], None, lambda y: a.error * (1 + b.size) + b.error * (1 + a.size))
    if g.chance(0.4):
        y = g.add("Relu", [y], None, lambda z: y.error, rounds=False)
    if g.chance(0.8):
        dequantised(g, *quantised(g, y, kind))


@step(2)
def chain(g):
    """Several operators between bytes, as quantisers write networks."""
    x = g.value(lambda v: v.dtype == np.float32 and v.rank in (3, 4) and v.has_elements and v.is_fixed(1))
    kind = g.among(BYTES)
    q, scale, zero = quantised(g, x, kind)
    for _ in range(g.between(2, 4)):
        a = dequantised(g, q, scale, zero)
        rank, c = a.rank - 2, a.shape[1]
        op = g.among(("Conv", "Conv", "MaxPool", "Add", "Concat", "Transpose", "AveragePool", "Relu", "Sigmoid"))
        if op == "Conv":
            group = g.among((1, c))
            w = weights(g, (group * g.between(1, 5), c // group, *[3] * rank), 0)
            y = g.add("Conv", [a, w], {"group": group, "pads": [1] * 2 * rank}, lambda y: of_products(a, w, c // group * 3 ** rank))
        elif op in ("MaxPool", "AveragePool"):
            g.everywhere(lambda: min(a.shape[2:]) >= 2)
            y = g.add(op, [a], {"kernel_shape": [2] * rank, "strides": [g.between(1, 2)] * rank}, lambda y: a.error + 1e-6 * a.size, rounds=False)
        elif op == "Add":
            y = g.add("Add", [a, a if g.chance(0.4) else g.operand((c, *[1] * rank), np.float32, plain=True)], None, lambda y: 2 * a.error)
        elif op == "Concat":
            y = moved(g, "Concat", a, [a], {"axis": 1})
        elif op == "Transpose":
            y = moved(g, "Transpose", a, (), {"perm": [0, 1, *reversed(range(2, a.rank))]})
        else:
            y = g.add(op, [a], None, lambda y: a.error, rounds=op == "Sigmoid")
        q, scale, zero = quantised(g, y, kind)
    dequantised(g, q, scale, zero)


def product_quotients(g, sums, factor):
    def quotients(scale):
        q = sums() * factor / float(scale)
        return q, 2e-3 + 2e-6 * np.abs(q)
    return quotients


@step(1)
def qlinear_matmul(g):
    x = g.value(lambda v: is_byte(v) and v.rank >= 2 and v.is_fixed(v.rank - 1))
    kind = x.dtype if x.dtype == np.int8 else g.among(BYTES)
    w, za = g.constant(g.random.integers(0, 128, (x.shape[-1], g.between(1, 9))).astype(kind)), np.asarray(g.between(0, 9), x.dtype)
    zb = np.asarray(g.between(0, 9), kind)
    sums = lambda: (x.array.astype(np.float64) - za) @ (w.array.astype(np.float64) - zb)  # noqa: E731
    sa, sb = np.float32(0.02), np.float32(0.03)
    spread = max([float(np.ptp(sums())) for _ in g.in_worlds()]) * 0.0006
    sy, zy = drawn_scale(g, product_quotients(g, sums, float(sa) * float(sb)), spread, x.dtype)
    one = lambda v: g.constant(np.asarray(v))  # noqa: E731
    g.add("QLinearMatMul", [x, one(sa), one(za), w, one(sb), one(zb), sy, zy])


@step(1)
def qlinear_conv(g):
    x = g.value(lambda v: is_byte(v) and v.rank == 4 and v.is_fixed(1))
    kind = x.dtype if x.dtype == np.int8 else g.among(BYTES)
    group = g.among((1, x.shape[1]))
    m = group * g.between(1, 4)
    w, za = g.constant(g.random.integers(0, 128, (m, x.shape[1] // group, 3, 3)).astype(kind)), np.asarray(g.between(0, 9), x.dtype)
    bias = g.constant(g.random.integers(-300, 300, m).astype(np.int32)) if g.chance(0.5) else None
    attributes = {"pads": [1] * 4, "group": group, "strides": [g.between(1, 2)] * 2}

    def sums():
        y = evaluated("Conv", x.array.astype(np.float64) - za, w.array.astype(np.float64), **attributes)
        return y if bias is None else y + bias.array.reshape(-1, 1, 1)
    sa, sb = np.float32(0.02), np.float32(0.03)
    spread = max([float(np.ptp(sums())) for _ in g.in_worlds()]) * 0.0006
    sy, zy = drawn_scale(g, product_quotients(g, sums, float(sa) * float(sb)), spread, x.dtype)
    one = lambda v: g.constant(np.asarray(v))  # noqa: E731
    g.add("QLinearConv", [x, one(sa), one(za), w, one(sb), one(np.zeros((), kind)), sy, zy, bias], attributes)


@step(1)
def dynamic(g):
    """As quantize_dynamic writes products."""
    x = g.value(lambda v: v.dtype == np.float32 and v.rank >= 2 and v.has_elements and v.is_fixed(v.rank - 1) and not any(v.errors))

    def is_clear():
        a = x.array.astype(np.float64)
        low, high = min(0.0, a.min()), max(0.0, a.max())
        scale = (high - low) / 255
        if scale < 1e-4:
            return False
        quotients = np.concatenate([(a / scale).ravel(), [-low / scale]])
        return bool((np.abs(np.abs(quotients - np.floor(quotients)) - 0.5) > 2e-3).all())
    g.everywhere(is_clear)
    q, scale, zero = g.add("DynamicQuantizeLinear", [x], None, lambda y: 1e-6 * y.size, outputs=3, rounds=False)
    w = g.constant(g.random.integers(-127, 128, (x.shape[-1], g.between(1, 9))).astype(np.int8))
    sums = g.add("MatMulInteger", [q, w, zero])
    as_float = g.add("Cast", [sums], {"to": type_of(np.float32)}, rounds=False)
    factor = g.add("Mul", [scale, g.constant(np.asarray(0.01, np.float32))], None, lambda y: scale.error)
    g.add("Mul", [as_float, factor], None, lambda y: as_float.size * factor.error)
