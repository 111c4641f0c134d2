#!/usr/bin/env python3
"""Small networks through ONNX Runtime and through onnxc, at -O3 with one thread or two, and at --memory=min; with --all with one and two, and at -O0. An eighth of them, or with --gpu all, also
for a GPU, in the emulator.

They aim at what lowering does with places and weights: Concat and Split in place, NHWC inputs as they lie, squeeze-and-excite in weights, ends of classifiers,
Strassen's product by samples, depthwise convolutions by pairs of rows, Winograd along rows, slices of what a loop carries, bands of rows, the order of nodes, weights that grow from shapes, cheap values that are computed again,
images by stripes. At --memory=min no arena is larger. Tolerance: 1e-4 relative and 1e-5 absolute, for
values of the size of 1.
"""
import json
import os
import subprocess
import sys
import tempfile
import zlib

import numpy as np
import onnxc
from onnx import helper as h
from onnx import numpy_helper, parser

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from networks import agree, conv, make_model, node, reference, values, weights  # noqa: E402
from units import Unit, judged_in_groups  # noqa: E402

RUNS = (("-O3", 1), ("-O3", 2), ("--memory=min", 1), ("-O0", 1))
ON_GPU = (("--target=cuda-sm80", 1),)
NETWORKS = []
# Of the arena at speed, at --memory=min.
AT_MOST = {"a block by bands of rows": 0.75, "a cheap value for distant readers": 0.9, "an entry by stripes": 0.5, "branches by stripes": 0.6, "dilated, by stripes": 0.5}


def network(title, nodes, constants, outputs, **feeds):
    NETWORKS.append((title, make_model(title, nodes, constants, outputs, feeds), feeds))


def network_of_any_batch(title, nodes, constants, outputs, **feeds):
    """Twice: for as many samples as there are, and for a number that only a run tells."""
    network(title, nodes, constants, outputs, **feeds)
    NETWORKS.append((f"{title}, any number", make_model(title, nodes, constants, outputs, feeds, {0: "n"}), feeds))


def resize(x, y, scales="", sizes="", **attributes):
    return h.make_node("Resize", [x, "", scales, sizes] if sizes else [x, "", scales], [y], **attributes)


def conv3d(inputs, output):
    return node("Conv", inputs, output, pads=[1] * 6)


def dense_and_gated():
    nodes = [conv("x w0", "a"), node("Split", "a half", "p q", axis=1), node("Tanh", "p", "tp"), node("Sigmoid", "q", "sq"), node("Mul", "tp sq", "g"),
             conv("g w1", "b"), node("Relu", "b", "rb"), node("Concat", "g rb", "c1", axis=1), conv("c1 w2", "d"), node("Concat", "g rb d", "c2", axis=1),
             node("Relu", "c2", "rc2"), conv("rc2 w3", "e"), node("Concat", "g rb d e", "c3", axis=1),
             node("MaxPool", "c3", "pooled", kernel_shape=[2, 2]), node("Concat", "e d", "c4", axis=1), node("Add", "c4 c4", "doubled"),
             node("Transpose", "d", "nhwc", perm=[0, 2, 3, 1]), node("Slice", "c3 from to axis", "part"), conv("part w4", "of_part"), node("Neg", "part", "negative")]
    constants = dict(w0=weights(24, 8, 3, 3), w1=weights(12, 12, 3, 3), w2=weights(20, 24, 3, 3), w3=weights(16, 44, 3, 3), w4=weights(5, 30, 3, 3),
                     half=np.array([12, 12]), axis=np.array([1]), to=np.array([33]))
    constants["from"] = np.array([3])
    network("dense and gated", nodes, constants, "pooled doubled nhwc of_part negative c2 d", x=values(1, 8, 5, 6))


def row_major():
    nodes = [node("Relu", "x", "a"), node("Neg", "x", "b"), node("Concat", "a b", "c", axis=0), node("Exp", "b", "e"), node("Concat", "c e a a", "y", axis=0),
             node("Concat", "b e", "z", axis=1), node("Sigmoid", "z", "s")]
    network("nested, twice the same, row-major", nodes, {}, "y s", x=values(1, 7))
    network("the whole is an output", [node("Relu", "x", "a"), node("Neg", "a", "b"), node("Abs", "b", "e"), node("Concat", "b e", "y", axis=1)], {}, "y", x=values(1, 7, 3))


