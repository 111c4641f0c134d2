#!/usr/bin/env python3
"""Small networks whose weights a narrower type holds, at --narrow-weights=off, auto and all: the same kernels, the same results to the bit, and fewer bytes."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxc
from onnx import helper as h
from onnx import numpy_helper

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from units import Unit, judged_in_groups  # noqa: E402

RANDOM = np.random.default_rng(4)
COMMON = "x86-64-v4"  # of what is told about: this machine may have kernels that read no narrow weights, and choose them
TARGETS = {"native": ("off", "auto", "all"), "generic": ("off", "all")}


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def float_weights(shape, axis, name):
    return [numpy_helper.from_array(values(*shape), name)], []


def f16_weights(shape, axis, name):
    return [numpy_helper.from_array(values(*shape).astype(np.float16), name + ".half")], [h.make_node("Cast", [name + ".half"], [name], to=onnx.TensorProto.FLOAT)]


def bf16_weights(shape, axis, name):
    return [numpy_helper.from_array((values(*shape).view(np.uint32) & 0xFFFF0000).view(np.float32), name)], []


def quantised_weights(shape, axis, name):
    """Not by DequantizeLinear: products by its weights have kernels of their own (tests/contrib/check_weight_only.py)."""
    codes, along = RANDOM.integers(-127, 128, shape).astype(np.int8), [n if k == axis else 1 for k, n in enumerate(shape)]
    constants = {".codes": codes, ".scale": (np.abs(values(*along)) + np.float32(0.01)) / 100}
    return ([numpy_helper.from_array(v, name + k) for k, v in constants.items()],
            [h.make_node("Cast", [name + ".codes"], [name + ".real"], to=onnx.TensorProto.FLOAT), h.make_node("Mul", [name + ".real", name + ".scale"], [name])])


# What --narrow-weights=all stores: bytes of a weight.
WEIGHTS = {"f32": (float_weights, 4), "f16": (f16_weights, 2), "bf16": (bf16_weights, 2), "8 bits": (quantised_weights, 1)}


class Network:
    """Nodes and constants as they come; weights by `make`, with a scale for each index of an axis."""

    def __init__(self, make):
        self.make, self.nodes, self.constants = make, [], []

    def weights(self, name, shape, axis):
        constants, nodes = self.make(shape, axis, name)
        self.constants += constants
        self.nodes += nodes
        return name

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op, inputs, **attributes):
        outputs = [f"{op}{len(self.nodes)}"]
        self.nodes.append(h.make_node(op, inputs, outputs, **attributes))
        return outputs[0]

    def model(self, x, kind, result, shape):
        self.nodes.append(h.make_node("Identity", [result], ["y"]))
        infos = [h.make_tensor_value_info("x", kind, x)], [h.make_tensor_value_info("y", onnx.TensorProto.FLOAT, shape)]
        return h.make_model(h.make_graph(self.nodes, "g", *infos, self.constants), opset_imports=[h.make_opsetid("", 17)], ir_version=8)


def products(make, rows, k, n):
    """relu(x w0 + b) w1"""
    net = Network(make)
    p = net.node("MatMul", ["x", net.weights("w0", (k, n), 1)])
    r = net.node("Relu", [net.node("Add", [p, net.constant("b", values(n))])])
    return net.model([rows, k], onnx.TensorProto.FLOAT, net.node("MatMul", [r, net.weights("w1", (n, k), 1)]), [rows, k])


STEPS = 144


def everything_else(make):
    """Rows of a table through three recurrences, then as an image through convolutions of all kinds."""
    net = Network(make)
    text = net.node("Gather", [net.weights("table", (50, 24), 0), "x"])
    for op, directions, hidden, gates in ("LSTM", 2, 12, 4), ("GRU", 1, 24, 3), ("RNN", 1, 24, 1):
        w, r = net.weights(op + ".w", (directions, gates * hidden, 24), 1), net.weights(op + ".r", (directions, gates * hidden, hidden), 1)
        states = net.node(op, [text, w, r], hidden_size=hidden, direction="bidirectional" if directions == 2 else "forward")
        text = net.node("Reshape", [states, net.constant(op + ".shape", np.array([STEPS, 1, 24]))])
    y = net.node("Reshape", [net.node("Transpose", [text], perm=[2, 1, 0]), net.constant("image", np.array([1, 24, 12, 12]))])
    convolutions = [(24, 24, 3, 1, 1), (40, 24, 3, 2, 1), (64, 40, 3, 1, 2), (600, 64, 1, 1, 1), (600, 600, 3, 1, 600), (32, 600, 3, 1, 1), (600, 32, 1, 1, 1), (700, 600, 1, 1, 1)]
    for i, (cout, cin, kernel, stride, group) in enumerate(convolutions):
        if i == 6:
            y = net.node("GlobalAveragePool", [y])  # one pixel: weights are what takes time
        w = net.weights(f"conv{i}", (cout, cin // group, kernel, kernel), 0)
        y = net.node("Relu", [net.node("Conv", [y, w, net.constant(f"bias{i}", values(cout))], strides=[stride] * 2, pads=[kernel // 2] * 4, group=group)])
    return net.model([STEPS, 1], onnx.TensorProto.INT64, y, [1, 700, 1, 1])


def described(model, *options):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        return json.loads(subprocess.run([os.environ["ONNXC_EXECUTABLE"], "info", file.name, "--json", *options], check=True, capture_output=True).stdout)


class Case:
    """A network of one kind of weights: products of that size, or without one everything else."""

    def __init__(self, kind, rows, k, n):
        make, self.width = WEIGHTS[kind]
        self.k, self.n = k, n
        self.model = products(make, rows, k, n) if k else everything_else(make)
        self.title = f"{kind}, {rows} x {k} x {n}" if k else f"{kind}, all but products"
        self.feeds = {"x": values(40 if rows == "rows" else rows, k) if k else RANDOM.integers(-50, 50, (STEPS, 1))}
        self.ways = [(f"--target={target}", narrow) for target, ways in TARGETS.items() for narrow in ways]
        if not k:  # no weights are larger than the model's: Winograd's are untransformed
            self.ways += [("--weights-growth=1", "off"), ("--weights-growth=1", "all")]

    def units(self):
        return [Unit(self.model, (option, f"--narrow-weights={narrow}")) for option, narrow in self.ways]

    def expectations(self, *sessions):
        """Pairs: whether it holds, and what to say where it does not."""
        title, width, k = self.title, self.width, self.k
        infos = {narrow: described(self.model, f"--narrow-weights={narrow}", f"--target={COMMON}") for narrow in ("off", "auto", "all")}
        saved = {narrow: info["saved_weight_bytes"] for narrow, info in infos.items()}
        packed = {narrow: info["packed_weight_bytes"] for narrow, info in infos.items()}
        yield saved["off"] == 0 and all(packed[narrow] + saved[narrow] == packed["off"] for narrow in packed), f"{title}: bytes {packed}, saved {saved}"
        yield (saved["all"] > 0) == (width < 4) and saved["all"] >= (4 - width) * 2 * k * self.n, f"{title}: {saved} bytes saved"
        yield (saved["auto"] > 0) == (width < 4 and (not k or k > 500)), f"{title}: {saved} bytes saved where that is faster"  # beyond L2, and few rows
        kernels = {narrow: [layer["kernel"].replace("gather_rows", "scalar_gather") for layer in info["layers"]] for narrow, info in infos.items()}
        yield kernels["off"] == kernels["auto"] == kernels["all"], f"{title}: other kernels: {kernels}"
        for layer in infos["all"]["layers"]:
            reads = layer["kernel"] in ("gemm", "gemm_any", "gemv", "conv", "lstm", "gru", "rnn") or "untransformed weights" in layer["what"]
            yield ("weights as" in layer["what"]) == (reads and width < 4), f"{title}: {layer['kernel']}: {layer['what']}"
            yield layer["kernel"] != ("scalar_gather" if width < 4 else "gather_rows"), f"{title}: {layer['kernel']}"
        own = [[layer["kernel"].replace("gather_rows", "scalar_gather") for layer in described(self.model, f"--narrow-weights={narrow}")["layers"]] for narrow in ("off", "all")]
        yield own[0] == own[1], f"{title}, native: other kernels: {own}"
        first = {}
        for (option, narrow), session in zip(self.ways, sessions, strict=True):
            if isinstance(session, onnxc.CompileError):
                yield False, f"{title}, {option}, {narrow}: {session}"
                continue
            result = session.run(None, self.feeds)[0]
            wanted = first.setdefault(option, result)
            yield np.isfinite(result).all() and result.any(), f"{title}, {option}, {narrow}: no numbers"
            yield result.tobytes() == wanted.tobytes(), f"{title}, {option}: results of {narrow} differ"
        if not k:
            small = {narrow: described(self.model, "--weights-growth=1", f"--narrow-weights={narrow}") for narrow in ("off", "all")}
            untransformed = [layer["what"] for layer in small["all"]["layers"] if "untransformed weights" in layer["what"]]
            yield untransformed and all(("weights as" in what) == (width < 4) for what in untransformed), f"{title}, without growth: {untransformed}"
            yield small["all"]["packed_weight_bytes"] <= small["off"]["packed_weight_bytes"] * (width + 1) / 4, f"{title}, without growth: {small['all']['packed_weight_bytes']} bytes"


def main():
    failed = count = 0
    cases = [Case(kind, *size) for kind in WEIGHTS for size in ((1, 530, 1025), (3, 530, 1025), ("rows", 70, 65), (0, 0, 0))]
    for expectations in judged_in_groups(cases, Case.units, lambda case, *sessions: list(case.expectations(*sessions)), of=8):
        for holds, what in expectations:
            count += 1
            if not holds:
                failed += 1
                print("FAILED", what, flush=True)
    print(f"{count} expectations, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
