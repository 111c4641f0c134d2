"""Values of a random graph: what they are in each world, and how far two right implementations may lie apart there.

A world is a choice of extents for the symbols, with inputs of these extents: the same model is run in each. Of a graph without symbols there is one.
"""
import numpy as np
from onnx import TensorProto, helper

F16, F32, F64 = (np.dtype(kind) for kind in (np.float16, np.float32, np.float64))
FLOATS = (F32, F64, F16)
INTEGERS = tuple(np.dtype(kind) for kind in (np.int64, np.int32, np.uint8, np.int8, np.int16, np.uint16, np.uint32, np.uint64))
BOOL, STRING = np.dtype(bool), np.dtype(object)
TYPES = (*FLOATS, *INTEGERS, BOOL, STRING)
RELATIVE = {F16: 2e-3, F32: 2e-5, F64: 1e-10}  # as in tests/differential/oracles.py; of f16 one rounding on either side
ABSOLUTE = {F16: 1e-4, F32: 2e-6, F64: 1e-11}
MIXED = {F16: 2.0 ** -9, F32: 2.0 ** -16, F64: 2.0 ** -45}  # docs/numerics.md: of the product of norms; doubles are never mixed


class Unfit(Exception):
    """This node cannot be added; another is tried."""


def type_of(dtype):
    return TensorProto.STRING if np.dtype(dtype) == object else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def magnitudes(array):
    """Of the finite numbers among them, as doubles."""
    wide = np.abs(array.astype(np.float64))
    return wide[np.isfinite(wide)]


class Value:
    """`arrays` and `errors` by world; what else there is, is of the world that the graph is in."""

    def __init__(self, graph, name, arrays, errors=None):
        self.graph, self.name, self.arrays = graph, name, arrays
        self.errors = [0.0] * len(arrays) if errors is None else errors
        self.used = False

    @property
    def array(self):
        return self.arrays[self.graph.world]

    @property
    def error(self):
        return self.errors[self.graph.world]

    @property
    def shape(self):
        return self.array.shape

    @property
    def rank(self):
        return self.array.ndim

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def is_float(self):
        return self.dtype in FLOATS

    @property
    def is_integer(self):
        return self.dtype in INTEGERS

    @property
    def size(self):
        """The largest magnitude."""
        return 0.0 if self.dtype == STRING or not self.array.size else float(magnitudes(self.array).max(initial=0.0))

    @property
    def least(self):
        return float(magnitudes(self.array).min()) if self.array.size else 0.0

    @property
    def is_finite(self):
        """In all worlds."""
        return not self.is_float or all(np.isfinite(a).all() for a in self.arrays)

    @property
    def has_elements(self):
        return all(a.size for a in self.arrays)

    def is_fixed(self, axis):
        """Whether the extent is the same in all worlds."""
        return len({a.shape[axis] for a in self.arrays}) == 1

    @property
    def fixed_axes(self):
        return [axis for axis in range(self.rank) if self.is_fixed(axis)]
