"""Compiles ONNX models to native code and runs them.

    session = onnxc.InferenceSession("mnist.onnx")
    scores, = session.run(None, {"image": image})

    bound = session.bind({"image": image})      # for loops: one foreign call a run, nothing is allocated
    bound.run()
    bound.outputs["scores"]

    onnxc.compress("mnist.onnx", "fewer.onnx", {"image": samples}, parameters=30)
    onnxc.quantize("fewer.onnx", "small.onnx", {"image": samples})      # then InferenceSession("small.onnx")

The first use of a model compiles it with the `onnxc` command and the system's C++ compiler (seconds); the result is cached.
"""
from .build import CompileError, compile, find_executable, warn_without_compiler
from .compress import compress
from .io_binding import IOBinding
from .library import Library, ProcessorError
from .options import ExecutionMode, GraphOptimizationLevel, RunOptions, SessionOptions
from .providers import get_available_providers
from .quantize import quantize
from .session import Binding, InferenceSession, NodeArg, RunError

__version__ = "0.1.0"
__all__ = [
    "Binding", "CompileError", "ExecutionMode", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "Library", "NodeArg", "ProcessorError",
    "RunError", "RunOptions", "SessionOptions",
    "compile", "compress", "find_executable", "get_available_providers", "quantize",
]
warn_without_compiler()
