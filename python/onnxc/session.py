"""Runs a compiled model: InferenceSession as onnxruntime users know it, and Binding for loops."""
from __future__ import annotations

import ctypes as c
import math
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, SupportsIndex, overload

import numpy as np

from . import abi, build
from .arguments import Array, Dims, Feeds, Model, Options, Path, Provider
from .element_types import element_type, pack, unpack
from .feeds import bind_symbols, check_feeds
from .io_binding import IOBinding
from .options import RunOptions, SessionOptions, compile_options
from .providers import CPU, CUDA, cuda_options, first_of
from .state import State
from .values import STRING, from_strings, from_value, to_strings, to_value

class NodeArg(NamedTuple):
    """An input or output: its name, its shape (a list of extents: a str is a dynamic dimension, None unknown) and its type, "tensor(float)"."""

    name: str
    shape: Any
    type: str


class RunError(RuntimeError):
    """The model refused to run; `status` is the code of onnxc_status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Slot:
    """What is known of one input or output."""

    dims: tuple[int, ...]
    type_name: str | None
    dtype: Any

    def __init__(self, info: Any, symbol_names: list[str]) -> None:
        self.name = info.name.decode()
        self.form, self.kind = info.form, info.kind
        self.is_value, self.is_string = info.form == abi.VALUE, info.elem_type == 8
        if self.kind != abi.TENSOR:
            self.type_name, self.dtype, self.bits, self.dims, self.size_is_certain = None, None, 0, (), False
            self.node_arg = NodeArg(self.name, None, ("tensor", "seq", "optional", "map")[self.kind])
            return
        self.type_name, self.dtype, self.bits = element_type(info.elem_type)
        self.dims = tuple(info.shape[axis] for axis in range(info.rank))
        shape = [d if d >= 0 else None if d == abi.INT64_MIN else symbol_names[-1 - d] for d in self.dims]
        self.node_arg = NodeArg(self.name, shape, f"tensor({self.type_name})")
        self.size_is_certain = abi.INT64_MIN not in self.dims and not self.is_value

    def storage(self, shape: Sequence[int]) -> tuple[Array, Array | None]:
        """Room for a value of this type: (what the model sees, what the caller sees or None when it has to be made of that)."""
        if self.is_value:
            return np.zeros(c.sizeof(abi.Value), np.uint8), None
        if self.is_string:
            return np.zeros(shape, STRING), None
        if self.bits:
            return np.zeros(-(-math.prod(shape) * self.bits // 8), np.uint8), None
        array = np.empty(shape, self.dtype)
        return array, array


class InferenceSession:
    """Compiles a model (or takes it from the cache) and runs it.

    model:         a path, bytes, an onnx.ModelProto, or the path of a library (.so) that onnxc.compile made
    sess_options:  a SessionOptions, for programs that were written for onnxruntime; the arguments below win
    threads:       how many threads a run may use; 1 by default
    dims:          dynamic dimensions to fix or bound when compiling: {"batch": 8, "sequence": (1, 512)}
    custom_ops:    operators that you write in C++: {"my.domain.Foo": "foo.hpp:my::foo, y0 = x0"}; see docs/custom-operators.md
    include_dirs:  where their headers are, before the working directory
    options:       other options of the onnxc command
    providers:     what to run on, as for onnxruntime: ["cuda"] or ["CUDAExecutionProvider"], [("cuda", {"device_id": 1})], ["cpu"]; the first of them counts.
                   Where there is no GPU, or no nvcc, what is for GPUs runs in an emulator, slowly, which a warning tells.
    architecture:  with "cuda": "sm80" or "sm90", alone or with the processor beside the GPU, as in "sm90+x86-64-v3"; by default what the GPU has

    Several threads may use one session at once.
    """

    def __init__(self, model: Model, sess_options: SessionOptions | None = None, providers: Sequence[Provider] | None = None,
                 provider_options: Sequence[Mapping[str, Any]] | None = None, *, threads: int | None = None, dims: Dims | None = None, options: Options = (),
                 namespace: str = build.NAMESPACE, custom_ops: Mapping[str, str] | None = None, include_dirs: Sequence[Path] = (),
                 architecture: str | None = None) -> None:
        threads, dims, level = compile_options(sess_options, threads, dims)
        options = [*level, *options]
        provider, asked = first_of(providers, provider_options) if providers is not None else (None, {})
        ordinal = int(asked.get("device_id", 0))
        if not (isinstance(model, str) and model.endswith(".so")):
            options = [*options, *(cuda_options(architecture, ordinal) if provider == CUDA else ())]
            model = build.compile(model, dims=dims, threads=threads, custom_ops=custom_ops, include_dirs=include_dirs, options=options, namespace=namespace)
        self._library, self._model = abi.load(model, namespace)
        m = self._model
        self.name = m.name.decode()
        self._provider = CUDA if m.device else CPU
        if provider not in (None, self._provider):
            raise ValueError(f"{model} is for the {self._provider}, not for the {provider}")
        self._symbols = [(m.symbols[k].name.decode(), m.symbols[k].min, m.symbols[k].max) for k in range(m.symbol_count)]
        names = [name for name, _, _ in self._symbols]
        self._inputs = [Slot(m.inputs[k], names) for k in range(m.input_count)]
        self._outputs = [Slot(m.outputs[k], names) for k in range(m.output_count)]
        self._states = abi.states(m)  # for each output the input that is its state, or -1
        self._executor = abi.new_executor(self._library, threads) if threads > 1 else None
        if self._executor:
            self._one_at_a_time = threading.Lock()  # the library's threads serve one call at a time
            weakref.finalize(self, self._library.onnxc_executor_delete, self._executor)
        self._local = threading.local()  # each thread has an arena of its own
        self._device_session = _open_session(self, ordinal) if m.device else None

    def get_providers(self) -> list[str]:
        return [self._provider]

    def get_inputs(self) -> list[NodeArg]:
        return [slot.node_arg for slot in self._inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [slot.node_arg for slot in self._outputs]

    def run(self, output_names: Sequence[str] | None, input_feed: Feeds, run_options: RunOptions | None = None) -> list[Any]:
        """The outputs called `output_names` (None: all), as new arrays."""
        wanted = None
        if output_names is not None:
            known = {slot.name: k for k, slot in enumerate(self._outputs)}
            unknown = [name for name in output_names if name not in known]
            if unknown:
                raise ValueError(f"no output is called {', '.join(map(repr, unknown))}; there are {', '.join(map(repr, known))}")
            wanted = [known[name] for name in output_names]
        # The last binding of this thread serves again when only the arrays differ.
        binding = getattr(self._local, "binding", None)
        if binding is None or not binding._renew(input_feed):
            binding = self._local.binding = Binding(self, input_feed, self._shared_arena)
        binding.run()
        outputs = binding.outputs
        binding._release()
        return list(outputs) if wanted is None else [outputs[k] for k in wanted]

    def bind(self, input_feed: Feeds) -> Binding:
        """A Binding to these arrays: its run() is one foreign call and allocates nothing."""
        return Binding(self, input_feed, _new_arena)

    def io_binding(self) -> IOBinding:
        """The same by onnxruntime's names, for run_with_iobinding."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        iobinding._run()

    def new_state(self, **sizes: int) -> State:
        """A State of a model that was compiled with --state; `sizes`: its dimensions by name, of a cache its capacity."""
        return State(self, sizes)

    def _shared_arena(self, size: int, alignment: int) -> Array:
        arena = getattr(self._local, "arena", None)
        if arena is None or len(arena) < size:
            arena = self._local.arena = _new_arena(size, alignment)
        return arena


