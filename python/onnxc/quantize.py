"""Quantises models by the `onnxc quantize` command."""
from __future__ import annotations

from typing import Any, Literal

from .arguments import Labels, Model, Options, Path, Samples
from .rewriting import rewrite


def quantize(model: Model, output: Path, calibration: Samples | None = None, *, format: Literal["qdq", "dynamic", "weights8", "weights4"] = "qdq",
             method: Literal["minmax", "percentile", "entropy", "mse"] = "mse", per_channel: bool = True, keep_accuracy: float | None = None, labels: Labels | None = None,
             keep_cosine: float | None = None, options: Options = ()) -> dict[str, Any]:
    """Writes a quantised model to `output` and returns what became of it: {"bytes": …, "layers": [{"layer": …, "decibels": …, "kept_in_float": …}, …], …}.

    model:          a path, the bytes of a model, or an onnx.ModelProto, in f32
    calibration:    samples: a path (a folder with test_data_set_N or .pb files, an .npz or .npy file), {"input": array, …} whose first axis counts them, or an array for a
                    model of one input. Required by format "qdq"
    format:         "qdq", "dynamic", "weights8" or "weights4"
    method:         "minmax", "percentile", "entropy" or "mse"
    per_channel:    a scale of weights for each channel, not for each tensor
    keep_accuracy:  how many points of accuracy, in percent, may be lost; `labels`: a path or an array of integers, one for each sample
    keep_cosine:    the least cosine between first outputs and those of the model in floats
    options:        any others of `onnxc quantize`
    """
    arguments = ["--format", format, "--method", method, "--per-channel" if per_channel else "--per-tensor"]
    return rewrite("quantize", model, output, arguments, calibration, labels, keep_accuracy, keep_cosine, options)
