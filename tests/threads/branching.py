"""Small networks with branches, whose steps go without waiting for each other (compiler/lowering/threads/concurrent_steps.h).

Operands of a Concat side by side, in channels-last images and in rows, steps too small to be shared, dilated kernels, heads with outputs of their own. Images of any size have scratch
whose size a run tells, and rows of any number are shared where they are enough. Each is (nodes, constants, outputs, feeds, names of open dimensions).
"""
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from networks import conv, node, values, weights  # noqa: E402


def inception(dims=None):
    nodes = [conv("x w0", "a", 1), node("Relu", "a", "ra"), conv("ra w1", "b1", 1), conv("ra w2", "b2", 1), conv("b2 w3", "c2"), conv("ra w4", "b3", 1),
             conv("b3 w5", "c3", 5), node("MaxPool", "ra", "b4", kernel_shape=[3, 3], pads=[1] * 4), conv("b4 w6", "c4", 1), node("Concat", "b1 c2 c3 c4", "y", axis=1)]
    constants = dict(w0=weights(48, 16, 1, 1), w1=weights(20, 48, 1, 1), w2=weights(24, 48, 1, 1), w3=weights(36, 24, 3, 3), w4=weights(10, 48, 1, 1),
                     w5=weights(12, 10, 5, 5), w6=weights(15, 48, 1, 1))
    return nodes, constants, "y", dict(x=values(2, 16, 5, 6) if dims else values(1, 16, 19, 23)), dims


def dilated():
    nodes = [node("Relu", "x", "rx")]
    for k, d in enumerate((1, 2, 3, 5)):
        nodes += [conv(f"rx r{k}", f"a{k}", 1), conv(f"a{k} w{k}", f"b{k}", dilations=[d, d], pads=[d] * 4)]
    nodes += [node("Concat", "b0 b1 b2 b3", "c", axis=1), conv("c p", "d", 1), node("Add", "d rx", "y")]
    constants = {f"r{k}": weights(8 + 4 * k, 32, 1, 1) for k in range(4)} | {f"w{k}": weights(16, 8 + 4 * k, 3, 3) for k in range(4)} | {"p": weights(32, 64, 1, 1)}
    return nodes, constants, "y", dict(x=values(1, 32, 30, 40)), None


def heads():
    nodes, constants = [], {}
    for k, (size, channels) in enumerate(((24, 16), (12, 24), (6, 40))):
        for kind, n in (("scores", 2), ("boxes", 4)):
            name = f"{kind}{k}"
            nodes += [conv(f"x{k} d_{name}", f"a_{name}", group=channels), node("Relu", f"a_{name}", f"r_{name}"), conv(f"r_{name} w_{name}", f"c_{name}"),
                      node("Transpose", f"c_{name}", f"t_{name}", perm=[0, 2, 3, 1]), node("Reshape", f"t_{name} list{n}", f"l_{name}")]
            constants |= {f"d_{name}": weights(channels, 1, 3, 3), f"w_{name}": weights(3 * n, channels, 3, 3), f"list{n}": np.array([1, -1, n])}
    for kind in "scores", "boxes":
        nodes.append(node("Concat", " ".join(f"l_{kind}{k}" for k in range(3)), kind, axis=1))
    feeds = {f"x{k}": values(1, channels, size, size) for k, (size, channels) in enumerate(((24, 16), (12, 24), (6, 40)))}
    return nodes, constants, "scores boxes", feeds, None


def towers():
    """Two inputs of their own, products of rows, and what joins them."""
    nodes, constants = [], {}
    for side in "ab":
        nodes += [node("MatMul", f"{side} w1{side}", f"m{side}"), node("Relu", f"m{side}", f"r{side}"), node("MatMul", f"r{side} w2{side}", f"n{side}"),
                  node("Softmax", f"n{side}", f"s{side}"), node("ReduceMean", f"m{side}", f"mean{side}", axes=[1])]
        constants |= {f"w1{side}": weights(96, 200), f"w2{side}": weights(200, 64)}
    nodes += [node("Sub", "sa sb", "d"), node("Concat", "d meana meanb", "y", axis=1), node("Mul", "sa nb", "z")]
    return nodes, constants, "y z", dict(a=values(37, 96), b=values(37, 96)), None


def images():
    """Of any height and width, on which the scratch of each thread depends: stems by Winograd, and kernels that copy bands of rows."""
    nodes = [conv("x w0", "a", 5), node("Tanh", "a", "ta"), conv("x w1", "b"), node("Relu", "b", "rb"), conv("ta w2", "c"), conv("rb w3", "d"), node("Concat", "c d", "e", axis=1),
             conv("e w4", "f", dilations=[2, 2], pads=[2] * 4, group=40), conv("f w5", "y", 1), conv("e w6", "z", 1)]
    constants = dict(w0=weights(64, 1, 5, 5), w1=weights(24, 1, 3, 3), w2=weights(32, 64, 3, 3), w3=weights(8, 24, 3, 3), w4=weights(40, 1, 3, 3), w5=weights(12, 40, 1, 1), w6=weights(7, 40, 1, 1) / 4)  # values of the size of 1 again
    return nodes, constants, "y z", dict(x=values(1, 1, 61, 107)), {2: "height", 3: "width"}


def perceptron(rows=None):
    nodes = [node("MatMul", "x w0", "a"), node("Relu", "a", "ra"), node("MatMul", "ra w1", "b"), node("Softmax", "b", "y")]
    return nodes, dict(w0=weights(64, 128), w1=weights(128, 10)), "y", dict(x=values(700, 64)), rows


def networks():
    """{title: network}"""
    return {"inception": inception(), "inception of any batch": inception({0: "batch"}), "dilated": dilated(), "heads": heads(), "towers": towers(), "images of any size": images()}
