"""Constants: as nodes, twice, as inputs with defaults, as what other nodes give."""
import copy

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from dressed import replace
from values import FLOATS, STRING, type_of


def constant_nodes(d):
    """Initialisers become nodes, in the forms that Constant has."""
    kept, nodes = [], []
    for tensor in d.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if d.chance(0.5) or tensor.name in {i.name for i in d.graph.input}:
            kept.append(tensor)
            continue
        attribute = {"value": copy.deepcopy(tensor)}
        if d.chance(0.5) and array.ndim < 2:
            kind = {np.dtype(np.float32): "float", np.dtype(np.int64): "int", STRING: "string"}.get(array.dtype)
            if kind and (array.ndim == 0 or array.size):
                attribute = {f"value_{kind}{'s' if array.ndim else ''}": array.tolist() if array.ndim else array.item()}
        nodes.append(helper.make_node("Constant", [], [tensor.name], **attribute))
    replace(d, 0, 0, nodes)
    del d.graph.initializer[:]
    d.graph.initializer.extend(kept)
    return bool(nodes)


def twins(d):
    """A constant that is stated twice, for two readers or one."""
    names = {t.name: t for t in d.graph.initializer}
    for node in d.graph.node:
        for k, name in enumerate(node.input):
            if name in names and d.chance(0.3):
                tensor = copy.deepcopy(names[name])
                tensor.name = node.input[k] = d.fresh("twin")
                d.graph.initializer.append(tensor)
                if d.values.get(name):
                    d.values[tensor.name] = d.values[name]
    return True


def defaults(d):
    """Initialisers that are listed among the inputs, as all once were."""
    for tensor in d.graph.initializer:
        if d.chance(0.4):
            d.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return True


def unused(d):
    """Inputs, constants and nodes that nothing reads."""
    name = d.fresh("unused")
    d.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]))
    for feeds in d.feeds:
        feeds[name] = np.zeros((2, 3), np.float32)
    d.graph.initializer.append(numpy_helper.from_array(np.ones((3,), np.float32), d.fresh("unread")))
    reads = [v for v in d.values if d.values[v].is_float and v in {i.name for i in d.graph.input}]
    if reads:
        d.graph.node.append(helper.make_node("Neg", [d.among(reads)], [d.fresh("dead")]))
    return True


def detour(d, name, array):
    """Nodes that give a constant as it is, from others: their last output."""
    out, kind = d.fresh("late"), type_of(array.dtype)
    constant = lambda a: (n := d.fresh("piece"), d.graph.initializer.append(numpy_helper.from_array(np.asarray(a), n)))[0]  # noqa: E731
    ways = ["Identity", "Cast", "Where", "Reshape", "Squeeze"]
    if array.ndim and array.shape[0] > 1:
        ways += ["Concat", "Slice"]
    if array.dtype in FLOATS:
        ways += ["Dropout", "Mul"]
    if array.dtype == np.int64:
        ways += ["Add", "Max"]
    way = d.among(ways)
    if way in ("Identity", "Dropout"):
        return [helper.make_node(way, [name], [out])]
    if way == "Cast":
        wide = np.float64 if array.dtype in FLOATS else np.int64 if array.dtype.kind in "iub" else None
        if wide is None or array.dtype == np.uint64:
            return [helper.make_node("Identity", [name], [out])]
        middle = d.fresh("wide")
        return [helper.make_node("Cast", [name], [middle], to=type_of(wide)), helper.make_node("Cast", [middle], [out], to=kind)]
    if way == "Where":
        return [helper.make_node("Where", [constant(np.asarray(True)), name, name], [out])]
    if way == "Reshape":
        flat = d.fresh("flat")
        return [helper.make_node("Reshape", [name, constant(np.asarray([-1]))], [flat]), helper.make_node("Reshape", [flat, constant(np.asarray(array.shape, np.int64))], [out])]
    if way == "Squeeze":
        axis, wide = constant(np.asarray([0])), d.fresh("wide")
        return [helper.make_node("Unsqueeze", [name, axis], [wide]), helper.make_node("Squeeze", [wide, axis], [out])]
    if way == "Concat":
        first, second = np.split(array, [1])
        return [helper.make_node("Concat", [constant(first), constant(second)], [out], axis=0)]
    if way == "Slice":
        return [helper.make_node("Slice", [constant(np.concatenate([array, array])), constant([0]), constant([array.shape[0]])], [out])]
    neutral = constant(np.asarray({"Mul": 1, "Add": 0, "Max": np.iinfo(np.int64).min}[way], array.dtype))
    return [helper.make_node(way, [name, neutral], [out])]


def late_constants(d):
    """Operands that are constants only once others are folded."""
    arrays = {t.name: numpy_helper.to_array(t) for t in d.graph.initializer}
    nodes, listed = [], {i.name for i in d.graph.input}
    for node in list(d.graph.node):
        node = copy.deepcopy(node)
        for k, name in enumerate(node.input):
            if name in arrays and name not in listed and arrays[name].dtype != STRING and d.chance(0.4):
                made = detour(d, name, arrays[name])
                node.input[k] = made[-1].output[0]
                nodes += made
        nodes.append(node)
    replace(d, 0, len(d.graph.node), nodes)
    return True
