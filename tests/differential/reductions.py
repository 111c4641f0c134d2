"""Reductions, softmaxes and norms over axes."""
import numpy as np

from draw import is_float
from shapes import ints
from spec import Spec, generator


@generator("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
def reduce(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    positive = op == "ReduceLogSum"
    shape = d.shape(0, 5, 4 if op == "ReduceProd" else 5, zero=0.04)
    style = d.one("grid", "plain", "plain", "wild" if op in ("ReduceMax", "ReduceMin") else "plain")
    x = d.array(shape, kind, style) if not positive else d.array(shape, kind, None, 1, 5)
    if op == "ReduceProd":
        x = d.array(shape, kind, "plain", 1, 2)
    if kind.itemsize == 1 and kind != bool and op not in ("ReduceMax", "ReduceMin"):
        x = d.array(shape, kind, "plain", 0, 2)
    if op == "ReduceMean" and not is_float(kind):  # the mean of no integers has no meaning
        x = d.array([max(e, 1) for e in shape], kind, style)
    axes = d.axes(len(shape), 1) if shape and d.chance(0.75) else None
    if axes and opset < 11:
        axes = [a % len(shape) for a in axes]
    attributes = {"keepdims": d.int(0, 1)} if d.chance(0.7) else {}
    since = 13 if op == "ReduceSum" else 18
    if opset < since:
        return Spec(op, [x], {**({"axes": axes} if axes else {}), **attributes}, opset=opset)
    if d.chance(0.4):
        attributes["noop_with_empty_axes"] = d.int(0, 1)
    given = ints(axes) if axes else d.one(None, ints([]))
    return Spec(op, [x, given], attributes, opset=opset, constants=(1,), atol=1e-5 if is_float(kind) and kind.itemsize == 4 else None)


@generator("Softmax", "LogSoftmax", "Hardmax")
def softmax(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4, 7)
    attributes = {"axis": d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)} if d.chance(0.75) else {}
    if not attributes and opset < 13 and len(shape) < 2:
        attributes = {"axis": 0}
    return Spec(op, [d.array(shape, d.kind(op, opset), d.one("grid", "plain"))], attributes, opset=opset)


@generator("LpNormalization")
def lp(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4)
    attributes = {"p": d.one(1, 2)} if d.chance(0.6) else {}
    if d.chance(0.7):
        attributes["axis"] = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    return Spec(op, [d.array(shape, d.kind(op, opset), d.one("grid", "plain"))], attributes, opset=opset)


@generator("MeanVarianceNormalization")
def mvn(d, op):
    opset = d.opset(op)
    shape = d.ints(4, 3, 4)  # ONNX Runtime's variance, E[x^2] - E[x]^2, is no number for one value
    attributes = {"axes": d.axes(4, 1)} if d.chance(0.6) else {}
    return Spec(op, [d.array(shape, d.kind(op, opset), "plain", -3, 3)], attributes, opset=opset, rtol=1e-3, atol=1e-3)
