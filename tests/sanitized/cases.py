#!/usr/bin/env python3
"""Networks whose steps are shared among threads or run beside each other, in the layout of ONNX's backend tests.

    tests/sanitized/cases.py FOLDER
"""
import json
import sys
from pathlib import Path

from onnx import numpy_helper

sys.path += [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "threads")]
from branching import networks, perceptron  # noqa: E402
from networks import TOLERANCE, make_model, reference  # noqa: E402


def main():
    for title, (nodes, constants, outputs, feeds, dims) in (networks() | {"perceptron": perceptron({0: "rows"})}).items():
        name = title.replace(" ", "_")
        data = Path(sys.argv[1], name, "test_data_set_0")
        data.mkdir(parents=True)
        model = make_model(name, nodes, constants, outputs, feeds, dims)
        (data.parent / "model.onnx").write_bytes(model.SerializeToString())
        (data.parent / "case.json").write_text(json.dumps(TOLERANCE))
        for kind, values in (("input", feeds.items()), ("output", zip(outputs.split(), reference(model, feeds), strict=True))):
            for k, (value, array) in enumerate(values):
                (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(array, value).SerializeToString())


main()
