"""Networks of the shapes of MLPerf Tiny's four, with random weights: the same layers and the same work, wherever the tests run.

  harness/made.py FOLDER     FOLDER/made_{ad,ic,kws,vww}_{fp32,int8}, each as tests/zoo/generate.py has them

They have two outputs: the last sums, in which errors are seen, and where the model has it their Softmax.
"""
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))
from network import Network  # noqa: E402


def ad():
    """An autoencoder of ten products."""
    n = Network(1, 640)
    x = n.x
    for width in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x = n.activate(n.linear(x, width), "Relu")
    return n, [n.linear(x, 640)]


def classes(n, x, count):
    """The usual end: an average over the image, a product, Softmax."""
    x = n.op("AveragePool", x, shape=(1, x.shape[1], 1, 1), kernel_shape=x.shape[2:])
    sums = n.linear(n.reshape(x, 1, x.shape[1]), count)
    return n, [sums, n.op("Softmax", sums, axis=1)]


def ic():
    """A residual network of eight layers for images of 32 x 32."""
    n = Network(1, 3, 32, 32)
    x = n.conv(n.x, 16, 3)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        y = n.conv(n.conv(x, channels, 3, stride), channels, 3, activation=None)
        short = x if stride == 1 else n.conv(x, channels, 1, stride, activation=None)
        x = n.activate(n.op("Add", y, short), "Relu")
    return classes(n, x, 10)


def kws():
    """Depthwise and pointwise convolutions over 49 x 10 features of sound."""
    n = Network(1, 1, 49, 10)
    x = n.conv(n.x, 64, (10, 4), 2, pad=(5, 1))
    for _ in range(4):
        x = n.conv(n.depthwise(x, 3), 64, 1)
    return classes(n, x, 12)


def vww():
    """MobileNet of a quarter of the channels, for images of 96 x 96."""
    n = Network(1, 3, 96, 96)
    x = n.conv(n.x, 8, 3, 2)
    for channels, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)):
        x = n.conv(n.depthwise(x, 3, stride), channels, 1)
    return classes(n, x, 2)


def macs(proto):
    """Multiply-adds of its convolutions and products."""
    proto = onnx.shape_inference.infer_shapes(proto)
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in [*proto.graph.value_info, *proto.graph.output, *proto.graph.input]}
    shapes |= {tensor.name: list(tensor.dims) for tensor in proto.graph.initializer}
    total = 0
    for node in proto.graph.node:
        if node.op_type == "Conv":
            total += int(np.prod(shapes[node.output[0]]) * np.prod(shapes[node.input[1]][1:]))
        elif node.op_type in ("Gemm", "MatMul"):
            total += int(np.prod(shapes[node.output[0]]) * shapes[node.input[0]][-1])
    return total


class Samples(CalibrationDataReader):
    def __init__(self, name, arrays):
        self.left = [{name: array} for array in arrays]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantised(proto, samples):
    with tempfile.TemporaryDirectory() as scratch:
        before, after = Path(scratch, "before.onnx"), Path(scratch, "after.onnx")
        onnx.save(proto, before)
        quantize_static(before, after, Samples("x", samples), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)
        return onnx.load(after)


def write(folder, proto, x, work, tolerance):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    results = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
    for k, (value, array) in enumerate(zip(proto.graph.output, results, strict=True)):
        (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(array, value.name).SerializeToString())
    (folder / "case.json").write_text(json.dumps({"macs": work, "tol_rel_l2": tolerance}) + "\n")
    onnx.save(proto, folder / "model.onnx")


def make(folder):
    for network in (ad, ic, kws, vww):
        n, results = network()
        proto = n.model(results[-1])
        for value in results[:-1]:
            proto.graph.output.insert(0, helper.make_tensor_value_info(value.name, TensorProto.FLOAT, value.shape))
        samples = np.random.default_rng(5).standard_normal((9, *n.x.shape)).astype(np.float32)
        work = macs(proto)
        # Sums come in another order.
        write(folder / f"made_{network.__name__}_fp32", proto, samples[0], work, 1e-4)
        # A sum that lies between two codes may become either, in few places of some layers.
        write(folder / f"made_{network.__name__}_int8", quantised(proto, samples[1:]), samples[0], work, 0.05)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
