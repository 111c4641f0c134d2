"""Reductions and what else goes along an axis."""
import math

import numpy as np

from grow import FLOATS, MIXED, Unfit, step
from steps.common import clear_of
from steps.shapes import moved


def axes_of(g, x):
    return sorted(int(i) for i in g.random.choice(x.array.ndim, g.between(1, x.array.ndim), replace=False))


@step(4)
def reduce(g):
    x = g.value(lambda v: v.array.ndim and v.array.size)
    axes = axes_of(g, x)
    count = math.prod(x.shape[a] for a in axes)
    attributes = {"keepdims": g.between(0, 1)}
    if x.array.dtype == bool:
        raise Unfit
    op = g.among(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp") if x.is_float else ("ReduceSum", "ReduceMax", "ReduceMin"))
    if not x.is_float:
        return g.add(op, [x, g.ints(axes)], attributes)
    rounding = MIXED[x.array.dtype] * count * x.size  # where terms cancel, the sum is small and its error is not
    grows = {"ReduceSum": count * x.error + rounding, "ReduceMean": x.error + rounding / count, "ReduceMax": x.error, "ReduceMin": x.error, "ReduceL1": count * x.error,
             "ReduceL2": math.sqrt(count) * x.error, "ReduceSumSquare": 2 * count * (x.size + x.error) * x.error, "ReduceLogSumExp": x.error}[op]
    g.add(op, [x, g.ints([a - x.array.ndim if g.chance(0.3) else a for a in axes])], attributes, grows, rounds=op not in ("ReduceMax", "ReduceMin"))


def gaps(array, axis):
    """The least distance of neighbours along the axis, when it is in order."""
    return np.diff(np.sort(array.astype(np.float64), axis), axis=axis)


@step(1)
def arg(g):
    x = g.value(lambda v: v.array.ndim and v.array.size and v.array.dtype != bool)
    axis = g.between(0, x.array.ndim - 1)
    if x.is_float:
        clear_of(x, gaps(x.array, axis))
    g.add(g.among(("ArgMax", "ArgMin")), [x], {"axis": axis, "keepdims": g.between(0, 1), "select_last_index": g.between(0, 1)})


@step(1)
def top_k(g):
    x = g.value(lambda v: v.array.ndim and v.array.size and v.array.dtype in (*FLOATS, np.dtype(np.int64)))
    axis = g.between(0, x.array.ndim - 1)
    if x.is_float:
        clear_of(x, gaps(x.array, axis))
    moved(g, "TopK", x, [g.ints([g.between(1, x.shape[axis])])], {"axis": axis, "largest": g.between(0, 1)}, outputs=2)


@step(2)
def softmax(g):
    x = g.value(lambda v: v.is_float and v.array.ndim and v.array.size)
    g.add(g.among(("Softmax", "LogSoftmax")), [x], {"axis": g.between(-x.array.ndim, x.array.ndim - 1)}, 2 * x.error)


@step(1)
def cumulative(g):
    x = g.value(lambda v: v.array.ndim and v.array.size and v.array.dtype in (*FLOATS, np.dtype(np.int64), np.dtype(np.int32)))
    axis = g.between(0, x.array.ndim - 1)
    n = x.shape[axis]
    g.add("CumSum", [x, g.constant(np.asarray(axis, np.int64))], {"exclusive": g.between(0, 1), "reverse": g.between(0, 1)}, n * x.error + (MIXED[x.array.dtype] * n * x.size if x.is_float else 0))
