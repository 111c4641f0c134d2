"""Random forms of integer kernels: for each kind a function that adds nodes to a Model and says what they must give (models.py). Sizes are those at the edges of tiles and vectors; values are often
the ends of their types, whose sums are the greatest and the least."""
import zlib

import numpy as np
from onnx import helper, numpy_helper

import models as m

F = np.float32
KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


class Model:
    """Nodes that have nothing to do with each other, and what each output must be."""

    def __init__(self):
        self.nodes, self.constants, self.feeds, self.expected, self.owners = [], {}, {}, {}, {}
        self.count = 0

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def constant(self, array):
        name = self.name("c")
        self.constants[name] = np.asarray(array)
        return name

    def input(self, array):
        name = self.name("x")
        self.feeds[name] = array
        return name

    def node(self, op, *inputs, **attributes):
        name = self.name("v")
        self.nodes.append(helper.make_node(op, [i or "" for i in inputs], [name], **attributes))
        return name

    def dequantise(self, name, scale, zero, **attributes):
        return self.node("DequantizeLinear", name, self.constant(np.asarray(scale, F)), self.constant(zero), **attributes)

    def quantise(self, name, scale, zero):
        return self.node("QuantizeLinear", name, self.constant(np.asarray(scale, F)), self.constant(zero))

    def output(self, name, expected, owner):
        self.expected[name], self.owners[name] = expected, owner

    def proto(self):
        info = lambda name, array: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        graph = helper.make_graph(self.nodes, "forms", [info(*item) for item in self.feeds.items()], [info(*item) for item in self.expected.items()],
                                  [numpy_helper.from_array(array, name) for name, array in self.constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


class Draw:
    def __init__(self, name, number):
        self.rng = np.random.default_rng([zlib.crc32(name.encode()), number])

    def one(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, p):
        return self.rng.random() < p

    def bytes(self, shape, kind):
        info = np.iinfo(kind)
        if self.chance(0.25):  # what sums to the greatest and the least
            return self.rng.choice(np.array([info.min, info.max], kind), shape)
        return self.rng.integers(info.min, info.max, shape, kind, endpoint=True)

    def zero(self, kind):
        info = np.iinfo(kind)
        return np.asarray(self.one(info.min, info.max, self.int(info.min, info.max), self.int(info.min, info.max)), kind)

    def scales(self, shape, low, high):
        return np.exp(self.rng.uniform(np.log(low), np.log(high), shape)).astype(F)


# ---- products

def scaled_output(model, d, name, sums, x_scale, w_scale, owner):
    """Quantised again, mostly behind Relu or Clip, by a scale that fits the sums. The numbers that become text of the unit are a few: equal kernels are built once."""
    kind = np.dtype(d.one(np.uint8, np.uint8, np.int8, np.int8, np.int16))
    info = np.iinfo(kind)
    zero = np.asarray(d.one(info.min, 5, 120), kind)
    size = float(np.abs(sums).max(initial=1)) * float(x_scale) * float(np.max(w_scale))
    y_scale = F(size / (int(info.max) - int(info.min)) * d.one(0.5, 1, 2, 3))
    clip = None
    if d.chance(0.4):
        clip, name = (0, None), model.node("Relu", name)
    elif d.chance(0.3):
        y_scale = F(2.0 ** np.round(np.log2(y_scale)))
        clip = F(-30.25) * y_scale, F(50.5) * y_scale
        name = model.node("Clip", name, model.constant(clip[0]), model.constant(clip[1]))
    model.output(model.quantise(name, y_scale, zero), m.requantised(sums, x_scale, w_scale, y_scale, zero, kind, clip), owner)


def weight_zeros(d, kind, channels, any_is_fast=True):
    """Zero points of weights, one or one for each channel: mostly so that weights less these are i8."""
    info = np.iinfo(kind)
    if not any_is_fast or d.chance(0.7):
        return np.asarray(0 if kind == np.int8 else 128, kind)
    if d.chance(0.5):
        return np.asarray(d.one(info.min, info.max, 3), kind)
    return d.rng.integers(info.min, info.max + 1, channels).astype(kind)


def convolution(model, d, owner, image, shape, group=1, strides=None, dilations=None, pads=None):
    """One ByteConv: its sums as they are (ConvInteger), or between scales."""
    x_kind, w_kind = np.dtype(d.one(np.uint8, np.uint8, np.int8)), np.dtype(d.one(np.int8, np.int8, np.uint8))
    x, x_zero, w = d.bytes(image, x_kind), d.zero(x_kind), d.bytes(shape, w_kind)
    # In groups weights less their zero point have to be i8, else the node is a product of floats.
    w_zero = weight_zeros(d, w_kind, shape[0], group == 1 or (shape[1] == 1 and shape[0] == group))
    attributes = {name: value for name, value in (("group", group), ("strides", strides), ("dilations", dilations), ("pads", pads)) if value and value != 1}
    sums = m.convolution(x, x_zero, w, w_zero, **attributes)
    source, weights = model.input(x), model.constant(w)
    # Groups are joined, up to 8 of them, until their channels are whole quads. Others are products of floats, whose sums are exact while they are integers, but not once a scale has gone into
    # the weights.
    in_bytes = (shape[1] == 1 and shape[0] == group) or any(group % joined == 0 and (joined == group or joined * shape[1] % 4 == 0) for joined in range(1, 9))
    if not in_bytes or d.chance(0.75):
        y = model.node("ConvInteger", source, weights, model.constant(x_zero), model.constant(w_zero), **attributes)
        return model.output(y, sums.astype(np.int32), owner)
    x_scale, w_scale = d.scales((), 0.001, 0.1), d.scales((shape[0],) if d.chance(0.85) or w_zero.ndim else (), 0.001, 0.1)
    bias = None
    if d.chance(0.6):
        q = d.rng.integers(-20000, 20000, shape[0]).astype(np.int32)
        sums = sums + q.reshape(-1, *[1] * (len(shape) - 2))
        bias = model.dequantise(model.constant(q), np.broadcast_to(x_scale * w_scale, (shape[0],)), np.zeros(shape[0], np.int32), axis=0)
    zeros = np.broadcast_to(w_zero, w_scale.shape).copy()
    y = model.node("Conv", model.dequantise(source, x_scale, x_zero), model.dequantise(weights, w_scale, zeros, axis=0), bias, **attributes)
    return scaled_output(model, d, y, sums, x_scale, w_scale, owner)


def geometry(d, rank, most_kernel=3, most_extent=12):
    """Kernel, image, and attributes of a window."""
    kernel = [d.int(1, most_kernel) for _ in range(rank)]
    dilations = [d.one(1, 1, 1, 2, 3) for _ in range(rank)]
    strides = [d.one(1, 1, 2, 3) for _ in range(rank)]
    reach = [(k - 1) * v + 1 for k, v in zip(kernel, dilations)]
    pads = [d.int(0, r - 1) for r in reach] + [d.int(0, r - 1) for r in reach] if d.chance(0.7) else [0] * 2 * rank
    image = [max(r, d.int(1, most_extent)) for r in reach]
    return kernel, image, {"strides": strides, "dilations": dilations, "pads": pads}


@kind
def dense(model, d, owner):
    rank = d.one(1, 2, 2, 2)
    kernel, image, attributes = geometry(d, rank, d.one(1, 3, 5), 40 if rank == 1 else d.one(5, 12, 20))
    c, outputs = d.one(1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 64), d.one(1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 65)
    convolution(model, d, owner, [d.one(1, 1, 2), c, *image], [outputs, c, *kernel], **attributes)


@kind
def pointwise(model, d, owner):
    c, outputs = d.one(1, 3, 4, 16, 33, 64, 130, 256), d.one(1, 2, 15, 16, 24, 32, 48, 64, 65, 130)
    convolution(model, d, owner, [d.one(1, 2), c, d.int(1, 14), d.int(1, 14)], [outputs, c, 1, 1], strides=d.one(None, None, [2, 2]))


@kind
def grouped(model, d, owner):
    rank = d.one(1, 2, 2)
    kernel, image, attributes = geometry(d, rank, 3, 11)
    group, c, outputs = d.one(2, 3, 4, 6, 8, 11, 32), d.one(4, 8, 12, 16, 1, 2, 3, 5, 6), d.one(1, 2, 4, 7, 8, 16)
    convolution(model, d, owner, [1, group * c, *image], [group * outputs, c, *kernel], group=group, **attributes)


@kind
def depthwise(model, d, owner):
    rank = d.one(1, 2, 2)
    kernel, image, attributes = geometry(d, rank, d.one(3, 3, 5, 7), d.one(9, 17, 30))
    c = d.one(1, 2, 3, 4, 7, 8, 15, 16, 17, 32, 33, 48, 70)
    convolution(model, d, owner, [d.one(1, 1, 2), c, *image], [c * d.one(1, 1, 1, 2), 1, *kernel], group=c, **attributes)


@kind
def stem(model, d, owner):
    """The first layer of a network: few channels, a large kernel, every other pixel."""
    c, size = d.one(1, 2, 3, 3, 3, 4), d.one(3, 3, 5, 7)
    image = [d.int(size, 40), d.int(size, 70)]
    pads = d.one([size // 2] * 4, [0] * 4, [size // 2, size // 2, size // 2 - 1, size // 2 - 1])
    convolution(model, d, owner, [1, c, *image], [d.one(8, 16, 24, 32, 33, 64), c, size, size], strides=d.one([2, 2], [1, 1], [4, 4]), pads=pads)


@kind
def matmul(model, d, owner):
    rows, k, columns = d.one(1, 1, 2, 3, 5, 8, 13, 14, 15, 29, 64), d.one(1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 257, 700), d.one(1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 100, 130)
    batch = d.one([], [], [], [2], [2, 3])
    x_kind, w_kind = np.dtype(d.one(np.uint8, np.uint8, np.int8)), np.dtype(d.one(np.int8, np.int8, np.uint8))
    x, x_zero, w = d.bytes([*batch, rows, k], x_kind), d.zero(x_kind), d.bytes([k, columns], w_kind)
    w_zero = weight_zeros(d, w_kind, columns)
    sums = (x.astype(np.int64) - int(x_zero)) @ (w.astype(np.int64) - w_zero.astype(np.int64))
    source = model.input(x)
    if d.chance(0.75):
        return model.output(model.node("MatMulInteger", source, model.constant(w), model.constant(x_zero), model.constant(w_zero)), sums.astype(np.int32), owner)
    x_scale, w_scale = d.scales((), 0.001, 0.1), d.scales((columns,) if d.chance(0.85) or w_zero.ndim else (), 0.001, 0.1)
    gemm = not batch and d.chance(0.6)
    transposed = gemm and d.chance(0.6)
    weights = model.dequantise(model.constant(w.T.copy() if transposed else w), w_scale, np.broadcast_to(w_zero, w_scale.shape).copy(), axis=0 if transposed else 1)
    bias = None
    if gemm and d.chance(0.7) and columns > 1:
        q = d.rng.integers(-20000, 20000, columns).astype(np.int32)
        sums = sums + q
        bias = model.dequantise(model.constant(q), np.broadcast_to(x_scale * w_scale, (columns,)), np.zeros(columns, np.int32), axis=0)
    real = model.dequantise(source, x_scale, x_zero)
    y = model.node("Gemm", real, weights, bias, transB=int(transposed)) if gemm else model.node("MatMul", real, weights)
    # requantised() has the channels behind the batch.
    flat = sums.reshape(-1, columns)
    scaled_output(model, d, y, flat, x_scale, w_scale, owner)
    last = list(model.expected)[-1]
    model.expected[last] = model.expected[last].reshape(sums.shape)
    return None


@kind
def words(model, d, owner):
    """Activations of 16 bits: two products of bytes, joined in f32. Sums of up to 500 digits times weights are numbers of f32, so that joining them rounds once, as numpy does."""
    x_kind = np.dtype(d.one(np.uint16, np.int16))
    info = np.iinfo(x_kind)
    convolves = d.chance(0.5)
    if convolves:
        c, outputs = d.one(16, 20, 33, 50), d.one(8, 16, 33, 65)
        kernel, strides = d.one(([3, 3], [2, 2]), ([2, 2], [1, 1]), ([1, 1], [1, 1]), ([2, 3], [1, 2]), ([3], [1]))
        if c * int(np.prod(kernel)) < 64:
            c = 70
        image = [d.int(k, 12) for k in kernel]
        shape, w_shape = [d.one(1, 2), c, *image], [outputs if outputs * int(np.prod(kernel)) >= 64 else 70, c, *kernel]
        pads = [d.int(0, k - 1) for k in kernel] * 2
    else:
        k, columns = d.one(64, 65, 127, 257, 500), d.one(64, 65, 80, 100)
        shape, w_shape = [*d.one([], [2]), d.one(17, 29, 40), k], [k, columns]
    x = d.rng.integers(info.min, info.max, shape, x_kind, endpoint=True) if d.chance(0.7) else d.rng.choice(np.array([info.min, info.max, info.max - 255], x_kind), shape)
    zero, w = d.zero(x_kind), d.bytes(w_shape, np.dtype(np.int8))
    channels = w_shape[0] if convolves else w_shape[1]
    x_scale, w_scale = d.scales((), 1e-5, 1e-3), d.scales((channels,), 0.001, 0.1)
    real, weights = model.dequantise(model.input(x), x_scale, zero), model.dequantise(model.constant(w), w_scale, np.zeros(channels, np.int8), axis=0 if convolves else 1)
    if convolves:
        sums = m.convolution(x, zero, w, 0, strides=strides, pads=pads)
        y = model.node("Conv", real, weights, strides=strides, pads=pads)
        return scaled_output(model, d, y, sums, x_scale, w_scale, owner)
    sums = (x.astype(np.int64) - int(zero)) @ w.astype(np.int64)
    scaled_output(model, d, model.node("MatMul", real, weights), sums.reshape(-1, channels), x_scale, w_scale, owner)
    last = list(model.expected)[-1]
    model.expected[last] = model.expected[last].reshape(sums.shape)
    return None


@kind
def values(model, d, owner):
    """A product of two values that only a run knows."""
    rows, k, columns = d.one(1, 2, 3, 8, 13, 14, 15, 29), d.one(1, 2, 3, 4, 5, 16, 17, 64, 130), d.one(1, 2, 15, 16, 17, 31, 32, 33, 48, 70)
    batch, kinds = d.one([], [2], [2, 3]), [np.dtype(d.one(np.uint8, np.uint8, np.int8)) for _ in range(2)]
    a, b = d.bytes([*batch, rows, k], kinds[0]), d.bytes([*(batch if d.chance(0.7) else [1] * len(batch)), k, columns], kinds[1])
    zeros = [d.zero(kind) for kind in kinds]
    if d.chance(0.1):  # sums of nothing, which are quantised
        scale, zero = np.asarray(0.5, F), np.asarray(7, kinds[0])
        nothing = [np.zeros([*batch, rows, 0], kinds[0]), np.zeros([*batch, 0, columns], kinds[1])]
        operands = [name for x, z in zip(nothing, zeros) for name in (model.input(x), model.constant(scale), model.constant(z))]
        y = model.node("QLinearMatMul", *operands, model.constant(scale), model.constant(zero))
        return model.output(y, np.full([*batch, rows, columns], zero), owner)
    sums = (a.astype(np.int64) - int(zeros[0])) @ (b.astype(np.int64) - int(zeros[1]))
    y = model.node("MatMulInteger", model.input(a), model.input(b), *map(model.constant, zeros))
    return model.output(y, sums.astype(np.int32), owner)


# ---- pools

@kind
def greatest(model, d, owner):
    """MaxPool, of bytes as they are or between equal scales."""
    rank = d.one(1, 2, 2, 2)
    kernel = [d.one(1, 2, 2, 3, 3, 5) for _ in range(rank)]
    pads = [d.int(0, k - 1) for k in kernel] + [d.int(0, k - 1) for k in kernel] if d.chance(0.6) else [0] * 2 * rank
    attributes = {"kernel_shape": kernel, "strides": [d.one(1, 2, 2, 3) for _ in kernel], "pads": pads}
    x_kind = np.dtype(d.one(np.uint8, np.int8))
    x = d.bytes([d.one(1, 2), d.one(1, 2, 3, 4, 15, 16, 17, 33, 64, 70), *(max(k, d.int(1, 19)) for k in kernel)], x_kind)
    expected, source = m.greatest(x, kernel, attributes["strides"], pads).astype(x_kind), model.input(x)
    if d.chance(0.5):
        return model.output(model.node("MaxPool", source, **attributes), expected, owner)
    scale, zero = d.scales((), 0.001, 10), d.zero(x_kind)
    return model.output(model.quantise(model.node("MaxPool", model.dequantise(source, scale, zero), **attributes), scale, zero), expected, owner)


@kind
def average(model, d, owner):
    """Of windows, whose pads count or not, and of images."""
    rank = d.one(1, 2, 2)
    whole = d.chance(0.5)
    kernel = [d.one(1, 2, 3, 4, 7) for _ in range(rank)]
    x_kind = np.dtype(d.one(np.uint8, np.int8))
    image = [d.int(1, 17) for _ in kernel] if whole else [d.int(k, 12) for k in kernel]
    x = d.bytes([d.one(1, 2), d.one(1, 3, 4, 15, 16, 17, 33, 64, 130), *image], x_kind)
    strides = [d.one(1, 2, 3) for _ in kernel]
    x_scale, zero = F(d.scales((), 0.001, 1)), d.zero(x_kind)
    real = model.dequantise(model.input(x), x_scale, zero)
    centred = x.astype(np.int64) - int(zero)
    if whole:
        sums, count = centred.reshape(*x.shape[:2], -1).sum(-1).reshape(*x.shape[:2], *[1] * rank), int(np.prod(image))
        y = model.node("GlobalAveragePool", real)
    else:
        pads = [d.int(0, k - 1) for k in kernel] + [d.int(0, k - 1) for k in kernel] if d.chance(0.5) else [0] * 2 * rank
        counts = d.int(0, 1)
        taps = lambda array, outside: np.sum(list(m.windows(array, kernel, strides, [1] * rank, pads, outside)), axis=0)
        sums, count = taps(centred, 0), taps(np.ones_like(centred), counts)
        y = model.node("AveragePool", real, kernel_shape=kernel, strides=strides, pads=pads, count_include_pad=counts)
    y_kind = np.dtype(d.one(np.uint8, np.int8))
    y_scale, y_zero = F(x_scale * d.one(0.25, 0.3, 0.5, 1, 2)), d.zero(y_kind)
    return model.output(model.quantise(y, y_scale, y_zero), m.quantised(sums.astype(F) * ((x_scale / np.asarray(count, F)) / y_scale), y_zero, y_kind), owner)


# ---- maps

@kind
def maps(model, d, owner):
    """Elementwise: from one scale to another, sums and products of two, Relu and Clip between scales; operands broadcast."""
    x_kind, y_kind = (np.dtype(d.one(np.uint8, np.int8, np.uint16, np.int16)) for _ in range(2))
    shape = [d.one(1, 2, 3), d.one(1, 3, 16, 17), d.one(1, 5, 16, 31, 33)]
    other = [d.one(1, e) for e in shape] if d.chance(0.3) else shape
    operand = lambda shape: (d.bytes(shape, x_kind), F(d.scales((), 0.001, 0.1)), d.zero(x_kind))
    a, b = operand(shape), operand(other)
    name, y = model.dequantise(model.input(a[0]), *a[1:]), m.real(*a)
    for _ in range(d.int(0, 2)):
        op = d.one("Add", "Mul", "Sub", "Relu", "Max", "Min")
        if op == "Relu":
            name, y = model.node("Relu", name), np.maximum(y, F(0))
            continue
        name = model.node(op, name, model.dequantise(model.input(b[0]), *b[1:]))
        y = {"Add": np.add, "Mul": np.multiply, "Sub": np.subtract, "Max": np.maximum, "Min": np.minimum}[op](y, m.real(*b))
    scale, zero = F(max(float(np.abs(y).max(initial=0)), 1e-6) / (int(np.iinfo(y_kind).max) - int(np.iinfo(y_kind).min)) * d.one(0.5, 1, 1.7)), d.zero(y_kind)
    return model.output(model.quantise(name, scale, zero), m.quantised(y / scale, zero, y_kind), owner)
