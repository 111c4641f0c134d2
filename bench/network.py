"""Building networks with random weights, layer by layer: a Value knows its shape, so layers need not be told their channels."""
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclass(frozen=True)
class Value:
    name: str
    shape: tuple


def spread(size, rank):
    return (size,) * rank if isinstance(size, int) else tuple(size)


class Network:
    def __init__(self, *shape):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)
        self.x = Value("x", shape)

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return Value(name, np.shape(array))

    def normal(self, *shape, fan_in):
        """Weights that keep the size of what comes in, before a Relu."""
        return self.constant((self.random.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32))

    def op(self, kind, *inputs, shape=None, **attributes):
        """A node; its result has the shape of its first input unless told."""
        result = Value(f"v{len(self.nodes)}", tuple(shape or inputs[0].shape))
        self.nodes.append(helper.make_node(kind, [i.name if i else "" for i in inputs], [result.name], **attributes))
        return result

    def conv(self, x, channels, kernel, stride=1, dilation=1, group=1, pad=None, activation="Relu"):
        rank = len(x.shape) - 2
        kernel, stride, dilation = spread(kernel, rank), spread(stride, rank), spread(dilation, rank)
        pads = [k // 2 * d for k, d in zip(kernel, dilation)] if pad is None else list(spread(pad, rank))
        out = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, p, d, k, t in zip(x.shape[2:], pads, dilation, kernel, stride)]
        cin = x.shape[1] // group
        w = self.normal(channels, cin, *kernel, fan_in=cin * np.prod(kernel))
        bias = self.constant((self.random.standard_normal(channels) * 0.01).astype(np.float32))
        y = self.op("Conv", x, w, bias, shape=(x.shape[0], channels, *out), kernel_shape=kernel, strides=stride, dilations=dilation, pads=pads * 2, group=group)
        return self.activate(y, activation)

    def activate(self, x, kind):
        """An operator's name, None, or what exporters write with several: Silu, Gelu, and PRelu with a slope for each channel."""
        if kind is None:
            return x
        if kind == "Silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        if kind == "Gelu":
            erf = self.op("Erf", self.scalar("Div", x, 2**0.5))
            return self.scalar("Mul", self.op("Mul", x, self.scalar("Add", erf, 1)), 0.5)
        if kind == "PRelu":
            return self.op("PRelu", x, self.constant(self.random.random((x.shape[1], *(1 for _ in x.shape[2:]))).astype(np.float32)))
        return self.op(kind, x)

    def scalar(self, kind, x, value):
        return self.op(kind, x, self.constant(np.float32(value)))

    def depthwise(self, x, kernel, stride=1, dilation=1, activation="Relu"):
        return self.conv(x, x.shape[1], kernel, stride, dilation, group=x.shape[1], activation=activation)

    def conv_transpose(self, x, channels, kernel, stride, pad=0, extra=0):
        rank = len(x.shape) - 2
        out = [(s - 1) * stride + kernel + extra - 2 * pad for s in x.shape[2:]]
        w = self.normal(x.shape[1], channels, *spread(kernel, rank), fan_in=x.shape[1] * (kernel / stride) ** rank)
        return self.op("ConvTranspose", x, w, shape=(x.shape[0], channels, *out), kernel_shape=spread(kernel, rank), strides=spread(stride, rank), pads=spread(pad, 2 * rank),
                       output_padding=spread(extra, rank))

    def pool(self, x, kernel, stride, pad=0, kind="MaxPool"):
        rank = len(x.shape) - 2
        kernel, stride, pad = spread(kernel, rank), spread(stride, rank), spread(pad, rank)
        out = [(s + 2 * p - k) // t + 1 for s, p, k, t in zip(x.shape[2:], pad, kernel, stride)]
        more = {"count_include_pad": 1} if kind == "AveragePool" else {}
        return self.op(kind, x, shape=(*x.shape[:2], *out), kernel_shape=kernel, strides=stride, pads=pad * 2, **more)

    def normalise(self, x, kind="BatchNormalization"):
        def values(positive):
            return self.constant((self.random.random(x.shape[1]) * 0.1 + positive).astype(np.float32))

        statistics = [values(0), values(1)] if kind == "BatchNormalization" else []
        return self.op(kind, x, values(1), values(0), *statistics)

    def resize(self, x, times, **attributes):
        scales = self.constant(np.array([1, 1, times, times], np.float32))
        return self.op("Resize", x, None, scales, shape=(*x.shape[:2], *(s * times for s in x.shape[2:])), **attributes)

    def concat(self, *parts):
        return self.op("Concat", *parts, shape=(parts[0].shape[0], sum(p.shape[1] for p in parts), *parts[0].shape[2:]), axis=1)

    def dense(self, x, size, activation="Relu"):
        w, bias = self.normal(x.shape[1], size, fan_in=x.shape[1]), self.constant(np.zeros(size, np.float32))
        return self.activate(self.op("Gemm", x, w, bias, shape=(x.shape[0], size)), activation)

    def linear(self, x, size, activation=None):
        """A dense layer along the last axis, as exporters write it for more than two."""
        w, bias = self.normal(x.shape[-1], size, fan_in=x.shape[-1]), self.constant(np.zeros(size, np.float32))
        return self.activate(self.op("Add", self.op("MatMul", x, w, shape=(*x.shape[:-1], size)), bias), activation)

    def layer_norm(self, x):
        return self.op("LayerNormalization", x, self.constant(np.ones(x.shape[-1], np.float32)), self.constant(np.zeros(x.shape[-1], np.float32)), axis=-1)

    def reshape(self, x, *shape):
        return self.op("Reshape", x, self.constant(np.array(shape, np.int64)), shape=shape)

    def transpose(self, x, *perm):
        return self.op("Transpose", x, shape=[x.shape[p] for p in perm], perm=perm)

    def split(self, x, *sizes):
        """Pieces along the channels."""
        parts = [Value(f"v{len(self.nodes)}_{i}", (x.shape[0], size, *x.shape[2:])) for i, size in enumerate(sizes)]
        self.nodes.append(helper.make_node("Split", [x.name, self.constant(np.array(sizes, np.int64)).name], [p.name for p in parts], axis=1))
        return parts

    def mean(self, x):
        """Of each channel."""
        return self.op("GlobalAveragePool", x, shape=(*x.shape[:2], *(1 for _ in x.shape[2:])))

    def excite(self, x, squeezed, gate="Sigmoid"):
        """Squeeze and excitation."""
        scale = self.conv(self.conv(self.mean(x), squeezed, 1), x.shape[1], 1, activation=gate)
        return self.op("Mul", x, scale)

    def classify(self, x, classes):
        """The mean of each channel, and a dense layer."""
        return self.dense(self.op("Flatten", self.mean(x), shape=x.shape[:2]), classes, activation=None)

    def model(self, result):
        graph = helper.make_graph(self.nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.x.shape)],
                                  [helper.make_tensor_value_info(result.name, TensorProto.FLOAT, result.shape)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model
