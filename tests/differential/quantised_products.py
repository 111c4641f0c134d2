"""Layers that multiply: convolutions, products by constant weights and of two values."""
import numpy as np

from quantised_layers import Weights, added, finish, layer, named, of_product, pick, rounded, softmax_of, weight_kinds
from quantised_network import MICROSOFT, U, Ambiguous, Real, evaluate, is_power_of_two


def bias_for(n, x, w, channels):
    """(name, Real) of a bias as a quantiser writes it, i32 with the scale of the product, or as a float; or nothing."""
    d = n.d
    form = d.one("none", "integer", "integer", "float")
    if form == "none":
        return None, None
    product = np.asarray(x.scale * w.scale, np.float32)
    if form == "integer" and product.ndim <= 1:
        q = np.asarray(d.rng.integers(-3000, 3000, channels)).astype(np.int32)
        attributes = {"axis": 0} if product.ndim else {}
        name = n.node("DequantizeLinear", n.constant(q, "bias"), n.constant(product, "scale"), n.constant(np.zeros(product.shape, np.int32), "zero") if d.chance(0.5) else None, **attributes)
        array = n.arrays[name]
        exact = is_power_of_two(product)
        return name, Real(name, array, np.zeros(array.shape) if exact else 2 * U * np.abs(array).astype(np.float64), float(product.min()) if exact else None)
    # Multiples of 1/8 are exact.
    array = (np.asarray(d.rng.integers(-16, 17, channels)) / 8).astype(np.float32)
    return n.constant(array, "bias"), Real(None, array, np.zeros(array.shape), 0.125)


