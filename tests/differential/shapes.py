"""Operators that move elements and work on shapes."""
import numpy as np
from onnx import helper

from draw import is_float
from spec import Spec, generator

I64 = np.int64


def ints(values):
    return np.array(values, I64)


@generator("Reshape")
def reshape(d, op):
    opset = d.opset(op, least=5)
    shape = d.shape(0, 5)
    count = int(np.prod(shape))
    target, rest = [], count
    if count:
        while d.chance(0.6) and len(target) < 5:
            factor = d.among([f for f in range(1, rest + 1) if rest % f == 0])
            target.append(factor)
            rest //= factor
        target.append(rest)
        target = d.subset(target, len(target))
        if not shape and d.chance(0.3) and count == 1:
            target = []
    else:
        target = list(shape) if d.chance(0.5) else [0] + d.ints(d.int(0, 2), 0, 3)
    attributes = {}
    if opset >= 14 and d.chance(0.4):
        attributes["allowzero"] = d.int(0, 1)
    zero_copies = not attributes.get("allowzero")
    if 0 in target and zero_copies and target != list(shape):
        target = list(shape)
    written = list(target)
    if zero_copies:
        written = [0 if k < len(shape) and shape[k] == e and d.chance(0.3) else e for k, e in enumerate(written)]
    if written and d.chance(0.5) and (count or (0 not in target[1:] and zero_copies and 0)):
        written[d.int(0, len(written) - 1)] = -1
    return Spec(op, [d.array(shape, d.kind(op, opset)), ints(written)], attributes, opset=opset, constants=(1,))


@generator("Flatten")
def flatten(d, op):
    opset = d.opset(op)
    shape = d.shape(0 if opset >= 11 else 1, 5)
    axis = d.int(-len(shape) if opset >= 11 else 0, len(shape))
    return Spec(op, [d.array(shape, d.kind(op, opset))], d.one({}, {"axis": axis}) if shape else {"axis": 0}, opset=opset)


@generator("Transpose")
def transpose(d, op):
    opset = d.opset(op)
    shape = d.shape(0, 6)
    attributes = {"perm": d.permutation(len(shape))} if d.chance(0.85) and shape else {}
    return Spec(op, [d.array(shape, d.kind(op, opset))], attributes, opset=opset)


def with_axes(op, x, axes, opset, since, **more):
    """Axes are an attribute before `since`, then an input."""
    if axes is None:
        return Spec(op, [x], more, opset=opset)
    if opset < since:
        return Spec(op, [x], {"axes": axes, **more}, opset=opset)
    return Spec(op, [x, ints(axes)], more, opset=opset, constants=(1,))


@generator("Squeeze")
def squeeze(d, op):
    opset = d.opset(op)
    shape = [1 if d.chance(0.5) else e for e in d.shape(0, 5)]
    ones = [k for k, e in enumerate(shape) if e == 1]
    axes = d.subset(ones, 1) if ones and d.chance(0.75) else None
    if axes and opset >= 11:
        axes = [a - len(shape) if d.chance(0.4) else a for a in axes]
    spec = with_axes(op, d.array(shape, d.kind(op, opset)), axes, opset, 13)
    spec.symbols = axes is not None
    return spec


@generator("Unsqueeze")
def unsqueeze(d, op):
    opset = d.opset(op)
    shape = d.shape(0, 4)
    added = d.int(0 if opset >= 13 else 1, 3)
    rank = len(shape) + added
    axes = d.permutation(rank)[:added]
    if opset >= 11:
        axes = [a - rank if d.chance(0.4) else a for a in axes]
    else:
        axes.sort()
    return with_axes(op, d.array(shape, d.kind(op, opset)), axes, opset, 13)


@generator("Expand")
def expand(d, op):
    opset = d.opset(op)
    shape = d.shape(0, 5)
    a, b = d.broadcastable(shape), d.broadcastable(shape)
    return Spec(op, [d.array(a, d.kind(op, opset)), ints(b)], opset=opset, constants=(1,))


@generator("Tile")
def tile(d, op):
    opset = d.opset(op, least=6)
    shape = d.shape(0, 4, 4)
    return Spec(op, [d.array(shape, d.kind(op, opset)), ints([0 if d.chance(0.04) else d.int(1, 3) for _ in shape])], opset=opset, constants=(1,))


