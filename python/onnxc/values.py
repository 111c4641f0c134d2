"""Values of any kind between Python and the C ABI (onnxc_value, onnxc_string).

    a tensor     a numpy array; of strings an array of `str` (dtype object); given, also anything that numpy makes one of
    a sequence   a list
    an optional  None, or what it holds
    a map        a dict
"""
from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import abi
from .arguments import Array
from .element_types import element_number, element_type, from_bytes

STRING = np.dtype([("data", np.uintp), ("size", np.uintp)])


def to_strings(array: Array) -> tuple[Array, Array | None]:
    """The onnxc_strings of an array of str or bytes, and what they point to. Those that are given are taken; the caller keeps their text."""
    if array.dtype == STRING:
        return np.ascontiguousarray(array).reshape(-1), None
    encoded = [s if isinstance(s, bytes) else str(s).encode("utf-8", "surrogateescape") for s in array.reshape(-1).tolist()]
    text = np.frombuffer(b"".join(encoded) + b"\0", np.uint8)
    strings = np.zeros(len(encoded), STRING)
    strings["size"] = [len(s) for s in encoded]
    strings["data"] = text.__array_interface__["data"][0] + np.concatenate([[0], np.cumsum(strings["size"])])[: len(encoded)].astype(np.uintp)
    return strings, text


def from_strings(strings: Array, shape: Sequence[int]) -> Array:
    """An array of str, copied from onnxc_strings."""
    known: dict[tuple[int, int], str] = {}  # labels of classes come again and again

    def text(place: tuple[int, int]) -> str:
        if place not in known:
            known[place] = c.string_at(*place).decode("utf-8", "surrogateescape") if place[1] else ""
        return known[place]

    array = np.empty(len(strings), object)
    array[:] = [text(place) for place in strings.tolist()]
    return array.reshape(shape)


def to_value(given: Any, kind: int | None, keep: list[Any]) -> abi.Value:
    """An onnxc_value of that kind (None: what `given` looks like); `keep` collects what must live as long as it."""
    if kind is None:
        kind = abi.MAP if isinstance(given, dict) else abi.SEQUENCE if isinstance(given, (list, tuple)) else abi.OPTIONAL if given is None else abi.TENSOR
    value = abi.Value(kind=kind)
    if kind == abi.TENSOR:
        array = np.asarray(given, np.float32) if isinstance(given, float) else np.asarray(given)
        value.elem_type = element_number(array.dtype)
        value.rank, value.count = array.ndim, array.size
        value.shape[: array.ndim] = array.shape
        held = to_strings(array) if value.elem_type == 8 else (np.ascontiguousarray(array),)
        keep.extend(held)
        value.data = held[0].__array_interface__["data"][0]
        return value
    if kind == abi.OPTIONAL:
        items = [] if given is None else [to_value(given, None, keep)]
    elif kind == abi.SEQUENCE:
        items = [to_value(item, None, keep) for item in given]
    else:
        items = [to_value(np.array(list(given)), abi.TENSOR, keep), _map_values(list(given.values()), keep)]
    stored = (abi.Value * max(len(items), 1))(*items)
    keep.append(stored)
    value.count, value.data = len(items), c.addressof(stored)
    return value


def _map_values(values: list[Any], keep: list[Any]) -> abi.Value:
    if any(isinstance(v, (list, tuple, dict, np.ndarray)) or v is None for v in values):
        return to_value(values, abi.SEQUENCE, keep)
    array = np.array(values, np.float32) if all(isinstance(v, float) for v in values) else np.array(values)
    return to_value(array, abi.TENSOR, keep)


def from_value(value: abi.Value) -> Any:
    """A copy of what an onnxc_value holds, as Python has it."""
    if value.kind == abi.TENSOR:
        shape = tuple(value.shape[: value.rank])
        _, dtype, bits = element_type(value.elem_type)
        width = STRING.itemsize if value.elem_type == 8 else dtype.itemsize
        raw = np.frombuffer(c.string_at(value.data, value.count * width) if value.count else b"", np.uint8)
        if value.elem_type == 8:
            return from_strings(raw.view(STRING), shape)
        array = from_bytes(raw, bits, dtype) if bits else raw.view(dtype)
        return array.reshape(shape).copy()
    items = [from_value(item) for item in c.cast(value.data, c.POINTER(abi.Value))[: value.count]] if value.count else []
    if value.kind == abi.SEQUENCE:
        return items
    if value.kind == abi.OPTIONAL:
        return items[0] if items else None
    keys, values = items
    return dict(zip(keys.tolist(), values.tolist() if isinstance(values, np.ndarray) else values))
