"""What a caller feeds, checked against the inputs of a model."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import abi
from .arguments import Feeds
from .element_types import as_array
from .values import STRING

if TYPE_CHECKING:
    from .session import InferenceSession, Slot


def check_feeds(slots: list[Slot], feeds: Feeds) -> dict[str, Any]:
    names = [slot.name for slot in slots]
    missing = [slot.name for slot in slots if slot.name not in feeds and slot.kind != abi.OPTIONAL]
    unknown = [name for name in feeds if name not in names]
    if missing or unknown:
        what = [f"without {', '.join(map(repr, missing))}"] * bool(missing) + [f"with unknown {', '.join(map(repr, unknown))}"] * bool(unknown)
        raise ValueError(f"inputs {' and '.join(what)}; the model has {', '.join(map(repr, names)) or 'none'}")
    checked: dict[str, Any] = {}
    for slot in slots:
        given = feeds.get(slot.name)
        if slot.is_value:
            right: Any = {abi.SEQUENCE: (list, tuple), abi.MAP: dict}.get(slot.kind)
            if right and not isinstance(given, right):
                raise TypeError(f"input {slot.name!r} is {type(given).__name__}, the model wants {'a dict' if right is dict else 'a list'}")
            checked[slot.name] = given
            continue
        if slot.is_string:
            array = np.asarray(given)
            if array.dtype.kind not in "OUS" and array.dtype != STRING:
                raise TypeError(f"input {slot.name!r} is {array.dtype}, the model wants strings")
            checked[slot.name] = array
            continue
        array = as_array(given, slot.dtype)
        if array.dtype != slot.dtype:
            raise TypeError(f"input {slot.name!r} is {array.dtype}, the model wants {slot.dtype}")
        checked[slot.name] = np.require(array, requirements=["C", "A"]).reshape(array.shape)
    return checked


def bind_symbols(session: InferenceSession, inputs: dict[str, Any]) -> list[int]:
    """The values of the dynamic dimensions, from the shapes of the inputs."""
    values: dict[int, int] = {}
    for slot in session._inputs:
        if slot.is_value:
            continue
        shape = inputs[slot.name].shape
        expected = ["?" if d is None else d for d in slot.node_arg.shape]
        wrong = ValueError(f"input {slot.name!r} has shape {list(shape)}, the model wants {expected}")
        if len(shape) != len(slot.dims):
            raise wrong
        for d, extent in zip(slot.dims, shape):
            if d >= 0 and d != extent:
                raise wrong
            if d < 0 and d != abi.INT64_MIN and values.setdefault(-1 - d, extent) != extent:
                name = session._symbols[-1 - d][0]
                raise ValueError(f"input {slot.name!r} has shape {list(shape)}: {name} is {extent} here and {values[-1 - d]} in another place")
    for k, (name, low, high) in enumerate(session._symbols):
        if k not in values:
            raise ValueError(f"the inputs do not tell the dynamic dimension {name!r}; fix it when compiling: dims={{{name!r}: ...}}")
        if not low <= values[k] <= high:
            raise ValueError(f"dimension {name!r} is {values[k]}; the model was compiled for {low} to {high}")
    return [values[k] for k in range(len(session._symbols))]
