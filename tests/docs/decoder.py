"""Writes a decoder of one layer with the names and shapes that docs/state.md speaks of: decoder.py OUT.onnx"""
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

WORDS, HEADS, SIZE = 16, 2, 64
value, node = helper.make_tensor_value_info, helper.make_node
random = np.random.default_rng(0)
weights = {"table": random.standard_normal((WORDS, HEADS * SIZE)).astype(np.float32), "out": random.standard_normal((HEADS * SIZE, WORDS)).astype(np.float32),
           "split": np.array([0, 0, HEADS, SIZE], np.int64)}
nodes = [node("Gather", ["table", "input_ids"], ["words"]), node("Reshape", ["words", "split"], ["heads"]), node("Transpose", ["heads"], ["new"], perm=[0, 2, 1, 3]),
         node("MatMul", ["words", "out"], ["logits"])]
inputs, outputs = [value("input_ids", T.INT64, ["batch", "sequence"])], [value("logits", T.FLOAT, ["batch", "sequence", WORDS])]
for name in ("key_0", "value_0"):
    inputs.append(value(f"past_{name}", T.FLOAT, ["batch", HEADS, "past", SIZE]))
    outputs.append(value(f"present_{name}", T.FLOAT, ["batch", HEADS, "total", SIZE]))
    nodes.append(node("Concat", [f"past_{name}", "new"], [f"present_{name}"], axis=2))
graph = helper.make_graph(nodes, "decoder", inputs, outputs, [numpy_helper.from_array(array, name) for name, array in weights.items()])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
