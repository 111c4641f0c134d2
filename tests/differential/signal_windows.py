"""Signals."""
import numpy as np

from spec import Spec, generator

I64 = np.int64


@generator("DFT", weight=2)
def dft(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset, "T1")
    rank = d.int(1, 3)
    parts = d.one(1, 2)
    shape = d.ints(rank, 1, 9) + [parts]
    inverse = parts == 2 and d.chance(0.4)
    onesided = (parts == 1 and d.chance(0.5)) and not inverse
    attributes = {}
    if inverse or d.chance(0.3):
        attributes["inverse"] = int(inverse)
    if onesided or d.chance(0.3):
        attributes["onesided"] = int(onesided)
    length = d.maybe(0.4, lambda: np.array(d.int(1, 10), I64))
    axis = d.int(-rank - 1, -2) if d.chance(0.5) else d.int(0, rank - 1)
    x = d.array(shape, kind, "plain", -2, 2)
    tolerance = {"rtol": 1e-3, "atol": 1e-4 if kind.itemsize > 2 else 5e-2}
    if opset < 20:
        return Spec(op, [x, length], {**attributes, "axis": axis % (rank + 1)}, opset=opset, constants=(1,), rigid=(0,), **tolerance)
    return Spec(op, [x, length, d.maybe(0.7, lambda: np.array(axis, I64))] if rank > 1 else [x, length, np.array(axis, I64)], attributes, opset=opset, constants=(1, 2), rigid=(0,), **tolerance)


@generator("STFT")
def stft(d, op):
    opset = d.opset(op)
    kind = np.dtype(np.float32)
    length = d.int(2, 8)
    signal = d.array([d.int(1, 2), d.int(length, 24), 1], kind, "plain", -2, 2)
    window = d.maybe(0.6, lambda: d.array([length], kind, "plain", 0, 1))
    frame = np.array(length, I64) if window is None or d.chance(0.5) else None
    return Spec(op, [signal, np.array(d.int(1, 4), I64), window, frame], {"onesided": d.int(0, 1)}, opset=opset, constants=(1, 3), rigid=(0, 2), rtol=1e-3, atol=1e-4)


@generator("HannWindow", "HammingWindow", "BlackmanWindow")
def window(d, op):
    opset = d.opset(op)
    attributes = {"periodic": d.int(0, 1)} if d.chance(0.6) else {}
    return Spec(op, [np.array(d.int(1, 12), d.one(np.int64, np.int32))], attributes, opset=opset, constants=(0,), rtol=1e-4, atol=1e-5)


@generator("MelWeightMatrix")
def mel(d, op):
    opset = d.opset(op)
    rate = d.one(8000, 16000)
    values = [np.array(d.int(2, 8), I64), np.array(d.one(16, 32, 64), I64), np.array(rate, I64), np.array(d.uniform(0, 200), np.float32), np.array(d.uniform(1000, rate / 2), np.float32)]
    return Spec(op, values, opset=opset, constants=(0, 1, 2, 3, 4), rtol=1e-4, atol=1e-5)
