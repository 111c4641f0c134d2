"""What picks, places and orders elements by an index."""
import numpy as np

from grow import step
from steps.common import axis_of, integers, moved, signed
from values import FLOATS, Unfit


@step(3)
def gather(g):
    x = g.value(lambda v: v.rank and v.has_elements and v.dtype != object, wild=True)  # ONNX Runtime leaves some strings empty
    axis = axis_of(g, x)
    least = min(a.shape[axis] for a in x.arrays)
    shape = g.among(([], [2], [3], [2, 2], [1]))
    indices = np.asarray(g.random.integers(-least, least, shape), g.among((np.int64, np.int32)))
    moved(g, "Gather", x, [g.given(indices) if g.chance(0.3) else g.constant(indices)], {"axis": signed(g, axis, x.rank)})


@step(1)
def gather_by_value(g):
    """Indices that are computed."""
    x = g.value(lambda v: v.rank and v.has_elements and v.dtype != object)
    i = g.value(lambda v: v.dtype in (np.int64, np.int32) and v.array.size < 60)
    axis = axis_of(g, x)
    least = min(a.shape[axis] for a in x.arrays)
    within = g.add("Mod", [i, g.constant(np.asarray(least, i.dtype))])
    moved(g, "Gather", x, [within], {"axis": axis})


@step(2)
def gather_elements(g):
    x = g.value(lambda v: v.rank and v.has_elements)
    axis = axis_of(g, x)
    extents = [min(a.shape[i] for a in x.arrays) for i in range(x.rank)]
    indices = g.random.integers(0, extents[axis], [e if g.chance(0.6) else g.between(1, e) for e in extents]).astype(np.int64)
    op = g.among(("GatherElements", "ScatterElements"))
    if op == "GatherElements":
        return moved(g, op, x, [g.constant(indices)], {"axis": signed(g, axis, x.rank)})
    order = np.argsort(g.random.random(extents), axis).astype(np.int64)[tuple(slice(0, n) for n in indices.shape)]  # each place once
    y = g.operand(indices.shape, x.dtype)
    how = g.among((None, None, "add", "mul", "max", "min")) if x.is_float or x.dtype == np.int64 else None
    if how is None:
        return moved(g, op, x, [g.constant(order), y], {"axis": axis})
    grows = {"add": lambda z: x.error + y.error, "mul": lambda z: x.error * (y.size + y.error) + y.error * x.size}.get(how, lambda z: max(x.error, y.error))
    g.add(op, [x, g.constant(order), y], {"axis": axis, "reduction": how}, grows, rounds=how in ("add", "mul"))


@step(2)
def gather_nd(g):
    x = g.value(lambda v: v.rank > 1 and v.has_elements)
    depth, count = g.between(1, x.rank), g.between(1, 4)
    extents = [min(a.shape[i] for a in x.arrays) for i in range(x.rank)]
    if g.chance(0.5):
        indices = np.stack([g.random.integers(-e, e, count) for e in extents[:depth]], -1).astype(np.int64)
        return moved(g, "GatherND", x, [g.constant(indices)])
    if any(not x.is_fixed(i) for i in range(depth, x.rank)):
        raise Unfit
    slots = int(np.prod(extents[:depth]))
    flat = g.random.permutation(slots)[:count]
    places = np.stack(np.unravel_index(flat, extents[:depth]), -1).astype(np.int64)
    how = g.among(("none", "add", "max")) if x.is_float else "none"
    y = g.operand((len(flat), *x.shape[depth:]), x.dtype)
    grows = (lambda z: x.error + y.error) if how == "add" else lambda z: max(x.error, y.error)
    g.add("ScatterND", [x, g.constant(places), y], {"reduction": how} if how != "none" else {}, grows, rounds=how == "add")


@step(1)
def gather_batches(g):
    x = g.value(lambda v: v.rank > 2 and v.has_elements and v.is_fixed(0))
    depth = g.between(1, x.rank - 1)
    extents = [min(a.shape[i] for a in x.arrays) for i in range(x.rank)]
    indices = np.stack([g.random.integers(0, e, (x.shape[0], 2)) for e in extents[1:depth + 1]], -1).astype(np.int64)
    moved(g, "GatherND", x, [g.constant(indices)], {"batch_dims": 1})


@step(1)
def non_zero(g):
    x = g.value(lambda v: v.dtype == bool or integers(v))
    if not x.has_elements or x.rank == 0:
        raise Unfit
    g.add("NonZero", [x])


@step(1)
def compress(g):
    x = g.value(lambda v: v.rank and v.has_elements)
    if g.chance(0.3):
        return moved(g, "Compress", x, [g.constant(g.fresh((min(a.size for a in x.arrays),), bool))])
    axis = axis_of(g, x)
    n = min(a.shape[axis] for a in x.arrays)
    moved(g, "Compress", x, [g.given(g.fresh((n,), bool))], {"axis": axis})


@step(1)
def one_hot(g):
    x = g.value(lambda v: v.dtype in (np.int64, np.int32) and v.array.size < 200)
    g.everywhere(lambda: not x.array.size or x.array.min() >= -5 and x.array.max() < 5)
    g.add("OneHot", [x, g.given(np.asarray(5)), g.constant(np.asarray([0.25, 2], np.float32))], {"axis": g.among((0, -1))}, rounds=False)


@step(1)
def reverse(g):
    x = g.value(lambda v: v.rank >= 2 and v.has_elements and v.is_fixed(0) and v.is_fixed(1))
    batch = g.between(0, 1)
    lengths = g.random.integers(0, x.shape[1 - batch] + 1, (x.shape[batch],)).astype(np.int64)
    moved(g, "ReverseSequence", x, [g.given(np.maximum(lengths, 1))], {"batch_axis": batch, "time_axis": 1 - batch})


def gaps(array, axis):
    """The least distance of neighbours along the axis, when it is in order."""
    return np.diff(np.sort(array.astype(np.float64), axis), axis=axis)


@step(1)
def arg(g):
    x = g.value(lambda v: v.rank and v.has_elements and v.dtype not in (bool, object))
    axis = axis_of(g, x)
    if x.is_float:
        from steps.common import clear_of
        clear_of(x, lambda: gaps(x.array, axis))
    g.add(g.among(("ArgMax", "ArgMin")), [x], {"axis": signed(g, axis, x.rank), "keepdims": g.between(0, 1), "select_last_index": g.between(0, 1)})


@step(2)
def top_k(g):
    x = g.value(lambda v: v.rank and v.has_elements and v.dtype in (*FLOATS, np.dtype(np.int64), np.dtype(np.int32)))
    axis = axis_of(g, x)
    if x.is_float:
        from steps.common import clear_of
        clear_of(x, lambda: gaps(x.array, axis))
    k = g.between(1, min(a.shape[axis] for a in x.arrays))
    there = g.among(([True, True], [True, False], [False, True]))
    moved(g, "TopK", x, [g.given(np.asarray([k])) if g.chance(0.2) else g.ints([k])], {"axis": axis, "largest": g.between(0, 1)}, outputs=there)


@step(1)
def unique(g):
    x = g.value(lambda v: v.rank and v.has_elements and v.is_integer)
    g.add("Unique", [x], {"sorted": g.between(0, 1)}, outputs=g.among(([True], [True, True], [True, False, True], [True, False, False, True])))
