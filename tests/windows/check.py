"""Runs a model's first data set by call.cpp's program, and compares with the expected outputs: check.py MODEL_FOLDER WORK RUNNER PROGRAM."""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper


def load(path):
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def main():
    folder, work, *program = sys.argv[1:]
    folder, work = Path(folder), Path(work)
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    initial = {tensor.name for tensor in graph.initializer}
    data = folder / "test_data_set_0"
    inputs = [value for value in graph.input if value.name not in initial]
    symbols, files = {}, []
    for i, value in enumerate(inputs):
        array = np.ascontiguousarray(load(data / f"input_{i}.pb"))
        files.append(work / f"input_{i}")
        array.tofile(files[-1])
        for axis, (dim, extent) in enumerate(zip(value.type.tensor_type.shape.dim, array.shape)):
            if not dim.HasField("dim_value"):
                symbols.setdefault(dim.dim_param or f"{value.name}_{axis}", extent)
    outputs = [work / f"output_{k}" for k in range(len(graph.output))]
    subprocess.run([*program, *map(str, symbols.values()), "--", *files, "--", *outputs], check=True)
    case = json.loads((folder / "case.json").read_text())  # with the tolerance that was derived for the model
    for k, (path, value) in enumerate(zip(outputs, graph.output)):
        if not value.type.HasField("tensor_type"):  # a sequence of maps: --zipmap=tensor gives the scores instead
            print(f"output {k} is not compared")
            continue
        expected = load(data / f"output_{k}.pb")
        got = np.fromfile(path, expected.dtype).reshape(expected.shape)
        if expected.dtype.kind == "i":
            np.testing.assert_array_equal(got, expected)
        else:
            np.testing.assert_allclose(got, expected, case["rtol"], case["atol"])
    print(f"{len(outputs)} outputs")


main()
