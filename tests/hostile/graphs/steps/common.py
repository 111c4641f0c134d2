"""What the steps share: which values they take, and what is too near to a jump."""
import math

import numpy as np

from values import Unfit, type_of  # noqa: F401

NP_TYPES = (np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_, np.float16, np.int8, np.int16, np.uint16, np.uint32, np.uint64)


def floats(v):
    return v.is_float


def integers(v):
    return v.is_integer


def clear_of(value, jumps):
    """Refuses values within four errors, and a thousandth, of a jump. `jumps`: a function that gives the distance of each element to the nearest."""
    def is_clear():
        if not value.array.size:
            return True
        margin = 4 * value.error + (1e-3 if value.dtype != np.float16 else 0)
        return bool((np.abs(jumps()) > margin).all())
    value.graph.everywhere(is_clear)


def fits(a, b, *, most=4096):
    """Whether two shapes broadcast, to no more elements."""
    try:
        return math.prod(np.broadcast_shapes(a, b)) <= most
    except ValueError:
        return False


def partner(g, x, wanted=lambda v: True):
    """Another operand that broadcasts with x: a value, or a weight of some shape that does."""
    if g.chance(0.5):
        return g.value(lambda v: v.dtype == x.dtype and fits(v.shape, x.shape) and wanted(v))
    shape = list(x.shape[g.between(0, x.rank):])
    first = x.rank - len(shape)
    shape = [1 if g.chance(0.3) or not x.is_fixed(first + i) else e for i, e in enumerate(shape)]
    return g.operand(shape, x.dtype)


def axis_of(g, x, wanted=lambda axis: True):
    """One that is fixed, mostly, if there is one; from the front or the back."""
    axes = [a for a in range(x.rank) if wanted(a)]
    fixed = [a for a in axes if x.is_fixed(a)]
    return g.among(fixed if fixed and g.chance(0.7) else axes)


def signed(g, axis, rank):
    """The same axis, or as counted from the back."""
    return axis - rank if g.chance(0.3) else axis


def moved(g, op, x, others=(), attributes=None, **options):
    """A node that passes elements on."""
    them = [x, *[v for v in others if v is not None]]
    wild = any(not v.is_finite for v in them)
    return g.add(op, [x, *others], attributes, lambda y: max(v.error for v in them), rounds=False, wild=wild, **options)
