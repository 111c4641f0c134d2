"""Quantises models by the `onnxc quantize` command."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .build import CompileError, find_executable


def quantize(model, output, calibration=None, *, format="qdq", method="mse", per_channel=True, keep_accuracy=None, labels=None, keep_cosine=None, options=()):
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
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--format", format, "--method", method, "--per-channel" if per_channel else "--per-tensor", "--report", str(Path(folder) / "report.json")]
        if calibration is not None:
            arguments += ["--calibration", _samples_file(calibration, Path(folder))]
        if labels is not None:
            arguments += ["--labels", _labels_file(labels, Path(folder))]
        for name, value in (("--keep-accuracy", keep_accuracy), ("--keep-cosine", keep_cosine)):
            if value is not None:
                arguments += [name, str(value)]
        if not isinstance(model, (str, os.PathLike)):
            content = model if isinstance(model, (bytes, bytearray)) else model.SerializeToString()
            model = Path(folder) / "model.onnx"
            model.write_bytes(content)
        command = [find_executable(), "quantize", str(model), "-o", str(output), *arguments, *map(str, options)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise CompileError(done.stderr.strip() or f"{command[0]}: exit status {done.returncode}", done.returncode)
        return json.loads((Path(folder) / "report.json").read_text())


def _samples_file(samples, folder):
    if isinstance(samples, (str, os.PathLike)):
        return str(samples)
    if isinstance(samples, dict):
        path = folder / "samples.npz"
        np.savez(path, **samples)
    else:
        path = folder / "samples.npy"
        np.save(path, np.asarray(samples), allow_pickle=False)
    return str(path)


def _labels_file(labels, folder):
    if isinstance(labels, (str, os.PathLike)):
        return str(labels)
    path = folder / "labels.npy"
    np.save(path, np.asarray(labels), allow_pickle=False)
    return str(path)
