#!/usr/bin/env python3
"""Trains a small network that tells three kinds of iris apart; it takes any number of flowers at once (a dynamic dimension).

    pip install numpy onnx onnxruntime scikit-learn
    python samples/dynamic_mlp/train.py

Writes dynamic_mlp.onnx and flowers.txt: for each flower its four measures in cm, its kind, and ONNX Runtime's three scores.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_iris

HERE = Path(__file__).parent


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def main():
    data = load_iris()
    x, labels = data.data.astype(np.float32), data.target
    mean, scale = x.mean(axis=0), (1 / x.std(axis=0)).astype(np.float32)
    random = np.random.default_rng(3)
    w1, b1 = (random.standard_normal((4, 16)) * 0.7).astype(np.float32), np.zeros(16, np.float32)
    w2, b2 = (random.standard_normal((16, 3)) * 0.35).astype(np.float32), np.zeros(3, np.float32)
    for _ in range(600):
        h = np.tanh((x - mean) * scale @ w1 + b1)
        d = softmax(h @ w2 + b2)
        d[np.arange(len(x)), labels] -= 1
        d /= len(x)
        dh = (d @ w2.T) * (1 - h * h)
        for p, g in ((w2, h.T @ d), (b2, d.sum(axis=0)), (w1, ((x - mean) * scale).T @ dh), (b1, dh.sum(axis=0))):
            p -= np.float32(0.5) * g

    nodes = [
        helper.make_node("Sub", ["flowers", "mean"], ["centred"], "centre"),
        helper.make_node("Mul", ["centred", "scale"], ["scaled"], "scale"),
        helper.make_node("Gemm", ["scaled", "hidden.weight", "hidden.bias"], ["h"], "hidden"),
        helper.make_node("Tanh", ["h"], ["t"], "tanh"),
        helper.make_node("Gemm", ["t", "output.weight", "output.bias"], ["logits"], "output"),
        helper.make_node("Softmax", ["logits"], ["scores"], "softmax", axis=1),
    ]
    tensors = {"mean": mean, "scale": scale, "hidden.weight": w1, "hidden.bias": b1, "output.weight": w2, "output.bias": b2}
    graph = helper.make_graph(
        nodes,
        "dynamic_mlp",
        [helper.make_tensor_value_info("flowers", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 3])],
        [numpy_helper.from_array(np.ascontiguousarray(v, np.float32), n) for n, v in tensors.items()],
    )
    model = helper.make_model(graph, producer_name="samples/dynamic_mlp/train.py", ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, HERE / "dynamic_mlp.onnx")

    session = onnxruntime.InferenceSession(HERE / "dynamic_mlp.onnx", providers=["CPUExecutionProvider"])
    scores = session.run(None, {"flowers": x})[0]
    print(f"right on {(scores.argmax(axis=1) == labels).sum()} of {len(x)}")
    lines = ["# sepal length, sepal width, petal length, petal width (cm), kind, scores of the three kinds"]
    for i in range(0, len(x), 9):
        lines.append(" ".join([f"{v:g}" for v in x[i]] + [str(labels[i])] + [f"{v:.9g}" for v in scores[i]]))
    (HERE / "flowers.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
