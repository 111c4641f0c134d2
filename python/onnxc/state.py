"""States: what a model that was compiled with --state keeps from run to run, at one place."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import abi
from .arguments import Array, Feeds

if TYPE_CHECKING:
    from .session import InferenceSession


class State:
    """Runs a model on what it keeps: caches grow in their room, other states are replaced. Nothing of it is copied.

        session = onnxc.InferenceSession("decoder.onnx", options=["--state=auto"])
        state = session.new_state(batch=1, past=512)
        logits, = state.run(["logits"], {"input_ids": prompt, ...})     # feeds without the states
        logits, = state.run(["logits"], {"input_ids": next_id, ...})
        state.reset()

    Dimensions of the states are given by name; that of a cache is its capacity. `values` are the states as they are, by the names of their inputs.
    """

    def __init__(self, session: InferenceSession, sizes: dict[str, int]) -> None:
        self._session = session
        self._pairs = [(past, present) for present, past in enumerate(session._states) if past >= 0]
        if not self._pairs:
            raise ValueError(f"{session.name} has no state; compile it with options=['--state=auto']")
        self._rooms: list[Array] = []
        self._axes: list[int | None] = []
        names = [name for name, _, _ in session._symbols]
        unknown = [name for name in sizes if name not in names]
        if unknown:
            raise ValueError(f"no dimension is called {', '.join(map(repr, unknown))}; there are {', '.join(map(repr, names)) or 'none'}")
        for past, present in self._pairs:
            slot, after = session._inputs[past], session._outputs[present]
            missing = [names[-1 - d] for d in slot.dims if d < 0 and names[-1 - d] not in sizes]
            if missing:
                raise ValueError(f"the state {slot.name!r} has the dimension {missing[0]!r}, which is not given")
            self._rooms.append(np.zeros([d if d >= 0 else sizes[names[-1 - d]] for d in slot.dims], slot.dtype))
            # It grows along the axis whose extent after the run is no dimension of the inputs.
            grows = [axis for axis, (a, b) in enumerate(zip(slot.dims, after.dims)) if a != b and b == abi.INT64_MIN]
            self._axes.append(grows[0] if grows else None)
        self.reset()

    def reset(self) -> None:
        """Caches are empty, other states 0."""
        for room in self._rooms:
            room.fill(0)
        self._lengths = [0 if axis is not None else None for axis in self._axes]

    @property
    def values(self) -> dict[str, Array]:
        return {self._session._inputs[past].name: self._value(k) for k, (past, _) in enumerate(self._pairs)}

    def _value(self, k: int) -> Array:
        axis = self._axes[k]
        return self._rooms[k] if axis is None else self._rooms[k][(slice(None),) * axis + (slice(self._lengths[k]),)]

    def run(self, output_names: Sequence[str] | None, input_feed: Feeds) -> list[Any]:
        """As InferenceSession.run, without the states among the inputs; as outputs they are views of what is kept."""
        from .session import Binding

        places = {present: room for (_, present), room in zip(self._pairs, self._rooms)}
        binding = Binding(self._session, {**input_feed, **self.values}, self._session._shared_arena, places)
        binding.run()
        for k, ((_, present), axis) in enumerate(zip(self._pairs, self._axes)):
            if axis is not None:
                self._lengths[k] = binding._shapes[present][axis]
        outputs = binding.outputs
        return list(outputs) if output_names is None else [outputs[name] for name in output_names]
