"""Operators that pick, place or order elements by an index."""
import numpy as np

from spec import Spec, generator

I64 = np.int64


def indices(d, shape, extent, kind=None, negative=True):
    kind = kind or d.one(np.int64, np.int64, np.int32)
    return d.array(shape, kind, "grid", -extent if negative and d.chance(0.5) else 0, extent - 1)


@generator("Gather")
def gather(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    if shape[axis] == 0:
        shape[axis] = 3
    picked = indices(d, d.shape(0, 3), shape[axis], negative=opset >= 11)
    return Spec(op, [d.array(shape, d.kind(op, opset)), picked], {"axis": axis} if d.chance(0.8) or axis else {}, opset=opset, constants=(1,))


@generator("GatherElements")
def gather_elements(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4, zero=0)
    axis = d.axis(len(shape))
    picked = [d.int(1, e) for e in shape]
    picked[axis] = d.int(0 if d.chance(0.1) else 1, 5)
    return Spec(op, [d.array(shape, d.kind(op, opset)), indices(d, picked, shape[axis])], {"axis": axis}, opset=opset)


@generator("GatherND")
def gather_nd(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4, zero=0)
    batch = d.int(0, min(2, len(shape) - 1)) if opset >= 12 else 0
    depth = d.int(1, len(shape) - batch)
    lead = shape[:batch] + d.shape(0 if batch else 1, 2)
    picked = np.stack([indices(d, lead, shape[batch + k], I64) for k in range(depth)], -1) if lead else \
        np.array([d.int(0, shape[batch + k] - 1) for k in range(depth)], I64)
    return Spec(op, [d.array(shape, d.kind(op, opset)), picked.astype(I64)], {"batch_dims": batch} if batch else {}, opset=opset, rigid=(1,))


def reduction(d, opset, since=16):
    if opset < since or d.chance(0.3):
        return None
    return d.among(["none", "add", "mul"] + (["max", "min"] if opset >= 18 else []))


def distinct(d, shape, extent, axis):
    """Indices that differ along an axis, so that the order of writing does not matter."""
    other = [e for k, e in enumerate(shape) if k != axis]
    rows = np.array([d.permutation(extent)[:shape[axis]] for _ in range(int(np.prod(other)))], I64).reshape(*other, shape[axis])
    return np.moveaxis(rows, -1, axis)


@generator("ScatterElements", "Scatter")
def scatter_elements(d, op):
    opset = d.opset(op, most=10 if op == "Scatter" else 28)
    shape = d.shape(1, 4, zero=0)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    at = axis % len(shape)
    updates = [d.int(1, e) for e in shape]
    how = reduction(d, opset) if op == "ScatterElements" else None
    kind = d.kind(op, opset, only=(lambda k: k.kind in "fiu") if how in ("add", "mul", "max", "min") else None)
    places = distinct(d, updates, shape[at], at) if how in (None, "none") else indices(d, updates, shape[at], I64)
    attributes = {"axis": axis, **({"reduction": how} if how else {})}
    return Spec(op, [d.array(shape, kind, "grid"), places, d.array(updates, kind, "grid")], attributes, opset=opset)


@generator("ScatterND")
def scatter_nd(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4, zero=0)
    depth = d.int(1, len(shape))
    how = reduction(d, opset)
    kind = d.kind(op, opset, only=(lambda k: k.kind in "fiu") if how in ("add", "mul", "max", "min") else None)
    slots = int(np.prod(shape[:depth]))
    count = d.int(0 if d.chance(0.1) else 1, slots)
    flat = np.array(d.permutation(slots)[:count], I64) if how in (None, "none") else np.array(d.ints(count, 0, slots - 1), I64)
    places = np.stack(np.unravel_index(flat, shape[:depth]), -1).astype(I64)
    return Spec(op, [d.array(shape, kind, "grid"), places, d.array([count] + shape[depth:], kind, "grid")], {"reduction": how} if how else {}, opset=opset, rigid=(1,))


@generator("ArgMax", "ArgMin")
def arg(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4, zero=0)
    attributes = {"axis": d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)} if d.chance(0.8) else {}
    if d.chance(0.5):
        attributes["keepdims"] = d.int(0, 1)
    if opset >= 12 and d.chance(0.5):
        attributes["select_last_index"] = d.int(0, 1)
    return Spec(op, [d.array(shape, d.kind(op, opset), d.one("grid", "plain"))], attributes, opset=opset)


