"""What moves elements and changes shapes."""
import numpy as np
from onnx import helper

from grow import Unfit, step
from steps.common import integers


def moved(g, op, x, others=(), attributes=None, **options):
    return g.add(op, [x, *others], attributes, max([x.error, *(v.error for v in others if v is not None)]), rounds=False, **options)


@step(2)
def transpose(g):
    x = g.value(lambda v: v.array.ndim > 1)
    moved(g, "Transpose", x, (), {"perm": [int(i) for i in g.random.permutation(x.array.ndim)]})


def factors(g, count):
    """A shape with that many elements."""
    shape = []
    while count > 1 and len(shape) < 3:
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        shape.append(g.among(divisors))
        count //= shape[-1]
    return shape + [count]


@step(3)
def reshape(g):
    x = g.value(lambda v: v.array.size)
    kind = g.among(("constant", "keep", "flatten", "plumbing"))
    if kind == "flatten":
        return moved(g, "Flatten", x, (), {"axis": g.between(0, x.array.ndim)})
    if kind == "constant":
        shape = factors(g, x.array.size)
        shape[g.between(0, len(shape) - 1)] = -1
        return moved(g, "Reshape", x, [g.ints(shape)])
    if x.array.ndim < 2:
        raise Unfit
    if kind == "keep":
        return moved(g, "Reshape", x, [g.ints([0, -1] if g.chance(0.5) else [0] * x.array.ndim)])
    shape = g.add("Shape", [x], {"start": 0, "end": g.between(1, x.array.ndim)} if g.chance(0.4) else None)
    first = g.add("Gather", [shape, g.ints([0])], {"axis": 0})
    moved(g, "Reshape", x, [g.add("Concat", [first, g.ints([-1])], {"axis": 0})])


@step(2)
def squeeze(g):
    x = g.value()
    ones = [i for i, e in enumerate(x.shape) if e == 1]
    if ones and g.chance(0.5):
        return moved(g, "Squeeze", x, [g.ints([g.among(ones)])] if g.chance(0.8) else [])
    moved(g, "Unsqueeze", x, [g.ints([g.between(-x.array.ndim - 1, x.array.ndim)])])


@step(2)
def expand(g):
    x = g.value(lambda v: v.array.size < 200)
    shape = [g.between(2, 4) if e == 1 and g.chance(0.7) else g.among((1, e)) for e in x.shape]
    moved(g, "Expand", x, [g.ints(([g.between(1, 3)] if g.chance(0.4) else []) + shape)])


@step(3)
def slice_(g):
    x = g.value(lambda v: v.array.ndim and v.array.size > 1)
    axis = g.between(0, x.array.ndim - 1)
    e, by = x.shape[axis], g.among((1, 1, 2, -1))
    start, end = sorted((g.between(0, e), g.between(0, e)))
    if by < 0:
        start, end = end - 1, (start - 1 if start else -(2 ** 31))
    moved(g, "Slice", x, [g.ints([start]), g.ints([end]), g.ints([axis]), g.ints([by])])


@step(3)
def gather(g):
    x = g.value(lambda v: v.array.ndim and v.array.size)
    axis = g.between(0, x.array.ndim - 1)
    shape = g.among(([], [2], [3], [2, 2]))
    indices = np.asarray(g.random.integers(-x.shape[axis], x.shape[axis], shape), g.among((np.int64, np.int32)))
    moved(g, "Gather", x, [g.constant(indices)], {"axis": axis})


@step(1)
def gather_elements(g):
    x = g.value(lambda v: v.array.ndim and v.array.size)
    axis = g.between(0, x.array.ndim - 1)
    indices = g.random.integers(0, x.shape[axis], [e if g.chance(0.6) else g.between(1, e) for e in x.shape]).astype(np.int64)
    op = g.among(("GatherElements", "ScatterElements"))
    if op == "GatherElements":
        return moved(g, op, x, [g.constant(indices)], {"axis": axis})
    order = np.argsort(g.random.random(x.shape), axis).astype(np.int64)[tuple(slice(0, n) for n in indices.shape)]  # each place once
    y = g.operand(indices.shape, x.array.dtype)
    moved(g, op, x, [g.constant(order), y], {"axis": axis})


