"""Small operators of com.microsoft, against ONNX Runtime's CPU kernels, or numpy where it has none."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from harness import Check, check, check_model, numbers

MS = dict(domain="com.microsoft")
i32, i64 = lambda *v: np.array(v, np.int32), lambda *v: np.array(v, np.int64)
sigmoid = lambda x: 1 / (1 + np.exp(-x))

# ---- elementwise
for kind in (np.float32, np.float16):
    x, y = numbers(3, 5, dtype=kind), numbers(3, 5, seed=1, dtype=kind)
    tolerance = dict(rtol=1e-5, atol=1e-6) if kind == np.float32 else dict(rtol=1e-3, atol=1e-3)
    for alpha, scale in ((1.0, None), (1.702, None), (1.0, np.array(0.5, np.float32)), (1.0, np.array(-2, np.float32))):
        z = (x * (alpha if scale is None else scale.reshape(()))).astype(kind)
        check(f"ScaledSiLU {kind.__name__} {alpha} {scale}", "ScaledSiLU", [x, scale], dict(alpha=alpha), expect=None if kind == np.float32 else [(z * sigmoid(z.astype(np.float32)).astype(kind)).astype(kind)], **MS, **tolerance)
    gate = numbers(3, 1, seed=2, dtype=kind)
    check(f"GatedAdd {kind.__name__}", "GatedAdd", [x, y, gate], expect=None if kind == np.float32 else [x + y * gate], **MS, **tolerance)
check("SampleOp", "SampleOp", [numbers(2, 3)], **MS)

# ---- moving elements
for axis, size, step in ((-1, 3, 1), (1, 2, 2), (0, 4, 3), (2, 5, 1)):
    check(f"UnfoldTensor {axis} {size} {step}", "UnfoldTensor", [numbers(4, 6, 5)], dict(dim=axis, size=size, step=step), **MS)
check("UnfoldTensor of integers", "UnfoldTensor", [np.arange(12).reshape(3, 4)], dict(size=2), **MS)
for kind in (np.int32, np.int64):
    check(f"GatherND {kind.__name__}", "GatherND", [numbers(3, 4, 5), np.array([[0, 1], [2, 3]], kind)], **MS)
check("GatherND of scalars", "GatherND", [numbers(3, 4), i64(1, 2)], **MS)
for words in ([2, 1, 1, 3, 4, 3], [5, 5, 5], [-1.5]):
    check(f"Unique {words}", "Unique", [np.array(words, np.float32)], outputs=3, out_types={1: T.INT64, 2: T.INT64}, **MS)
image = numbers(2, 3, 5, 6)
for pads in (i64(0, 1, 2, 0, 1, 0, 0, 3), i64(0, 0, -1, 1, 0, 0, 2, -2), i64(1, 0, 0, 0, 0, 0, 0, 0)[None]):
    for value in (None, np.array(0.5, np.float32), np.array([-1], np.float32)):
        check(f"Pad {pads.ravel()} {value}", "Pad", [image, pads, value], **MS)
        check(f"Pad constant {pads.ravel()} {value}", "Pad", [image, pads, value], constants={1, 2}, **MS)
for mode in ("reflect", "edge"):
    check(f"Pad {mode}", "Pad", [image, i64(0, 0, 1, 2, 0, 0, 2, 1)], dict(mode=mode), **MS)

# ---- sampling
grid = np.random.default_rng(0).uniform(-1.3, 1.3, (2, 4, 3, 2)).astype(np.float32)
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        for aligned in (0, 1):
            check(f"GridSample {mode} {padding} {aligned}", "GridSample", [image, grid], dict(mode=mode, padding_mode=padding, align_corners=aligned), **MS)
boxes = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.9, 0.8, 0.1, 0.3], [-0.2, 0.3, 0.6, 1.4]], np.float32)
for mode in ("bilinear", "nearest"):
    for size in ((3, 4), (1, 5), (2, 1), (1, 1), (9, 8)):
        for constants in ((), (3,)):
            check(f"CropAndResize {mode} {size} {constants}", "CropAndResize", [image, boxes, i32(0, 1, 1, 0), i32(*size)], dict(mode=mode, extrapolation_value=-7.0), constants=constants, **MS)

# ---- windows
prefix = lambda *shape, ends: (np.arange(shape[-1]) < np.array(ends).reshape(-1, *[1] * (len(shape) - 1))).astype(np.int32) * np.ones(shape, np.int32)
scattered = lambda *shape: (np.random.default_rng(sum(shape)).random(shape) < 0.8).astype(np.int32)
for kernel, strides, pads in (([3], [1], [1, 1]), ([2], [2], [0, 0]), ([4], [3], [2, 1])):
    for name, mask in (("of all", scattered(1, 1, 11)), ("of lengths", prefix(1, 1, 11, ends=[7])), ("of nothing", np.zeros((1, 1, 11), np.int32))):
        check(f"MaxpoolWithMask {kernel} {strides} {name}", "MaxpoolWithMask", [numbers(2, 3, 11), mask], dict(kernel_shape=kernel, strides=strides, pads=pads), **MS)
for kernel, strides, pads in (([3, 3], [1, 1], [1, 1, 1, 1]), ([2, 3], [2, 1], [0, 1, 0, 0])):
    for name, mask in (("of all", scattered(1, 1, 5, 6)), ("of lengths", prefix(1, 1, 5, 6, ends=[4])), ("without the first", np.eye(5, 6, 1, np.int32)[None, None])):
        check(f"MaxpoolWithMask {kernel} {name}", "MaxpoolWithMask", [image, mask], dict(kernel_shape=kernel, strides=strides, pads=pads), **MS)
check("MaxpoolWithMask of volumes", "MaxpoolWithMask", [numbers(1, 2, 4, 3, 5), scattered(1, 1, 4, 3, 5)], dict(kernel_shape=[2, 2, 3], strides=[1, 1, 2]), **MS)
check("MaxpoolWithMask same", "MaxpoolWithMask", [image, scattered(1, 1, 5, 6)], dict(kernel_shape=[2, 3], strides=[2, 2], auto_pad="SAME_UPPER"), **MS)

weights, bias = numbers(3, 4, 3, 2), numbers(4)
for pads in (i64(0, 0, 0, 0), i64(1, 0, 1, 0), i64(1, 1, 0, 0)):
    for more in ({}, dict(strides=[2, 1]), dict(strides=[2, 2], output_padding=[1, 0], dilations=[1, 2])):
        for constants in ((1, 3), (1, 2, 3)):
            check(f"ConvTransposeWithDynamicPads {pads} {more} {constants}", "ConvTransposeWithDynamicPads", [image, weights, pads, bias], dict(kernel_shape=[3, 2], **more), constants=constants, **MS)
check("ConvTransposeWithDynamicPads groups", "ConvTransposeWithDynamicPads", [numbers(1, 4, 5, 5), numbers(4, 2, 3, 3), i64(1, 1, 1, 1)], dict(kernel_shape=[3, 3], group=2), **MS)

# ---- distances
near = numbers(5, 4)
for metric in ("sqeuclidean", "euclidean"):
    check(f"CDist {metric}", "CDist", [numbers(6, 4), numbers(3, 4, seed=1)], dict(metric=metric), **MS)
    check(f"CDist of f64 {metric}", "CDist", [numbers(6, 4, dtype=np.float64), numbers(3, 4, seed=1, dtype=np.float64)], dict(metric=metric), **MS, rtol=1e-12, atol=1e-12)
    check(f"CDist to constants {metric}", "CDist", [numbers(6, 4), numbers(150, 4, seed=1)], dict(metric=metric), constants=(1,), **MS)
    apart = ((near[:, None] + 100 - (near[None] + np.float32(100.01))) ** 2).sum(2)  # what products of rows would lose
    check(f"CDist of near rows {metric}", "CDist", [near + 100, near + np.float32(100.01)], dict(metric=metric), expect=[(apart if metric == "sqeuclidean" else np.sqrt(apart)).astype(np.float32)], **MS)
difference = np.abs(numbers(6, 4)[:, None] - numbers(3, 4, seed=1)[None])
for metric, reduce in ("cityblock", np.sum), ("chebyshev", np.max):
    check(f"CDist to constants {metric}", "CDist", [numbers(6, 4), numbers(3, 4, seed=1)], dict(metric=metric), constants=(1,), expect=[reduce(difference, 2)], **MS)
check("CDist cityblock", "CDist", [numbers(6, 4), numbers(3, 4, seed=1)], dict(metric="cityblock"), expect=[difference.sum(2)], **MS)
check("CDist chebyshev", "CDist", [numbers(6, 4), numbers(3, 4, seed=1)], dict(metric="chebyshev"), expect=[difference.max(2)], **MS)


def nearest(k, wanted, **attributes):
    """The k nearest of constant vectors: one kernel."""
    nodes = [helper.make_node("CDist", ["x", "v"], ["d"], domain="com.microsoft", metric="euclidean"), helper.make_node("TopK", ["d", "k"], ["values", "indices"], **attributes)]
    types = {"values": T.FLOAT, "indices": T.INT64}
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", T.FLOAT, [7, 4])],
                              [helper.make_tensor_value_info(name, types[name], [7, k]) for name in wanted],
                              [numpy_helper.from_array(numbers(150, 4, seed=1), "v"), numpy_helper.from_array(np.array([k], np.int64), "k")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


for k in (1, 5, 40, 150):
    for wanted in (["values", "indices"], ["indices"], ["values"]):
        for largest in (0, 1):
            check_model(f"nearest {k} {wanted} {largest}", nearest(k, wanted, largest=largest), {"x": numbers(7, 4)})
check("CDist of another metric", "CDist", [numbers(6, 4), numbers(3, 4, seed=1)], dict(metric="yule"), refused="metric is 'yule'", **MS)

# ---- words
tokens = np.array([[3, 1, 2, 3, 1, 5, 3, 1], [4, 4, 4, 2, 4, 4, 0, 6]], np.int64)
for n in (1, 2, 3, 4, 8, 9, 12):
    check(f"NGramRepeatBlock {n}", "NGramRepeatBlock", [tokens, numbers(2, 7)], dict(ngram_size=n), out_types={0: T.FLOAT}, **MS)
node = helper.make_node("NGramRepeatBlock", ["ids", "scores"], ["y0"], domain="com.microsoft", ngram_size=3)
infos = [helper.make_tensor_value_info("ids", T.INT64, ["batch", "tokens"]), helper.make_tensor_value_info("scores", T.FLOAT, ["batch", 7])]
graph = helper.make_graph([node], "blocks", infos, [helper.make_tensor_value_info("y0", T.FLOAT, ["batch", 7])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
for length in (1, 2, 3, 8):
    check_model(f"NGramRepeatBlock of {length}", model, {"ids": tokens[:, :length], "scores": numbers(2, 7)})
words = np.array([[1, 2, 3, 4, 5, 0], [4, 0, 0, 0, 0, 0], [2, 3, 0, 5, 0, 0], [6, 6, 6, 6, 6, 6]], np.int32)
embedding, filters = [numbers(7, 3), numbers(5, 1, 2, 3)], numbers(5)
check("WordConvEmbedding", "WordConvEmbedding", [words, embedding[1], filters, embedding[0]], out_types={0: T.FLOAT}, **MS)
check("WordConvEmbedding sizes", "WordConvEmbedding", [words, numbers(5, 1, 4, 3), filters, embedding[0]], dict(embedding_size=5, conv_window_size=4, char_embedding_size=3),
      out_types={0: T.FLOAT}, **MS)
empty = np.array([[0, 2, 3, 0], [0, 0, 0, 0]], np.int32)  # ONNX Runtime leaves what was in memory
check("WordConvEmbedding of no words", "WordConvEmbedding", [empty, embedding[1], filters, embedding[0]], expect=[np.zeros((2, 5), np.float32)], **MS)

# ---- hashes
strings = np.array([["", "a", "ab", "abc"], ["abcd", "abcde", "onnx", "größe"]], object)
for name, keys in (("strings", strings), ("i32", i32(0, 1, -1, 123456789, -(2**31))), ("u32", np.array([3, 2**32 - 1], np.uint32))):
    for attributes in ({}, dict(positive=0), dict(seed=42), dict(seed=2**32 - 1, positive=0)):
        kind = T.INT32 if attributes.get("positive", 1) == 0 else T.UINT32
        check(f"MurmurHash3 {name} {attributes}", "MurmurHash3", [keys], attributes, out_types={0: kind}, **MS)
# A number of 8 bytes, which ONNX Runtime refuses, hashes like the text that has these bytes.
text = Check("MurmurHash3 of 8 characters", "MurmurHash3", [np.array(["onnx2cpp", "hash map"], object)], out_types={0: T.UINT32}, **MS)
for kind in (np.int64, np.uint64, np.float64):
    check(f"MurmurHash3 {kind.__name__}", "MurmurHash3", [np.frombuffer(b"onnx2cpphash map", kind)], expect=text.expected(text.model()), **MS)