def nhwc():
    for c, kernel, stride, pads, dilation in (3, 3, 2, [0, 0, 1, 1], 1), (1, 5, 1, [2] * 4, 1), (4, 3, 3, [1] * 4, 1), (2, 3, 1, [1] * 4, 2), (3, 7, 2, [3] * 4, 1):
        nodes = [node("Transpose", "x", "t", perm=[0, 3, 1, 2]), node("Conv", "t w b", "y", pads=pads, strides=[stride] * 2, dilations=[dilation] * 2),
                 node("Relu", "t", "z"), node("Identity", "t", "same")]
        network(f"NHWC of {c} channels, kernel {kernel}", nodes, dict(w=weights(20, c, kernel, kernel), b=values(20)), "y z same", x=values(2, 19, 33, c))


def turned():
    """Images that lie with their channels last, and what reads them by rows: matrices behind a flattened one, blocks in NHWC between images."""
    flat = [conv("x w0 b0", "a"), node("Relu", "a", "r"), node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", "p", "f"), node("Gemm", "f w1 b1", "g", transB=1), node("Tanh", "g", "y")]
    for channels in 20, 16:  # with and without gaps between pixels
        network_of_any_batch(f"{channels} channels, flattened", flat, dict(w0=weights(channels, 3, 3, 3), b0=values(channels), w1=weights(30, channels * 42), b1=values(30)), "y", x=values(3, 3, 12, 15))
    nodes = [conv("x w0", "c", 1), node("Transpose", "c", "n0", perm=[0, 2, 3, 1]), node("MatMul", "n0 w1", "m0"), node("Transpose", "m0", "i0", perm=[0, 3, 1, 2]), conv("i0 w2", "d", group=24),
             node("Transpose", "d", "n1", perm=[0, 2, 3, 1]), node("MatMul", "n1 w1", "m1"), node("Tanh", "m1", "t1"), node("Transpose", "t1", "i1", perm=[0, 3, 1, 2]), node("Add", "i1 i0", "s"),
             node("Sigmoid", "s", "y"), node("ReduceMean", "i0", "z", axes=[2, 3])]
    network_of_any_batch("blocks in NHWC", nodes, dict(w0=weights(24, 8, 1, 1), w1=weights(24, 24), w2=weights(24, 1, 3, 3)), "y z i0", x=values(2, 8, 9, 10))


def squeeze_and_excite():
    start = [conv("x w0", "a"), node("Relu", "a", "ra"), node("GlobalAveragePool", "ra", "m")]
    nodes = [*start, conv("m w1", "c1", 1), node("Relu", "c1", "rc"), conv("rc w2", "c2", 1), node("Sigmoid", "c2", "s"), node("Mul", "ra s", "sc"), conv("sc w3 b", "y", 1)]
    constants = dict(w0=weights(40, 24, 3, 3), w1=weights(10, 40, 1, 1), w2=weights(40, 10, 1, 1), w3=weights(19, 40, 1, 1), b=values(19))
    network_of_any_batch("squeeze and excite", nodes, constants, "y", x=values(1, 24, 14, 14))
    nodes = [*start, node("Sigmoid", "m", "s"), node("Mul", "s ra", "sc"), conv("sc w3 b", "c3", 1), node("Add", "c3 x", "y")]
    network("excite, with a residual", nodes, dict(w0=weights(40, 24, 3, 3), w3=weights(24, 40, 1, 1), b=values(24)), "y s", x=values(1, 24, 14, 14))
    network_of_any_batch("excite, three images", nodes, dict(w0=weights(40, 24, 3, 3), w3=weights(24, 40, 1, 1), b=values(24)), "y s", x=values(3, 24, 9, 9))
    network("more weights than pixels", nodes, dict(w0=weights(40, 24, 3, 3), w3=weights(24, 40, 1, 1), b=values(24)), "y s", x=values(1, 24, 3, 3))


def classifiers():
    """As networks for images end; the matrix is larger than half of an L2 cache."""
    start = [conv("x w0 b0", "a", 1), node("Relu", "a", "ra"), node("GlobalAveragePool", "ra", "m")]
    for images, side, channels, n in (1, 7, 500, 1100), (3, 5, 410, 1300), (17, 2, 420, 1290):
        first = dict(w0=weights(channels, 24, 1, 1), b0=values(channels))
        x = values(images, 24, side, side)
        network_of_any_batch(f"classifier of {images} images, Gemm", [*start, node("Flatten", "m", "f"), node("Gemm", "f w1 b1", "l", transB=1), node("Softmax", "l", "y")],
                dict(**first, w1=weights(n, channels), b1=values(n)), "y l", x=x)
        network_of_any_batch(f"classifier of {images} images, Conv and Gemm", [*start, conv("m w1 b1", "c", 1), node("HardSwish", "c", "h"), node("Flatten", "h", "f"), node("Gemm", "f w2", "y", transB=1)],
                dict(**first, w1=weights(n, channels, 1, 1), b1=values(n), w2=weights(10, n) / np.float32(16)), "y", x=x)  # results of the size of 1
        network_of_any_batch(f"classifier of {images} images, Conv as it is", [*start, conv("m w1", "y", 1)], dict(**first, w1=weights(n, channels, 1, 1)), "y", x=x)


def strassen():
    half = lambda *shape: weights(*shape) * np.float32(0.5)  # of 320 products a sum of the size of 1
    for samples in 1, 3:
        network_of_any_batch(f"1x1 of {samples} images by blocks", [conv("x w0 b", "a", 1), node("Relu", "a", "y")], dict(w0=half(256, 320, 1, 1), b=values(256)), "y", x=values(samples, 320, 14, 14))
        network_of_any_batch(f"MatMul of {samples} samples by blocks", [node("MatMul", "x w0", "a"), node("Add", "a b", "y")], dict(w0=half(320, 256), b=values(256)), "y", x=values(samples, 14, 16, 320))


def inner_products():
    """Products by rows that are copied: with rows of zeros, steps that fill no chunk, rows of a matrix and pixels of images."""
    for k, n, m in (30, 128, 100), (96, 40, 61), (49, 17, 9):
        x = values(m, k)
        x[:, ::7], x[3] = 0, 0
        network(f"matrix of {m} rows by {k}x{n}", [node("MatMul", "x w0", "a"), node("Add", "a b", "c"), node("Relu", "c", "r"), node("MatMul", "r w1", "y")], dict(w0=weights(k, n), b=values(n), w1=weights(n, 24)), "y", x=x)
        image = np.maximum(values(2, k, 11, 7), np.float32(0))
        image[0, :, 2:5] = 0
        network_of_any_batch(f"1x1 convolution of {k} to {n} channels", [conv("x w0 b", "a", 1), node("Relu", "a", "r"), conv("r w1", "c", 1), node("Add", "c x", "y")],
                             dict(w0=weights(n, k, 1, 1), b=values(n), w1=weights(k, n, 1, 1)), "y", x=image)


def depthwise_pairs():
    """3x3 of stride 1, by two rows: alone, in chains, with sums of rows."""
    for h, w in (9, 23), (12, 7), (1, 5), (56, 56):
        nodes = [conv("x w0", "a", 1), node("Relu", "a", "ra"), conv("ra w1 b1", "d", group=96), node("Clip", "d zero six", "cd"), conv("cd w2", "p", 1), node("Add", "p x", "s"),
                 conv("s w3", "e", group=40), node("Sigmoid", "e", "se"), node("GlobalAveragePool", "se", "m"), node("Mul", "se m", "y")]
        network(f"depthwise of {h}x{w} by pairs of rows", nodes, dict(w0=weights(96, 40, 1, 1), w1=weights(96, 1, 3, 3), b1=values(96), w2=weights(40, 96, 1, 1), w3=weights(40, 1, 3, 3),
                                                                      zero=np.float32(0), six=np.float32(6)), "y", x=values(2, 40, h, w))


def stems():
    """Images of few channels, whose columns are transformed, with a pool: phases and pieces of the kernel."""
    for channels, size, stride, pads in (3, [7, 7], [2, 2], [3] * 4), (1, [10, 4], [2, 2], [4, 1, 4, 1]), (3, [11, 11], [4, 4], [2] * 4), (2, [9, 9], [1, 1], [4] * 4):
        nodes = [node("Conv", "x w b", "c", strides=stride, pads=pads), node("Relu", "c", "r"), node("MaxPool", "r", "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), node("Sigmoid", "p", "y")]
        make = network_of_any_batch if stride == [4, 4] else network
        make(f"stem of {size}", nodes, dict(w=weights(40, channels, *size), b=values(40)), "y", x=values(2, channels, 121, 161))


def winograd_along_rows():
    for kernel, pads, dilation in ([1, 3], [0, 1, 0, 1], 1), ([3, 3], [3] * 4, 3), ([5, 3], [2, 1, 2, 1], 1):
        network(f"kernel {kernel}, dilation {dilation}", [node("Conv", "x w", "y", pads=pads, dilations=[dilation] * 2), node("Tanh", "y", "z")], dict(w=weights(32, 24, *kernel)),
                "z", x=values(1, 24, 14, 14))
    for dilation in 1, 2, 8:
        network(f"signal, dilation {dilation}", [node("Conv", "x w", "y", dilations=[dilation], pads=[dilation] * 2)], dict(w=weights(48, 32, 3)), "y", x=values(2, 32, 777))


def bands_and_orders():
    block = [conv("x w0", "a", 1), node("Clip", "a zero six", "ca"), conv("ca w1", "d", group=96), node("Clip", "d zero six", "cd"), conv("cd w2", "p", 1), node("Add", "p x", "y")]
    constants = dict(w0=weights(96, 16, 1, 1), w1=weights(96, 1, 3, 3), w2=weights(16, 96, 1, 1), zero=np.float32(0), six=np.float32(6))
    network("a block by bands of rows", block, constants, "y", x=values(1, 16, 61, 67))
    branches = [node("Relu", "x", "r"), conv("r w0", "a"), conv("r w1", "b"), conv("a w2", "sa", 1), conv("b w3", "sb", 1), node("Concat", "sa sb", "y", axis=1)]
    network("wide branches that end narrow", branches, dict(w0=weights(80, 8, 3, 3), w1=weights(64, 8, 3, 3), w2=weights(4, 80, 1, 1), w3=weights(5, 64, 1, 1)), "y", x=values(1, 8, 30, 31))
    skip = [node("Sigmoid", "x", "m"), conv("m w0", "a"), node("MaxPool", "a", "b", kernel_shape=[2, 2], strides=[2, 2]), node("Tanh", "b", "tb"),
            conv("tb w1", "c"), node("Tanh", "c", "tc"), node("ConvTranspose", "tc w2", "e", kernel_shape=[2, 2], strides=[2, 2]),
            node("Concat", "e m", "f", axis=1), conv("f w3", "g"), node("Tanh", "g", "y")]
    network("a cheap value for distant readers", skip, dict(w0=weights(64, 16, 3, 3), w1=weights(64, 64, 3, 3), w2=weights(64, 16, 2, 2), w3=weights(4, 32, 3, 3)), "y",
            x=values(1, 16, 48, 48))
    for size in 5, 3, 61:
        network(f"LRN of {size} channels", [conv("x w", "a"), node("LRN", "a", "l", size=size, alpha=0.3, beta=0.75 if size != 3 else 0.6), node("Relu", "l", "y")],
                dict(w=weights(37, 8, 3, 3)), "y", x=values(2, 8, 9, 11))
    grown = [node("ConstantOfShape", "shape", "w", value=numpy_helper.from_array(np.array([0.002], np.float32))), node("Gemm", "x w", "y", transB=1)]
    network("weights that grow from their shape", grown, dict(shape=np.array([2200, 2048])), "y", x=values(1, 2048))


def stripes():
    entry = [node("Conv", "x w0 b0", "a", pads=[2, 1, 2, 2], strides=[2, 2]), node("Relu", "a", "ra"), node("MaxPool", "ra", "p", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
             conv("p w1", "b"), node("Add", "b p", "s"), node("Relu", "s", "rs"), conv("rs w2", "y", 1)]
    network("an entry by stripes", entry, dict(w0=weights(32, 3, 5, 5), b0=values(32), w1=weights(32, 32, 3, 3), w2=weights(8, 32, 1, 1)), "y", x=values(1, 3, 127, 101))
    branches = [conv("x w0", "a"), node("Sigmoid", "a", "sa"), conv("sa w1", "l", 1), conv("sa w2", "r", 5), node("Concat", "l r", "c", axis=1),
                node("AveragePool", "c", "q", kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"), conv("q w3", "d", group=40), conv("d w4", "e", 1),
                node("Mul", "e scale", "y"), conv("l w5", "z", 1)]
    network("branches by stripes", branches, dict(w0=weights(40, 8, 3, 3), w1=weights(8, 40, 1, 1), w2=weights(32, 40, 5, 5), w3=weights(40, 1, 3, 3), w4=weights(4, 40, 1, 1),
                                                  w5=weights(2, 8, 1, 1), scale=values(1, 4, 1, 1)), "y z", x=values(1, 8, 62, 67))
    dilated = [conv("x w0", "a"), node("Conv", "a w1", "b", dilations=[3, 2], pads=[3, 2, 3, 2]), node("Conv", "b w2", "c", group=4, pads=[1, 0, 0, 1], strides=[3, 2]),
               node("Split", "c", "l r", axis=1), node("Mul", "l r", "y")]
    network("dilated, by stripes", dilated, dict(w0=weights(24, 4, 3, 3), w1=weights(24, 24, 3, 3), w2=weights(8, 6, 2, 2)), "y", x=values(1, 4, 77, 45))


def few_channels():
    """Pixels that are a part of a vector, with and without something between them."""
    for c in 8, 4:
        nodes = [conv("x w0", "a"), node("Relu", "a", "ra"), conv("ra k0", "b", group=c), node("Relu", "b", "rb"), conv("rb w1", "e"), node("Tanh", "e", "te"),
                 conv("te k1", "d", group=c), node("Tanh", "d", "td"), node("Concat", "td rb", "cat", axis=1), conv("td k2", "f", group=c), conv("te k3", "g", group=c),
                 node("Add", "g f", "h"), conv("h k0", "i", 3, group=c), node("Relu", "i", "ri"), node("GlobalAveragePool", "ri", "m"), conv("ri k1", "j", group=c)]
        constants = {**{f"w{i}": weights(c, c, 3, 3) for i in range(2)}, **{f"k{i}": weights(c, 1, 3, 3) for i in range(4)}}
        network(f"depthwise of {c} channels", nodes, constants, "cat h m j", x=values(2, c, 9, 23))
        nodes = [conv("z w0", "p", 1), node("Add", "p x", "a"), conv("z w1", "q", 1), node("Concat", "a q", "c", axis=1), node("GlobalAveragePool", "c", "m"),
                 conv("x k0", "y", group=c)]
        network(f"{c} channels beside those of a Concat", nodes, dict(w0=weights(c, c, 1, 1), w1=weights(c, c, 1, 1), k0=weights(c, 1, 3, 3)), "m y", x=values(1, c, 20, 20), z=values(1, c, 20, 20))


def carried_slice():
    model = parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
shrink (float[N] x, int64 m) => (float[K] y) {
  c = Constant<value = bool {1}>()
  y = Loop(m, c, x) <body = b (int64 i, bool ci, float[P] v) => (bool co, float[Q] w) {
    co = Identity(ci)
    one = Constant<value = int64[1] {1}>()
    all = Constant<value = int64[1] {1000}>()
    w = Slice(v, one, all)
  }>
}""")
    NETWORKS.append(("a slice of what a loop carries", model, dict(x=values(10), m=np.array(3))))


def resized():
    """Images that are made larger and smaller: as they come, between convolutions, and on their way out; one axis of many; volumes; sizes that a run tells."""
    w0, w1 = weights(20, 3, 3, 3), weights(6, 20, 3, 3)
    # align_corners by whole numbers alone: of other lengths ONNX takes the fraction, ONNX Runtime what is left of it.
    for mode, coordinates, scales in (("linear", "half_pixel", [(2, 4), (0.5, 0.4), (3, 0.2)]), ("linear", "align_corners", [(1, 3), (4, 1)]), ("cubic", "half_pixel", [(1.7, 1), (0.2, 2.6)]),
                                      ("nearest", "asymmetric", [(2, 4), (0.5, 0.4), (1, 2.6)])):
        nodes, constants = [conv("x w0", "a")], dict(w0=w0, w1=w1)
        for i, pair in enumerate(scales):
            by = lambda x, y, i=i: resize(x, y, f"scales{i}", mode=mode, coordinate_transformation_mode=coordinates)
            constants[f"scales{i}"] = np.array([1, 1, *pair], np.float32)
            nodes += [by("x", f"r{i}"), node("Sigmoid", f"r{i}", f"planar{i}"), by("a", f"ra{i}"), conv(f"ra{i} w1", f"b{i}"), node("Tanh", f"b{i}", f"between{i}"), by(f"b{i}", f"rb{i}"), node("Relu", f"rb{i}", f"out{i}")]
        outputs = " ".join(f"planar{i} between{i} out{i}" for i in range(len(scales)))
        make = network_of_any_batch if coordinates == "half_pixel" and mode == "linear" else network
        make(f"{mode}, {coordinates}", nodes, constants, outputs, x=values(2, 3, 20, 30))
    for mode, sizes in ("linear", [2, 3, 9, 20, 41]), ("nearest", [2, 3, 3, 12, 17]):
        nodes = [resize("x", "planar", sizes="sizes", mode=mode), conv3d("x w", "a"), resize("a", "r", sizes="more", mode=mode), node("Relu", "r", "ra"), conv3d("ra v", "y")]
        network(f"volumes, {mode}, to {sizes[2:]}", nodes, dict(w=weights(20, 3, 3, 3, 3), v=weights(4, 20, 3, 3, 3), sizes=np.array(sizes), more=np.array([2, 20, *sizes[2:]])), "planar y", x=values(2, 3, 5, 12, 17))
    for kernel in [1, 3, 1], [3, 1, 3]:  # slices that are images of their own, as the input has them and between convolutions
        nodes = [node("Conv", "x w", "a", pads=[k // 2 for k in kernel] * 2), node("Relu", "a", "ra"), node("Conv", "ra v", "y", pads=[k // 2 for k in kernel] * 2)]
        network_of_any_batch(f"slices of volumes, {kernel}", nodes, dict(w=weights(20, 5, *kernel), v=weights(6, 20, *kernel)), "y", x=values(2, 5, 4, 6, 3))
    for sizes in [1, 3, 9, 11], [1, 3, 4, 63]:
        nodes = [resize("x", "planar", sizes="sizes", mode="linear", antialias=1), conv("x w0", "a"), resize("a", "r", sizes="more", mode="cubic", antialias=1), conv("r w1", "y")]
        feeds = dict(x=values(1, 3, 32, 61))
        NETWORKS.append((f"antialiased to {sizes[2:]}", make_model("antialiased", nodes, dict(w0=w0, w1=w1, sizes=np.array(sizes), more=np.array([1, 20, *sizes[2:]])), "planar y", feeds, opset=18), feeds))
    open_sides = [conv("x w0", "a"), resize("a", "r", "scales", mode="linear"), conv("r w1", "y"), resize("x", "planar", "scales", mode="linear"), resize("x", "told", "given", mode="linear")]
    feeds = dict(x=values(1, 3, 13, 21), given=np.array([1, 1, 1.5, 2.3], np.float32))
    constants = dict(w0=w0, w1=w1, scales=np.array([1, 1, 2, 3], np.float32))
    network("scales that a run tells", open_sides, constants, "y planar told", **feeds)
    NETWORKS.append(("sides that a run tells", make_model("open", open_sides[:4], constants, "y planar", dict(x=feeds["x"]), {2: "h", 3: "w"}), dict(x=feeds["x"])))


def pixels_and_rows():
    """Images whose pixels are rows of a matrix in between, as transformers have them, and Concat of what lies in both ways before a convolution."""
    for order, title in ([0, 2, 1], "by way of [n, c, pixels]"), ([0, 2, 3, 1], "by way of [n, h, w, c]"):
        to_rows = [node("Reshape", "a flat", "f"), node("Transpose", "f", "t", perm=order)] if len(order) == 3 else [node("Transpose", "a", "f", perm=order), node("Reshape", "f flat", "t")]
        nodes = [conv("x w0", "a"), *to_rows, node("MatMul", "t m", "u"), node("Add", "u t", "s"), node("Transpose", "s", "st", perm=[0, 2, 1]), node("Reshape", "st image", "i"), conv("i w1", "b"),
                 resize("i", "r", "scales", mode="linear"), node("Concat", "x2 r", "c", axis=1), conv("c w2", "y"), node("Relu", "f", "z")]
        constants = dict(w0=weights(24, 3, 3, 3), m=weights(24, 24), w1=weights(9, 24, 3, 3), w2=weights(10, 27, 3, 3), flat=np.array([0, 24, -1] if len(order) == 3 else [0, -1, 24]),
                         image=np.array([0, 24, 10, 12]), scales=np.array([1, 1, 2, 2], np.float32))
        network_of_any_batch(f"pixels as rows, {title}", nodes, constants, "y b s", x=values(2, 3, 10, 12), x2=values(2, 3, 20, 24))
    joined = [node("Concat", "x y", "c", axis=1), conv("c w0", "a"), node("Concat", "x x", "d", axis=2), conv("d w1", "b", group=8), node("Concat", "y x", "e", axis=1), node("Neg", "e", "z")]
    network_of_any_batch("images as they come, joined for convolutions", joined, dict(w0=weights(12, 17, 3, 3), w1=weights(16, 1, 3, 3)), "a b z", x=values(2, 8, 9, 11), y=values(2, 9, 9, 11))


def arena(model, *options):
    """Bytes, or None where sizes are not known."""
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        told = subprocess.run([os.environ["ONNXC_EXECUTABLE"], "info", file.name, "--json", *options], check=True, capture_output=True).stdout
    return json.loads(told)["arena"].get("bytes")


def runs_of(title):
    drawn = zlib.crc32(title.encode())
    runs = RUNS if "--all" in sys.argv else (RUNS[drawn // 8 % 2], RUNS[2])
    return runs + ON_GPU if "--gpu" in sys.argv or title.startswith("slices") or drawn % 8 == 0 else runs


def faults_of(each, *sessions):
    """What is wrong with a network, a line each."""
    title, model, feeds = each
    expected, faults = reference(model, feeds), []
    least, most = arena(model, "--memory=min"), arena(model)
    if least is not None and least > AT_MOST.get(title, 1) * most:
        faults.append(f"{title}: an arena of {least} bytes at --memory=min, of {most} at speed")
    for (options, threads), session in zip(runs_of(title), sessions, strict=True):
        if isinstance(session, onnxc.CompileError):
            faults.append(f"{title} at {options} with {threads} threads: {session}")
        elif not agree(session.run(None, feeds), expected):
            faults.append(f"{title} at {options} with {threads} threads")
    return faults


def main():
    for make in dense_and_gated, row_major, nhwc, turned, squeeze_and_excite, classifiers, strassen, depthwise_pairs, stems, winograd_along_rows, bands_and_orders, stripes, few_channels, carried_slice, inner_products, resized, pixels_and_rows:
        make()
    failed = 0
    for faults in judged_in_groups(NETWORKS, lambda each: [Unit(each[1], (options,), threads) for options, threads in runs_of(each[0])], faults_of):
        failed += len(faults)
        for fault in faults:
            print(f"FAILED {fault}", flush=True)
    print(f"{len(NETWORKS)} networks, {failed} of {sum(len(runs_of(title)) for title, _, _ in NETWORKS)} runs differ from ONNX Runtime, or take more memory than they may")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
