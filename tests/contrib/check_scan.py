"""Scan of opset 8, whose sequences have lengths of their own, against ONNX Runtime."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper

from harness import check_model, numbers

info, node = helper.make_tensor_value_info, helper.make_node


def scan(name, lengths, directions, dtype=np.float32):
    """Sums of what came so far, and their squares; of each sequence as it is and of a second one."""
    kind, batch = helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), len(lengths)
    nodes = [node("Add", ["s", "x"], ["t"]), node("Add", ["t", "z"], ["n"]), node("Mul", ["n", "n"], ["y"]), node("Identity", ["x"], ["w"])]
    body = helper.make_graph(nodes, "body", [info(k, kind, [2]) for k in "sxz"], [info(k, kind, [2]) for k in "nyw"])
    graph = helper.make_graph([node("Scan", ["l", "i", "a", "b"], ["f", "y", "w"], num_scan_inputs=2, body=body, directions=directions)], "g",
                              [info("l", T.INT64, [batch]), info("i", kind, [batch, 2]), info("a", kind, [batch, 5, 2]), info("b", kind, [batch, 5, 2])],
                              [info("f", kind, None), info("y", kind, None), info("w", kind, None)])
    values = [(4 * numbers(batch, *shape, seed=k)).astype(dtype) for k, shape in enumerate(((2,), (5, 2), (5, 2)))]
    check_model(name, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=4), dict(zip("liab", [np.array(lengths, np.int64), *values])))


for directions in ([0, 0], [0, 1], [1, 1]):
    scan(f"Scan 8 lengths {directions}", [5, 2, 1], directions)
    scan(f"Scan 8 lengths {directions} integers", [3, 4], directions, np.int64)
