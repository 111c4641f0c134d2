"""What changes shapes and moves elements in order."""
import numpy as np
from onnx import helper

from grow import step
from steps.common import axis_of, moved, signed, type_of
from values import Unfit


@step(3)
def transpose(g):
    x = g.value(lambda v: v.rank > 1, wild=True)
    moved(g, "Transpose", x, (), {"perm": [int(i) for i in g.random.permutation(x.rank)]} if g.chance(0.85) else {})


def factors(g, count):
    """A shape with that many elements."""
    shape = []
    while count > 1 and len(shape) < 3:
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        shape.append(g.among(divisors))
        count //= shape[-1]
    return shape + [count]


@step(4)
def reshape(g):
    x = g.value(lambda v: v.array.size, wild=True)
    kind = g.among(("constant", "keep", "flatten", "plumbing", "merge"))
    if kind == "flatten":
        return moved(g, "Flatten", x, (), {"axis": signed(g, g.between(0, x.rank), x.rank) if x.rank else 0})
    if kind == "constant" and all(x.is_fixed(a) for a in range(x.rank)):
        shape = factors(g, x.array.size)
        shape[g.between(0, len(shape) - 1)] = -1
        return moved(g, "Reshape", x, [g.ints(shape)])
    if x.rank < 2:
        raise Unfit
    if kind == "keep":
        return moved(g, "Reshape", x, [g.ints([0, -1] if g.chance(0.5) else [0] * x.rank)])
    if kind == "merge":
        at = g.between(0, x.rank - 2)
        extents = [0] * at + [-1] + [x.shape[a] for a in range(at + 2, x.rank)]
        return moved(g, "Reshape", x, [g.ints(extents)])
    shape = g.add("Shape", [x], {"start": 0, "end": g.between(1, x.rank)} if g.chance(0.4) else None)
    first = g.add("Gather", [shape, g.ints([0])], {"axis": 0})
    moved(g, "Reshape", x, [g.add("Concat", [first, g.ints([-1])], {"axis": 0})])


@step(2)
def arithmetic_of_extents(g):
    """Shapes as exporters compute them."""
    x = g.value(lambda v: v.rank, wild=True)
    axis = g.between(0, x.rank - 1)
    extent = g.add("Gather", [g.add("Shape", [x]), g.constant(np.asarray(axis))], {"axis": 0})
    kind = g.among(("double", "range", "half", "tile", "expand"))
    if kind == "range":
        return g.add("Range", [g.ints(0), extent, g.ints(1)])
    if kind == "half":
        half = g.add("Div", [extent, g.ints(2)])
        return moved(g, "Slice", x, [g.ints([0]), g.add("Unsqueeze", [half, g.ints([0])]), g.ints([axis])])
    if kind == "double":
        twice = g.add("Mul", [extent, g.ints(2)])
        return g.add("Cast", [twice], {"to": type_of(np.float32)}, rounds=False)
    row = g.add("Unsqueeze", [extent, g.ints([0])])
    if kind == "tile" and x.rank == 1:
        return moved(g, "Tile", x, [row])
    moved(g, "Expand", g.constant(g.fresh((1,), np.float32)), [g.add("Concat", [row, g.ints([2])], {"axis": 0}) if g.chance(0.5) else row])


@step(2)
def squeeze(g):
    x = g.value(wild=True)
    ones = [i for i, e in enumerate(x.shape) if e == 1 and x.is_fixed(i)]
    if ones and g.chance(0.5):
        bare = x in g.inputs and g.chance(0.5)  # else extents may be what only a run tells, and so would the rank be
        return moved(g, "Squeeze", x, [] if bare else [g.ints([signed(g, g.among(ones), x.rank)])])
    moved(g, "Unsqueeze", x, [g.ints([g.between(-x.rank - 1, x.rank)])])


@step(2)
def expand(g):
    x = g.value(lambda v: v.array.size < 200, wild=True)
    shape = [1 if not x.is_fixed(i) else g.between(2, 4) if e == 1 and g.chance(0.7) else g.among((1, e)) for i, e in enumerate(x.shape)]
    moved(g, "Expand", x, [g.ints(([g.between(1, 3)] if g.chance(0.4) else []) + shape)])


@step(4)
def slice_(g):
    x = g.value(lambda v: v.rank and v.array.size > 1, wild=True)
    starts, ends, axes, steps = [], [], [], []
    for axis in sorted({axis_of(g, x) for _ in range(g.among((1, 1, 2)))}):
        e, by = x.shape[axis], g.among((1, 1, 2, -1, 3, -2))
        start, end = sorted((g.between(0, e), g.between(0, e)))
        if by < 0:
            start, end = end - 1, (start - 1 if start else -(2 ** 31))
        elif g.chance(0.3):
            start, end = start - e if start < e else start, g.among((2 ** 31 - 1, 2 ** 63 - 1, -1))
        starts, ends, axes, steps = starts + [start], ends + [end], axes + [signed(g, axis, x.rank)], steps + [by]
    make = g.given if g.chance(0.1) else g.constant
    arrays = [np.asarray(list_, np.int64) for list_ in (starts, ends, axes, steps)]
    moved(g, "Slice", x, [make(arrays[0]), make(arrays[1]), *[g.constant(a) for a in arrays[2:]]])


