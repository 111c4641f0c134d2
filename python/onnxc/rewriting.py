"""Commands that give models from models: what `quantize` and `compress` share."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .build import CompileError, find_executable


def rewrite(command, model, output, arguments, calibration, labels, keep_accuracy, keep_cosine, options):
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
