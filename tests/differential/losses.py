"""Losses, Dropout and what else a training graph leaves behind."""
import numpy as np

from spec import Spec, generator

I64 = np.int64


@generator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    n, c = d.int(1, 4), d.int(2, 5)
    rest = d.ints(d.int(0, 2), 1, 3)
    x = d.array([n, c] + rest, kind, "plain", -2, 2)
    labels = d.array([n] + rest, d.one(np.int64, np.int32), "grid", 0, c - 1)
    attributes = {"reduction": d.one("none", "sum", "mean")} if d.chance(0.8) else {}
    if d.chance(0.4):
        attributes["ignore_index"] = d.one(-1, 0, 1)
        if attributes["ignore_index"] == -1:
            labels = np.where(d.array(labels.shape, bool), labels, np.array(-1, labels.dtype))
    if (labels == attributes.get("ignore_index", -100)).all():
        labels = np.full_like(labels, c - 1)
    outputs = d.one(1, 2) if op == "SoftmaxCrossEntropyLoss" else 1
    return Spec(op, [x, labels, d.maybe(0.5, lambda: d.array([c], kind, "plain", 0.2, 2))], attributes, outputs, opset)


@generator("Dropout")
def dropout(d, op):
    opset = d.opset(op, least=7)
    kind = d.kind(op, opset)
    x = d.array(d.shape(0, 4), kind)
    outputs = d.one(1, 2) if opset >= 10 else 1
    if opset < 12:
        return Spec(op, [x], {**d.one({}, {"ratio": 0.3})}, outputs, opset)
    ratio = d.maybe(0.5, lambda: np.array(d.one(0.0, 0.3), np.float32))
    return Spec(op, [x, ratio, d.maybe(0.3, lambda: np.array(False))], outputs=outputs, opset=opset, constants=(1, 2))


@generator("SwiGLU")
def swiglu(d, op):
    kind = d.kind(op, 28)
    shape = d.shape(1, 4)
    return Spec(op, [d.array(shape, kind, "plain"), d.array(shape, kind, "plain")], d.one({}, {"alpha": d.uniform(0.5, 2)}), opset=28)