@generator("TopK")
def top_k(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4, 8, zero=0)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    k = d.int(0 if d.chance(0.1) and opset >= 10 else 1, shape[axis])
    attributes = {"axis": axis}
    if opset >= 11:
        attributes.update({name: d.int(0, 1) for name in ("largest", "sorted") if d.chance(0.6)})
        if attributes.get("sorted") == 0:  # any order is right: only all of them are known
            del attributes["sorted"]
    kind = d.kind(op, opset)
    x = d.array(shape, kind, d.one("grid", "plain"))
    if opset < 10:
        return Spec(op, [x], {**attributes, "k": k}, 2, opset)
    return Spec(op, [x, np.array([k], I64)], attributes, 2, opset, constants=(1,))


@generator("OneHot")
def one_hot(d, op):
    opset = d.opset(op)
    depth = d.int(1, 6)
    shape = d.shape(0, 3)
    kind = np.dtype(d.one(np.int64, np.int32, np.float32, np.uint8) if d.chance(0.7) else d.kind(op, opset, "T1"))
    out = d.kind(op, opset, "T3")
    picked = d.array(shape, kind, "grid", -depth - (1 if opset >= 11 else 0) if kind.kind != "u" else 0, depth)
    if kind.kind == "f":
        picked = np.round(picked)
    count = np.array(depth, d.one(np.int64, np.float32, np.int32)) if d.chance(0.5) else np.array([depth], I64)
    attributes = {"axis": d.int(-len(shape) - 1, len(shape))} if d.chance(0.7) else {}
    return Spec(op, [picked, count, d.array([2], out, "grid")], attributes, opset=opset, constants=(1, 2))


@generator("NonZero")
def non_zero(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    x = d.array(d.shape(1, 4), kind)
    if kind != object and kind != bool:
        x = np.where(d.array(x.shape, bool), x, np.zeros((), kind)).astype(kind)
    return Spec(op, [x], opset=opset)


@generator("Compress")
def compress(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4)
    axis = d.maybe(0.7, lambda: d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1))
    extent = int(np.prod(shape)) if axis is None else shape[axis]
    return Spec(op, [d.array(shape, d.kind(op, opset)), d.array([d.int(min(1, extent), extent)], bool)], {} if axis is None else {"axis": axis}, opset=opset)


@generator("Unique")
def unique(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset, only=lambda k: k != np.dtype(bool))
    shape = d.shape(1, 3, zero=0)
    x = d.array(shape, kind) if kind == object else d.array(shape, kind, "grid", *((-2, 3) if kind.kind in "iu" else ()))
    attributes = {"axis": d.axis(len(shape))} if d.chance(0.6) else {}
    if d.chance(0.6):
        attributes["sorted"] = d.int(0, 1)
    return Spec(op, [x], attributes, [True] + [d.chance(0.7) for _ in range(3)], opset)


@generator("CumSum", "CumProd")
def cumulative(d, op):
    opset = d.opset(op)
    shape = d.shape(1, 4)
    kind = d.kind(op, opset)
    attributes = {name: d.int(0, 1) for name in ("exclusive", "reverse") if d.chance(0.6)}
    x = d.array(shape, kind, "grid") if op == "CumSum" else d.array(shape, kind, None if kind.kind in "iu" else "plain", *((1, 3) if kind.kind in "iu" else (0.5, 1.5)))
    return Spec(op, [x, np.array(d.axis(len(shape)), d.one(np.int64, np.int32))], attributes, opset=opset, constants=(1,))


@generator("TensorScatter")
def tensor_scatter(d, op):
    opset = d.opset(op)
    rank, batch, room = d.int(3, 4), d.int(1, 3), d.int(2, 6)
    shape = [batch] + ([2] if rank == 4 else []) + [room, 3]
    length = d.int(1, room)
    updates = shape[:-2] + [length, 3]
    kind = d.kind(op, opset)
    mode = d.one("linear", "circular")
    starts = np.array(d.ints(batch, 0, room - length if mode == "linear" else room - 1), I64) if d.chance(0.8) else None
    return Spec(op, [d.array(shape, kind), d.array(updates, kind), starts], {"mode": mode, **d.one({}, {"axis": -2})}, opset=opset)
