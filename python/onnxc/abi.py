"""The C ABI of a compiled model (runtime_stub/onnxc/model.h) as ctypes see it."""
from __future__ import annotations

import ctypes as c
from typing import Any

from .arguments import Path

INT64_MIN = -(2**63)  # in a shape: an expression of symbols
PLAIN, BOUNDED, VALUE = range(3)  # forms
TENSOR, SEQUENCE, OPTIONAL, MAP = range(4)  # kinds
CPU, CUDA, CUDA_EMULATED = range(3)  # devices
MAX_RANK = 10


class Value(c.Structure):
    _fields_ = [
        ("kind", c.c_int32),
        ("elem_type", c.c_int32),
        ("rank", c.c_int32),
        ("count", c.c_int64),
        ("data", c.c_void_p),
        ("shape", c.c_int64 * MAX_RANK),
    ]


class TensorInfo(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("cpp_name", c.c_char_p),
        ("elem_type", c.c_int32),
        ("rank", c.c_int32),
        ("shape", c.POINTER(c.c_int64)),
        ("form", c.c_int32),
        ("kind", c.c_int32),
    ]


class SymbolInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("min", c.c_int64), ("max", c.c_int64)]


class Executor(c.Structure):
    """Opaque here: the library that made it knows it."""


class Allocator(c.Structure):
    """Opaque here: the library that made it knows it."""


class Call(c.Structure):
    _fields_ = [
        ("symbols", c.POINTER(c.c_int64)),
        ("inputs", c.POINTER(c.c_void_p)),
        ("outputs", c.POINTER(c.c_void_p)),
        ("output_shapes", c.POINTER(c.POINTER(c.c_int64))),
        ("arena", c.c_void_p),
        ("arena_bytes", c.c_size_t),
        ("executor", c.POINTER(Executor)),
        ("allocator", c.POINTER(Allocator)),
        ("message", c.c_void_p),
        ("message_bytes", c.c_size_t),
    ]


class DeviceOptions(c.Structure):
    _fields_ = [("struct_bytes", c.c_size_t), ("ordinal", c.c_int32), ("pageable", c.c_int32), ("stream", c.c_void_p)]


class Model(c.Structure):
    """A model as every version of onnxc made it."""

    device = CPU
    output_states = None
    _fields_ = [
        ("struct_bytes", c.c_size_t),
        ("name", c.c_char_p),
        ("version", c.c_char_p),
        ("model_sha256", c.c_char_p),
        ("target", c.c_char_p),
        ("input_count", c.c_int32),
        ("output_count", c.c_int32),
        ("symbol_count", c.c_int32),
        ("inputs", c.POINTER(TensorInfo)),
        ("outputs", c.POINTER(TensorInfo)),
        ("symbols", c.POINTER(SymbolInfo)),
        ("arena_alignment", c.c_size_t),
        ("weights_bytes", c.c_size_t),
        ("arena_bytes", c.CFUNCTYPE(c.c_size_t, c.POINTER(c.c_int64))),
        ("output_shape", c.CFUNCTYPE(None, c.POINTER(c.c_int64), c.c_int32, c.POINTER(c.c_int64))),
        ("run", c.CFUNCTYPE(c.c_int32, c.POINTER(Call))),
        ("needs_allocator", c.c_int32),
    ]


class DeviceModel(c.Structure):
    """The same, with what units for GPUs add."""

    output_states = None
    _fields_ = Model._fields_ + [
        ("device", c.c_int32),
        ("can_capture", c.c_int32),
        ("device_words", c.c_size_t),
        ("device_arena_bytes", c.CFUNCTYPE(c.c_size_t, c.POINTER(c.c_int64))),
        ("weights_image", c.CFUNCTYPE(c.c_void_p, c.POINTER(c.c_size_t))),
        ("input_devices", c.POINTER(c.c_int32)),
        ("output_devices", c.POINTER(c.c_int32)),
        ("open", c.CFUNCTYPE(c.c_int32, c.POINTER(DeviceOptions), c.POINTER(c.c_void_p), c.c_char_p, c.c_size_t)),
        ("close", c.CFUNCTYPE(None, c.c_void_p)),
        ("run_in", c.CFUNCTYPE(c.c_int32, c.c_void_p, c.POINTER(Call))),
        ("enqueue", c.CFUNCTYPE(c.c_int32, c.c_void_p)),
    ]


class StateModel(DeviceModel):
    """The same, with what units add whose outputs are states."""

    _fields_ = [("output_states", c.POINTER(c.c_int32))]


def states(model: Any) -> list[int]:
    """For each output the input that is its state before the run, or -1."""
    return [model.output_states[k] if model.output_states else -1 for k in range(model.output_count)]


def load(path: Path, namespace: str) -> tuple[c.CDLL, Any]:
    """The library (keep it alive) and its model."""
    library = c.CDLL(str(path))
    function = getattr(library, f"{namespace}_model")
    function.restype = c.POINTER(Model)
    model = function().contents
    if model.struct_bytes < c.sizeof(Model):
        raise ImportError(f"{path}: made by an older onnxc ({(model.version or b'?').decode()})")
    for more in DeviceModel, StateModel:
        if model.struct_bytes >= c.sizeof(more):
            model = c.cast(function(), c.POINTER(more)).contents
    return library, model


def new_executor(library: c.CDLL, threads: int) -> Any:
    """Threads of the library's own (runtime_stub/onnxc/shared_executor.hpp); None when it was compiled for one thread."""
    if not hasattr(library, "onnxc_executor_new"):
        return None
    library.onnxc_executor_new.restype = c.POINTER(Executor)
    library.onnxc_executor_new.argtypes = [c.c_int32]
    library.onnxc_executor_delete.restype = None
    library.onnxc_executor_delete.argtypes = [c.POINTER(Executor)]
    return library.onnxc_executor_new(threads)


class Memory:
    """An allocator of the library's own (runtime_stub/onnxc/shared_memory.hpp), with what runs took from it."""

    def __init__(self, library: c.CDLL) -> None:
        self._library = library
        library.onnxc_memory_new.restype = c.c_void_p
        library.onnxc_memory_allocator.restype = c.POINTER(Allocator)
        for name in ("allocator", "clear", "delete"):
            getattr(library, f"onnxc_memory_{name}").argtypes = [c.c_void_p]
        self._memory = library.onnxc_memory_new()
        if not self._memory:
            raise MemoryError()
        self.allocator = library.onnxc_memory_allocator(self._memory)

    def clear(self) -> None:
        self._library.onnxc_memory_clear(self._memory)

    def __del__(self) -> None:
        if getattr(self, "_memory", None):
            self._library.onnxc_memory_delete(self._memory)
