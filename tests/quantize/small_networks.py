"""Small networks with what quantisation has to deal with, made here; and how they are run."""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper as h
from onnx import numpy_helper

ONNXC = os.environ["ONNXC_EXECUTABLE"]
RANDOM = np.random.default_rng(5)


def values(*shape, scale=None):
    """Normal numbers; by default so small that a product keeps the size of what it multiplies."""
    fan_in = int(np.prod(shape[1:])) if len(shape) != 2 else shape[0]
    return (RANDOM.standard_normal(shape) * (scale if scale is not None else np.sqrt(2 / fan_in))).astype(np.float32)


def model(nodes, weights, inputs, outputs, opset=17):
    info = lambda pair: h.make_tensor_value_info(pair[0], onnx.TensorProto.FLOAT, pair[1])
    graph = h.make_graph(nodes, "g", [info(i) for i in inputs], [info(o) for o in outputs], [numpy_helper.from_array(v, k) for k, v in weights.items()])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8)


def convolutional(opset=17, batch="n"):
    """Batch-norm to be folded, a residual, a Concat, pools, a grouped convolution, a Clip and a classifier."""
    n = h.make_node
    w = {"w0": values(8, 3, 3, 3), "s0": 1 + values(8, scale=0.2), "b0": values(8, scale=0.1), "m0": values(8, scale=0.1), "v0": np.abs(1 + values(8, scale=0.2)).astype(np.float32),
         "w1": values(8, 8, 3, 3), "c1": values(8, scale=0.1), "w2": values(8, 1, 3, 3), "w3": values(8, 8, 1, 1), "c3": values(8, scale=0.1), "w4": values(16, 16, 1, 1),
         "f": values(10, 16), "fb": values(10, scale=0.1), "six": np.float32(6), "zero": np.float32(0)}
    nodes = [n("Conv", ["x", "w0"], ["a0"], name="stem", pads=[1] * 4, strides=[2, 2]), n("BatchNormalization", ["a0", "s0", "b0", "m0", "v0"], ["a1"], name="norm"), n("Relu", ["a1"], ["a"]),
             n("Conv", ["a", "w1", "c1"], ["d0"], name="one", pads=[1] * 4), n("Add", ["d0", "a"], ["d1"]), n("Relu", ["d1"], ["d"]),
             n("Conv", ["d", "w2"], ["e0"], name="depthwise", group=8, pads=[1] * 4), n("Clip", ["e0", "zero", "six"], ["e"]), n("Conv", ["e", "w3", "c3"], ["g"], name="point"),
             n("Concat", ["g", "d"], ["k"], axis=1), n("MaxPool", ["k"], ["l"], kernel_shape=[2, 2], strides=[2, 2]), n("Conv", ["l", "w4"], ["m0_"], name="last"), n("Relu", ["m0_"], ["m"]),
             n("GlobalAveragePool", ["m"], ["o"]), n("Flatten", ["o"], ["p"]), n("Gemm", ["p", "f", "fb"], ["y"], name="head", transB=1)]
    return model(nodes, w, [("x", [batch, 3, 16, 16])], [("y", [batch, 10])], opset)


def planar():
    """Few channels of rows that are long: convolutions of planes, whose epilogue a dynamic scale does not fit."""
    w = {"w": values(6, 1, 5, 5), "b": values(6, scale=0.1)}
    return model([h.make_node("Conv", ["x", "w", "b"], ["a"], name="few", pads=[2] * 4), h.make_node("Relu", ["a"], ["y"])], w, [("x", ["n", 1, 28, 28])], [("y", ["n", 6, 28, 28])])


def products(opset=17):
    """MatMul with an addend, a normalisation that stays in floats, a product of two activations."""
    n = h.make_node
    w = {"q": values(32, 64), "qb": values(64, scale=0.1), "r": values(64, 32), "g": np.ones(32, np.float32), "gb": np.zeros(32, np.float32)}
    nodes = [n("MatMul", ["x", "q"], ["a0"], name="up"), n("Add", ["a0", "qb"], ["a1"]), n("Relu", ["a1"], ["a"]), n("MatMul", ["a", "r"], ["b"], name="down"), n("Add", ["x", "b"], ["c"]),
             n("LayerNormalization", ["c", "g", "gb"], ["d"]), n("Transpose", ["d"], ["dt"], perm=[0, 2, 1]), n("MatMul", ["d", "dt"], ["y"], name="scores")]
    return model(nodes, w, [("x", ["n", "s", 32])], [("y", ["n", "s", "s"])], opset)


def correlated(count, *shape):
    """Inputs whose neighbours are alike, as those of images are."""
    x = RANDOM.standard_normal((count, *shape))
    for axis in range(2, x.ndim):
        x = x + np.roll(x, 1, axis) + np.roll(x, 2, axis)
    return (x / x.std()).astype(np.float32)


def runtime(path, optimised=True):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path if isinstance(path, bytes) else str(path), options, providers=["CPUExecutionProvider"])


def run_onnxc(path, feed, *options):
    """The first output, by code that onnxc emits."""
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, value) in enumerate(feed.items()):
            (Path(folder) / f"input_{k}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
        done = subprocess.run([ONNXC, "run", str(path), "--data", folder, "--output", f"{folder}/out", *options], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-700:] + done.stdout[-300:])
        return numpy_helper.to_array(onnx.load_tensor(f"{folder}/out/output_0.pb"))


def decibels(exact, found):
    exact, found = exact.astype(np.float64), found.astype(np.float64)
    return 10 * np.log10((exact**2).sum() / max(((exact - found) ** 2).sum(), 1e-30))


def cosine(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))
