"""Products whose weights are dequantised from few bits (opset 21, 2 bits 25), which onnxc keeps packed: against numpy, since ONNX Runtime rounds activations in some of them.

A result is within 2^-16 of the largest activation of a block for each weight of the block, and a little more for sums in f32.
"""
import ml_dtypes
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from harness import check_model

MOST = 32512  # steps of the largest activation of a block


def unrolled(blocked, block, k, axis):
    return np.repeat(blocked, block, axis).take(np.arange(k), axis) if block else blocked


def weight_only(dtype, m, k, n, block, how="MatMul", zeros=True, per_column=True):
    rng = np.random.default_rng(m * 1000 + k + n + block)
    info = ml_dtypes.iinfo(dtype)
    axis = 1 if how in ("Transpose", "Gemm") else 0  # of k
    shape = (n, k) if axis else (k, n)
    q = rng.integers(info.min, info.max + 1, shape)
    blocks = [-(-k // block) if i == axis else x for i, x in enumerate(shape)] if block else [n] if per_column else []
    scale, zero = rng.uniform(0.01, 0.03, blocks).astype(np.float32), rng.integers(info.min, info.max + 1, blocks)
    spread = (lambda v: unrolled(v, block, k, axis)) if block else (lambda v: v[:, None] if axis and per_column else v)
    w = (q - (spread(zero) if zeros else 0)) * spread(scale).astype(np.float64)
    w = w.T if axis else w
    x, bias = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    attributes = {"axis": axis, "block_size": block} if block else {"axis": 1 - axis} if per_column else {}
    nodes = [helper.make_node("DequantizeLinear", ["q", "s", "z"] if zeros else ["q", "s"], ["w"], **attributes)]
    y = x @ w
    if how == "Transpose":
        nodes += [helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["x", "t"], ["y"])]
    elif how == "Gemm":
        nodes.append(helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1))
        y = y + bias
    else:
        nodes.append(helper.make_node("MatMul", ["x", "w"], ["y"]))
    constants = [numpy_helper.from_array(q.astype(dtype), "q"), numpy_helper.from_array(scale, "s"), numpy_helper.from_array(bias, "b")]
    if zeros:
        constants.append(numpy_helper.from_array(zero.astype(dtype), "z"))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", T.FLOAT, ["rows", k])], [helper.make_tensor_value_info("y", T.FLOAT, ["rows", n])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25 if info.bits == 2 else 21)], ir_version=10)
    bound = float((np.abs(x).max(1)[:, None] / (2 * MOST) * np.abs(w).sum(0)[None]).max() + 1e-6 * (np.abs(x) @ np.abs(w)).max() + 1e-5)
    title = f"{np.dtype(dtype).name} {m}x{k}x{n} blocks of {block} {how}{' zeros' * zeros}{' columns' * (per_column and not block)}"
    check_model(title, model, {"x": x}, [y.astype(np.float32)], rtol=0, atol=bound)


for dtype in (ml_dtypes.int4, ml_dtypes.uint4, np.int8, np.uint8, ml_dtypes.int2, ml_dtypes.uint2):
    for how in ("MatMul", "Transpose", "Gemm"):
        weight_only(dtype, 1, 96, 40, 32, how)
        weight_only(dtype, 5, 70, 33, 16, how, zeros=False)
        weight_only(dtype, 2, 300, 7, 0, how)
    weight_only(dtype, 3, 40, 9, 0, per_column=False, zeros=False)
    weight_only(dtype, 3, 40, 9, 24)  # no power of two: the weights become floats