@generator("Concat")
def concat(d, op):
    opset = d.opset(op, least=4)
    shape = d.shape(1, 5)
    kind, axis = d.kind(op, opset), d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    parts = []
    for _ in range(d.int(1, 4)):
        part = list(shape)
        part[axis] = d.int(0, 4)
        parts.append(d.array(part, kind))
    return Spec(op, parts, {"axis": axis}, opset=opset)


@generator("Split")
def split(d, op):
    opset = d.opset(op, least=2)
    shape = d.shape(1, 4)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    count = d.int(1, 4)
    attributes = {"axis": axis} if d.chance(0.8) else {}
    at = attributes.get("axis", 0)
    kind = d.kind(op, opset)
    if d.chance(0.5):
        sizes = d.ints(count, 0, 4)
        shape[at] = sum(sizes)
        if opset < 13:
            return Spec(op, [d.array(shape, kind)], {"split": sizes, **attributes}, count, opset)
        return Spec(op, [d.array(shape, kind), ints(sizes)], attributes, count, opset, constants=(1,))
    if opset >= 18:
        shape[at] = max(shape[at], 1)
        chunk = -(-shape[at] // count)
        if chunk * (count - 1) >= shape[at]:
            shape[at] = count * d.int(1, 2)
        attributes["num_outputs"] = count
    else:
        shape[at] = count * d.int(1, 3)
    return Spec(op, [d.array(shape, kind)], attributes, count, opset)


@generator("Slice", weight=2)
def cut(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 5)
    axes = sorted(d.subset(range(len(shape)), 1)) if opset < 10 else d.subset(range(len(shape)), 1)
    far = d.one(2 ** 63 - 1, 2 ** 31 - 1, 1000)
    starts, ends, steps = [], [], []
    for a in axes:
        n = shape[a]
        step = 1 if opset < 10 or d.chance(0.4) else d.one(1, 2, 3, -1, -2, -1, 7, -5)
        start, end = d.int(-n - 2, n + 2), d.int(-n - 2, n + 2)
        if d.chance(0.2):
            end = far if step > 0 else -far
        if step < 0 and d.chance(0.3):
            start = far
        starts.append(start), ends.append(end), steps.append(step)
    kind = d.kind(op, opset)
    whole = axes == list(range(len(axes)))
    if opset < 10:
        return Spec(op, [d.array(shape, kind)], {"starts": starts, "ends": ends, **({} if whole and d.chance(0.5) else {"axes": axes})}, opset=opset)
    index = d.one(np.int64, np.int64, np.int32)
    if index == np.int32:
        ends = [max(-2 ** 31, min(2 ** 31 - 1, e)) for e in ends]
        starts = [max(-2 ** 31, min(2 ** 31 - 1, e)) for e in starts]
    negative = [a - len(shape) if d.chance(0.4) else a for a in axes]
    leave_steps = all(s == 1 for s in steps) and d.chance(0.5)
    inputs = [d.array(shape, kind), np.array(starts, index), np.array(ends, index)]
    if not (whole and d.chance(0.5)):
        inputs += [np.array(negative, index)]
    elif not leave_steps:
        inputs += [None]
    if not leave_steps:
        inputs += [np.array(steps, index)]
    return Spec(op, inputs, opset=opset, constants=(1, 2, 3, 4))


@generator("Pad", weight=2)
def pad(d, op):
    opset = d.opset(op, least=2)
    kind = d.kind(op, opset)
    modes = ["constant", "constant", "edge", "reflect"] + (["wrap"] if opset >= 19 else [])
    mode = d.among(modes)
    shape = d.shape(1, 4, zero=0.04 if mode == "constant" else 0)
    axes = d.subset(range(len(shape)), 1) if opset >= 18 and d.chance(0.4) else list(range(len(shape)))

    def amount(n):
        most = n - 1 if mode == "reflect" else min(n, 3) if mode == "wrap" else 3
        return d.int(0, max(0, most))
    before, after = [amount(shape[a]) for a in axes], [amount(shape[a]) for a in axes]
    if mode == "constant" and d.chance(0.3):
        before = [d.int(-(shape[a] // 2), 2) for a in axes]
        after = [d.int(-((shape[a] - 1) // 2) if shape[a] else 0, 2) for a in axes]
    attributes = {"mode": mode} if mode != "constant" or d.chance(0.5) else {}
    x = d.array(shape, kind)
    if opset < 11:
        if d.chance(0.5):
            attributes["value"] = 1.5
        return Spec(op, [x], {"pads": before + after, **attributes}, opset=opset)
    inputs = [x, ints(before + after)]
    if mode == "constant" and d.chance(0.6):
        inputs.append(d.array([], kind))
    elif len(axes) != len(shape) or axes != sorted(axes):
        inputs.append(None)
    if axes != list(range(len(shape))):
        inputs = inputs + [None] * (3 - len(inputs)) + [ints([a - len(shape) if d.chance(0.4) else a for a in axes])]
    return Spec(op, inputs, attributes, opset=opset, constants=(1, 2, 3))


@generator("Shape")
def shape_of(d, op):
    opset = d.opset(op)
    shape = d.shape(0, 6)
    attributes = {}
    if opset >= 15:
        attributes = {k: d.int(-len(shape) - 2, len(shape) + 2) for k in ("start", "end") if d.chance(0.5)}
    return Spec(op, [d.array(shape, d.kind(op, opset))], attributes, opset=opset)


@generator("Size")
def size(d, op):
    opset = d.opset(op)
    return Spec(op, [d.array(d.shape(0, 6), d.kind(op, opset))], opset=opset)


@generator("DepthToSpace", "SpaceToDepth")
def blocks(d, op):
    opset = d.opset(op)
    kind, b = d.kind(op, opset), d.int(1, 3)
    n, c, h, w = d.int(0 if d.chance(0.05) else 1, 2), d.int(1, 3), d.int(1, 3), d.int(1, 3)
    attributes = {"blocksize": b}
    if op == "DepthToSpace":
        if opset >= 11 and d.chance(0.7):
            attributes["mode"] = d.one("DCR", "CRD")
        return Spec(op, [d.array([n, c * b * b, h, w], kind)], attributes, opset=opset)
    return Spec(op, [d.array([n, c, h * b, w * b], kind)], attributes, opset=opset)


@generator("CenterCropPad")
def center(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4)
    axes = d.subset(range(len(shape)), 1) if d.chance(0.5) else list(range(len(shape)))
    attributes = {} if axes == list(range(len(shape))) and d.chance(0.7) else {"axes": [a - len(shape) if d.chance(0.4) else a for a in axes]}
    target = np.array(d.ints(len(axes), 1, 7), d.one(np.int64, np.int32))
    return Spec(op, [d.array(shape, d.kind(op, opset)), target], attributes, opset=opset, constants=(1,))


@generator("ConstantOfShape")
def filled(d, op):
    opset = d.opset(op)
    attributes = {"value": helper.make_tensor("value", helper.np_dtype_to_tensor_dtype(k := np.dtype(d.among([k for k in d.kinds(op, opset, "T2") if np.dtype(k).name in
                  ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")]))), [1],
                  d.array([1], k).tolist())} if d.chance(0.8) else {}
    return Spec(op, [ints(d.shape(0, 4))], attributes, opset=opset, constants=(0,), symbols=False)


@generator("EyeLike")
def eye(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset, "T1")
    attributes = {"k": d.int(-4, 4)} if d.chance(0.7) else {}
    if d.chance(0.5):
        attributes["dtype"] = helper.np_dtype_to_tensor_dtype(d.kind(op, opset, "T2"))
    return Spec(op, [d.array([d.int(0, 5), d.int(1, 5)], kind)], attributes, opset=opset)


@generator("Range")
def sequence(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    step = d.one(1, 2, 3, -1, -2) if not is_float(kind) else d.one(0.5, 1, -0.75, 0.25)
    start = d.int(-5, 5)
    return Spec(op, [np.array(v, kind) for v in (start, start + d.int(-3, 20) * step, step)], opset=opset, constants=(0, 1, 2))


@generator("Trilu")
def triangle(d, op):
    opset = d.opset(op)
    x = d.array(d.shape(2, 5), d.kind(op, opset))
    return Spec(op, [x, d.maybe(0.7, lambda: np.array(d.int(-6, 6), I64))], d.one({}, {"upper": d.int(0, 1)}), opset=opset, constants=(1,))


@generator("ReverseSequence")
def reverse(d, op):
    opset = d.opset(op)
    shape = d.shape(2, 4, zero=0)
    batch = d.int(0, 1)
    lengths = ints(d.ints(shape[batch], 1, shape[1 - batch]))
    return Spec(op, [d.array(shape, d.kind(op, opset)), lengths], {"batch_axis": batch, "time_axis": 1 - batch}, opset=opset, constants=(1,))
