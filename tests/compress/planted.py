"""Networks with channels that are planted to be superfluous: copies of others, positive multiples of them, or constants; and one whose weights have a low rank.

A network is written with its essential channels and says where each group of channels is found. `widen` adds superfluous ones to each group, so the network computes what it computes; how
many parameters it had before is what a budget may ask for. Weights that sum over added channels are random, so that leaving a channel out is wrong unless others make up for it.
"""
import numpy as np
from onnx import helper as h

RANDOM = np.random.default_rng(11)


def values(*shape):
    fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
    return (RANDOM.standard_normal(shape) * np.sqrt(2 / max(fan_in, 1))).astype(np.float32)


def vector(n, around=0.0):
    return (around + 0.3 * RANDOM.standard_normal(n)).astype(np.float32)


class Net:
    """Nodes and weights, and where the channels of each group are: (group, axis, role, repeat, parts).

    Roles: `make` computes channels, `shift` is added to them, `sum` sums over them, `each` has a parameter for each. `repeat`: elements for each channel, behind a Flatten. `parts`: groups of a
    convolution that have the channels one after another.
    """

    def __init__(self):
        self.nodes, self.weights, self.places, self.finals = [], {}, {}, []

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(h.make_node(op, inputs, [output] if isinstance(output, str) else output, name=f"n{len(self.nodes)}", **attributes))
        return output

    def weight(self, name, value, *places):
        self.weights[name] = value
        for group, axis, role, *more in places:
            self.places.setdefault(group, []).append((name, axis, role, *(more or (1, 1))))
        return name

    def conv(self, x, name, inputs, outputs, m, c, k=3, bias=True, role="make", **attributes):
        """`inputs`, `outputs`: names of groups; None: not widened."""
        places = [(outputs, 0, role)] if outputs else []
        places += [(inputs, 1, "sum")] if inputs else []
        ins = [x, self.weight(f"{name}_w", values(m, c, k, k), *places)]
        if bias:
            ins.append(self.weight(f"{name}_b", vector(m), *places[:1] if outputs else ()))
        return self.add("Conv", ins, f"{name}_y", pads=[k // 2] * 4, **attributes)

    def gemm(self, x, name, inputs, outputs, m, c, repeat=1):
        places = ([(outputs, 0, "make")] if outputs else []) + ([(inputs, 1, "sum", repeat, 1)] if inputs else [])
        ins = [x, self.weight(f"{name}_w", values(c, m).T.copy(), *places), self.weight(f"{name}_b", vector(m), *([(outputs, 0, "shift")] if outputs else []))]
        return self.add("Gemm", ins, name, transB=1)

    def parameters(self):
        return sum(v.size for v in self.weights.values() if v.dtype == np.float32)

    def finish(self):
        for final in self.finals:
            final()
        for node in self.nodes:
            for attribute in node.attribute:
                if attribute.name == "group" and attribute.i == 0:
                    attribute.i = len(self.weights[node.input[1]])
        return self

    def join(self, name, pieces, axis):
        """A weight that sums over several groups, in pieces until all are widened."""
        self.finals.append(lambda: self.weights.update({name: np.concatenate([self.weights.pop(piece) for piece in pieces], axis)}))
        return name

    def widen_place(self, source, is_new, factor, name, axis, role, repeat, parts):
        widened = []
        for piece in np.split(np.moveaxis(self.weights[name], axis, 0), parts):
            new = piece[(np.maximum(source, 0)[:, None] * repeat + np.arange(repeat)).ravel()].copy()
            if role == "sum":
                random = RANDOM.standard_normal(new.shape) * np.abs(piece).mean()
                new = np.where(np.repeat(is_new, repeat).reshape(-1, *[1] * (new.ndim - 1)), random, new)
            if role in ("make", "shift"):
                new *= np.repeat(factor, repeat).reshape(-1, *[1] * (new.ndim - 1))
            if role == "make":
                new[np.repeat(source < 0, repeat)] = 0
            widened.append(new)
        self.weights[name] = np.ascontiguousarray(np.moveaxis(np.concatenate(widened), 0, axis)).astype(np.float32)

    def widen(self, sizes, can_scale=True):
        """`sizes`: by group, its essential channels (of one part)."""
        added = {}
        for group in self.places:
            n = sizes[group]
            source = np.concatenate([np.arange(n), RANDOM.integers(0, n, max(1, n // 2)), [-1]])  # the last is constant
            order = RANDOM.permutation(len(source))
            added[group] = source[order], order >= n, np.where(order < n, 1.0, RANDOM.uniform(0.5, 2, len(source)) if can_scale else 1.0)
        # First what sums over channels, at random: what makes copies of rows comes behind it.
        for is_sum in (True, False):
            for group, places in self.places.items():
                for place in places:
                    if (place[2] == "sum") == is_sum:
                        self.widen_place(*added[group], *place)
        return self.finish()


def chain():
    """Batch-norm, PRelu, pools, a Flatten between convolution and Gemm."""
    net = Net()
    x = net.conv("x", "c0", None, "a", 6, 3, bias=False)
    x = net.add("BatchNormalization", [x, net.weight("s", vector(6, 1), ("a", 0, "each")), net.weight("t", vector(6), ("a", 0, "make")), net.weight("u", np.zeros(6, np.float32), ("a", 0, "each")),
                                       net.weight("v", np.ones(6, np.float32), ("a", 0, "each"))], "bn")
    x = net.add("Relu", [x], "r0")
    x = net.conv(x, "c1", "a", "b", 8, 6)
    x = net.add("PRelu", [x, net.weight("slope", vector(8).reshape(8, 1, 1), ("b", 0, "each"))], "p")
    x = net.add("MaxPool", [x], "mp", kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("AveragePool", [x], "ap", kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("Flatten", [x], "f")
    x = net.add("Relu", [net.gemm(x, "g0", "b", "c", 12, 8 * 4, repeat=4)], "r1")
    net.gemm(x, "y", "c", None, 5, 12)
    return net, {"a": 6, "b": 8, "c": 12}, [3, 8, 8], True


def residual():
    """Channels that meet in additions; one of the two summands has a Relu before it."""
    net = Net()
    x = net.add("Relu", [net.conv("x", "stem", None, "t", 8, 3)], "t0")
    for k in range(2):
        z = net.add("Relu", [net.conv(x, f"b{k}a", "t", f"i{k}", 6, 8)], f"i{k}r")
        x = net.add("Relu", [net.add("Add", [net.conv(z, f"b{k}b", f"i{k}", "t", 8, 6), x], f"s{k}")], f"t{k + 1}")
    x = net.add("Flatten", [net.add("GlobalAveragePool", [x], "gap")], "fl")
    net.gemm(x, "y", "t", None, 4, 8)
    return net, {"t": 8, "i0": 6, "i1": 6}, [3, 8, 8], True


def concat():
    """Offsets behind a Concat, with a part that has no layer's channels; several readers; per-channel constants."""
    net = Net()
    a = net.add("Relu", [net.conv("x", "ca", None, "a", 6, 3)], "ar")
    b = net.add("Tanh", [net.conv("x", "cb", None, "b", 4, 3, k=1)], "bt")
    b = net.add("Mul", [b, net.weight("scale", vector(4, 1).reshape(1, 4, 1, 1), ("b", 1, "each"))], "bs")
    joined = net.add("Concat", [a, "x", b], "k", axis=1)
    w = values(7, 13, 3, 3)
    net.weight("j_a", w[:, :6], ("a", 1, "sum"))
    net.weight("j_x", w[:, 6:9])
    net.weight("j_b", w[:, 9:], ("b", 1, "sum"))
    net.join("j_w", ["j_a", "j_x", "j_b"], 1)
    net.add("Conv", [joined, "j_w"], "j", pads=[1] * 4)
    z = net.add("Add", [net.add("GlobalMaxPool", ["j"], "jm"), net.add("GlobalAveragePool", [net.conv(a, "ca2", "a", None, 7, 6)], "am")], "z")
    net.add("Flatten", [z], "y")
    return net, {"a": 6, "b": 4}, [3, 8, 8], False


def separable():
    """Depthwise convolutions between pointwise ones, and a gate of squeeze and excitation."""
    net = Net()
    x = net.add("Clip", [net.conv("x", "expand", None, "e", 8, 3, k=1), net.weight("low", np.float32(0)), net.weight("high", np.float32(1e4))], "e0")
    x = net.add("Relu", [net.conv(x, "depth", None, "e", 8, 1, bias=False, role="each", group=0)], "d")
    gate = net.add("GlobalAveragePool", [x], "g0")
    gate = net.add("Relu", [net.conv(gate, "s1", "e", "q", 4, 8, k=1)], "g1")
    x = net.add("Relu", [net.conv(x, "mid", "e", "m", 6, 8, k=1)], "m0")
    gate = net.add("Sigmoid", [net.conv(gate, "s2", "q", None, 6, 4, k=1)], "g2")
    x = net.conv(x, "project", "m", None, 6, 6, k=1)
    net.add("Mul", [x, gate], "y")
    return net, {"e": 8, "q": 4, "m": 6}, [3, 8, 8], True


def grouped():
    """A convolution with groups: the same channels go from each."""
    net = Net()
    g = 2
    x = net.add("Conv", ["x", net.weight("c0_w", values(8, 3, 3, 3), ("a", 0, "make", 1, g)), net.weight("c0_b", vector(8), ("a", 0, "make", 1, g))], "c0", pads=[1] * 4)
    x = net.add("Relu", [x], "r")
    net.weight("gc_w", values(6, 4, 3, 3), ("a", 1, "sum"), ("b", 0, "make", 1, g))
    net.weight("gc_b", vector(6), ("b", 0, "make", 1, g))
    x = net.add("Relu", [net.add("Conv", [x, "gc_w", "gc_b"], "gc", pads=[1] * 4, group=g)], "gr")
    net.weight("last_w", values(5, 6, 1, 1), ("b", 1, "sum", 1, g))
    net.add("Conv", [x, "last_w"], "y")
    return net, {"a": 4, "b": 3}, [3, 8, 8], True


def rearranged():
    """Channels that move to the last axis and back, through Reshape, Squeeze, ReduceMean, Pad, Resize and Split; MatMul with and without an Add."""
    net = Net()
    x = net.add("Relu", [net.conv("x", "c0", None, "a", 6, 3)], "r")
    x = net.add("Pad", [x, net.weight("pads", np.array([0, 0, 1, 0, 0, 0, 1, 0], np.int64))], "pd")
    x = net.add("Resize", [x, "", net.weight("scales", np.array([1, 1, 2, 1], np.float32))], "rs", mode="nearest")
    x = net.add("Transpose", [x], "tr", perm=[0, 2, 3, 1])
    net.weight("mm_w", values(6, 8), ("a", 0, "sum"), ("b", 1, "make"))
    net.weight("mm_b", vector(8), ("b", 0, "make"))
    x = net.add("Relu", [net.add("Add", [net.add("MatMul", [x, "mm_w"], "mm"), "mm_b"], "mb")], "mr")
    x = net.add("Reshape", [x, net.weight("target", np.array([0, -1, 8], np.int64))], "rh")
    net.finals.append(lambda: net.weights.update(target=np.array([0, -1, len(net.weights["mm_b"])], np.int64)))
    x = net.add("ReduceMean", [x], "rm", axes=[1], keepdims=1)
    x = net.add("Squeeze", [x, net.weight("one", np.array([1], np.int64))], "sq")
    net.weight("out_w", values(8, 5), ("b", 0, "sum"))
    net.add("MatMul", [x, "out_w"], "y")
    return net, {"a": 6, "b": 8}, [3, 8, 8], True


def low_rank():
    """Weights of a low rank, of each kind of layer; ranks stay when channels do."""
    net = Net()
    product = lambda m, n, r: (RANDOM.standard_normal((m, r)) @ RANDOM.standard_normal((r, n)) / np.sqrt(r * n)).astype(np.float32)
    net.weight("c_w", product(24, 3 * 9, 2).reshape(24, 3, 3, 3))
    net.weight("c_b", vector(24))
    x = net.add("Tanh", [net.add("Conv", ["x", "c_w", "c_b"], "c", pads=[1, 1, 0, 0], strides=[2, 2])], "ct")
    x = net.add("Flatten", [x], "f")
    net.weight("g_w", product(24 * 9, 40, 4))
    net.weight("g_b", vector(40))
    x = net.add("Tanh", [net.add("Gemm", [x, "g_w", "g_b"], "g")], "gt")
    net.weight("m_w", product(40, 30, 3))
    x = net.add("Tanh", [net.add("MatMul", [x, "m_w"], "m")], "mt")
    net.weight("n_w", product(30, 20, 2))
    net.weight("n_b", vector(20))
    net.add("Add", [net.add("MatMul", [x, "n_w"], "n"), "n_b"], "y")
    return net, 2 * (24 + 27) + 24 + 4 * (216 + 40) + 40 + 3 * (40 + 30) + 2 * (30 + 20) + 20, [3, 6, 6]
