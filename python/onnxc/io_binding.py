"""IOBinding by onnxruntime's names, over Binding."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .session import Binding, InferenceSession


class IOBinding:
    """Inputs and outputs that stay where they are between runs.

        binding = session.io_binding()
        binding.bind_cpu_input("x", x)          # an array, or what has __dlpack__
        binding.bind_output("y")
        session.run_with_iobinding(binding)     # again after x was written to
        y, = binding.copy_outputs_to_cpu()

    Memory is the processor's. Outputs are in the order in which they were bound; without any, all are.
    """

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._feeds: dict[str, Any] = {}
        self._wanted: list[str] = []
        self._binding: Binding | None = None

    def bind_cpu_input(self, name: str, array: Any) -> None:
        self._feeds[name] = array
        self._binding = None

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: npt.DTypeLike, shape: Sequence[int], buffer_ptr: int) -> None:
        """`element_type`: a dtype of numpy; `buffer_ptr`: the address of so many elements, which stay there."""
        if device_type != "cpu":
            raise NotImplementedError(f"memory of a {device_type!r} cannot be bound; 'cpu' can")
        dtype = np.dtype(element_type)
        count = int(np.prod(shape, dtype=np.int64))
        interface = {"version": 3, "shape": tuple(shape), "typestr": dtype.str, "data": (int(buffer_ptr), False)}
        self.bind_cpu_input(name, np.asarray(type("Buffer", (), {"__array_interface__": interface})()) if count else np.empty(shape, dtype))

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: npt.DTypeLike | None = None, shape: Sequence[int] | None = None,
                    buffer_ptr: int | None = None) -> None:
        if device_type != "cpu" or buffer_ptr is not None:
            raise NotImplementedError("outputs lie in memory of the session; bind them by their names alone")
        if name not in (known := [output.name for output in self._session.get_outputs()]):
            raise ValueError(f"no output is called {name!r}; there are {', '.join(map(repr, known))}")
        self._wanted.append(name)

    def clear_binding_inputs(self) -> None:
        self._feeds, self._binding = {}, None

    def clear_binding_outputs(self) -> None:
        self._wanted = []

    def synchronize_inputs(self) -> None:
        """Runs end before they return."""

    synchronize_outputs = synchronize_inputs

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs as new arrays."""
        if self._binding is None:
            raise RuntimeError("nothing was run: session.run_with_iobinding(binding) comes first")
        outputs = self._binding.outputs
        return [np.array(outputs[name]) if isinstance(outputs[name], np.ndarray) else outputs[name] for name in self._wanted or outputs.keys()]

    def _run(self) -> None:
        if self._binding is None:
            self._binding = self._session.bind(self._feeds)
        self._binding.run()
