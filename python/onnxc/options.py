"""SessionOptions and its kin, by onnxruntime's names, for programs that change one import."""
from __future__ import annotations

import enum
from typing import Any, ClassVar, NoReturn

from .arguments import Dims


class GraphOptimizationLevel(enum.IntEnum):
    """What becomes onnxc's -O0 to -O3."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Steps run in their order in either mode; threads share each."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Options of a session.

    intra_op_num_threads:      threads that a run may use; 0: as InferenceSession's `threads` says
    graph_optimization_level:  a GraphOptimizationLevel
    add_free_dimension_override_by_name(name, extent): as `dims`

    The other attributes are onnxruntime's, and may be set to what they like: nothing here corresponds to them. Names that onnxruntime
    does not have raise AttributeError.
    """

    intra_op_num_threads: int
    graph_optimization_level: GraphOptimizationLevel | int
    enable_cpu_mem_arena: bool
    enable_mem_pattern: bool
    enable_mem_reuse: bool
    enable_profiling: bool
    execution_mode: ExecutionMode
    execution_order: Any
    inter_op_num_threads: int
    log_severity_level: int
    log_verbosity_level: int
    logid: str
    optimized_model_filepath: str
    profile_file_prefix: str
    use_deterministic_compute: bool

    _WITHOUT_MEANING: ClassVar[dict[str, Any]] = {
        "enable_cpu_mem_arena": True, "enable_mem_pattern": True, "enable_mem_reuse": True, "enable_profiling": False, "execution_mode": ExecutionMode.ORT_SEQUENTIAL,
        "execution_order": 0, "inter_op_num_threads": 0, "log_severity_level": -1, "log_verbosity_level": 0, "logid": "", "optimized_model_filepath": "",
        "profile_file_prefix": "", "use_deterministic_compute": False,
    }
    __slots__ = ("intra_op_num_threads", "graph_optimization_level", "_dims", "_entries", *_WITHOUT_MEANING)

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self._dims: dict[str, int] = {}
        self._entries: dict[str, str] = {}
        for name, value in self._WITHOUT_MEANING.items():
            setattr(self, name, value)

    def add_free_dimension_override_by_name(self, name: str, extent: int) -> None:
        self._dims[name] = int(extent)

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Kept for get_session_config_entry; it changes nothing."""
        self._entries[str(key)] = str(value)

    def get_session_config_entry(self, key: str) -> str:
        return self._entries[key]

    def add_free_dimension_override_by_denotation(self, denotation: str, extent: int) -> NoReturn:
        raise NotImplementedError("units know dimensions by name: use add_free_dimension_override_by_name")

    def add_initializer(self, name: str, value: object) -> NoReturn:
        raise NotImplementedError("weights are compiled in: change the model before it is compiled")

    def register_custom_ops_library(self, path: str) -> NoReturn:
        raise NotImplementedError("operators of your own are C++ functions: InferenceSession(model, custom_ops=...); see docs/custom-operators.md")


class RunOptions:
    """What onnxruntime takes as the third argument of run(). Nothing here corresponds to its attributes, which may be set."""


def compile_options(options: SessionOptions | None, threads: int | None, dims: Dims | None) -> tuple[int, Dims | None, list[str]]:
    """(threads, dims, arguments of the onnxc command) of a SessionOptions and of InferenceSession's own arguments, which win."""
    if options is None:
        return threads or 1, dims, []
    if not isinstance(options, SessionOptions):
        raise TypeError(f"sess_options is {type(options).__name__}; onnxc.SessionOptions is wanted")
    level = min(int(options.graph_optimization_level), 3)
    return threads or int(options.intra_op_num_threads) or 1, {**options._dims, **(dims or {})}, [] if level == 3 else [f"-O{level}"]
