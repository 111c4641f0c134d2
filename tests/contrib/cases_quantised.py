"""ONNX's and com.microsoft's quantised operators."""
import pathlib

import ml_dtypes
from onnx.reference import ReferenceEvaluator

from case import TensorProto, case, helper, np

F = np.float32


def rng_of(name):
    return np.random.default_rng(sum(map(ord, name)))


try:
    PROCESSOR = pathlib.Path("/proc/cpuinfo").read_text()
except OSError:
    PROCESSOR = None
# Whether this processor multiplies u8 by i8 exactly. Without that ONNX Runtime adds pairs of products in 16 bits, which saturate, so values of 7 bits are all that it is an oracle for.
HAS_VNNI = PROCESSOR is None or any(flag in PROCESSOR for flag in ("avx512_vnni", "avx_vnni", "asimddp"))
# Whether ONNX Runtime has MatMulFpQ4: elsewhere it refuses it.
HAS_FP_Q4 = PROCESSOR is None or all(flag in PROCESSOR for flag in ("avx512f", "avx512bw", "avx512dq", "avx512vl"))


def bytes_of(rng, shape, signed):
    if signed:
        return (rng.integers(-128, 128, shape) >> (0 if HAS_VNNI else 1)).astype(np.int8)
    return rng.integers(0, 256, shape).astype(np.uint8)


def zero(value, signed):
    return np.array(value, np.int8 if signed else np.uint8)


