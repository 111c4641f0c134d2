#!/usr/bin/env python3
"""Networks of many kinds with random weights, and what ONNX Runtime gives for random inputs: what tests/zoo runs where there are no real models.

  tests/zoo/generate.py FOLDER [--all]     FOLDER/NAME/model.onnx and FOLDER/NAME/test_data_set_0

Convolutional networks and perceptrons are those of bench/kinds; state, control flow, open dimensions and few bits are made here. --all takes every kind of bench/.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]
from kinds import KINDS  # noqa: E402
from networks import node, values  # noqa: E402

# Layers of many shapes, in networks that a test can afford. Not tabular_resnet of one row: its one result is a Sigmoid of -14, where ONNX Runtime's own is 4 % off.
USUAL = ["resnet10_batch8", "cbam_resnet", "deeplab", "fsrcnn", "bifpn", "retinanet", "esrgan", "pspnet", "nafnet", "shufflenet_v1", "mobilenet_v1_025", "blazeface",
         "mobilefacenet", "mlp_batch32", "tabular_resnet_batch64", "deep_cross", "siren", "controller", "quartznet", "inception_time", "pointnet", "human_activity", "volume_cnn"]


def model(title, nodes, constants, inputs, outputs):
    """`inputs`: (shape, example) by name; the shape may name dimensions."""
    kind = lambda array: h.np_dtype_to_tensor_dtype(array.dtype)
    graph = h.make_graph(nodes, title, [h.make_tensor_value_info(name, kind(example), shape) for name, (shape, example) in inputs.items()],
                         [h.make_tensor_value_info(name, element, None) for name, element in outputs.items()],
                         [numpy_helper.from_array(array, name) for name, array in constants.items()])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), {name: example for name, (_, example) in inputs.items()}


def weights(rows, *shape):
    return values(rows, *shape) / np.float32(rows**0.5)


def encoder(layers=2, width=64, heads=4):
    """Attention over a batch and a length that only a run tells, with a mask."""
    constants, nodes, x = {"split": np.array([0, 0, heads, width // heads], np.int64), "join": np.array([0, 0, width], np.int64), "scale": np.float32((width // heads) ** -0.5)}, [], "x"
    for i in range(layers):
        at = lambda name: f"{name}{i}"
        for name, shape in (("q", (width, width)), ("k", (width, width)), ("v", (width, width)), ("o", (width, width)), ("up", (width, 4 * width)), ("down", (4 * width, width))):
            constants[at("w" + name)] = weights(*shape)
        for name in ("gain1_", "gain2_"):
            constants[at(name)] = np.ones(width, np.float32) + 0.1 * values(width)
        for name in "qkv":
            nodes += [node("MatMul", f"{x} {at('w' + name)}", at("m" + name)), node("Reshape", f"{at('m' + name)} split", at("s" + name)),
                      node("Transpose", at("s" + name), at("t" + name), perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
        nodes += [node("MatMul", f"{at('tq')} {at('tk')}", at("a")), node("Mul", f"{at('a')} scale", at("b")), node("Add", f"{at('b')} mask", at("c")), node("Softmax", at("c"), at("p"), axis=-1),
                  node("MatMul", f"{at('p')} {at('tv')}", at("h")), node("Transpose", at("h"), at("i"), perm=[0, 2, 1, 3]), node("Reshape", f"{at('i')} join", at("j")),
                  node("MatMul", f"{at('j')} {at('wo')}", at("l")), node("Add", f"{x} {at('l')}", at("r")), node("LayerNormalization", f"{at('r')} {at('gain1_')}", at("n")),
                  node("MatMul", f"{at('n')} {at('wup')}", at("u")), node("Relu", at("u"), at("g")), node("MatMul", f"{at('g')} {at('wdown')}", at("d")),
                  node("Add", f"{at('n')} {at('d')}", at("e")), node("LayerNormalization", f"{at('e')} {at('gain2_')}", at("y"))]
        x = at("y")
    mask = np.zeros((3, 1, 1, 17), np.float32)
    mask[1:, ..., 11:] = -1e4
    return model("encoder", nodes, constants, {"x": (["batch", "length", width], values(3, 17, width)), "mask": (["batch", 1, 1, "length"], mask)}, {x: T.FLOAT})


def pyramid():
    """Images of any size and number, halved and brought back."""
    constants = {f"w{i}": values(cout, cin, 3, 3) / np.float32((9 * cin) ** 0.5) for i, (cin, cout) in enumerate([(3, 16), (16, 24), (24, 32), (32, 24), (24, 8)])}
    constants["scales"] = np.array([1, 1, 2, 2], np.float32)
    conv = lambda x, i, y, **attributes: [node("Conv", f"{x} w{i}", f"c{i}", pads=[1] * 4, **attributes), node("Relu", f"c{i}", y)]
    resize = h.make_node("Resize", ["c", "", "scales"], ["d"], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    nodes = [*conv("x", 0, "a"), *conv("a", 1, "b", strides=[2, 2]), *conv("b", 2, "c"), resize, *conv("d", 3, "e"), *conv("e", 4, "f"), node("GlobalAveragePool", "f", "pooled")]
    return model("pyramid", nodes, constants, {"x": (["batch", 3, "height", "width"], values(2, 3, 20, 28))}, {"f": T.FLOAT, "pooled": T.FLOAT})


def tagger(op, gates, hidden=48, width=40):
    """A recurrent layer in both directions over sequences of any length, with a class for each step."""
    constants = {"w": 0.2 * values(2, gates * hidden, width), "r": 0.2 * values(2, gates * hidden, hidden), "b": 0.1 * values(2, 2 * gates * hidden), "out": weights(2 * hidden, 9), "shape": np.array([0, 0, -1], np.int64)}
    nodes = [node(op, "x w r b", "h", hidden_size=hidden, direction="bidirectional"), node("Transpose", "h", "t", perm=[0, 2, 1, 3]), node("Reshape", "t shape", "j"), node("MatMul", "j out", "m"), node("Softmax", "m", "y", axis=-1)]
    return model(op, nodes, constants, {"x": (["length", "batch", width], values(13, 2, width))}, {"y": T.FLOAT})


def cached_decoder(width=64, heads=4):
    """One step of a decoder whose keys and values grow."""
    size = width // heads
    constants = {f"w{n}": weights(width, width) for n in "qkvo"} | {"split": np.array([0, 0, heads, size], np.int64), "join": np.array([0, 0, width], np.int64), "scale": np.float32(size**-0.5), "table": values(100, width)}
    nodes = [node("Gather", "table token", "x")]
    for n in "qkv":
        nodes += [node("MatMul", f"x w{n}", f"m{n}"), node("Reshape", f"m{n} split", f"s{n}"), node("Transpose", f"s{n}", f"t{n}", perm=[0, 2, 1, 3])]
    nodes += [node("Concat", "past_k tk", "k", axis=2), node("Concat", "past_v tv", "v", axis=2), node("Transpose", "k", "kt", perm=[0, 1, 3, 2]), node("MatMul", "tq kt", "a"), node("Mul", "a scale", "b"),
              node("Softmax", "b", "p", axis=-1), node("MatMul", "p v", "h"), node("Transpose", "h", "i", perm=[0, 2, 1, 3]), node("Reshape", "i join", "j"), node("MatMul", "j wo", "l"), node("Add", "x l", "y")]
    past = ["batch", heads, "past", size]
    return model("decoder", nodes, constants, {"token": (["batch", 1], np.array([[3], [71]], np.int64)), "past_k": (past, values(2, heads, 9, size)), "past_v": (past, values(2, heads, 9, size))},
                 {"y": T.FLOAT, "k": T.FLOAT, "v": T.FLOAT})


def loop():
    """A state that a Loop carries as often as its input says, and what it had after each turn."""
    info = lambda name, element, shape: h.make_tensor_value_info(name, element, shape)
    body = h.make_graph([node("MatMul", "state w", "m"), node("Tanh", "m", "next"), node("Identity", "next", "seen"), node("Identity", "going", "go_on")], "body",
                        [info("turn", T.INT64, []), info("going", T.BOOL, []), info("state", T.FLOAT, [2, 16])], [info("go_on", T.BOOL, []), info("next", T.FLOAT, [2, 16]), info("seen", T.FLOAT, [2, 16])])
    return model("loop", [h.make_node("Loop", ["turns", "", "start"], ["last", "all"], body=body)], {"w": weights(16, 16)}, {"turns": ([], np.array(5, np.int64)), "start": ([2, 16], values(2, 16))}, {"last": T.FLOAT, "all": T.FLOAT})


def branch():
    """One of two layers, by the sum of the input."""
    info = h.make_tensor_value_info("out", T.FLOAT, None)
    sides = {name: h.make_graph([node("MatMul", f"x {w}", "m"), node(op, "m", "out")], name, [], [info]) for name, w, op in (("then_branch", "w", "Relu"), ("else_branch", "v", "Sigmoid"))}
    nodes = [node("ReduceSum", "x", "sum", keepdims=0), node("Greater", "sum zero", "positive"), h.make_node("If", ["positive"], ["y"], **sides)]
    return model("branch", nodes, {"zero": np.float32(0), "w": weights(32, 16), "v": weights(32, 16)}, {"x": (["rows", 32], values(7, 32))}, {"y": T.FLOAT})


def quantised():
    """Convolutions between QuantizeLinear and DequantizeLinear, weights with a scale for each channel."""
    constants = {"scale": np.float32(0.03), "zero": np.uint8(120), "classes": weights(24, 10)}
    nodes, x, cin = [], "x", 3
    quantise = lambda x: [node("QuantizeLinear", f"{x} scale zero", f"{x}_q"), node("DequantizeLinear", f"{x}_q scale zero", f"{x}_d")]
    nodes += quantise(x)
    for i, (cout, stride) in enumerate(((16, 1), (24, 2), (24, 1))):
        constants |= {f"w{i}": np.random.default_rng(i).integers(-127, 128, (cout, cin, 3, 3)).astype(np.int8), f"ws{i}": np.abs(values(cout)) / np.float32(60 * cin**0.5) + np.float32(0.001), f"wz{i}": np.zeros(cout, np.int8)}
        nodes += [node("DequantizeLinear", f"w{i} ws{i} wz{i}", f"wd{i}", axis=0), node("Conv", f"{x}_d wd{i}", f"c{i}", pads=[1] * 4, strides=[stride] * 2), node("Relu", f"c{i}", f"r{i}"), *quantise(f"r{i}")]
        x, cin = f"r{i}", cout
    nodes += [node("GlobalAveragePool", f"{x}_d", "g"), node("Flatten", "g", "f"), node("MatMul", "f classes", "y")]
    return model("quantised", nodes, constants, {"x": (["batch", 3, 16, 16], values(2, 3, 16, 16))}, {"y": T.FLOAT})


OWN = {"encoder": encoder, "pyramid": pyramid, "lstm_tagger": lambda: tagger("LSTM", 4), "gru_tagger": lambda: tagger("GRU", 3), "cached_decoder": cached_decoder, "loop": loop, "branch": branch, "quantised": quantised}


def of_bench(name):
    network, result = KINDS[name]()
    proto = network.model(result)
    x = proto.graph.input[0]
    return proto, {x.name: values(*(d.dim_value for d in x.type.tensor_type.shape.dim))}


def flipped_codes(proto, y):
    """The relative L2 error of `quantised` if each code of its last layer is a step off, up or down at random.

    Correct programs sum in another order, so a sum that lies at the middle between two codes may become either: a code is a step off, and what reads it is, so that a few
    at the first layer are many at the last. They are never more than all. The average over n codes is then off by step / sqrt(n), as signs are independent, and the outputs,
    which are sums of averages times `classes`, by as much times the norm of a column. Rounding in one direction, which is wrong, is off by the same sign everywhere: that is
    sqrt(n) / 2 times as much, and is told apart."""
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    pixels = 8 * 8
    return constants["scale"] / pixels**0.5 * np.linalg.norm(constants["classes"]) * len(y) ** 0.5 / np.linalg.norm(y)


def write(folder, proto, feeds):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    outputs = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
    for k, (value, array) in enumerate(zip(proto.graph.input, feeds.values(), strict=True)):
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array, value.name).SerializeToString())
    for k, (value, array) in enumerate(zip(proto.graph.output, outputs, strict=True)):
        (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(array, value.name).SerializeToString())
    # Sums come in another order: what an output may be off by is a part of its own size.
    tolerance = flipped_codes(proto, outputs[0]) if proto.graph.name == "quantised" else 1e-4
    (folder / "case.json").write_text('{"tol_rel_l2": %g}\n' % tolerance)
    onnx.save(proto, folder / "model.onnx")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="every kind of bench/kinds")
    options = parser.parse_args()
    made = {**OWN, **{name: (lambda name=name: of_bench(name)) for name in (KINDS if options.all else USUAL)}}
    for name, make in made.items():
        if not (options.folder / name / "model.onnx").exists():
            write(options.folder / name, *make())


if __name__ == "__main__":
    main()