class Outputs(tuple[Any, ...]):
    """The outputs in the model's order; outputs["name"] is the one of that name."""

    _names: tuple[str, ...]

    def __new__(cls, names: Iterable[str], arrays: Iterable[Any]) -> Outputs:
        self = super().__new__(cls, arrays)
        self._names = tuple(names)
        return self

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> Any:
        if isinstance(key, str):
            if key not in self._names:
                raise KeyError(key)
            key = self._names.index(key)
        return super().__getitem__(key)

    def keys(self) -> tuple[str, ...]:
        return self._names


class Binding:
    """A session with its inputs and outputs in place.

    inputs     {name: array}: what run() reads. An array of the right type that is contiguous is the one you gave: write into it
               before the next run. (Inputs of 4-bit and 2-bit types are packed when bound.)
    run()      one foreign call
    outputs    the arrays that run() writes, by index or by name; each time in place (where extents depend on data: views, looked up
               after each run; strings and what is no tensor: copies)

    Sequences are lists, maps dicts, empty optionals None, tensors of strings arrays of `str`. (Such inputs are copied when bound.)
    """

    def __init__(self, session: InferenceSession, feeds: Feeds, arena_maker: Callable[[int, int], Array], places: Mapping[int, Array] | None = None) -> None:
        """`places`: by output, the arrays that states lie in."""
        places = places or {}
        if any(past >= 0 and k not in places for k, past in enumerate(session._states)):
            raise ValueError(f"{session.name} keeps a state: run it by session.new_state(...)")
        self._session = session
        self.inputs = check_feeds(session._inputs, feeds)
        symbols = bind_symbols(session, self.inputs)
        model = session._model
        self._symbol_values = (c.c_int64 * max(len(symbols), 1))(*symbols)

        size = model.arena_bytes(self._symbol_values)
        if size == _REFUSED:
            _refuse(session, self._symbol_values)
        self._kept: list[Any] = []  # what values and strings among the inputs point to
        stored = [self._store(s, self.inputs[s.name]) for s in session._inputs]
        self._shapes, outputs = [], []
        for k, slot in enumerate(session._outputs):
            shape = (c.c_int64 * max(len(slot.dims), 1))()
            model.output_shape(self._symbol_values, k, shape)
            self._shapes.append(shape)
            extents = tuple(shape[: len(slot.dims)])
            if not slot.is_value and any(d < 0 for d in extents):
                raise ValueError(f"output {slot.name!r} has no shape for these inputs")
            outputs.append(slot.storage(extents) if k not in places else _within(places[k], extents, slot.name))
        self._stored_outputs = [stored for stored, _ in outputs]
        self._fixed: Outputs | None = None
        self._output_forms: list[tuple[tuple[int, ...], Any]] | None = None
        self._input_shapes = [None if slot.is_value else self.inputs[slot.name].shape for slot in session._inputs]
        if all(slot.size_is_certain and not slot.bits and not slot.is_string for slot in session._outputs):
            arrays = [seen for _, seen in outputs if seen is not None]
            self._fixed = Outputs((slot.name for slot in session._outputs), arrays)
            self._output_forms = [(seen.shape, seen.dtype) for seen in arrays]
            self._output_names = self._fixed.keys()

        arena = arena_maker(0 if model.device else size, model.arena_alignment)  # a session on a GPU has its own
        self._input_pointers, self._output_pointers = _pointers(stored), _pointers(self._stored_outputs)
        shape_pointers = (c.POINTER(c.c_int64) * max(len(self._shapes), 1))(*[c.cast(s, c.POINTER(c.c_int64)) for s in self._shapes])
        self._stored_inputs, self._arena = stored, arena
        self._call = abi.Call(
            symbols=self._symbol_values,
            inputs=self._input_pointers,
            outputs=self._output_pointers,
            output_shapes=shape_pointers,
            arena=_address(arena),
            arena_bytes=len(arena),
            executor=session._executor,
        )
        self._message = c.create_string_buffer(1024)
        self._call.message, self._call.message_bytes = c.addressof(self._message), len(self._message)
        self._memory = abi.Memory(session._library) if model.needs_allocator else None
        if self._memory:
            self._call.allocator = self._memory.allocator
        self._run: Callable[[Any], int] = self._run_on_device if model.device else model.run if session._executor is None else self._run_alone
        self._reference = c.byref(self._call)

    def _run_alone(self, call: Any) -> int:
        with self._session._one_at_a_time:
            status: int = self._session._model.run(call)
            return status

    def _run_on_device(self, call: Any) -> int:
        with self._session._one_at_a_time:
            status: int = self._session._model.run_in(self._session._device_session, call)
            return status

    def _store(self, slot: Slot, given: Any) -> Array:
        """An input as the model sees it."""
        if slot.is_value:
            return np.frombuffer(memoryview(to_value(given, slot.kind, self._kept)), np.uint8)
        if slot.is_string:
            strings, text = to_strings(given)
            self._kept.append(text)
            return strings
        array: Array = given
        return pack(array, slot.bits) if slot.bits else array

    def run(self) -> None:
        if self._memory is not None:
            self._memory.clear()
        status = self._run(self._reference)
        if status:
            raise RunError(f"{self._session.name}: {self._message.value.decode(errors='replace') or f'status {status}'}", status)

    def _renew(self, feeds: Feeds) -> bool:
        """Takes other inputs of the same shapes, and new arrays for the outputs; false when that is not what these are."""
        slots, shapes = self._session._inputs, self._input_shapes
        if self._output_forms is None or len(feeds) != len(slots):
            return False
        arrays: list[Any] = [feeds.get(slot.name) for slot in slots]
        for array, slot, shape in zip(arrays, slots, shapes):
            if slot.is_value or slot.is_string or slot.bits:
                return False
            if type(array) is not np.ndarray or array.shape != shape or array.dtype != slot.dtype:
                return False
            if not (array.flags.c_contiguous and array.flags.aligned):
                return False
        outputs = [np.empty(shape, dtype) for shape, dtype in self._output_forms]
        for k, array in enumerate(arrays):
            self._input_pointers[k] = _address(array)
        for k, array in enumerate(outputs):
            self._output_pointers[k] = _address(array)
        self._stored_inputs, self._stored_outputs = arrays, outputs
        self._fixed = Outputs(self._output_names, outputs)
        return True

    def _release(self) -> None:
        """Lets go of the arrays: they are the caller's now."""
        self.inputs, self._stored_inputs, self._stored_outputs, self._fixed = {}, [], [], None

    @property
    def outputs(self) -> Outputs:
        if self._fixed is not None:
            return self._fixed
        arrays = []
        for slot, stored, shape in zip(self._session._outputs, self._stored_outputs, self._shapes):
            if slot.is_value:
                arrays.append(from_value(abi.Value.from_buffer(stored.data)))
                continue
            extents = tuple(shape[: len(slot.dims)])
            count = math.prod(extents)
            flat = unpack(stored, slot.bits, count, slot.dtype) if slot.bits else stored.reshape(-1)[:count]
            arrays.append(from_strings(flat, extents) if slot.is_string else flat.reshape(extents))
        return Outputs((slot.name for slot in self._session._outputs), arrays)


