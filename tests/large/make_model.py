"""Large models, which are written layer by layer: make_model.py FILE BYTES [--type f32|f16|int8|int4] [--width N]

A stack like a transformer's without attention: rows of a table are gathered (Gather); each block is LayerNormalization, MatMul to four times the width,
Relu, Gemm back with transB, and a sum; then come a LayerNormalization and a MatMul to 64 results. The weights are external data in FILE.data, and make up
BYTES nearly. int8 and int4 weights are codes of MatMulNBits. The input `ids` has eight rows of the table.

`expected` computes the results with numpy, a layer at a time, from the files alone.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper

VOCABULARY, RESULTS, ROWS, BLOCK = 4096, 64, 8, 32
TYPES = {"f32": (TensorProto.FLOAT, np.float32), "f16": (TensorProto.FLOAT16, np.float16)}


class Writer:
    """External tensors, one behind the other."""

    def __init__(self, path):
        self.name, self.file = os.path.basename(path), open(path, "wb")
        self.random = np.random.default_rng(0)
        self.tensors, self.arrays = [], {}

    def add(self, name, array, proto_type):
        self.file.seek(-self.file.tell() % 4096, os.SEEK_CUR)
        offset, length = self.file.tell(), array.nbytes
        array.tofile(self.file)
        tensor = TensorProto(name=name, data_type=proto_type, dims=array.shape, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        self.tensors.append(tensor)

    def floats(self, name, shape, numpy_type, proto_type, spread):
        values = self.random.random(shape, np.float32)
        values -= np.float32(0.5)
        values *= np.float32(spread)
        self.add(name, values.astype(numpy_type, copy=False), proto_type)


def make(path, size, kind="f32", width=None):
    """Returns the number of blocks."""
    proto_type, numpy_type = TYPES.get(kind, TYPES["f32"])
    bits = {"int8": 8, "int4": 4}.get(kind)
    width = width or (512 if size < 1 << 29 else 2048)
    block_bytes = int(8 * width * width * (bits / 8 + 4 / BLOCK if bits else numpy_type().itemsize))
    blocks = max(1, (size - VOCABULARY * width * numpy_type().itemsize) // block_bytes)
    writer = Writer(path + ".data")
    nodes = []

    def node(op, inputs, output, domain="", **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def product(x, name, k, n, transposed):
        spread = 4 / k**0.5
        if not bits:
            writer.floats(name, (n, k) if transposed else (k, n), numpy_type, proto_type, spread)
            return node("Gemm", [x, name], f"{name}_y", transB=1) if transposed else node("MatMul", [x, name], f"{name}_y")
        codes = writer.random.integers(0, 256, (n, k // BLOCK, BLOCK * bits // 8), np.uint8)
        writer.add(name, codes, TensorProto.UINT8)
        scales = writer.random.random(n * k // BLOCK, np.float32) * np.float32(spread / 2**bits)
        writer.add(f"{name}_scales", scales, TensorProto.FLOAT)
        return node("MatMulNBits", [x, name, f"{name}_scales"], f"{name}_y", "com.microsoft", K=k, N=n, bits=bits, block_size=BLOCK)

    def normalised(x, name):
        for what in ("scale", "bias"):
            writer.floats(f"{name}_{what}", (width,), numpy_type, proto_type, 2)
        return node("LayerNormalization", [x, f"{name}_scale", f"{name}_bias"], f"{name}_y", axis=-1)

    writer.floats("table", (VOCABULARY, width), numpy_type, proto_type, 2)
    x = node("Gather", ["table", "ids"], "rows")
    for i in range(blocks):
        y = product(normalised(x, f"norm{i}"), f"up{i}", width, 4 * width, False)
        y = product(node("Relu", [y], f"relu{i}"), f"down{i}", 4 * width, width, True)
        x = node("Add", [x, y], f"sum{i}")
    x = normalised(x, "last")
    writer.floats("head", (width, RESULTS), numpy_type, proto_type, 4 / width**0.5)
    node("MatMul", [x, "head"], "y")
    writer.file.close()
    graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("ids", TensorProto.INT64, [ROWS])],
                              [helper.make_tensor_value_info("y", proto_type, [ROWS, RESULTS])], writer.tensors)
    opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid("com.microsoft", 1)] if bits else [])
    with open(path, "wb") as file:
        file.write(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return blocks


def ids():
    return np.arange(ROWS, dtype=np.int64) * 509 % VOCABULARY


def expected(path):
    """The results of f32 and f16 models, in f32."""
    model = onnx.load(path, load_external_data=False)
    of_type = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16}
    stored = {}
    for tensor in model.graph.initializer:
        entry = {e.key: e.value for e in tensor.external_data}
        stored[tensor.name] = (int(entry["offset"]), tuple(tensor.dims), of_type[tensor.data_type])

    def weights(name):
        offset, shape, kind = stored[name]
        return np.fromfile(path + ".data", kind, int(np.prod(shape)), offset=offset).reshape(shape).astype(np.float32, copy=False)

    values = {"ids": ids()}
    for node in model.graph.node:
        x = [values[n] if n in values else weights(n) for n in node.input]
        if node.op_type == "Gather":
            y = x[0][x[1]]
        elif node.op_type == "LayerNormalization":
            centred = x[0] - x[0].mean(-1, keepdims=True)
            y = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(1e-5)) * x[1] + x[2]
        elif node.op_type == "Relu":
            y = np.maximum(x[0], 0)
        elif node.op_type == "Add":
            y = x[0] + x[1]
        else:
            y = x[0] @ (x[1].T if node.op_type == "Gemm" else x[1])
        values[node.output[0]] = y
    return values["y"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("bytes", type=float)
    parser.add_argument("--type", default="f32", choices=["f32", "f16", "int8", "int4"])
    parser.add_argument("--width", type=int)
    a = parser.parse_args()
    blocks = make(a.file, int(a.bytes), a.type, a.width)
    print(f"{a.file}: {blocks} blocks, {os.path.getsize(a.file + '.data')} bytes of weights")


if __name__ == "__main__":
    main()
