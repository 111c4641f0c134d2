"""What the steps share: which values they take, and what is too near to a jump."""
import numpy as np
from onnx import helper

from grow import INTEGERS, Unfit

NP_TYPES = (np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_)


def type_of(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def floats(v):
    return v.is_float


def integers(v):
    return v.array.dtype in INTEGERS


def clear_of(value, jumps):
    """Refuses values within four errors, and a thousandth, of a jump. `jumps`: the distance of each element to the nearest."""
    if value.array.size and not (np.abs(jumps) > 4 * value.error + 1e-3).all():
        raise Unfit
