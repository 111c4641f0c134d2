#!/usr/bin/env python3
"""Small networks whose weights a narrower type holds, at --narrow-weights=off, auto and all: the same results to the bit, and the bytes that they promise."""
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

RANDOM = np.random.default_rng(4)
TARGETS = {"native": ("off", "auto", "all"), "generic": ("off", "all")}


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def float_weights(k, n, name):
    return [numpy_helper.from_array(values(k, n), name)], []


def f16_weights(k, n, name):
    return [numpy_helper.from_array(values(k, n).astype(np.float16), name + ".half")], [h.make_node("Cast", [name + ".half"], [name], to=onnx.TensorProto.FLOAT)]


def bf16_weights(k, n, name):
    return [numpy_helper.from_array((values(k, n).view(np.uint32) & 0xFFFF0000).view(np.float32), name)], []


def quantised_weights(k, n, name):
    codes = RANDOM.integers(-127, 128, (k, n)).astype(np.int8)
    constants = {".codes": codes, ".scale": np.abs(values(n)) + np.float32(0.01), ".zero": np.zeros(n, np.int8)}
    return ([numpy_helper.from_array(v, name + k) for k, v in constants.items()], [h.make_node("DequantizeLinear", [name + k for k in constants], [name], axis=1)])


# What --narrow-weights=all stores: bytes of a weight.
WEIGHTS = {"f32": (float_weights, 4), "f16": (f16_weights, 2), "bf16": (bf16_weights, 2), "8 bits": (quantised_weights, 1)}


def network(make, rows, k, n):
    """relu(x w0 + b) w1, where w1 is transposed."""
    constants, nodes = make(k, n, "w0")
    more, others = make(n, k, "w1")
    constants += more + [numpy_helper.from_array(values(n), "b")]
    nodes += others + [h.make_node("MatMul", ["x", "w0"], ["p"]), h.make_node("Add", ["p", "b"], ["s"]), h.make_node("Relu", ["s"], ["r"]), h.make_node("MatMul", ["r", "w1"], ["y"])]
    info = lambda name, shape: h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    graph = h.make_graph(nodes, "g", [info("x", [rows, k])], [info("y", [rows, k])], constants)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


def described(model, *options):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        return json.loads(subprocess.run([os.environ["ONNXC_EXECUTABLE"], "info", file.name, "--json", *options], check=True, capture_output=True).stdout)


def main():
    failed = count = 0

    def expect(holds, what):
        nonlocal failed, count
        count += 1
        if not holds:
            failed += 1
            print("FAILED", what)

    for kind, (make, width) in WEIGHTS.items():
        for rows, k, n in (1, 530, 1025), (3, 530, 1025), ("rows", 70, 65):
            model = network(make, rows, k, n)
            title = f"{kind}, {rows} x {k} x {n}"
            infos = {narrow: described(model, f"--narrow-weights={narrow}") for narrow in ("off", "auto", "all")}
            saved = {narrow: info["saved_weight_bytes"] for narrow, info in infos.items()}
            packed = {narrow: info["packed_weight_bytes"] for narrow, info in infos.items()}
            expect(saved["off"] == 0 and all(packed[narrow] + saved[narrow] <= packed["off"] + 2 * 4 * (k + n + 256) for narrow in packed), f"{title}: bytes {packed}, saved {saved}")
            expect((saved["all"] > 0) == (width < 4) and saved["all"] >= (4 - width) * 2 * k * n, f"{title}: {saved} bytes saved")
            expect((saved["auto"] > 0) == (width < 4 and k > 500), f"{title}: {saved} bytes saved where that is faster")  # beyond L2, and few rows
            for target, ways in TARGETS.items():
                feeds = {"x": values(40 if rows == "rows" else rows, k)}
                results = [onnxc.InferenceSession(model, options=[f"--narrow-weights={narrow}", f"--target={target}"]).run(None, feeds)[0] for narrow in ways]
                expect(all(r.tobytes() == results[0].tobytes() for r in results), f"{title} for {target}: results differ")
    print(f"{count} expectations, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
