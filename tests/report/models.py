"""Models that a report must cope with, written to a folder."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HOSTILE = "</script><script>document.title='x'</script><img src=x onerror=\"document.title='x'\">"


def save(graph, path):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], producer_name=HOSTILE)
    model.ir_version = 10
    onnx.save(model, path)


def value(name, shape=(1, 8, 16, 16)):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def weights(name, *shape):
    return numpy_helper.from_array(np.random.default_rng(1).standard_normal(shape).astype(np.float32), name)


def small(path, channels=8, extra=False):
    """A convolution, a product, an If; with `extra` a step more."""
    branch = lambda name, op: helper.make_graph([helper.make_node(op, ["pooled"], [name], name=name)], name, [], [value(name, (1, channels))])
    nodes = [helper.make_node("Conv", ["x", "w"], ["conv"], name="first_conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["conv"], ["relu"], name="relu"),
             helper.make_node("GlobalAveragePool", ["relu"], ["mean"], name="pool"), helper.make_node("Flatten", ["mean"], ["pooled"], name="flatten"),
             helper.make_node("ReduceSum", ["pooled"], ["sum"], keepdims=0, name="sum"), helper.make_node("Greater", ["sum", "zero"], ["positive"], name="greater"),
             helper.make_node("If", ["positive"], ["chosen"], name="choose", then_branch=branch("exp", "Exp"), else_branch=branch("tanh", "Tanh"))]
    last = "chosen"
    if extra:
        nodes.append(helper.make_node("Softmax", [last], ["soft"], name="soft"))
        last = "soft"
    nodes.append(helper.make_node("MatMul", [last, "v"], ["y"], name="product"))
    save(helper.make_graph(nodes, "small", [value("x", (1, 3, 16, 16))], [value("y", (1, 4))],
                           [weights("w", channels, 3, 3, 3), weights("v", channels, 4), numpy_helper.from_array(np.float32(0), "zero")]), path)


def quantised(path):
    """A Softmax between quantised values, which is computed in floats."""
    nodes = [helper.make_node("QuantizeLinear", ["x", "scale"], ["q"]), helper.make_node("DequantizeLinear", ["q", "scale"], ["d"]), helper.make_node("Softmax", ["d"], ["s"], name="soft"),
             helper.make_node("QuantizeLinear", ["s", "scale"], ["qs"]), helper.make_node("DequantizeLinear", ["qs", "scale"], ["y"])]
    save(helper.make_graph(nodes, "quantised", [value("x", (4, 8))], [value("y", (4, 8))], [numpy_helper.from_array(np.float32(0.01), "scale")]), path)


def symbolic(path):
    save(helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Softmax", ["h"], ["s"]), helper.make_node("MatMul", ["s", "w"], ["y"])],
                           "symbolic", [value("x", ("batch", 32))], [value("y", ("batch", 32))], [weights("w", 32, 32)]), path)


def hostile(path):
    """Names that would end the script, the string or the table they are put into."""
    n = HOSTILE
    nodes = [helper.make_node("MatMul", [n + "x", n + "w"], [n + "m"], name=n), helper.make_node("Softmax", [n + "m"], [n + "s"], name="<!--<script>\u2028"),
             helper.make_node("MatMul", [n + "s", n + "w"], [n + "y"], name="{{code}}${data}`\\'\"]]>"),
             helper.make_node("Softmax", [n + "m"], ["long" * 17_500], name="long" * 17_500), helper.make_node("Add", ["long" * 17_500, n + "s"], [n + "z"], name="\n\x7f")]
    save(helper.make_graph(nodes, n, [value(n + "x", (n + "batch", 16))], [value(n + "y", (n + "batch", 16)), value(n + "z", (n + "batch", 16))], [weights(n + "w", 16, 16)]), path)


def large(path, count=5000):
    """So many nodes: chains side by side that meet now and then. Softmax is never fused, so the program is as large."""
    nodes, ends, chains = [], ["x"] * 10, 10
    while len(nodes) < count:
        i = len(nodes)
        chain = i % chains
        if i % 97 == 96:
            nodes.append(helper.make_node("Concat", [ends[chain], ends[(chain + 1) % chains]], [f"c{i}"], axis=0, name=f"concat_{i}"))
            nodes.append(helper.make_node("ReduceSum", [f"c{i}"], [f"t{i}"], keepdims=1, name=f"sum_{i}"))
            nodes.append(helper.make_node("Add", [f"t{i}", "x"], [f"v{i}"], name=f"add_{i}"))
        else:
            nodes.append(helper.make_node("Softmax", [ends[chain]], [f"v{i}"], name=f"softmax_{i}"))
        ends[chain] = f"v{i}"
    nodes.append(helper.make_node("Sum", ends, ["y"], name="all"))
    save(helper.make_graph(nodes, "large", [value("x", (1, 8))], [value("y", (1, 8))]), path)