def window(n, x, c):
    """(channels out, group, shape of weights, attributes) of a convolution on x."""
    d, rank = n.d, x.array.ndim - 2
    how = d.one("dense", "dense", "depthwise", "grouped")
    group = {"dense": 1, "depthwise": c}.get(how) or d.among([g for g in range(1, c + 1) if c % g == 0])
    m = d.one(1, 3, 4, 8, 16, 19) if group == 1 else group * d.one(1, 1, 2, 4) if group < 24 else group
    kernel = [min(d.one(1, 3, 3, 5, 2) if rank < 3 else d.one(1, 2, 3), x.array.shape[2 + k] + 1) for k in range(rank)]
    dilations = [d.one(1, 1, 1, 2) for _ in range(rank)]
    attributes = {"group": group} if group > 1 else {}
    if d.chance(0.4):
        attributes["strides"] = [d.one(1, 2, 2, 3) for _ in range(rank)]
    if any(v > 1 for v in dilations):
        attributes["dilations"] = dilations
    if d.chance(0.15):
        attributes["auto_pad"] = d.one("SAME_UPPER", "SAME_LOWER", "VALID")
        attributes.pop("dilations", None)
    elif d.chance(0.8):
        reach = [(k - 1) * v for k, v in zip(kernel, dilations)]
        attributes["pads"] = [r // 2 for r in reach] * 2 if d.chance(0.6) else [d.int(0, r) for r in reach] + [d.int(0, r) for r in reach]
    reach = [(k - 1) * attributes.get("dilations", [1] * rank)[i] + 1 for i, k in enumerate(kernel)]
    if "auto_pad" not in attributes or attributes["auto_pad"] == "VALID":
        pads = attributes.get("pads", [0] * 2 * rank)
        if any(x.array.shape[2 + i] + pads[i] + pads[i + rank] < reach[i] for i in range(rank)):
            raise Ambiguous("the kernel is larger than the image")
    return m, [m, c // group, *kernel], attributes


@layer(10)
def convolution(n):
    d = n.d
    x = pick(n, (3, 4, 5))
    c = x.array.shape[1]
    m, shape, attributes = window(n, x, c)
    terms = int(np.prod(shape[1:]))
    eight = x.array.dtype.itemsize == 1
    form = d.one("qdq", "qdq", "qdq", "qlinear", "integer") if eight else "qdq"
    kinds = weight_kinds(n) if form == "qdq" else [np.int8] if x.array.dtype == np.int8 else [d.one(np.int8, np.uint8)]
    w = Weights(n, shape, 0, 4 / terms**0.5, kinds)
    if form == "qdq":
        xd = n.dequantise(x)
        wd = w.dequantised()
        name, bias = bias_for(n, x, w, m)
        y = n.node("Conv", xd.name, wd, name, **attributes)
        return finish(n, named(of_product("Conv", xd, w.real(), bias, n.arrays[y], terms + 1, **attributes), y), x.array.dtype)
    xr = n.dequantised(x, None)
    if w.scale.ndim and w.zero.astype(np.int64).any() and len(set(w.zero.ravel().tolist())) > 1:
        raise Ambiguous("ONNX Runtime wants one zero point")
    if form == "integer":
        if w.scale.ndim:
            w.zero = w.zero.ravel()[:1].reshape(())
            w.array = evaluate("DequantizeLinear", w.q, w.scale, np.full(w.scale.shape, w.zero, w.q.dtype), axis=0)
        else:
            w.zero = w.zero.reshape(())
        sums = n.node("ConvInteger", x.name, n.constant(w.q, "w"), n.constant(x.zero, "zero"), n.constant(w.zero, "zero"), **attributes)
        factor = np.asarray(x.scale * w.scale, np.float32)
        y = n.node("Mul", n.node("Cast", sums, to=1), n.constant(factor.reshape(-1, *[1] * (x.array.ndim - 2)) if factor.ndim else factor, "factor"))
        known = of_product("Conv", xr, w.real(), None, n.arrays[y], 3, **attributes)
        return finish(n, named(known, y), x.array.dtype)
    bias = np.asarray(d.rng.integers(-3000, 3000, m)).astype(np.int32) if d.chance(0.6) else None
    product = np.broadcast_to(np.asarray(x.scale * w.scale, np.float64), (m,))
    addend = None
    if bias is not None:
        values = (bias * product).astype(np.float32)
        exact = xr.unit is not None and w.unit is not None
        addend = Real(None, values, np.zeros(m) if exact else 2 * U * np.abs(values).astype(np.float64), float(product.min()) if exact else None)
    real = evaluate("Conv", xr.array, w.array, None if addend is None else addend.array, **attributes)
    known = of_product("Conv", xr, w.real(), addend, real, terms + 1, **attributes)
    operands = lambda scale, zero: [x.name, n.constant(x.scale, "scale"), n.constant(x.zero, "zero"), n.constant(w.q, "w"), n.constant(w.scale, "scale"), n.constant(w.zero, "zero"), scale, zero,
                                    None if bias is None else n.constant(bias, "bias")]
    return n.quantise(known, x.array.dtype, lambda scale, zero: n.node("QLinearConv", *operands(scale, zero), **attributes))


@layer(2)
def transposed_convolution(n):
    d = n.d
    x = pick(n, (3, 4))
    rank, c = x.array.ndim - 2, x.array.shape[1]
    if x.array.size > 2000:
        raise Ambiguous("large")
    m, group = d.one(1, 3, 4, 8), d.one(1, 1, 1, c)
    stride = d.one(1, 2, 2, 2, 3, 4)
    strides = [stride] * rank if d.chance(0.85) else [d.int(1, 3) for _ in range(rank)]
    kernel = [d.one(s, s, s + 1, s + 2, 1, 2, 3, 4) for s in strides]
    attributes = {"strides": strides} | ({"group": group} if group > 1 else {})
    if d.chance(0.15):
        attributes["dilations"] = [d.int(1, 2) for _ in range(rank)]
    dilations = attributes.get("dilations", [1] * rank)
    if d.chance(0.6):
        pads = [d.int(0, (k - 1) * v) for k, v in zip(kernel, dilations)] + [d.int(0, (k - 1) * v) for k, v in zip(kernel, dilations)]
        extra = [d.int(0, max(s - 1, 0)) for s in strides] if d.chance(0.4) else [0] * rank
        if any((e - 1) * s + (k - 1) * v + 1 + o - pads[i] - pads[i + rank] < 1 for i, (e, s, k, v, o) in enumerate(zip(x.array.shape[2:], strides, kernel, dilations, extra))):
            raise Ambiguous("nothing is left")
        attributes |= {"pads": pads, "output_padding": extra}
    elif d.chance(0.3) and all(k >= s for k, s in zip(kernel, strides)):  # ONNX Runtime has another size where windows leave gaps
        attributes["auto_pad"] = d.one("SAME_UPPER", "SAME_LOWER", "VALID")
        attributes.pop("dilations", None)
    w = Weights(n, [c, m, *kernel], 1, 4 / (c // group)**0.5, weight_kinds(n))
    if group > 1 and w.scale.ndim:
        raise Ambiguous("scales along the outputs of a group")
    name, bias = bias_for(n, x, w, m * group)
    xd = n.dequantise(x)
    y = n.node("ConvTranspose", xd.name, w.dequantised(), name, **attributes)
    known = of_product("ConvTranspose", xd, w.real(), bias, n.arrays[y], c // group * int(np.prod(kernel)) + 1, **attributes)
    return finish(n, named(known, y), x.array.dtype)


@layer(5)
def product(n):
    d = n.d
    x = pick(n, (2, 3, 4))
    k, columns = x.array.shape[-1], d.one(1, 3, 8, 16, 19, 40, 70)
    eight = x.array.dtype.itemsize == 1
    form = d.one("matmul", "matmul", "gemm", "left", "qlinear", "integer", "to float") if eight else d.one("matmul", "gemm", "left")
    if form == "gemm" and x.array.ndim != 2:
        form = "matmul"
    if form == "left":  # constant weights are the first operand
        w = Weights(n, [columns, x.array.shape[-2]], 0, 4 / x.array.shape[-2]**0.5, weight_kinds(n))
        xd = n.dequantise(x)
        y = n.node("MatMul", w.dequantised(), xd.name)
        return finish(n, named(of_product("MatMul", w.real(), xd, None, n.arrays[y], x.array.shape[-2]), y), x.array.dtype)
    transposed = form == "gemm" and d.chance(0.6)
    shape, axis = ([columns, k], 0) if transposed else ([k, columns], 1)
    block = None
    if form == "matmul" and d.chance(0.25):
        block = (0, d.one(2, 4, 16, 32))
    w = Weights(n, shape, axis, 4 / k**0.5, weight_kinds(n) if form in ("matmul", "gemm") else [np.int8] if x.array.dtype == np.int8 else [np.int8, np.uint8], block)
    if form == "matmul":
        xd = n.dequantise(x)
        y = n.node("MatMul", xd.name, w.dequantised())
        known = named(of_product("MatMul", xd, w.real(), None, n.arrays[y], k), y)
        if d.chance(0.5):
            name, bias = bias_for(n, x, w, columns) if not block else (None, None)
            if name:
                known = added(n, known, named(bias, name))
        return finish(n, known, x.array.dtype)
    if form == "gemm":
        xd, wd = n.dequantise(x), w.dequantised()
        name, bias = bias_for(n, x, w, columns)
        attributes = {"transB": 1} if transposed else {}
        if d.chance(0.15):
            attributes |= {d.one("alpha", "beta"): d.one(0.5, 2.0)}
        y = n.node("Gemm", xd.name, wd, name, **attributes)
        return finish(n, named(of_product("Gemm", xd, w.real(), bias, n.arrays[y], k + 3, **attributes), y), x.array.dtype)
    if w.scale.ndim and form != "to float":  # zero points along columns, where ONNX Runtime takes them
        w.zero = np.full(w.scale.shape, w.zero.ravel()[0], w.q.dtype)
        w.array = evaluate("DequantizeLinear", w.q, w.scale, w.zero, **w.attributes)
    xr = n.dequantised(x, None)
    real = evaluate("MatMul", xr.array, w.array)
    known = of_product("MatMul", xr, w.real(), None, real, k)
    c = lambda array, prefix: n.constant(array, prefix)
    if form == "qlinear":
        return n.quantise(known, x.array.dtype, lambda scale, zero: n.node("QLinearMatMul", x.name, c(x.scale, "scale"), c(x.zero, "zero"), c(w.q, "w"), c(w.scale, "scale"), c(w.zero, "zero"), scale, zero))
    if form == "integer":
        sums = n.node("MatMulInteger", x.name, c(w.q, "w"), c(x.zero, "zero"), c(w.zero, "zero"))
        y = n.node("Mul", n.node("Cast", sums, to=1), c(np.asarray(x.scale * w.scale, np.float32), "factor"))
    else:
        bias = c((np.asarray(d.rng.integers(-16, 17, columns)) / 8).astype(np.float32), "bias") if d.chance(0.5) else None
        y = n.node("MatMulIntegerToFloat", x.name, c(w.q, "w"), c(x.scale, "scale"), c(w.scale, "scale"), c(x.zero, "zero"), c(w.zero, "zero"), bias, domain=MICROSOFT)
        if bias:
            known = of_product("Gemm", xr, w.real(), Real(None, n.arrays[bias], np.zeros(columns), 0.125), n.arrays[y], k + 1) if x.array.ndim == 2 else rounded(n.arrays[y], known.off + U * 2, 4)
    return finish(n, Real(y, n.arrays[y], known.off, known.unit), x.array.dtype)


@layer(1)
def attention(n):
    """A product of two activations, and perhaps Softmax between two of these."""
    d = n.d
    x = pick(n, (2, 3, 4))
    a, b = n.dequantise(x), n.dequantise(x)
    turned = n.node("Transpose", b.name, perm=[*range(x.array.ndim - 2), x.array.ndim - 1, x.array.ndim - 2])
    other = Real(turned, n.arrays[turned], np.swapaxes(b.off, -1, -2), b.unit)
    y = n.node("MatMul", a.name, turned)
    s = n.quantise(named(of_product("MatMul", a, other, None, n.arrays[y], x.array.shape[-1]), y), x.array.dtype)
    if s in n.ends or d.chance(0.4):
        return s
    p = n.quantise(softmax_of(n, n.dequantise(s)), x.array.dtype)
    if p in n.ends:
        return p
    left, right = n.dequantise(p), n.dequantise(x)
    y = n.node("MatMul", left.name, right.name)
    return finish(n, named(of_product("MatMul", left, right, None, n.arrays[y], x.array.shape[-2]), y), x.array.dtype)


@layer(1)
def dynamic(n):
    """What quantize_dynamic makes of a product."""
    d = n.d
    x = pick(n, (2, 3))
    xd = n.dequantise(x)
    if xd.unit is None or not n.dyadic:  # the scale that a run finds is known only where what comes in is
        raise Ambiguous("the scale would not be known")
    k, columns = x.array.shape[-1], d.one(1, 8, 19)
    w = Weights(n, [k, columns], 1, 4 / k**0.5, [np.int8, np.uint8])
    if w.scale.ndim:
        w.zero = np.full(w.scale.shape, w.zero.ravel()[0], w.q.dtype)
    q, scale, zero = n.node("DynamicQuantizeLinear", xd.name, outputs=3)
    sums = n.node("MatMulInteger", q, n.constant(w.q, "w"), zero, n.constant(w.zero, "zero"))
    factor = n.node("Mul", scale, n.constant(w.scale, "scale"))
    y = n.node("Mul", n.node("Cast", sums, to=1), factor)
    # A quotient near a tie makes either byte.
    quotient = xd.array.astype(np.float64) / float(n.arrays[scale])
    if (np.abs(np.abs(quotient - np.floor(quotient)) - 0.5) <= 3 * U * np.abs(quotient)).any():
        raise Ambiguous("near a tie")
    known = Real(y, n.arrays[y], 6 * U * np.abs(n.arrays[y]).astype(np.float64))
    if d.chance(0.6):
        bias = (np.asarray(d.rng.integers(-16, 17, columns)) / 8).astype(np.float32)
        known = added(n, known, Real(n.constant(bias, "bias"), bias, np.zeros(columns), 0.125))
    return finish(n, known, x.array.dtype)