_told_of_emulator = False


def _open_session(session: InferenceSession, ordinal: int) -> int | None:
    """Memory on a GPU with the model's weights, which goes with `session`."""
    global _told_of_emulator
    model = session._model
    if model.device == abi.CUDA_EMULATED and not _told_of_emulator:
        _told_of_emulator = True
        warnings.warn("this runs in onnxc's emulator of GPUs, slowly: there is no GPU, or no nvcc", RuntimeWarning, stacklevel=3)
    options = abi.DeviceOptions(struct_bytes=c.sizeof(abi.DeviceOptions), ordinal=ordinal)
    opened, message = c.c_void_p(), c.create_string_buffer(1024)
    status = model.open(c.byref(options), c.byref(opened), message, len(message))
    if status:
        raise RunError(f"{session.name}: {message.value.decode(errors='replace') or f'status {status}'}", status)
    session._one_at_a_time = threading.Lock()
    weakref.finalize(session, model.close, opened.value)
    return opened.value


_REFUSED = c.c_size_t(-1).value  # what arena_bytes tells of dimensions that a run refuses


def _refuse(session: InferenceSession, symbol_values: Any) -> NoReturn:
    """Raises what a run says of dimensions that it refuses, before it looks at anything else."""
    message = c.create_string_buffer(1024)
    call = abi.Call(symbols=symbol_values, message=c.addressof(message), message_bytes=len(message))
    status = session._model.run(c.byref(call))
    raise RunError(f"{session.name}: {message.value.decode(errors='replace') or f'status {status}'}", status)


def _within(room: Array, extents: tuple[int, ...], name: str) -> tuple[Array, Array]:
    """The first elements of an array, as an output of these extents."""
    count = math.prod(extents)
    if count > room.size:
        raise ValueError(f"there is no room for {name!r}: it gets the shape {list(extents)}, and its state has {list(room.shape)}")
    array = room.reshape(-1)[:count].reshape(extents)
    return array, array


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _pointers(arrays: Sequence[Array]) -> Any:
    return (c.c_void_p * max(len(arrays), 1))(*[_address(array) for array in arrays])


def _new_arena(size: int, alignment: int) -> Array:
    raw = np.empty(size + alignment, np.uint8)
    start = -_address(raw) % alignment
    return raw[start : start + size]
