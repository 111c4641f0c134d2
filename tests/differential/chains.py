"""Small graphs of several operators: what passes fuse, fold and plan together. ONNX Runtime and onnx.reference judge them as they judge one operator."""
import numpy as np
from onnx import helper, numpy_helper

from spec import Spec, generator

UNARY = ["Relu", "Tanh", "Sigmoid", "Abs", "Neg", "Sqrt", "Exp", "Erf", "Softsign", "Floor", "HardSwish", "LeakyRelu", "Elu", "Clip", "Identity", "Reciprocal", "Mish", "Sign"]
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min"]
REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare"]


class Chain:
    """Nodes over values of known shape."""

    def __init__(self, draw):
        self.kind = draw.one(np.float32, np.float32, np.float32, np.float64)
        self.d, self.nodes, self.inputs, self.values, self.constants = draw, [], [], [], []

    def add_input(self, array, constant=False):
        self.inputs.append(array)
        if constant:
            self.constants.append(len(self.inputs) - 1)
        else:
            self.values.append((f"x{len(self.inputs) - 1}", list(array.shape)))
        return f"x{len(self.inputs) - 1}"

    def node(self, op, inputs, shape, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        self.values.append((name, shape))
        return name

    def constant(self, array):
        name = f"c{len(self.nodes)}"
        self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array))))
        return name

    def ints(self, values):
        return self.constant(np.array(values, np.int64))