def elementwise():
    for signed in (False, True):
        kind = "i8" if signed else "u8"
        rng = rng_of(kind)
        q = lambda *shape: bytes_of(rng, shape, signed)
        z = lambda v: zero(v - 128 if signed else v, signed)
        for op in ("QLinearAdd", "QLinearMul"):
            yield case(f"{op}_{kind}", op, [q(2, 3, 5), F(0.05), z(120), q(3, 1), F(0.03), z(131), F(0.07), z(100)], constants=(1, 2, 4, 5, 6, 7), off=1)
        yield case(f"QLinearLeakyRelu_{kind}", "QLinearLeakyRelu", [q(40), F(0.05), z(120), F(0.04), z(90)], constants=(1, 2, 3, 4), attributes={"alpha": 0.2}, off=1)
        yield case(f"QLinearSigmoid_{kind}", "QLinearSigmoid", [q(256), F(0.05), z(120), F(1 / 256), z(0)], constants=(1, 2, 3, 4), off=1)
        for opset, axis in ((13, -1), (13, 1), (12, 1)):
            yield case(f"QLinearSoftmax_{opset}_{axis}_{kind}", "QLinearSoftmax", [q(2, 3, 8), F(0.05), z(120), F(1 / 256), z(0)], constants=(1, 2, 3, 4),
                       attributes={"axis": axis, "opset": opset}, off=1)
        yield case(f"QLinearWhere_{kind}", "QLinearWhere", [rng.integers(0, 2, (4, 6)).astype(bool), q(4, 6), F(0.05), z(120), q(6), F(0.03), z(131), F(0.06), z(100)],
                   constants=(2, 3, 5, 6, 7, 8), off=1)
        yield case(f"QLinearConcat_{kind}", "QLinearConcat", [F(0.06), z(100), q(2, 3), F(0.05), z(120), q(2, 4), F(0.03), z(131), q(2, 1), F(0.06), z(100)],
                   constants=(0, 1, 3, 4, 6, 7, 9, 10), attributes={"axis": 1}, off=1)
        for last in (0, 1):
            shape = (1, 7, 8, 4) if last else (1, 4, 7, 8)
            for pad in (0, 1):
                yield case(f"QLinearAveragePool_{last}_{pad}_{kind}", "QLinearAveragePool", [q(*shape), F(0.05), z(120), F(0.04), z(100)], constants=(1, 2, 3, 4),
                           attributes={"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "count_include_pad": pad, "channels_last": last}, off=1)
            yield case(f"QLinearGlobalAveragePool_{last}_{kind}", "QLinearGlobalAveragePool", [q(*shape), F(0.05), z(120), F(0.04), z(100)], constants=(1, 2, 3, 4),
                       attributes={"channels_last": last}, off=1)
        yield case(f"NhwcMaxPool_{kind}", "NhwcMaxPool", [q(1, 7, 8, 4)], attributes={"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]})


def products():
    for a_signed, b_signed in ((False, True), (False, False), (True, True)):
        kind = ("i8" if a_signed else "u8") + ("i8" if b_signed else "u8")
        rng = rng_of(kind)
        a = lambda *shape: bytes_of(rng, shape, a_signed)
        b = lambda *shape: bytes_of(rng, shape, b_signed)
        az, bz = zero(3, a_signed), zero(5 if not b_signed else 0, b_signed)
        columns = rng.uniform(0.01, 0.03, 9).astype(F)
        for k in (24, 700):  # one product in f32, several
            yield case(f"MatMulInteger_{k}_{kind}", "MatMulInteger", [a(4, k), b(k, 9), az, bz], constants=(1, 2, 3), domain="")
            yield case(f"QLinearMatMul_{k}_{kind}", "QLinearMatMul", [a(2, 4, k), F(0.02), az, b(k, 9), F(0.01), bz, F(0.4), zero(7, a_signed)],
                       constants=(1, 2, 3, 4, 5, 6, 7), domain="", off=0)
        yield case(f"MatMulInteger_inputs_{kind}", "MatMulInteger", [a(2, 4, 300), b(2, 300, 9), az, bz], domain="")
        yield case(f"MatMulIntegerToFloat_{kind}", "MatMulIntegerToFloat", [a(3, 4, 24), b(24, 9), F(0.02), columns, az, np.full(9, bz), rng.uniform(-1, 1, 9).astype(F)],
                   constants=(1, 2, 3, 4, 5, 6))
        yield case(f"QGemm_{kind}", "QGemm", [a(4, 24), F(0.02), az, b(9, 24), columns, np.full(9, bz), rng.integers(-999, 999, 9).astype(np.int32), F(0.4), zero(7, a_signed)],
                   constants=(1, 2, 3, 4, 5, 6, 7, 8), attributes={"transB": 1})
        yield case(f"QGemm_float_{kind}", "QGemm", [a(24, 4), F(0.02), az, b(24, 9), F(0.01), bz, None], constants=(1, 2, 3, 4, 5), attributes={"transA": 1, "alpha": 0.5})
        x, w = a(1, 8, 9, 10), b(6, 4, 3, 3)
        scales = rng.uniform(0.01, 0.03, 6).astype(F)
        window = {"pads": [1, 0, 1, 2], "strides": [2, 1], "group": 2}
        bias = rng.integers(-9999, 9999, 6).astype(np.int32)
        conv = [x, F(0.02), az, w, scales, np.full(6, bz), F(2.0), zero(7, a_signed), bias]
        yield case(f"QLinearConv_{kind}", "QLinearConv", conv, constants=range(1, 9), domain="", attributes=window)
        yield case(f"QLinearConv_nhwc_{kind}", "QLinearConv", [np.ascontiguousarray(x.transpose(0, 2, 3, 1)), *conv[1:]], constants=range(1, 9),
                   attributes={**window, "channels_last": 1})
        deep = b(20, 64, 3, 3)
        yield case(f"QLinearConv_deep_{kind}", "QLinearConv", [a(1, 64, 7, 7), F(0.02), az, deep, F(0.02), bz, F(4.0), zero(7, a_signed)], constants=range(1, 8), domain="",
                   attributes={"pads": [1, 1, 1, 1]})
    rng = rng_of("conv")
    for x_zero, w_zero in ((zero(3, False), zero(9, False)), (None, None)):
        yield case(f"ConvInteger_{x_zero is None}", "ConvInteger", [bytes_of(rng, (1, 3, 8, 8), False), bytes_of(rng, (5, 3, 3, 3), False), x_zero, w_zero], constants=(1, 2, 3),
                   domain="", attributes={"pads": [1, 1, 0, 0]})
    x = rng.standard_normal((3, 5, 40)).astype(F)
    yield case("DynamicQuantizeLinear", "DynamicQuantizeLinear", [x], 3, domain="")
    yield case("DynamicQuantizeLinear_positive", "DynamicQuantizeLinear", [np.abs(x) + 1], 3, domain="")
    yield case("DynamicQuantizeMatMul", "DynamicQuantizeMatMul", [x, bytes_of(rng, (40, 9), True), rng.uniform(0.01, 0.03, 9).astype(F), np.zeros(9, np.int8), x[0, 0, :9]],
               constants=(1, 2, 3, 4), rtol=1e-3, atol=1e-3)
    yield case("DynamicQuantizeMatMul_u8", "DynamicQuantizeMatMul", [x, bytes_of(rng, (40, 9), False), F(0.02), np.uint8(120)], constants=(1, 2, 3), rtol=1e-3, atol=1e-3)
    sixteen = lambda *shape: rng.integers(-300, 300, shape).astype(np.int16)
    yield case("MatMulInteger16", "MatMulInteger16", [sixteen(3, 5, 40), sixteen(40, 7)])


def linear():
    rng = rng_of("linear")
    x = np.concatenate([rng.standard_normal(200) * 40, np.arange(-20, 20) * 0.25, [1e9, -1e9]]).astype(F).reshape(11, 22)
    for dtype, low in ((np.int8, -3), (np.uint8, 128), (np.int16, -300), (np.uint16, 3000), (ml_dtypes.int4, 1), (ml_dtypes.uint4, 7)):
        name, as_int = np.dtype(dtype).name, {"then_cast": TensorProto.INT32}
        for domain in ("", "com.microsoft"):
            yield case(f"QuantizeLinear_{name}{domain[:3]}", "QuantizeLinear", [x, F(0.5), np.array(low, dtype)], constants=(1, 2), domain=domain, **as_int)
            yield case(f"DequantizeLinear_{name}{domain[:3]}", "DequantizeLinear", [(x * 0.1).clip(-2, 1).astype(dtype), F(0.5), np.array(low, dtype)], constants=(1, 2), domain=domain)
        scales, zeros = rng.uniform(0.1, 2, 22).astype(F), np.full(22, low, dtype)
        yield case(f"QuantizeLinear_axis_{name}", "QuantizeLinear", [x, scales, zeros], constants=(1, 2), domain="", attributes={"axis": -1}, **as_int)
        blocks = rng.uniform(0.1, 2, (11, 6)).astype(F)
        yield case(f"QuantizeLinear_blocks_{name}", "QuantizeLinear", [x, blocks, np.full((11, 6), low, dtype)], constants=(1, 2), domain="", attributes={"axis": 1, "block_size": 4},
                   **as_int)
        yield case(f"DequantizeLinear_blocks_{name}", "DequantizeLinear", [(x * 0.1).clip(-2, 1).astype(dtype), blocks, np.full((11, 6), low, dtype)], constants=(0, 1, 2), domain="",
                   attributes={"axis": 1, "block_size": 4})
        yield case(f"DequantizeLinear_f16_{name}", "DequantizeLinear", [(x * 0.1).clip(-2, 1).astype(dtype), np.float16(0.3)], constants=(1,), domain="", rtol=1e-3)
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"):
        dtype = getattr(ml_dtypes, name)
        for saturate in (0, 1):
            made = case(f"QuantizeLinear_{name}_{saturate}", "QuantizeLinear", [x, F(0.05), np.array(0, dtype)], constants=(1, 2), domain="", attributes={"saturate": saturate},
                        then_cast=TensorProto.FLOAT)
            if not saturate:  # ONNX Runtime takes 487 for 448 in e4m3fn, where NaN is next
                made.wanted = ReferenceEvaluator(made.model).run(None, made.feeds)
            yield made
            yield case(f"Cast_{name}_{saturate}", "Cast", [x * 100], domain="", attributes={"to": helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), "saturate": saturate}, then_cast=TensorProto.FLOAT)
        yield case(f"DequantizeLinear_{name}", "DequantizeLinear", [np.arange(256, dtype=np.uint8).view(dtype), F(0.05)], constants=(1,), domain="")


def few_bits():
    rng = rng_of("few bits")
    for dtype in (np.float32, np.float16):
        close = {"rtol": 2e-2, "atol": 2e-2} if dtype == np.float16 else {"rtol": 1e-3, "atol": 1e-3}
        for bits in (4, 8):
            for k, block in ((64, 32), (40, 16)):
                n, blocks = 7, -(-k // block)
                w = rng.integers(0, 256, (n, blocks, block * bits // 8)).astype(np.uint8)
                scales = rng.uniform(0.01, 0.03, (n, blocks)).astype(dtype)
                attributes = {"K": k, "N": n, "bits": bits, "block_size": block}
                for m in (1, 6):
                    a = rng.standard_normal((m, k)).astype(dtype)
                    name = f"{bits}_{k}_{m}_{np.dtype(dtype).name}"
                    yield case(f"MatMulNBits_{name}", "MatMulNBits", [a, w, scales], constants=(1, 2), attributes=attributes, **close)
                    zeros = rng.integers(0, 256, (n, -(-blocks * bits // 8))).astype(np.uint8)
                    yield case(f"MatMulNBits_zeros_{name}", "MatMulNBits", [a, w, scales, zeros, None, rng.standard_normal(n).astype(dtype)], constants=(1, 2, 3, 5),
                               attributes=attributes, **close)
    k, n, block = 64, 6, 16
    a = rng.standard_normal((5, k)).astype(F)
    for bits in (4, 8):
        w, scales = rng.integers(0, 256, (n, k // block, block * bits // 8)).astype(np.uint8), rng.uniform(0.01, 0.03, (n, k // block)).astype(F)
        groups, zeros = rng.permutation(k).astype(np.int32) // block, rng.integers(0, 256, (n, k // block * bits // 8)).astype(np.uint8)
        unpacked = lambda bytes: np.unpackbits(bytes[..., None], axis=-1, bitorder="little").reshape(n, -1, bits) @ (1 << np.arange(bits))
        real, bias = rng.uniform(0, 9, (n, k // block)).astype(F), rng.standard_normal(n).astype(F)
        for name, tail, zero_points in (("", [None, groups, bias], 1 << (bits - 1)), ("float_zeros_", [real, groups, bias], real[:, groups]), ("zeros_", [zeros, groups, bias], unpacked(zeros)[:, groups])):
            # With groups, ONNX Runtime takes no 8 bits and leaves packed zero points unread.
            wanted = [(a @ ((unpacked(w) - zero_points) * scales[:, groups]).T + bias).astype(F)] if bits == 8 or name == "zeros_" else None
            yield case(f"MatMulNBits_groups_{name}{bits}", "MatMulNBits", [a, w, scales, *tail], constants=(1, 2, 3, 4, 5), attributes={"K": k, "N": n, "bits": bits, "block_size": block},
                       rtol=1e-3, atol=1e-3, wanted=wanted)
    for kind in (0, 1):
        yield case(f"MatMulBnb4_{kind}", "MatMulBnb4", [a, rng.integers(0, 256, k * n // 2).astype(np.uint8), rng.uniform(0.5, 2, k * n // block).astype(F)], constants=(1, 2),
                   attributes={"K": k, "N": n, "block_size": block, "quant_type": kind}, rtol=1e-3, atol=1e-4)
    for kind, header in ((0, 4), (1, 5)):
        k, blocks = 70, 3
        blob = rng.integers(0, 16, (n, blocks, header + 16)).astype(np.uint8)
        blob[:, :, header:] |= (rng.integers(0, 16, (n, blocks, 16)) << 4).astype(np.uint8)
        scale = rng.uniform(0.5, 1, (n, blocks, 1)).astype(F)
        blob[:, :, :4] = scale.view(np.uint8)
        x, packed = rng.standard_normal((2, 3, k)).astype(F), blob[:, :, header:]
        codes = np.concatenate([packed & 15, packed >> 4], axis=2).astype(F)  # low halves of the bytes before all high ones
        weights = ((codes - (8 if kind == 0 else blob[:, :, 4:5])) * scale).reshape(n, -1)[:, :k]
        yield case(f"MatMulFpQ4_{kind}", "MatMulFpQ4", [x, blob.reshape(-1), np.array([k, n], np.int64)], constants=(1, 2),
                   attributes={"blk_quant_type": kind}, rtol=1e-3, atol=1e-3, wanted=None if HAS_FP_Q4 else [x @ weights.T])
    indices = np.array([[1, 0], [4, -2]], np.int64)
    scales = rng.uniform(0.5, 2, (5, 2, 3)).astype(F)
    for dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        name = np.dtype(dtype).name
        make = lambda *shape: rng.integers(0, 7, shape).astype(dtype)
        yield case(f"GatherBlockQuantized_{name}", "GatherBlockQuantized", [make(5, 20, 3), indices, scales, make(5, 2, 3)], constants=(0, 2, 3),
                   attributes={"block_size": 16, "gather_axis": 0, "quantize_axis": 1})
        yield case(f"GatherBlockQuantized_last_{name}", "GatherBlockQuantized", [make(5, 32, 3), np.array([2, 0], np.int32), scales], constants=(0, 2),
                   attributes={"block_size": 16, "gather_axis": 2, "quantize_axis": 1})
    table = rng.integers(0, 256, (5, 16)).astype(np.uint8)
    for zeros in (None, rng.integers(0, 256, (5, 1)).astype(np.uint8)):
        yield case(f"GatherBlockQuantized_bytes_{zeros is None}", "GatherBlockQuantized", [table, indices, scales[:, :, 0].copy(), zeros], constants=(0, 2, 3),
                   attributes={"block_size": 16, "gather_axis": 0, "quantize_axis": 1, "bits": 4})
    for dtype in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float4_e2m1fn):
        data = rng.standard_normal((5, 40, 3)).astype(dtype)
        for name, shape, attributes in (("blocks", (5, 3, 3), {"block_size": 16}), ("whole", (5, 1, 3), {"block_size": 0}), ("one", (1, 1, 1), {"block_size": 0}), ("shared", (1, 3, 1), {"block_size": 16}),
                                        ("inner", (1, 3, 3), {"block_size": 16, "gather_axis": 2})):
            yield case(f"GatherBlockQuantized_{name}_{np.dtype(dtype).name}", "GatherBlockQuantized", [data, np.array([[1, 0], [2, -2]], np.int64), rng.uniform(0.5, 2, shape).astype(F)], constants=(0, 2),
                       attributes={"gather_axis": 0, "quantize_axis": 1, **attributes})


def transformers():
    rng = rng_of("transformers")
    heads, width, batch, steps = 2, 8, 2, 5
    x, w = bytes_of(rng, (batch, steps, width), False), bytes_of(rng, (width, 3 * width), True)
    bias = rng.standard_normal(3 * width).astype(F)
    scales = [F(0.01), F(0.01)]
    columns = rng.uniform(0.005, 0.015, 3 * width).astype(F)
    past = rng.standard_normal((2, batch, heads, 3, width // heads)).astype(F)
    close = {"rtol": 1e-3, "atol": 1e-3}
    for name, tail, attributes in (
        ("plain", [None, np.uint8(120), np.int8(0)], {}),
        ("lengths", [np.array([5, 3], np.int32), np.uint8(120), np.int8(0)], {}),
        ("mask", [rng.integers(0, 2, (batch, steps)).astype(np.int32) | np.eye(1, steps, dtype=np.int32), np.uint8(120), np.int8(0)], {}),
        ("ends_and_starts", [np.array([5, 4, 1, 0], np.int32), np.uint8(120), np.int8(0)], {}),
        ("places", [np.array([5, 3, 0, 5, 8, 0, 5, 8], np.int32), np.uint8(120), np.int8(0)], {}),
        ("mask_of_queries", [rng.integers(0, 2, (batch, steps, steps)).astype(np.int32) | np.eye(1, steps, dtype=np.int32), np.uint8(120), np.int8(0)], {}),
        ("no_mask", [np.ones((batch, 1), np.int32), np.uint8(120), np.int8(0)], {}),
        ("causal", [None, np.uint8(120), np.int8(0)], {"unidirectional": 1}),
        ("past", [None, np.uint8(120), np.int8(0), past], {"unidirectional": 1}),
    ):
        yield case(f"QAttention_{name}", "QAttention", [x, w, bias, *scales, *tail], 2 if name == "past" else 1, constants=(1, 2, 3, 4, 6, 7), attributes={"num_heads": heads, **attributes}, **close)
    yield case("QAttention_columns", "QAttention", [x, w, bias, F(0.01), columns, None, np.uint8(120), np.zeros(3 * width, np.int8)], constants=(1, 2, 3, 4, 6, 7),
               attributes={"num_heads": heads}, **close)
    table = lambda rows: bytes_of(rng, (rows, 8), False)
    ids = rng.integers(0, 10, (2, 4)).astype(np.int32)
    zeros = [np.uint8(120), np.uint8(121), np.uint8(122), np.uint8(100), np.uint8(128)]
    embed = [ids, ids % 2, table(10), table(6), table(2), table(1)[0], table(1)[0], np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32), F(0.01), F(0.02), F(0.03), F(0.01), F(0.02), *zeros]
    yield case("QEmbedLayerNormalization", "QEmbedLayerNormalization", embed, 2, constants=range(8, 18), attributes={"epsilon": 1e-5}, **close)
    plain = list(embed)
    for i in (1, 4, 7, 10, 15):
        plain[i] = None
    yield case("QEmbedLayerNormalization_plain", "QEmbedLayerNormalization", plain, 2, constants=range(8, 18), attributes={"epsilon": 1e-5}, **close)


# No h of these cases lies so near the middle between two bytes that another rounding of a gate moves it.
def recurrences():
    width = 5
    for name, direction, hidden, kind, more in (
        ("forward", "forward", 5, "i8", {}),
        ("columns", "forward", 19, "i8 columns", {}),
        ("reverse", "reverse", 16, "i8", {"lengths": [4, 2, 3]}),
        ("bidirectional", "bidirectional", 19, "i8 columns", {"lengths": [3, 1, 2]}),
        ("unsigned", "bidirectional", 19, "u8", {}),
        ("unsigned_columns", "forward", 17, "u8 columns", {"lengths": [1, 4, 2]}),
        ("empty", "bidirectional", 8, "i8", {"lengths": [0, 4, 2]}),
        ("peepholes", "bidirectional", 8, "i8", {"peepholes": True}),
        ("forget", "forward", 8, "i8", {"attributes": {"input_forget": 1, "clip": 0.5}}),
        ("activations", "forward", 8, "u8", {"attributes": {"activations": ["HardSigmoid", "Relu", "Softsign"]}}),
        ("zeros", "forward", 8, "i8", {"factor": 0}),
        ("wide", "forward", 131, "i8", {}),
        ("run_time", "bidirectional", 6, "u8", {"constants": ()}),
        ("run_time_columns", "forward", 6, "i8 columns", {"constants": ()}),
    ):
        rng = rng_of(name)
        steps, batch, directions = 4, 3, 2 if direction == "bidirectional" else 1
        signed, columns = kind.startswith("i8"), kind.endswith("columns")
        number = lambda *shape: (rng.standard_normal(shape) * 0.5).astype(F)
        factor = F(more.get("factor", 1))
        x, state, cell = number(steps, batch, width) * factor, number(directions, batch, hidden) * factor, number(directions, batch, hidden)
        weights = [bytes_of(rng, (directions, rows, 4 * hidden), signed) for rows in (width, hidden)]
        shape = (directions, 4 * hidden) if columns else (directions,)
        scales = [rng.uniform(0.002, 0.006, shape).astype(F) for _ in weights]
        zeros = [np.zeros(shape, np.int8) if signed else np.full(shape, z, np.uint8) for z in (120, 77)]
        if not signed and not columns:
            zeros = [z + np.arange(directions, dtype=np.uint8) for z in zeros]
        lengths = np.array(more["lengths"], np.int32) if "lengths" in more else None
        peepholes = number(directions, 3 * hidden) if "peepholes" in more else None
        yield case(f"DynamicQuantizeLSTM_{name}", "DynamicQuantizeLSTM",
                   [x, *weights, number(directions, 8 * hidden), lengths, state, cell, peepholes, scales[0], zeros[0], scales[1], zeros[1]], 3,
                   constants=more.get("constants", (1, 2, 3, 7, 8, 9, 10, 11)), attributes={"hidden_size": hidden, "direction": direction, **more.get("attributes", {})},
                   rtol=1e-5, atol=2e-6)


def cases():
    for group in (elementwise, products, linear, few_bits, transformers, recurrences):
        yield from group()
