"""Reductions and what else goes along an axis."""
import math

import numpy as np

from grow import step
from steps.common import axis_of, signed
from values import MIXED, Unfit


def axes_of(g, x):
    return sorted(int(i) for i in g.random.choice(x.rank, g.between(1, x.rank), replace=False))


@step(5)
def reduce(g):
    x = g.value(lambda v: v.rank and v.has_elements and v.dtype not in (bool, object))  # ONNX Runtime keeps the extents of empty tensors
    every = g.chance(0.12)
    axes = list(range(x.rank)) if every else axes_of(g, x)
    count = lambda: math.prod(x.shape[a] for a in axes)  # noqa: E731
    attributes = {"keepdims": g.between(0, 1)}
    op = g.among(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd") if x.is_float else ("ReduceSum", "ReduceMax", "ReduceMin"))
    if every:
        given = [] if g.chance(0.5) else [g.ints([])]
    else:
        array = np.asarray([signed(g, a, x.rank) for a in axes], np.int64)
        given = [g.given(array) if g.chance(0.08) else g.constant(array)]
    if not x.is_float:
        return g.add(op, [x, *given], attributes)
    rounding = lambda: MIXED[x.dtype] * count() * x.size  # noqa: E731  where terms cancel, the sum is small and its error is not
    if op == "ReduceProd":
        g.everywhere(lambda: count() <= 12)
        return g.add(op, [x, *given], attributes, lambda y: count() * (x.error + 2e-5 * x.size) * max(1.0, x.size + x.error) ** (count() - 1))
    grows = {"ReduceSum": lambda y: count() * x.error + rounding(), "ReduceMean": lambda y: x.error + rounding() / count(), "ReduceMax": lambda y: x.error, "ReduceMin": lambda y: x.error,
             "ReduceL1": lambda y: count() * x.error, "ReduceL2": lambda y: math.sqrt(count()) * x.error, "ReduceSumSquare": lambda y: 2 * count() * (x.size + x.error) * x.error,
             "ReduceLogSumExp": lambda y: x.error + 2e-5 * x.size}[op]
    g.add(op, [x, *given], attributes, grows, rounds=op not in ("ReduceMax", "ReduceMin"))


@step(1)
def reduce_nothing(g):
    x = g.value(lambda v: v.rank and v.has_elements and v.is_float)
    g.add(g.among(("ReduceSum", "ReduceMean", "ReduceMax")), [x, g.ints([])], {"noop_with_empty_axes": 1}, lambda y: x.error, rounds=False)


@step(3)
def softmax(g):
    x = g.value(lambda v: v.is_float and v.rank and v.has_elements)
    g.add(g.among(("Softmax", "Softmax", "LogSoftmax")), [x], {"axis": g.between(-x.rank, x.rank - 1)} if g.chance(0.8) else {}, lambda y: 2 * x.error)


@step(1)
def mean_variance(g):
    x = g.value(lambda v: v.rank == 4 and v.dtype == np.float32 and v.has_elements)
    spread = lambda: float(x.array.astype(np.float64).std((0, 2, 3)).min())  # noqa: E731
    g.everywhere(lambda: spread() >= 0.05)
    g.add("MeanVarianceNormalization", [x], None, lambda y: 4 * (x.error + 2e-5 * x.size) * (1 + y.size) / spread())


@step(1)
def norm(g):
    x = g.value(lambda v: v.is_float and v.rank and v.has_elements)
    axis = axis_of(g, x)
    least = lambda: float(np.sqrt((x.array.astype(np.float64) ** 2).sum(axis)).min())  # noqa: E731
    g.everywhere(lambda: least() >= 0.2)
    n = lambda: x.shape[axis]  # noqa: E731
    if any(e > 30 for e in x.shape):
        raise Unfit
    p = g.among((1, 2))
    g.add("LpNormalization", [x], {"axis": axis, "p": p}, lambda y: 4 * n() * (x.error + 2e-5 * x.size) / least())