@step(4)
def concat(g):
    x = g.value(lambda v: v.rank, wild=True)
    axis = axis_of(g, x)
    like = [v for v in g.values if v.dtype == x.dtype and v.rank == x.rank and all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)]
    parts = [x] + [g.among(like) for _ in range(g.between(1, 2))]
    if g.chance(0.3) and all(x.is_fixed(i) for i in range(x.rank) if i != axis):
        parts.append(g.constant(g.fresh([2 if i == axis else e for i, e in enumerate(x.shape)], x.dtype)))
    if g.chance(0.5):
        parts = [parts[i] for i in g.random.permutation(len(parts))]
    moved(g, "Concat", parts[0], parts[1:], {"axis": signed(g, axis, x.rank)})


@step(3)
def split(g):
    x = g.value(lambda v: v.rank and max(v.shape, default=0) > 1, wild=True)
    axis = axis_of(g, x, lambda a: x.shape[a] > 1)
    if g.chance(0.3):
        return moved(g, "Split", x, (), {"axis": axis, "num_outputs": 2}, outputs=2)
    extents, left = [], x.shape[axis]
    while left > 0 and len(extents) < 4:
        extents.append(g.between(0 if g.chance(0.05) else 1, left) if len(extents) < 3 else left)
        left -= extents[-1]
    if left:
        extents.append(left)
    there = [True] * len(extents)
    moved(g, "Split", x, [g.ints(extents)], {"axis": signed(g, axis, x.rank)}, outputs=there)


@step(2)
def pad(g):
    x = g.value(lambda v: v.rank and v.array.size and v.dtype != bool)
    mode = g.among(("constant", "constant", "edge", "reflect", "wrap"))
    least = 0 if mode != "constant" or g.chance(0.8) else -1
    pads = [g.between(least, min(2, e - 1)) if g.chance(0.5) else 0 for e in (*x.shape, *x.shape)]
    value = [g.constant(np.asarray(1 if x.dtype != object else "p", x.dtype))] if mode == "constant" and g.chance(0.6) else []
    moved(g, "Pad", x, [g.ints(pads), *value], {"mode": mode})


@step(1)
def tile(g):
    x = g.value(lambda v: v.rank and v.array.size < 300, wild=True)
    moved(g, "Tile", x, [g.ints([g.between(1, 2) for _ in x.shape])])


@step(1)
def filled(g):
    x = g.value(wild=True)
    shape = g.add("Shape", [x])
    if g.chance(0.3):
        return g.add("Size", [x])
    kind = g.among((1, 1, 7, 9))
    g.add("ConstantOfShape", [shape], {"value": helper.make_tensor("", kind, [1], [1 if kind != 1 else 0.5])} if g.chance(0.8) else None, rounds=False)


@step(1)
def triangle(g):
    x = g.value(lambda v: v.rank > 1)
    moved(g, "Trilu", x, [g.ints(g.between(-2, 2))] if g.chance(0.6) else [], {"upper": g.between(0, 1)})


@step(1)
def blocks(g):
    x = g.value(lambda v: v.rank == 4 and v.is_float)
    if x.shape[1] % 4 == 0 and g.chance(0.5):
        return moved(g, "DepthToSpace", x, (), {"blocksize": 2, "mode": g.among(("DCR", "CRD"))})
    if x.shape[2] % 2 or x.shape[3] % 2:
        raise Unfit
    moved(g, "SpaceToDepth", x, (), {"blocksize": 2})


@step(1)
def shuffle(g):
    """Channels change places: Reshape, Transpose, Reshape."""
    x = g.value(lambda v: v.rank >= 3 and v.shape[1] > 1 and all(v.is_fixed(a) for a in range(1, v.rank)))
    groups = g.among([d for d in range(1, x.shape[1] + 1) if x.shape[1] % d == 0])
    rest = list(x.shape[2:])
    split_ = moved(g, "Reshape", x, [g.ints([0, groups, x.shape[1] // groups, *rest])])
    turned = moved(g, "Transpose", split_, (), {"perm": [0, 2, 1, *range(3, 3 + len(rest))]})
    moved(g, "Reshape", turned, [g.ints([0, x.shape[1], *rest])])


@step(1)
def identity_forms(g):
    """What simplifies to nothing, or nearly."""
    x = g.value(wild=True)
    kind = g.among(("turn", "pad", "sum", "cast", "slice", "concat", "expand"))
    if kind == "turn" and x.rank > 1:
        perm = [int(i) for i in g.random.permutation(x.rank)]
        back = [perm.index(i) for i in range(x.rank)]
        return moved(g, "Transpose", moved(g, "Transpose", x, (), {"perm": perm}), (), {"perm": back})
    if kind == "pad" and x.rank and x.dtype != bool:
        return moved(g, "Pad", x, [g.ints([0] * 2 * x.rank)])
    if kind == "sum" and (x.is_float or x.dtype in (np.int64, np.int32)):
        op, neutral = g.among((("Add", 0), ("Mul", 1), ("Sub", 0), ("Div", 1)))
        return g.add(op, [x, g.constant(np.asarray(neutral, x.dtype))], None, lambda y: x.error, rounds=False, wild=not x.is_finite)
    if kind == "cast":
        return moved(g, "Cast", x, (), {"to": type_of(x.dtype)})
    if kind == "slice" and x.rank:
        return moved(g, "Slice", x, [g.ints([0]), g.ints([2 ** 62])])
    if kind == "concat" and x.rank:
        return moved(g, "Concat", x, (), {"axis": 0})
    moved(g, "Expand", x, [g.ints([1] * g.between(0, x.rank))])
