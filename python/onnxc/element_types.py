"""ONNX's element types in numpy, and how tensors of sub-byte types are packed."""
from __future__ import annotations

from typing import Any

import numpy as np

from .arguments import Array

try:
    import ml_dtypes
except ImportError:  # only models with such types need it
    ml_dtypes = None  # type: ignore[assignment, unused-ignore]


def _small(name: str) -> np.dtype[Any] | None:
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else None


# TensorProto.DataType -> (name as onnxruntime says it, numpy type, bits of an element where several share a byte)
ELEMENT_TYPES: dict[int, tuple[str, np.dtype[Any] | None, int]] = {
    1: ("float", np.dtype(np.float32), 0),
    2: ("uint8", np.dtype(np.uint8), 0),
    3: ("int8", np.dtype(np.int8), 0),
    4: ("uint16", np.dtype(np.uint16), 0),
    5: ("int16", np.dtype(np.int16), 0),
    6: ("int32", np.dtype(np.int32), 0),
    7: ("int64", np.dtype(np.int64), 0),
    8: ("string", np.dtype(object), 0),
    9: ("bool", np.dtype(np.bool_), 0),
    10: ("float16", np.dtype(np.float16), 0),
    11: ("double", np.dtype(np.float64), 0),
    12: ("uint32", np.dtype(np.uint32), 0),
    13: ("uint64", np.dtype(np.uint64), 0),
    14: ("complex64", np.dtype(np.complex64), 0),
    15: ("complex128", np.dtype(np.complex128), 0),
    16: ("bfloat16", _small("bfloat16"), 0),
    17: ("float8e4m3fn", _small("float8_e4m3fn"), 0),
    18: ("float8e4m3fnuz", _small("float8_e4m3fnuz"), 0),
    19: ("float8e5m2", _small("float8_e5m2"), 0),
    20: ("float8e5m2fnuz", _small("float8_e5m2fnuz"), 0),
    21: ("uint4", _small("uint4"), 4),
    22: ("int4", _small("int4"), 4),
    23: ("float4e2m1", _small("float4_e2m1fn"), 4),
    24: ("float8e8m0", _small("float8_e8m0fnu"), 0),
    25: ("uint2", _small("uint2"), 2),
    26: ("int2", _small("int2"), 2),
}


def element_type(number: int) -> tuple[str, np.dtype[Any], int]:
    if number not in ELEMENT_TYPES:
        raise NotImplementedError(f"tensors of ONNX element type {number} cannot be passed from Python")
    name, dtype, bits = ELEMENT_TYPES[number]
    if dtype is None:
        raise ImportError(f"tensors of {name} need a newer ml_dtypes: pip install -U ml_dtypes")
    return name, dtype, bits


def element_number(dtype: np.dtype[Any]) -> int:
    """The inverse: the number of a numpy type."""
    if dtype.kind in "OUS":
        return 8
    for number, (_, candidate, _) in ELEMENT_TYPES.items():
        if candidate == dtype:
            return number
    raise TypeError(f"{dtype} is no element type of ONNX")


def pack(array: Array, bits: int) -> Array:
    """Elements of `bits` bits, the first in the lowest bits of a byte."""
    per_byte = 8 // bits
    flat = array.reshape(-1).view(np.uint8) & (2**bits - 1)
    flat = np.concatenate([flat, np.zeros(-len(flat) % per_byte, np.uint8)]).reshape(-1, per_byte)
    packed = np.zeros(len(flat), np.uint8)
    for k in range(per_byte):
        packed |= flat[:, k] << (k * bits)
    return packed


def unpack(packed: Array, bits: int, count: int, dtype: np.dtype[Any]) -> Array:
    """The inverse of pack(): `count` elements of `dtype`, which has a byte for each."""
    per_byte = 8 // bits
    flat = np.stack([(packed >> (k * bits)) & (2**bits - 1) for k in range(per_byte)], axis=1).reshape(-1)[:count]
    return from_bytes(flat, bits, dtype)


def from_bytes(flat: Array, bits: int, dtype: np.dtype[Any]) -> Array:
    """Elements of `bits` bits, one in a byte, as `dtype`."""
    flat = flat & (2**bits - 1)
    if dtype.name.startswith("int"):  # extend the sign
        flat = ((flat ^ (1 << (bits - 1))) - (1 << (bits - 1))).astype(np.int8).view(np.uint8)
    return np.ascontiguousarray(flat, np.uint8).view(dtype)


def as_array(given: Any, dtype: np.dtype[Any]) -> Array:
    """What a caller gives as an array: arrays and scalars of numpy, tensors of other libraries by DLPack without a copy, lists as `dtype`."""
    if isinstance(given, (np.ndarray, np.generic)):
        return np.asarray(given)
    if hasattr(given, "__dlpack_device__"):
        kind, _ = given.__dlpack_device__()
        if kind != 1:  # kDLCPU
            raise TypeError(f"a tensor in the memory of a device (DLPack's type {int(kind)}); move it to the processor's first")
        try:
            return np.from_dlpack(given)
        except (BufferError, TypeError, RuntimeError) as error:
            raise TypeError(f"numpy cannot take the tensor by DLPack: {error}") from error
    return np.asarray(given, dtype)
