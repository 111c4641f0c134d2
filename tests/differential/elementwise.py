"""Operators that work element by element, with numpy's broadcasting."""
import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from draw import is_float
from spec import Spec, generator

BOUNDS = {"Acos": (-1, 1), "Asin": (-1, 1), "Atanh": (-0.95, 0.95), "Acosh": (1, 9), "Log": (0.01, 9), "Sqrt": (0, 9), "Exp": (-5, 5), "Sinh": (-4, 4), "Cosh": (-4, 4),
          "Tan": (-1.4, 1.4)}


def double_of(kind):
    """onnx.reference approximates erf, and its constants are float32 in function bodies: a double is no better known than that."""
    return {"rtol": 1e-6, "atol": 1e-6} if kind == np.float64 else {}


@generator("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Log", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign",
           "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "HardSwish", "Mish")
def unary(d, op):
    opset = d.opset(op, least=6)
    kind = d.kind(op, opset)
    x = d.array(d.shape(0, 6), kind)
    if op in BOUNDS and d.chance(0.7):
        x = d.array(x.shape, kind, "plain", *BOUNDS[op])
    if op == "Erf" and not is_float(kind):  # where it is 0 or 1
        x = np.where(x < 0, 0, x) * np.array(10, kind) if kind.kind == "u" else x // np.array(6, kind) * np.array(6, kind)
        x = x.astype(kind)
    return Spec(op, [x], opset=opset, **(double_of(kind) if op in ("Erf", "HardSwish") else {}))


@generator("Identity")
def identity(d, op):
    opset = d.opset(op)
    return Spec(op, [d.array(d.shape(0, 6), d.kind(op, opset, "V" if opset >= 14 else "T"))], opset=opset)


@generator("IsNaN", "IsInf")
def tests(d, op):
    opset = d.opset(op)
    attributes = d.one({}, {"detect_negative": d.int(0, 1), "detect_positive": d.int(0, 1)}) if op == "IsInf" else {}
    return Spec(op, [d.array(d.shape(0, 5), d.kind(op, opset, "T1"), "wild")], attributes, opset=opset)


ACTIVATIONS = {"Elu": ["alpha"], "Celu": ["alpha"], "LeakyRelu": ["alpha"], "Selu": ["alpha", "gamma"], "ThresholdedRelu": ["alpha"], "HardSigmoid": ["alpha", "beta"],
               "Shrink": ["bias", "lambd"], "Swish": ["alpha"]}


@generator(*ACTIVATIONS)
def activation(d, op):
    opset = d.opset(op, least=6)
    attributes = {name: d.uniform(0.1, 2) for name in ACTIVATIONS[op] if d.chance(0.6)}
    return Spec(op, [d.array(d.shape(0, 5), d.kind(op, opset))], attributes, opset=opset)


@generator("Gelu")
def gelu(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    return Spec(op, [d.array(d.shape(0, 5), kind)], d.one({}, {"approximate": d.one("none", "tanh")}), opset=opset, **double_of(kind))


def pair(d, kind, style=None):
    shape = d.shape(0, 5)
    a, b = (shape, d.broadcastable(shape)) if d.chance(0.8) else (d.broadcastable(shape), d.broadcastable(shape))
    if d.chance(0.5):
        a, b = b, a
    return d.array(a, kind, style), d.array(b, kind, style)


@generator("Add", "Sub", "Mul", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "And", "Or", "Xor")
def binary(d, op):
    opset = d.opset(op, least=7)
    kind = d.kind(op, opset)
    a, b = pair(d, kind)
    if a.dtype != object and a.shape == b.shape and d.chance(0.3):
        b = np.where(d.array(b.shape, bool), a, b)
    return Spec(op, [a, b], opset=opset)


@generator("Div", "Mod")
def division(d, op):
    opset = d.opset(op, least=7)
    kind = d.kind(op, opset)
    a, b = pair(d, kind, None if is_float(kind) else "grid")
    attributes = {}
    if op == "Mod":
        attributes = {"fmod": 1} if is_float(kind) else d.one({}, {"fmod": d.int(0, 1)})
        if is_float(kind) and opset >= 28 and d.chance(0.5):
            attributes = {}
    if not is_float(kind):  # division by zero has no meaning in ONNX
        b = np.where(b == 0, np.array(3, kind), b).astype(kind)
    return Spec(op, [a, b], attributes, opset=opset)


@generator("Pow")
def power(d, op):
    opset = d.opset(op, least=7)
    kind = d.kind(op, opset)
    kind_b = d.kind(op, opset, "T1") if opset >= 12 else kind
    shape = d.shape(0, 4)
    integers = not is_float(kind)
    a = d.array(shape, kind, "grid") if integers else d.array(shape, kind, "plain", 0.1, 4) if d.chance(0.5) else d.array(shape, kind)
    b = d.array(d.broadcastable(shape), kind_b, "plain", 0, 4) if integers or d.chance(0.5) else d.array(d.broadcastable(shape), kind_b, low=-3, high=3)
    if integers and is_float(kind_b):
        b = np.round(b.astype(np.float64)).astype(kind_b)
    return Spec(op, [a, b], opset=opset)


@generator("BitShift")
def bit_shift(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    a, b = pair(d, kind)
    bits = ml_dtypes.iinfo(kind).bits
    return Spec(op, [a, d.array(b.shape, kind, "grid", 0, bits - 1)], {"direction": d.one("LEFT", "RIGHT")}, opset=opset)


@generator("Not", "BitwiseNot")
def inverse(d, op):
    opset = d.opset(op)
    return Spec(op, [d.array(d.shape(0, 5), d.kind(op, opset))], opset=opset)


@generator("Max", "Min", "Sum", "Mean")
def variadic(d, op):
    opset = d.opset(op, least=8)
    kind = d.kind(op, opset)
    shape = d.shape(0, 5)
    return Spec(op, [d.array(d.broadcastable(shape), kind) for _ in range(d.int(1, 4))], opset=opset)


@generator("PRelu")
def prelu(d, op):
    opset = d.opset(op, least=7)
    kind = d.kind(op, opset)
    shape = d.shape(0, 5)
    return Spec(op, [d.array(shape, kind), d.array(d.broadcastable(shape), kind)], opset=opset, constants=(1,))


@generator("Where")
def where(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    shape = d.shape(0, 5)
    return Spec(op, [d.array(d.broadcastable(shape), bool), d.array(d.broadcastable(shape), kind), d.array(d.broadcastable(shape), kind)], opset=opset)


@generator("Clip")
def clip(d, op):
    opset = d.opset(op, least=6)
    kind = d.kind(op, opset)
    x = d.array(d.shape(0, 5), kind)
    low, high = sorted(d.ints(2, -4 if kind.kind != "u" else 0, 6))
    if opset < 11:
        return Spec(op, [x], {k: float(v) for k, v in (("min", low), ("max", high)) if d.chance(0.7)}, opset=opset)
    bounds = [np.array(v, kind) if d.chance(0.7) else None for v in (low, high)]
    return Spec(op, [x, *bounds], opset=opset, constants=(1, 2))


def castable(d, shape, source, target):
    """Values that have a meaning in the target: out of range is left open by ONNX."""
    if target == object or source == object:
        if source == object:
            texts = [str(d.int(0, 9)) if not is_float(target) else d.one("1.5", "-2", "1e3", "inf", "-INF", "nan", "0.25") for _ in range(int(np.prod(shape)))]
            return np.array(texts, object).reshape(shape)
        return d.array(shape, source, "grid")
    if is_float(target):
        return d.array(shape, source)
    if is_float(source):
        least = 0 if target == bool or ml_dtypes.iinfo(target).min == 0 else ml_dtypes.iinfo(target).min
        most = 9 if target == bool else min(100, ml_dtypes.iinfo(target).max)
        return d.array(shape, source, None, max(-100, least), most)
    if target.name in ("int4", "uint4", "int2", "uint2"):
        return d.array(shape, source, "grid", ml_dtypes.iinfo(target).min, ml_dtypes.iinfo(target).max)
    return d.array(shape, source)


@generator("Cast", "CastLike", weight=2)
def cast(d, op):
    opset = d.opset(op, least=9)
    source, target = d.kind(op, opset, "T1"), np.dtype(d.among(d.kinds(op, opset, "T2")))
    while source == object and target == object:
        source = np.dtype(d.among(d.kinds(op, opset, "T1")))
    if source == object and not (is_float(target) or target.kind in "iu"):
        target = np.dtype(np.float32)
    x = castable(d, tuple(d.shape(0, 4)), source, target)
    float8 = target.name.startswith("float8")
    attributes = {"saturate": d.int(0, 1)} if float8 and d.chance(0.7) else {}
    if float8 and target.name == "float8_e8m0fnu":
        x = np.abs(x.astype(np.float64)).astype(source)
        attributes = {"round_mode": d.one("up", "down", "nearest")} if opset >= 25 and d.chance(0.7) else {}
    if op == "CastLike":
        return Spec(op, [x, d.array(d.shape(0, 2), target, "grid")], attributes, opset=opset)
    kind = TensorProto.STRING if target == object else helper.np_dtype_to_tensor_dtype(target)
    return Spec(op, [x], {"to": kind, **attributes}, opset=opset)


@generator("BitCast")
def bit_cast(d, op):
    opset = d.opset(op)
    source = np.dtype(d.one(np.int32, np.float32, np.uint8, np.int64, np.float64, np.float16, np.int16, ml_dtypes.bfloat16, np.uint16, np.int8))
    same = [k for k in (np.int32, np.float32, np.uint32, np.uint8, np.int8, np.int64, np.float64, np.uint64, np.float16, np.int16, ml_dtypes.bfloat16, np.uint16)
            if np.dtype(k).itemsize == source.itemsize]
    return Spec(op, [d.array(d.shape(0, 4), source)], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(d.among(same)))}, opset=opset)
