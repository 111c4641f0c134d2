"""Quantised networks for comparisons: float networks of a zoo, after ONNX Runtime's own quantiser.

    NAMES                                 "squeezenet1_1.qdq_u8", ...: network.scheme
    make(name, zoo, folder)               folder/model.onnx, the inputs of the zoo's data set, ONNX Runtime's outputs without optimisations, case.json

Activations are calibrated on normal values with the mean and the spread of the zoo's inputs, integers on those that the data set has. `gemv4096` is no network of the zoo: one row through
layers of 4096 x 4096, which is what a large language model computes for each token.
"""
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
from onnx import TensorProto, helper, numpy_helper

from model_data import read_inputs

SCHEMES = {  # of quantize_static: format, activations, more
    "qdq_u8": ("QDQ", "QUInt8", {}),
    "qdq_u8_channel": ("QDQ", "QUInt8", {"per_channel": True}),
    "qdq_i8": ("QDQ", "QInt8", {}),
    "qdq_i8_channel": ("QDQ", "QInt8", {"per_channel": True}),
    "qdq_i16_channel": ("QDQ", "QInt16", {"per_channel": True}),
    "qdq_u16": ("QDQ", "QUInt16", {}),
    "qoperator_u8": ("QOperator", "QUInt8", {}),
    "qoperator_u8_channel": ("QOperator", "QUInt8", {"per_channel": True}),
    "qoperator_i8": ("QOperator", "QInt8", {}),
}
DYNAMIC = {"dynamic_i8": ("QInt8", {}), "dynamic_u8": ("QUInt8", {}), "dynamic_i8_channel": ("QInt8", {"per_channel": True})}
NBITS = {"nbits4": (4, False, 0), "nbits4_symmetric": (4, True, 0), "nbits4_bytes": (4, False, 4), "nbits8": (8, False, 0)}  # bits, symmetric, accuracy_level: 4 multiplies bytes

MADE = {
    "squeezenet1_1": "qdq_u8 qoperator_u8_channel",
    "resnet18": "qdq_u8_channel qdq_u16 qoperator_u8",
    "mobilenet_v2": "qdq_i8_channel qoperator_u8_channel",
    "mobilenet_v3_small": "qdq_u8_channel qoperator_u8",
    "efficientnet_b0": "qdq_i8_channel",
    "shufflenet_v2_x1_0": "qdq_u8 qoperator_u8",
    "googlenet": "qdq_u8",
    "yolo_like": "qdq_u8_channel",
    "unet_small": "qdq_u8_channel qdq_i16_channel",
    "tcn_audio": "qdq_i8 qdq_u8_channel",
    "espcn_superres": "qdq_u8",
    "ultraface_rfb_320": "qdq_u8_channel",
    "emx_micro_kws_fp32": "qdq_u8 qdq_i16_channel",
    "mlperf_tiny_ic_fp32": "qdq_i8_channel qoperator_i8",
    "mlperf_tiny_kws_fp32": "qdq_u8",
    "autoencoder_ad": "qdq_u8 dynamic_u8",
    "churn_mlp": "qdq_i8 dynamic_i8",
    "bert_mini": "qdq_u8 dynamic_i8 dynamic_u8 nbits4 nbits8",
    "minilm_l6_arch": "qdq_u8_channel dynamic_i8_channel nbits4",
    "vit_s_16": "qdq_u8 dynamic_i8",
    "whisper_tiny_encoder": "dynamic_i8",
    "lstm_classifier": "dynamic_i8 dynamic_u8",
    "gru_classifier": "dynamic_i8",
    "gpt2_mini_kv": "dynamic_i8 nbits4",
    "llama_mini_kv": "nbits4 nbits8",
    "gemv4096": "nbits4 nbits4_symmetric nbits4_bytes nbits8",
}
NAMES = [f"{network}.{scheme}" for network, schemes in MADE.items() for scheme in schemes.split()]
GEMV_BYTES = 64 << 20  # of weights: beyond what a core's own caches hold


def random_like(array, random):
    if array.dtype.kind == "f":
        return random.normal(array.mean(), array.std(), array.shape).astype(array.dtype)
    return random.choice(array.ravel(), array.shape) if array.size else array