@step(1)
def gather_nd(g):
    x = g.value(lambda v: v.array.ndim > 1 and v.array.size)
    depth, count = g.between(1, x.array.ndim), g.between(1, 4)
    indices = np.stack([g.random.integers(0, e, count) for e in x.shape[:depth]], -1).astype(np.int64)
    moved(g, "GatherND", x, [g.constant(indices)])


@step(3)
def concat(g):
    x = g.value(lambda v: v.array.ndim)
    axis = g.between(0, x.array.ndim - 1)
    like = [v for v in g.values if v.array.dtype == x.array.dtype and v.array.ndim == x.array.ndim and all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)]
    parts = [x] + [g.among(like) for _ in range(g.between(1, 2))]
    if g.chance(0.3):
        parts.append(g.constant(g.fresh([2 if i == axis else e for i, e in enumerate(x.shape)], x.array.dtype)))
    moved(g, "Concat", x, parts[1:], {"axis": axis if g.chance(0.7) else axis - x.array.ndim})


@step(2)
def split(g):
    x = g.value(lambda v: v.array.ndim and max(v.shape) > 1)
    axis = g.among([i for i, e in enumerate(x.shape) if e > 1])
    first = g.between(1, x.shape[axis] - 1)
    if g.chance(0.3):
        return moved(g, "Split", x, (), {"axis": axis, "num_outputs": 2}, outputs=2)
    moved(g, "Split", x, [g.ints([first, x.shape[axis] - first])], {"axis": axis}, outputs=2)


@step(2)
def pad(g):
    x = g.value(lambda v: v.array.ndim and v.array.size and v.array.dtype != bool)
    mode = g.among(("constant", "edge", "reflect"))
    pads = [g.between(0, min(2, e - 1)) if g.chance(0.5) else 0 for e in (*x.shape, *x.shape)]
    value = [g.constant(np.asarray(1, x.array.dtype))] if mode == "constant" and g.chance(0.6) else []
    moved(g, "Pad", x, [g.ints(pads), *value], {"mode": mode})


@step(1)
def tile(g):
    x = g.value(lambda v: v.array.ndim and v.array.size < 300)
    moved(g, "Tile", x, [g.ints([g.between(1, 2) for _ in x.shape])])


@step(1)
def filled(g):
    x = g.value()
    shape = g.add("Shape", [x])
    if g.chance(0.3):
        return g.add("Size", [x])
    g.add("ConstantOfShape", [shape], {"value": helper.make_tensor("", 1, [1], [0.5])}, rounds=False)


@step(1)
def triangle(g):
    x = g.value(lambda v: v.array.ndim > 1)
    moved(g, "Trilu", x, [g.ints(g.between(-2, 2))] if g.chance(0.6) else [], {"upper": g.between(0, 1)})


@step(1)
def blocks(g):
    x = g.value(lambda v: v.array.ndim == 4 and v.is_float)
    if x.shape[1] % 4 == 0 and g.chance(0.5):
        return moved(g, "DepthToSpace", x, (), {"blocksize": 2, "mode": g.among(("DCR", "CRD"))})
    if x.shape[2] % 2 or x.shape[3] % 2:
        raise Unfit
    moved(g, "SpaceToDepth", x, (), {"blocksize": 2})


@step(1)
def non_zero(g):
    x = g.value(lambda v: v.array.dtype == bool or integers(v))
    if not x.array.size or x.array.ndim == 0:
        raise Unfit
    g.add("NonZero", [x])


@step(1)
def one_hot(g):
    x = g.value(lambda v: v.array.dtype == np.int64 and v.array.size and v.array.min() >= -5 and v.array.max() < 5 and v.array.size < 200)
    g.add("OneHot", [x, g.ints(5), g.constant(np.asarray([0.25, 2], np.float32))], {"axis": g.among((0, -1))}, rounds=False)


@step(1)
def resize(g):
    x = g.value(lambda v: v.array.ndim == 4 and v.array.dtype == np.float32 and v.array.size < 800)
    if g.chance(0.5):
        return moved(g, "Resize", x, [None, g.constant(np.asarray([1, 1, 2, 2], np.float32))], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})
    g.add("Resize", [x, None, g.constant(np.asarray([1, 1, 2, 2], np.float32))], {"mode": "linear"}, 2 * x.error)
