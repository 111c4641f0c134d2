#!/usr/bin/env python3
"""The table of docs/numerics.md: largest errors of products at both levels of --math and in ONNX Runtime, against sums in double, relative to the norms of window and weights.

    . tools/env.sh; ONNXC_EXECUTABLE=build/onnxc PYTHONPATH=python "$ONNXC_PYTHON" tests/numerics/errors.py
"""
import numpy as np
import onnx
import onnxc
from check import PRODUCTS, in_double, kernels_of, model_of, norms, reference


def main():
    print("| product | by default | default | strict | ONNX Runtime |\n|---|---|---:|---:|---:|")
    for title, (nodes, constants, x) in PRODUCTS.items():
        model, feeds = model_of(nodes, constants, onnx.TensorProto.FLOAT, x), dict(x=x)
        exact, scale = in_double(model, feeds), norms(nodes, constants, x)
        largest = lambda y: f"{np.max(np.abs(y - exact) / scale):.1e}"
        errors = [largest(onnxc.InferenceSession(model, options=[f"--math={math}"]).run(None, feeds)[0]) for math in ("default", "strict")]
        print(f"| {title} | `{kernels_of(model)}` | {errors[0]} | {errors[1]} | {largest(reference(model, feeds)[0])} |", flush=True)


if __name__ == "__main__":
    main()
