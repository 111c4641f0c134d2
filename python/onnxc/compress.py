"""Makes models smaller by the `onnxc compress` command."""
from __future__ import annotations

from typing import Any

from .arguments import Labels, Model, Options, Path, Samples
from .rewriting import rewrite


def compress(model: Model, output: Path, calibration: Samples, *, parameters: float | None = None, keep_accuracy: float | None = None, labels: Labels | None = None,
             keep_cosine: float | None = None, channels: bool = True, low_rank: bool = True, cluster: int | None = None, options: Options = ()) -> dict[str, Any]:
    """Writes a model with fewer parameters to `output` and returns what became of it: {"parameters": …, "bytes": …, "layers": [{"layer": …, "weights": …, "rank": …}, …], …}.

    model:          a path, the bytes of a model, or an onnx.ModelProto, in f32
    calibration:    samples: a path (a folder with test_data_set_N or .pb files, an .npz or .npy file), {"input": array, …} whose first axis counts them, or an array for a
                    model of one input
    parameters:     how many percent of the parameters are left at most, 50 by default; with a goal: at least
    keep_accuracy:  how many points of accuracy, in percent, may be lost; `labels`: a path or an array of integers, one for each sample
    keep_cosine:    the least cosine between first outputs and those of the model as it was
    channels:       whether channels may be removed
    low_rank:       whether a layer may become two with smaller matrices
    cluster:        how many distinct weights a layer has at most
    options:        any others of `onnxc compress`
    """
    arguments = [*([] if channels else ["--no-channels"]), *([] if low_rank else ["--no-low-rank"])]
    for name, value in (("--parameters", parameters), ("--cluster", cluster)):
        if value is not None:
            arguments += [name, str(value)]
    return rewrite("compress", model, output, arguments, calibration, labels, keep_accuracy, keep_cosine, options)
