#!/usr/bin/env python3
"""Trains the sample model: handwritten digits of 8x8 pixels, two convolutions and a linear layer, in plain numpy.

    pip install numpy onnx onnxruntime scikit-learn
    python samples/digits/train.py

Writes digits.onnx, digit.pgm (an image that training did not see) and expected.txt (its label and ONNX Runtime's scores).
The seed is fixed; takes some seconds on one core.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the order of sums does not depend on the machine's cores
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
EPOCHS, BATCH, TRAIN = 30, 32, 1500


def patches(x):
    """[n,c,h,w] -> [n,h,w,c*9]: the 3x3 neighbourhoods, zeros around the image."""
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(p, (3, 3), axis=(2, 3))  # n,c,h,w,3,3
    n, c, h, w = x.shape
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def scatter_patches(d, shape):
    """The transpose of patches()."""
    n, c, h, w = shape
    d = d.reshape(n, h, w, c, 3, 3)
    out = np.zeros((n, c, h + 2, w + 2), np.float32)
    for i in range(3):
        for j in range(3):
            out[:, :, i : i + h, j : j + w] += d[:, :, :, :, i, j].transpose(0, 3, 1, 2)
    return out[:, :, 1:-1, 1:-1]


def conv(x, weight, bias):
    p = patches(x)
    return p, (p @ weight.reshape(weight.shape[0], -1).T + bias).transpose(0, 3, 1, 2)


def forward(params, x):
    w1, b1, w2, b2, w3, b3 = params
    p1, z1 = conv(x, w1, b1)
    a1 = np.maximum(z1, 0)
    p2, z2 = conv(a1, w2, b2)
    a2 = np.maximum(z2, 0)
    n, c, h, w = a2.shape
    blocks = a2.reshape(n, c, h // 2, 2, w // 2, 2)
    pooled = blocks.max(axis=(3, 5))
    flat = pooled.reshape(n, -1)
    return flat @ w3.T + b3, (p1, z1, a1, p2, z2, blocks, pooled, flat)


def gradients(params, x, labels):
    w1, _, w2, _, w3, _ = params
    logits, (p1, z1, a1, p2, z2, blocks, pooled, flat) = forward(params, x)
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    d = e / e.sum(axis=1, keepdims=True)
    d[np.arange(len(x)), labels] -= 1
    d /= len(x)
    g3 = [d.T @ flat, d.sum(axis=0)]
    d = (d @ w3).reshape(pooled.shape)
    winners = blocks == pooled[:, :, :, None, :, None]
    d = (winners * d[:, :, :, None, :, None]).reshape(z2.shape) * (z2 > 0)
    d = d.transpose(0, 2, 3, 1)
    g2 = [np.einsum("nhwk,nhwp->kp", d, p2, optimize=True).reshape(w2.shape), d.sum(axis=(0, 1, 2))]
    d = scatter_patches(d @ w2.reshape(w2.shape[0], -1), a1.shape) * (z1 > 0)
    d = d.transpose(0, 2, 3, 1)
    g1 = [np.einsum("nhwk,nhwp->kp", d, p1, optimize=True).reshape(w1.shape), d.sum(axis=(0, 1, 2))]
    return g1 + g2 + g3


def train(images, labels):
    random = np.random.default_rng(7)
    shapes = [(8, 1, 3, 3), (16, 8, 3, 3), (10, 256)]
    params = []
    for shape in shapes:
        scale = np.sqrt(2.0 / np.prod(shape[1:]))
        params += [(random.standard_normal(shape) * scale).astype(np.float32), np.zeros(shape[0], np.float32)]
    first = [np.zeros_like(p) for p in params]
    second = [np.zeros_like(p) for p in params]
    step = 0
    for epoch in range(EPOCHS):
        rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = random.permutation(len(images))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            step += 1
            for p, m, v, g in zip(params, first, second, gradients(params, images[chosen], labels[chosen])):  # Adam
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= (rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)).astype(np.float32)
    return params


def export(params, path):
    names = ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "linear.weight", "linear.bias"]
    padded = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    nodes = [
        helper.make_node("Conv", ["image", names[0], names[1]], ["c1"], "conv1", **padded),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", names[2], names[3]], ["c2"], "conv2", **padded),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["p2"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p2"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", names[4], names[5]], ["logits"], "linear", transB=1),
        helper.make_node("Softmax", ["logits"], ["scores"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(p, n) for p, n in zip(params, names)],
    )
    model = helper.make_model(graph, producer_name="samples/digits/train.py", ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    labels = data.target
    params = train(images[:TRAIN], labels[:TRAIN])
    export(params, HERE / "digits.onnx")
    logits = forward(params, images[TRAIN:])[0]
    right = logits.argmax(axis=1) == labels[TRAIN:]
    print(f"right on {right.sum()} of {len(right)} images not seen in training ({100 * right.mean():.1f} %)")

    # The sample: right, but with doubts, so that more than one score can be seen.
    best = 1 / np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1)
    sample = TRAIN + int(np.where(right, np.abs(best - 0.93), 1).argmin())
    pixels = data.images[sample].astype(int)
    rows = "\n".join(" ".join(f"{v:2d}" for v in row) for row in pixels)
    (HERE / "digit.pgm").write_text(f"P2\n# a handwritten {labels[sample]}: 8x8 pixels of 0 (paper) to 16 (ink)\n8 8\n16\n{rows}\n")
    session = onnxruntime.InferenceSession(HERE / "digits.onnx", providers=["CPUExecutionProvider"])
    scores = session.run(None, {"image": images[sample : sample + 1]})[0][0]
    lines = [f"label {labels[sample]}"] + [f"{v:.9g}" for v in scores]
    (HERE / "expected.txt").write_text("\n".join(lines) + "\n")
    print(f"image {sample} is a {labels[sample]}; scores {np.round(scores, 4)}")


if __name__ == "__main__":
    main()
