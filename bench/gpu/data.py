#!/usr/bin/env python3
"""Writes what unit.cpp reads: a model's inputs and expected outputs as bytes, and their shapes in data.txt.

    data.py MODEL.onnx FOLDER
"""
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import model_data  # noqa: E402


def main(model, folder):
    import onnx

    graph = onnx.load(model, load_external_data=False).graph
    feeds, expected = model_data.read_inputs(model), model_data.read_outputs(model)
    if feeds is None or expected is None:
        sys.exit(f"no data set beside {model}")
    described = model.parent / "case.json"
    # Of quantised models what their codes allow; of others what sums in f32 in another order may lose, as in bench/quantisers.py.
    tolerance = json.loads(described.read_text()).get("tol_rel_l2", 1e-4) if described.exists() else 1e-4
    lines = [f"tolerance {tolerance}"]
    arrays = [("input", feeds[i.name]) for i in graph.input if i.name in feeds] + [("output", array) for array in expected]
    folder.mkdir(parents=True, exist_ok=True)
    for number, (kind, array) in enumerate(arrays):
        name = f"{number}.bin"
        (folder / name).write_bytes(np.ascontiguousarray(array).tobytes())
        lines.append(" ".join(map(str, [kind, name, array.ndim, *array.shape])))
    (folder / "data.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
