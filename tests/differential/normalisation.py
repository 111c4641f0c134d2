"""Normalisations over channels and axes."""
import numpy as np

from spec import Spec, generator


def loose(kind):
    """A variance and a reciprocal root, each rounded. f64 too: attributes are f32, and so is what `stash_type` asks for."""
    if np.dtype(kind).name == "bfloat16":
        return 2e-2, 4e-2
    return {2: (1e-2, 1e-2), 4: (1e-4, 1e-4), 8: (1e-5, 1e-5)}[np.dtype(kind).itemsize]


@generator("BatchNormalization")
def batch_norm(d, op):
    opset = d.opset(op, least=7)
    kind = d.kind(op, opset)
    shape = [d.int(1, 2), d.int(1, 5)] + d.shape(0, 3)
    c = shape[1]
    kind_mean = kind
    mean, variance = d.array([c], kind_mean, "plain", -2, 2), d.array([c], kind_mean, "plain", 0.1, 3)
    attributes = {"epsilon": d.one(1e-5, 1e-2)} if d.chance(0.5) else {}
    if d.chance(0.3):
        attributes["momentum"] = 0.75
    outputs = 1
    if opset >= 14 and d.chance(0.3):
        attributes["training_mode"], outputs = 1, 3
    rtol, atol = loose(kind)
    return Spec(op, [d.array(shape, kind, "plain", -3, 3), d.array([c], kind, "plain", -2, 2), d.array([c], kind, "plain", -2, 2), mean, variance], attributes, outputs, opset,
                constants=(1, 2, 3, 4), rtol=rtol, atol=atol)


@generator("InstanceNormalization")
def instance_norm(d, op):
    opset = d.opset(op, least=6)
    kind = d.kind(op, opset)
    c = d.int(1, 4)
    rtol, atol = loose(kind)
    return Spec(op, [d.array([d.int(1, 2), c] + d.ints(d.int(1, 3), 2, 4), kind, "plain", -3, 3), d.array([c], kind, "plain"), d.array([c], kind, "plain")],
                d.one({}, {"epsilon": 1e-2}), opset=opset, constants=(1, 2), rtol=rtol, atol=atol)


@generator("GroupNormalization")
def group_norm(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    groups = d.int(1, 3)
    c = groups * d.int(1, 3)
    width = c if opset >= 21 else groups
    rtol, atol = loose(kind)
    return Spec(op, [d.array([d.int(1, 2), c] + d.ints(d.int(1, 3), 2, 4), kind, "plain", -3, 3), d.array([width], kind, "plain"), d.array([width], kind, "plain")],
                {"num_groups": groups, **d.one({}, {"epsilon": 1e-2})}, opset=opset, constants=(1, 2), rtol=rtol, atol=atol)


@generator("LayerNormalization", "RMSNormalization")
def layer_norm(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    shape = d.shape(1, 4, 7, zero=0)
    shape[-1] = max(2, shape[-1])
    axis = d.axis(len(shape))
    tail = shape[axis % len(shape):]
    attributes = {"axis": axis} if d.chance(0.8) else {}
    tail = shape[-1:] if not attributes else tail
    if d.chance(0.3):
        attributes["epsilon"] = 1e-2
    inputs = [d.array(shape, kind, "plain", -3, 3), d.array(tail, kind, "plain")]
    outputs = 1
    if op == "LayerNormalization":
        inputs.append(d.maybe(0.7, lambda: d.array(tail, kind, "plain")))
        outputs = d.one(1, 1, 3)
    rtol, atol = loose(kind)
    return Spec(op, inputs, attributes, outputs, opset, constants=(1, 2), rtol=rtol, atol=atol)


@generator("LRN")
def lrn(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    attributes = {"size": d.int(1, 5)}
    for name, (low, high) in {"alpha": (0.001, 0.5), "beta": (0.3, 1), "bias": (0.5, 2)}.items():
        if d.chance(0.5):
            attributes[name] = d.uniform(low, high)
    return Spec(op, [d.array([d.int(1, 2), d.int(1, 6)] + d.ints(2, 1, 4), kind, "plain", -3, 3)], attributes, opset=opset)