def calibration(feeds, count=4):
    """The reader that quantize_static asks: the feeds, and random ones like them."""
    from onnxruntime.quantization import CalibrationDataReader

    class Reader(CalibrationDataReader):
        def __init__(self):
            random = np.random.default_rng(2)
            self._left = [feeds] + [{name: random_like(array, random) for name, array in feeds.items()} for _ in range(count - 1)]

        def get_next(self):
            return self._left.pop(0) if self._left else None

    return Reader()


def quantise_statically(source, feeds, target, scheme):
    import onnxruntime.quantization as quantization

    form, activations, more = SCHEMES[scheme]
    kinds = quantization.QuantType
    quantization.quantize_static(source, target, calibration(feeds), quant_format=quantization.QuantFormat[form], activation_type=kinds[activations],
                                 weight_type=kinds.QUInt8 if form == "QOperator" and activations == "QUInt8" and not more else kinds.QInt8, **more)


def quantise_dynamically(source, target, scheme):
    import onnxruntime.quantization as quantization

    weights, more = DYNAMIC[scheme]
    quantization.quantize_dynamic(source, target, weight_type=quantization.QuantType[weights], **more)


def n_bit_product(weights, prefix, x, y, bits, symmetric, level, block=32):
    """(node, initialisers) of MatMulNBits. Calls the functions below MatMulNBitsQuantizer, a class that needs packages which are not installed here."""
    from onnxruntime.capi import _pybind_state as native

    k, n = weights.shape
    blocks, in_byte = -(-k // block), 8 // bits
    padded = np.pad(weights, ((0, blocks * block - k), (0, 0)))
    packed, scales = np.zeros((n, blocks, block // in_byte), np.uint8), np.zeros((n, blocks), np.float32)
    zeros = np.zeros((n, -(-blocks // in_byte)), np.uint8)
    getattr(native, f"quantize_matmul_{bits}bits")(packed, padded, scales, zeros, block, n, k, symmetric)
    parts = {f"{prefix}_packed": packed, f"{prefix}_scales": scales} | ({} if symmetric else {f"{prefix}_zeros": zeros})
    more = {"accuracy_level": level} if level else {}
    node = helper.make_node("MatMulNBits", [x, *parts], [y], domain="com.microsoft", K=k, N=n, bits=bits, block_size=block, **more)
    return node, [numpy_helper.from_array(array, name) for name, array in parts.items()]


def with_microsoft(model):
    if all(o.domain != "com.microsoft" for o in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def quantise_weights(source, target, scheme):
    """Each MatMul by a constant matrix becomes a MatMulNBits; the float weights go where nobody else reads them."""
    model = with_microsoft(onnx.load(source))
    graph = model.graph
    constants = {t.name: t for t in graph.initializer} | {n.output[0]: n.attribute[0].t for n in graph.node if n.op_type == "Constant" and n.attribute[0].name == "value"}
    for i, node in enumerate(graph.node):
        tensor = constants.get(node.input[1]) if node.op_type == "MatMul" else None
        if tensor is not None and len(tensor.dims) == 2:
            made, parts = n_bit_product(numpy_helper.to_array(tensor), f"bits{i}", node.input[0], node.output[0], *NBITS[scheme])
            graph.node[i].CopyFrom(made)
            graph.initializer.extend(parts)
    read = {name for node in graph.node for name in node.input}
    for tensor in [t for t in graph.initializer if t.name not in read]:
        graph.initializer.remove(tensor)
    onnx.save(model, target)


def gemv(target, scheme):
    size, random = 4096, np.random.default_rng(0)
    layers = GEMV_BYTES * 8 // (size * size * NBITS[scheme][0])
    nodes, initialisers = [], []
    for i in range(layers):
        weights = (random.standard_normal((size, size), np.float32) / 64).astype(np.float32)
        node, parts = n_bit_product(weights, f"bits{i}", f"x{i}" if i else "x", f"x{i + 1}" if i + 1 < layers else "y", *NBITS[scheme])
        nodes.append(node)
        initialisers += parts
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name in "xy"]
    graph = helper.make_graph(nodes, "gemv", info[:1], info[1:], initialisers)
    onnx.save(with_microsoft(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)), target)
    return {"x": random.standard_normal((1, size), np.float32)}


def prepare(source, target):
    """What the quantiser's documentation asks for first: constants folded, batch-norm fused, an opset with scales for each channel. Shapes that exporters noted are inferred anew."""
    from onnxruntime.quantization import quant_pre_process

    model = onnx.load(source)
    if max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) < 13:
        model = onnx.version_converter.convert_version(model, 13)
    del model.graph.value_info[:]
    onnx.save(model, target)
    quant_pre_process(str(target), str(target), skip_symbolic_shape=True)  # symbolic shapes need sympy
    model = onnx.load(target)
    del model.graph.value_info[:]
    onnx.save(model, target)


def quantise(name, zoo, target):
    """Writes the model; returns what it is fed with."""
    network, scheme = name.split(".")
    if network == "gemv4096":
        return gemv(target, scheme)
    source = zoo / network / "model.onnx"
    feeds = read_inputs(source)
    if scheme in NBITS:
        quantise_weights(source, target, scheme)
        return feeds
    prepared = target.with_name("prepared.onnx")
    prepare(source, prepared)
    if scheme in DYNAMIC:
        quantise_dynamically(prepared, target, scheme)
    else:
        quantise_statically(prepared, feeds, target, scheme)
    prepared.unlink()
    return feeds


def run_plainly(model, feeds):
    """ONNX Runtime's outputs with every operator computed as it is written."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def relative(actual, expected):
    return max(float(np.linalg.norm(a.astype(np.float64) - e.astype(np.float64))) / (float(np.linalg.norm(e.astype(np.float64))) or 1.0) for a, e in zip(actual, expected))


def moved(array, random):
    """Each number by up to four units in the last place, up or down."""
    if array.dtype != np.float32:
        return array
    return (array * (1 + random.integers(-4, 5, array.shape) * np.float32(2.0**-23))).astype(np.float32)


def known_to(model, feeds, expected, draws=8):
    """How well the result of a quantised network is known, as a relative L2 difference.

    A program may add in another order, round a product once more, and have another polynomial for Tanh, all of which are good to some units in the last place. Where a value lies between two
    steps it then becomes the other one, which later layers, or later steps of a recurrence, multiply. So each scale, bias and input is moved by up to four units, and the largest difference
    that this makes in a few draws is doubled. 1e-4 is what sums in f32 may lose without any step."""
    random, largest = np.random.default_rng(3), 0.0
    for _ in range(draws):
        other = onnx.ModelProto()
        other.CopyFrom(model)
        extents = {name for node in model.graph.node if node.op_type == "Resize" for name in node.input}
        for tensor in other.graph.initializer:
            if tensor.data_type == TensorProto.FLOAT and tensor.name not in extents:
                tensor.CopyFrom(numpy_helper.from_array(moved(numpy_helper.to_array(tensor), random), tensor.name))
        largest = max(largest, relative(run_plainly(other, {name: moved(array, random) for name, array in feeds.items()}), expected))
    return max(2 * largest, 1e-4)


def make(name, zoo, folder):
    """Into a folder that appears when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as work:
        fresh = Path(work) / "whole"
        data = fresh / "test_data_set_0"
        data.mkdir(parents=True)
        feeds = quantise(name, zoo, fresh / "model.onnx")
        model = onnx.load(fresh / "model.onnx")
        fed = [value.name for value in model.graph.input if value.name in feeds]
        outputs = run_plainly(model, feeds)
        for k, value in enumerate(fed):
            (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(feeds[value], value).SerializeToString())
        for k, (value, array) in enumerate(zip(model.graph.output, outputs, strict=True)):
            (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(array, value.name).SerializeToString())
        (fresh / "case.json").write_text(json.dumps({"name": name, "tol_rel_l2": known_to(model, feeds, outputs)}) + "\n")
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(fresh, folder)


def main():
    """quantisers.py ZOO FOLDER NAME: in a process of its own, so that what a quantiser prints or breaks stays there."""
    make(sys.argv[3], Path(sys.argv[1]), Path(sys.argv[2]) / sys.argv[3])


if __name__ == "__main__":
    main()
