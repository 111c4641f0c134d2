"""The C ABI of a compiled model (runtime_stub/onnxc/model.h) as ctypes see it."""
import ctypes as c

INT64_MIN = -(2**63)  # in a shape: an expression of symbols


class TensorInfo(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("cpp_name", c.c_char_p),
        ("elem_type", c.c_int32),
        ("rank", c.c_int32),
        ("shape", c.POINTER(c.c_int64)),
    ]


class SymbolInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("min", c.c_int64), ("max", c.c_int64)]


class Executor(c.Structure):
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
    ]


class Model(c.Structure):
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
    ]


STATUS = {
    1: "the arena is smaller than arena_bytes",
    2: "the arena is not aligned to arena_alignment",
    3: "an input or output has the wrong size",
    4: "a dimension is out of its bounds or does not fit the others",
    5: "an index is out of range",
    6: "a loop ran longer than its limit",
    7: "a pointer is null",
}


def load(path, namespace):
    """The library (keep it alive) and its model."""
    library = c.CDLL(str(path))
    function = getattr(library, f"{namespace}_model")
    function.restype = c.POINTER(Model)
    model = function().contents
    if model.struct_bytes < c.sizeof(Model):
        raise ImportError(f"{path}: made by an older onnxc ({(model.version or b'?').decode()})")
    return library, model


def new_executor(library, threads):
    """Threads of the library's own (runtime_stub/onnxc/shared_executor.hpp); None when it was compiled for one thread."""
    if not hasattr(library, "onnxc_executor_new"):
        return None
    library.onnxc_executor_new.restype = c.POINTER(Executor)
    library.onnxc_executor_new.argtypes = [c.c_int32]
    library.onnxc_executor_delete.restype = None
    library.onnxc_executor_delete.argtypes = [c.POINTER(Executor)]
    return library.onnxc_executor_new(threads)