def grow(c):
    """One more node."""
    d = c.d
    name, shape = c.values[-1] if d.chance(0.7) else d.among(c.values)
    rank = len(shape)
    kind = d.one("unary", "unary", "unary", "binary", "binary", "binary", "scalar", "transpose", "reshape", "reduce", "softmax", "concat", "slice", "matmul", "norm", "pad", "conv",
                 "gather", "where", "split")
    if kind == "unary":
        op = d.among(UNARY)
        if op == "Sqrt":
            name = c.node("Abs", [name], shape)
        return c.node(op, [name], shape, **({"alpha": 0.2} if op in ("LeakyRelu", "Elu") else {}))
    if kind == "binary":
        others = []
        for n, s in c.values:
            try:
                others.append((n, s, list(np.broadcast_shapes(tuple(shape), tuple(s)))))
            except ValueError:
                pass
        other, _, result = d.among(others)
        if np.prod(result) > 2000:
            return None
        return c.node(d.among(BINARY), d.one([name, other], [other, name]), result)
    if kind == "scalar":
        k = c.constant(d.array(d.broadcastable(shape) if d.chance(0.5) else [], c.kind, "plain"))
        return c.node(d.among(BINARY), d.one([name, k], [k, name]), shape)
    if kind == "transpose" and rank > 1:
        perm = d.permutation(rank)
        return c.node("Transpose", [name], [shape[p] for p in perm], perm=perm)
    if kind == "reshape" and rank:
        at = d.int(0, rank - 1)
        merged = shape[:at] + [shape[at] * (shape[at + 1] if at + 1 < rank else 1)] + shape[at + 2:]
        return c.node("Reshape", [name, c.ints(merged)], merged)
    if kind == "reduce" and rank:
        axis, keep = d.axis(rank), d.int(0, 1)
        left = [1 if k == axis % rank else e for k, e in enumerate(shape)]
        if not keep:
            del left[axis % rank]
        return c.node(d.among(REDUCE), [name, c.ints([axis])], left, keepdims=keep)
    if kind == "softmax" and rank:
        return c.node("Softmax", [name], shape, axis=d.axis(rank))
    if kind == "concat" and rank:
        axis = d.axis(rank)
        joined = list(shape)
        joined[axis] *= 2
        other = d.among([n for n, s in c.values if s == shape])
        return c.node("Concat", [name, other], joined, axis=axis) if np.prod(joined) < 2000 else None
    if kind == "slice" and rank:
        axis, step = d.int(0, rank - 1), d.one(1, 1, 2, -1)
        n = shape[axis]
        start, end = (d.int(0, n - 1), n) if step > 0 else (n - 1, -n - 1)
        left = list(shape)
        left[axis] = len(range(start, end, step)) if step > 0 else n
        return c.node("Slice", [name, c.ints([start]), c.ints([end]), c.ints([axis]), c.ints([step])], left)
    if kind == "matmul" and rank > 1:
        n = d.one(1, 3, 8, 16)
        return c.node("MatMul", [name, c.add_input(d.array([shape[-1], n], c.kind, "plain", -1, 1), True)], shape[:-1] + [n])
    if kind == "norm" and rank and shape[-1] > 1:
        return c.node("LayerNormalization", [name, c.constant(d.array(shape[-1:], c.kind, "plain")), c.constant(d.array(shape[-1:], c.kind, "plain"))], shape, axis=-1, epsilon=1e-2)
    if kind == "pad" and rank:
        pads = d.ints(2 * rank, 0, 1)
        padded = [e + pads[k] + pads[k + rank] for k, e in enumerate(shape)]
        return c.node("Pad", [name, c.ints(pads)], padded) if np.prod(padded) < 2000 else None
    if kind == "conv" and rank == 4:
        m, k = d.one(1, 4, 8, 9), d.one(1, 3)
        w = c.add_input(d.array([m, shape[1], k, k], c.kind, "plain", -0.5, 0.5), True)
        return c.node("Conv", [name, w], [shape[0], m, shape[2], shape[3]], pads=[k // 2] * 4)
    if kind == "gather" and rank:
        axis, picked = d.int(0, rank - 1), d.ints(d.int(1, 3), 0, 0)
        picked = d.ints(len(picked), -shape[axis], shape[axis] - 1)
        return c.node("Gather", [name, c.ints(picked)], shape[:axis] + [len(picked)] + shape[axis + 1:], axis=axis)
    if kind == "where":
        condition = c.node("Greater", [name, c.constant(np.array(0.1, c.kind))], shape)
        c.values.pop()
        return c.node("Where", [condition, name, c.constant(np.array(d.uniform(-1, 1), c.kind))], shape)
    if kind == "split" and rank and shape[-1] % 2 == 0:
        half = shape[:-1] + [shape[-1] // 2]
        a, b = f"v{len(c.nodes)}", f"w{len(c.nodes)}"
        c.nodes.append(helper.make_node("Split", [name], [a, b], axis=-1, num_outputs=2))
        c.values += [(a, half), (b, half)]
        return a
    return None


@generator("Chain", weight=10)
def chain(d, op):
    c = Chain(d)
    shape = d.one(d.shape(1, 3, 6, zero=0), [d.int(1, 2), d.int(1, 8), d.int(2, 6), d.int(2, 6)])
    c.add_input(d.array(shape, c.kind, "plain", -2, 2))
    if d.chance(0.5):
        c.add_input(d.array(d.broadcastable(shape), c.kind, "plain", -2, 2))
    while len(c.nodes) < d.int(3, 12):
        grow(c)
    used = {name for node in c.nodes for name in node.input}
    ends = [name for name, _ in c.values if name not in used and not name.startswith("x")] or [c.values[-1][0]]
    extra = [name for name, _ in c.values if name in used and not name.startswith("x") and d.chance(0.1)]
    for k, name in enumerate(ends + extra):
        c.nodes.append(helper.make_node("Identity", [name], [f"y{k}"]))
    fed = {name for node in c.nodes for name in node.input}
    inputs = [x if f"x{i}" in fed else None for i, x in enumerate(c.inputs)]
    if all(x is None for i, x in enumerate(inputs) if i not in c.constants):
        return None
    return Spec(op, inputs, opset=d.one(18, 20, 21), nodes=c.nodes, outputs=len(ends + extra), constants=tuple(c.constants), rtol=1e-3, atol=1e-4)


def grow_images(c, images):
    """One more node of a network that splits, joins and shuffles channels."""
    d = c.d
    name, shape = images[-1] if d.chance(0.8) else d.among(images)
    kind = d.one("unary", "conv", "conv", "depthwise", "shuffle", "shuffle", "shuffle", "concat", "concat", "split", "split", "slice", "gather")
    channels, rest = shape[1], shape[2:]
    constant = lambda *extents: c.constant(d.array(list(extents), c.kind, "plain", -0.5, 0.5))
    if kind == "unary":
        return [(c.node(d.one("Relu", "HardSwish", "Abs"), [name], shape), shape)]
    if kind == "conv":
        m = d.one(4, 8, 12, 16, 24)
        return [(c.node("Conv", [name, constant(m, channels, *[1] * len(rest))], None), [shape[0], m] + rest)]
    if kind == "depthwise":
        inputs = [name, constant(channels, 1, *[3] * len(rest))] + ([constant(channels)] if d.chance(0.5) else [])
        return [(c.node("Conv", inputs, shape, group=channels, pads=[1] * 2 * len(rest)), shape)]
    if kind == "shuffle":
        groups = d.among([g for g in range(1, channels + 1) if channels % g == 0])
        split = c.node("Reshape", [name, c.ints([0, groups, channels // groups] + rest)], None)
        turned = c.node("Transpose", [split], None, perm=[0, 2, 1] + list(range(3, 3 + len(rest))))
        return [(c.node("Reshape", [turned, c.ints([d.one(-1, 0), channels] + rest)], None), shape)]
    if kind == "concat":
        parts = [(name, shape)] + [d.among(images) for _ in range(d.int(1, 2))]
        joined = [shape[0], sum(s[1] for _, s in parts)] + rest
        return [(c.node("Concat", [n for n, _ in parts], None, axis=d.one(1, 1 - len(shape))), joined)] if joined[1] <= 96 else []
    if kind == "split" and channels > 1:
        first = d.one(channels // 2, d.int(1, channels - 1))
        a, b = f"v{len(c.nodes) + 1}", f"w{len(c.nodes) + 1}"
        c.nodes.append(helper.make_node("Split", [name, c.ints([first, channels - first])], [a, b], axis=1))
        return [(a, [shape[0], first] + rest), (b, [shape[0], channels - first] + rest)]
    if kind == "slice" and channels > 1:
        start = d.int(0, channels - 1)
        end = d.int(start + 1, channels)
        return [(c.node("Slice", [name, c.ints([d.one(start, start - channels)]), c.ints([end if end < channels else 2**62]), c.ints([1])], None), [shape[0], end - start] + rest)]
    if kind == "gather":
        picked = d.ints(d.one(channels, d.int(1, channels)), -channels, channels - 1)
        return [(c.node("Gather", [name, c.ints(picked)], None, axis=1), [shape[0], len(picked)] + rest)]
    return []


@generator("Shuffle", weight=4)
def shuffle(d, op):
    c = Chain(d)
    c.kind = np.float32
    shape = [d.int(1, 2), d.one(4, 6, 8, 12, 16, 24)] + d.ints(d.one(1, 2, 2, 2), 1, 4)
    images = [(c.add_input(d.array(shape, c.kind, "plain", -2, 2)), shape)]
    while len(images) < d.int(6, 20):
        images += grow_images(c, images)
    used = {name for node in c.nodes for name in node.input}
    ends = [name for name, _ in images if name not in used and name != "x0" or (name != "x0" and d.chance(0.05))]
    for k, name in enumerate(ends):
        c.nodes.append(helper.make_node("Identity", [name], [f"y{k}"]))
    return Spec(op, c.inputs, opset=d.one(18, 20, 21), nodes=c.nodes, outputs=len(ends), rtol=1e-4, atol=1e-5) if ends else None
