#!/usr/bin/env python3
"""Small networks through ONNX Runtime and through onnxc, at -O0, at -O3 and with two threads.

They aim at what lowering does with places and weights: Concat and Split in place, NHWC inputs as they lie, squeeze-and-excite in weights,
Winograd along rows, slices of what a loop carries. Tolerance: 1e-4 relative and 1e-5 absolute, for values of the size of 1.
"""
import sys

import numpy as np
import onnx
import onnxc
import onnxruntime as ort
from onnx import helper as h
from onnx import numpy_helper, parser

RANDOM = np.random.default_rng(3)
NETWORKS = []


def node(op, inputs, outputs, **attributes):
    return h.make_node(op, inputs.split(), outputs.split(), **attributes)


def conv(inputs, output, kernel=3, **attributes):
    return node("Conv", inputs, output, **{"pads": [kernel // 2] * 4, **attributes})


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def weights(cout, cin, *kernel):
    return values(cout, cin, *kernel) * np.float32(0.12)


def network(title, nodes, constants, outputs, **feeds):
    info = lambda name, shape: h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    graph = h.make_graph(nodes, title, [info(k, v.shape) for k, v in feeds.items()], [info(name, None) for name in outputs.split()],
                         [numpy_helper.from_array(v, k) for k, v in constants.items()])
    NETWORKS.append((title, h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), feeds))


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


def squeeze_and_excite():
    start = [conv("x w0", "a"), node("Relu", "a", "ra"), node("GlobalAveragePool", "ra", "m")]
    nodes = [*start, conv("m w1", "c1", 1), node("Relu", "c1", "rc"), conv("rc w2", "c2", 1), node("Sigmoid", "c2", "s"), node("Mul", "ra s", "sc"), conv("sc w3 b", "y", 1)]
    constants = dict(w0=weights(40, 24, 3, 3), w1=weights(10, 40, 1, 1), w2=weights(40, 10, 1, 1), w3=weights(19, 40, 1, 1), b=values(19))
    network("squeeze and excite", nodes, constants, "y", x=values(1, 24, 14, 14))
    nodes = [*start, node("Sigmoid", "m", "s"), node("Mul", "s ra", "sc"), conv("sc w3 b", "c3", 1), node("Add", "c3 x", "y")]
    network("excite, with a residual", nodes, dict(w0=weights(40, 24, 3, 3), w3=weights(24, 40, 1, 1), b=values(24)), "y s", x=values(1, 24, 14, 14))
    network("more weights than pixels", nodes, dict(w0=weights(40, 24, 3, 3), w3=weights(24, 40, 1, 1), b=values(24)), "y s", x=values(1, 24, 3, 3))


def winograd_along_rows():
    for kernel, pads, dilation in ([1, 3], [0, 1, 0, 1], 1), ([3, 3], [3] * 4, 3), ([5, 3], [2, 1, 2, 1], 1):
        network(f"kernel {kernel}, dilation {dilation}", [node("Conv", "x w", "y", pads=pads, dilations=[dilation] * 2), node("Tanh", "y", "z")], dict(w=weights(32, 24, *kernel)),
                "z", x=values(1, 24, 14, 14))
    for dilation in 1, 2, 8:
        network(f"signal, dilation {dilation}", [node("Conv", "x w", "y", dilations=[dilation], pads=[dilation] * 2)], dict(w=weights(48, 32, 3)), "y", x=values(2, 32, 777))


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


def main():
    for make in dense_and_gated, row_major, nhwc, squeeze_and_excite, winograd_along_rows, carried_slice:
        make()
    failed = 0
    for title, model, feeds in NETWORKS:
        expected = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
        for options, threads in ("-O0", 1), ("-O3", 1), ("-O3", 2):
            actual = onnxc.InferenceSession(model, options=[options], threads=threads).run(None, feeds)
            if not all(a.shape == e.shape and np.allclose(a, e, rtol=1e-4, atol=1e-5) for a, e in zip(actual, expected)):
                failed += 1
                print(f"FAILED {title} at {options} with {threads} threads")
    print(f"{len(NETWORKS)} networks, {failed} of {3 * len(NETWORKS)} runs differ from ONNX Runtime")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
