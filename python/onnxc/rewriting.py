"""Commands that give models from models: what `quantize` and `compress` share."""
from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import arguments as a
from .build import CompileError, find_executable


def rewrite(command: str, model: a.Model, output: a.Path, arguments: list[str], calibration: a.Samples | None, labels: a.Labels | None, keep_accuracy: float | None,
            keep_cosine: float | None, options: a.Options) -> dict[str, Any]:
    """Runs `onnxc COMMAND MODEL -o OUTPUT` and returns its report. Arrays become files."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*arguments, "--report", str(Path(folder) / "report.json")]
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
        whole = [find_executable(), command, str(model), "-o", str(output), *arguments, *map(str, options)]
        done = subprocess.run(whole, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise CompileError(done.stderr.strip() or f"{whole[0]}: exit status {done.returncode}", done.returncode)
        report: dict[str, Any] = json.loads((Path(folder) / "report.json").read_text())
        return report


def _samples_file(samples: a.Samples, folder: Path) -> str:
    if isinstance(samples, (str, os.PathLike)):
        return str(samples)
    if isinstance(samples, Mapping):
        path = folder / "samples.npz"
        np.savez(path, allow_pickle=False, **{name: np.asarray(array) for name, array in samples.items()})
    else:
        path = folder / "samples.npy"
        np.save(path, np.asarray(samples), allow_pickle=False)
    return str(path)


def _labels_file(labels: a.Labels, folder: Path) -> str:
    if isinstance(labels, (str, os.PathLike)):
        return str(labels)
    path = folder / "labels.npy"
    np.save(path, np.asarray(labels), allow_pickle=False)
    return str(path)
