"""Types of arguments that several functions take."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy.typing as npt


class Serializable(Protocol):
    """An onnx.ModelProto, without onnx being there."""

    def SerializeToString(self) -> bytes: ...


Path: TypeAlias = "str | os.PathLike[str]"
Model: TypeAlias = "Path | bytes | bytearray | Serializable"
Dims: TypeAlias = "Mapping[str, int | tuple[int, int] | list[int]]"
Feeds: TypeAlias = "Mapping[str, Any]"  # arrays, what numpy makes arrays of, tensors by DLPack, lists of them, dicts
Array: TypeAlias = "npt.NDArray[Any]"
Samples: TypeAlias = "Path | Mapping[str, npt.ArrayLike] | npt.ArrayLike"
Labels: TypeAlias = "Path | npt.ArrayLike"
Provider: TypeAlias = "str | tuple[str, Mapping[str, Any]]"
Options: TypeAlias = "Sequence[object]"  # of the onnxc command; each becomes a str
