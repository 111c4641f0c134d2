"""DFT, STFT, windows and MelWeightMatrix, against numpy and onnx.reference."""
import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from harness import Check, check, numbers


def pairs(z, dtype=np.float32):
    return np.stack([z.real, z.imag], -1).astype(dtype)


one = lambda i: np.array(i, np.int64)

for n in (1, 2, 3, 4, 5, 7, 8, 12, 13, 30, 49, 64, 97, 210):
    x = numbers(3, n, 1, seed=n)
    y = np.fft.fft(x[..., 0].astype(np.float64), axis=1)
    tolerance = dict(rtol=1e-6, atol=1e-6 * n**0.5)
    check(f"DFT {n}", "DFT", [x, None, one(1)], constants={2}, expect=[pairs(y)], **tolerance)
    check(f"DFT {n} onesided", "DFT", [x, None, one(-2)], dict(onesided=1), constants={2}, expect=[pairs(y[:, : n // 2 + 1])], **tolerance)
    z = numbers(3, n, 2, seed=n)
    c = z[..., 0].astype(np.float64) + 1j * z[..., 1]
    check(f"DFT {n} complex", "DFT", [z], expect=[pairs(np.fft.fft(c, axis=1))], **tolerance)
    check(f"DFT {n} inverse", "DFT", [z], dict(inverse=1), expect=[pairs(np.fft.ifft(c, axis=1))], **tolerance)

# Large prime factors: a chirp. f64 shows that nothing is lost.
for n in (211, 223, 509, 2 * 257, 1021):
    x = numbers(2, n, 1, seed=n).astype(np.float64)
    y, tolerance = np.fft.fft(x[..., 0], axis=1), dict(rtol=1e-12, atol=1e-12 * n**0.5)
    check(f"DFT {n} f64", "DFT", [x, None, one(1)], constants={2}, expect=[pairs(y, np.float64)], **tolerance)
    check(f"DFT {n} f64 onesided inverse", "DFT", [pairs(y[:, : n // 2 + 1], np.float64), one(n), one(1)], dict(inverse=1, onesided=1), constants={1, 2}, expect=[x], **tolerance)
    z = numbers(2, n, 2, seed=n)
    c = z[..., 0].astype(np.float64) + 1j * z[..., 1]
    check(f"DFT {n} complex", "DFT", [z], expect=[pairs(np.fft.fft(c, axis=1))], rtol=1e-6, atol=1e-6 * n**0.5)
    check(f"DFT {n} inverse", "DFT", [z], dict(inverse=1), expect=[pairs(np.fft.ifft(c, axis=1))], rtol=1e-6, atol=1e-6)
x = numbers(1, 700, 1)
frames = np.stack([x[:, k : k + 257, 0] for k in range(0, 700 - 257 + 1, 100)], 1)
check("STFT 257", "STFT", [x, one(100), None, one(257)], constants={1, 3}, expect=[pairs(np.fft.rfft(frames.astype(np.float64), axis=2))], rtol=1e-6, atol=2e-5)

z = numbers(4, 9, 5, 2)
c = z[..., 0].astype(np.float64) + 1j * z[..., 1]
for axis in (0, 1, 2, -2, -3):
    k = axis if axis >= 0 else axis + 4
    check(f"DFT axis {axis}", "DFT", [z, None, one(axis)], constants={2}, expect=[pairs(np.fft.fft(c, axis=k))])
    check(f"DFT axis {axis} at run time", "DFT", [z, None, one(axis)], expect=[pairs(np.fft.fft(c, axis=k))])
    check(f"DFT axis {axis} opset 17", "DFT", [z], dict(axis=axis), opset=17, expect=[pairs(np.fft.fft(c, axis=k))])
    for length in (1, 4, 6, 16):
        check(f"DFT axis {axis} length {length}", "DFT", [z, one(length), one(axis)], constants={1, 2}, expect=[pairs(np.fft.fft(c, length, axis=k))])
        check(f"DFT axis {axis} length {length} inverse onesided", "DFT", [z, one(length), one(axis)], dict(inverse=1, onesided=1), constants={1, 2},
              expect=[np.fft.irfft(c, length, axis=k)[..., None].astype(np.float32)])
check("DFT f64", "DFT", [z.astype(np.float64)], expect=[pairs(np.fft.fft(c, axis=2), np.float64)], rtol=1e-13, atol=1e-13)
check("DFT f16", "DFT", [z.astype(np.float16)], expect=[pairs(np.fft.fft(z[..., 0].astype(np.float16) + 1j * z[..., 1].astype(np.float16), axis=2), np.float16)], rtol=1e-3)
check("DFT of complex numbers, onesided", "DFT", [z], dict(onesided=1), refused="onesided=1 needs a real input", out_types={0: 1})
check("DFT of the last axis", "DFT", [z, None, one(3)], constants={2}, refused="holds real and imaginary", out_types={0: 1})

signal = numbers(2, 50, 1)
window = np.hanning(12).astype(np.float32)
frames = np.stack([signal[:, f : f + 12, 0] * window for f in range(0, 39, 5)], 1).astype(np.float64)
check("STFT window", "STFT", [signal, one(5), window], constants={1, 2}, expect=[pairs(np.fft.rfft(frames, axis=2))])
check("STFT window and length", "STFT", [signal, one(5), window, one(12)], dict(onesided=0), constants={1, 2, 3}, expect=[pairs(np.fft.fft(frames, axis=2))])
flat = np.stack([signal[:, f : f + 7, 0] for f in range(0, 44, 3)], 1).astype(np.float64)
check("STFT length", "STFT", [signal, one(3), None, one(7)], constants={1, 3}, expect=[pairs(np.fft.rfft(flat, axis=2))])
pair = numbers(2, 20, 2)
c = pair[..., 0].astype(np.float64) + 1j * pair[..., 1]
flat = np.stack([c[:, f : f + 8] for f in range(0, 13, 4)], 1)
check("STFT complex", "STFT", [pair, one(4), None, one(8)], dict(onesided=0), constants={1, 3}, expect=[pairs(np.fft.fft(flat, axis=2))])


def reference(op, inputs, **attributes):
    names = [f"i{k}" for k in range(len(inputs))]
    node = helper.make_node(op, names, ["y"], **attributes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in zip(names, inputs)],
                              [helper.make_tensor_value_info("y", 1, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))[0]


scalar = lambda v, t: np.array(v, t)
for bands, length, rate, low, high in ((8, 16, 8192, 0, 4096), (40, 512, 16000, 20, 7600), (80, 400, 16000, 0, 8000), (3, 33, 100, 5, 40)):
    inputs = [scalar(bands, np.int64), scalar(length, np.int64), scalar(rate, np.int64), scalar(low, np.float32), scalar(high, np.float32)]
    y = reference("MelWeightMatrix", inputs).astype(np.float32)
    check(f"MelWeightMatrix {bands} {length}", "MelWeightMatrix", inputs, constants={0, 1, 2, 3, 4}, expect=[y])
    check(f"MelWeightMatrix {bands} {length} of edges at run time", "MelWeightMatrix", inputs, constants={0, 1}, expect=[y])
for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
    for size in (1, 2, 10, 33):
        for periodic in (0, 1):
            if size == 1 and not periodic:
                continue  # a division by zero, by definition
            inputs = [scalar(size, np.int64)]
            check(f"{op} {size} periodic={periodic}", op, inputs, dict(periodic=periodic), constants={0}, expect=[reference(op, inputs, periodic=periodic).astype(np.float32)], atol=2e-6)
