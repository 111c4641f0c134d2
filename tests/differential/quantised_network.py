"""A quantised network that grows node by node, with what ONNX Runtime computes for each value and how well that is known.

Every node is run as it is added, alone and without optimisations, so a value knows its array. Beside it lies a bound on how far two right programs may be apart: `off`, an array of the same shape.
It is 0 where arithmetic is exact: integers, and f32 whose scales are powers of two, which f32 holds without rounding (`unit` is then what all values are multiples of). Else it follows from

    u = 2^-24, the relative error of one operation in f32
    dequantise      u |x|: the difference of integers is exact, the product with a scale rounds once. A program may instead multiply the scales of a product's operands into one factor,
                    and divide that by the next scale: that rounds three times in place of twice, so each factor counts one more
    sum of n terms  (n + 3) u sum |x w|: what any order of additions loses at most, the products among them, plus the factor
    functions       the slope's bound times what comes in, and what the function itself is known to
    quantise        three more roundings of the quotient

A quotient within its bound of a tie may become either of two neighbours: `Quantised.low` and `high`. In 8 bits a network has these at its ends only, since later layers would multiply the
step: `quantise` draws another scale where it finds one, and otherwise the value is an end. In 16 bits quotients are so large that some values are always near a tie; a step is small there, and
what it may do to later layers goes into their bounds.
"""
from dataclasses import dataclass
from functools import lru_cache

import ml_dtypes
import numpy as np
import onnxruntime as ort
from onnx import helper, numpy_helper

from draw import type_of

U = 2.0**-24
MICROSOFT = "com.microsoft"


def opsets(version=21):
    return [helper.make_opsetid("", version), helper.make_opsetid(MICROSOFT, 1)]


@dataclass
class Real:
    name: str
    array: np.ndarray  # f32, by ONNX Runtime
    off: np.ndarray    # f64
    unit: float = None  # a power of two that all values are exact multiples of, whatever the order of additions; None: rounded


@dataclass
class Quantised:
    name: str
    array: np.ndarray
    scale: np.ndarray  # f32, of one element
    zero: np.ndarray   # of the array's type
    low: np.ndarray = None   # i64, the least and the greatest that are as right; None: the array itself
    high: np.ndarray = None


class Ambiguous(Exception):
    """A value lies too near to a tie, or ONNX Runtime has no kernel for it: another draw, please."""


def session(text):
    """ONNX Runtime computes each node as it is written."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(text, options, providers=["CPUExecutionProvider"])


kept_session = lru_cache(maxsize=1024)(session)


def run_node(node, arrays, version=21):
    """ONNX Runtime's outputs of one node. Arrays of 4 bits become initialisers: its Python cannot pass them."""
    given = {name: array for name, array in arrays.items() if array.dtype.itemsize == 1 and array.dtype.name.endswith("int4")}
    inputs = [helper.make_tensor_value_info(name, type_of(array), array.shape) for name, array in arrays.items() if name not in given]
    graph = helper.make_graph([node], "node", inputs, [helper.make_empty_tensor_value_info(name) for name in node.output if name],
                              [numpy_helper.from_array(array, name) for name, array in given.items()])
    model = helper.make_model(graph, opset_imports=opsets(version), ir_version=10)
    try:
        return kept_session(model.SerializeToString()).run(None, {name: array for name, array in arrays.items() if name not in given})
    except Exception as error:
        raise Ambiguous(f"ONNX Runtime: {error}") from error


def is_power_of_two(array):
    return bool(np.all(np.frexp(np.asarray(array, np.float64))[0] == 0.5))


def evaluate(op, *arrays, **attributes):
    """An operator on arrays, outside of the network: f64 is cut to f32, and a bound that was cut is raised again."""
    names = [f"a{i}" if array is not None else "" for i, array in enumerate(arrays)]
    given = {name: np.asarray(array, np.float32 if np.asarray(array).dtype == np.float64 else None) for name, array in zip(names, arrays) if name}
    while names and not names[-1]:
        names.pop()
    return run_node(helper.make_node(op, names, ["y"], **attributes), given)[0]


def bound(op, *arrays, **attributes):
    return evaluate(op, *arrays, **attributes).astype(np.float64) * (1 + 1e-5)


class Network:
    def __init__(self, draw, dyadic):
        self.d, self.dyadic = draw, dyadic  # dyadic: all scales are powers of two
        self.version = draw.one(13, 17, 19, 21, 21, 21, 21, 22)  # of ONNX's operators; what it has not is not drawn, as ONNX Runtime refuses it
        self.nodes, self.constants, self.feeds, self.arrays = [], {}, {}, {}
        self.quantised, self.ends = [], []  # ends: Real or Quantised whose values are compared

    # ---- names, nodes
    def fresh(self, prefix):
        return f"{prefix}{len(self.arrays)}"

    def constant(self, array, prefix="c"):
        name = self.fresh(prefix)
        self.constants[name] = self.arrays[name] = np.asarray(array)
        return name

    def input(self, array):
        name = self.fresh("x")
        self.feeds[name] = self.arrays[name] = array
        return name

    def node(self, op, *inputs, outputs=1, domain="", **attributes):
        """Adds a node and runs it; `inputs` are names. The name of its output, or names."""
        inputs = [name or "" for name in inputs]
        while inputs and not inputs[-1]:
            inputs.pop()
        names = [f"{self.fresh('v')}" + ("" if k == 0 else f"_{k}") for k in range(outputs)]
        node = helper.make_node(op, inputs, names, domain=domain, **attributes)
        results = run_node(node, {name: self.arrays[name] for name in inputs if name}, self.version)
        self.nodes.append(node)
        self.arrays.update(zip(names, results))
        return names[0] if outputs == 1 else names

    # ---- between integers and reals
    def draw_scale(self, around):
        """One near `around`: a power of two in dyadic networks."""
        value = around * self.d.uniform(0.4, 1.6)
        return np.float32(2.0 ** np.round(np.log2(value)) if self.dyadic else value)

    def quantisation(self, scale, zero):
        """(names, attributes) of a scale and a zero point in one of the forms that mean the same: scalars or one element, known when the model is compiled or only when it runs, a zero left out,
        ONNX's operators or those of com.microsoft."""
        d = self.d
        if d.chance(0.2):
            scale, zero = scale.reshape(1), zero.reshape(1)
        names = [self.input(scale) if d.chance(0.04) else self.constant(scale, "scale")]
        microsoft = d.chance(0.06) or (self.version < 21 and zero.dtype.itemsize == 2)
        if int(zero.item()) or microsoft or zero.dtype != np.uint8 or d.chance(0.5):
            names.append(self.input(zero) if d.chance(0.02) else self.constant(zero, "zero"))
        return names, {"domain": MICROSOFT} if microsoft else {}

    def dequantise(self, q):
        names, attributes = self.quantisation(q.scale, q.zero)
        return self.dequantised(q, self.node("DequantizeLinear", q.name, *names, **attributes))

    def dequantised(self, q, name):
        """What is known of it; `name` may be None where the network has no such node."""
        array = self.arrays[name] if name else evaluate("DequantizeLinear", q.array, q.scale, q.zero)
        exact = is_power_of_two(q.scale) and q.low is None
        off = np.zeros(array.shape) if is_power_of_two(q.scale) else 2 * U * np.abs(array).astype(np.float64)
        if q.low is not None:
            off += float(q.scale) * np.maximum(q.high - q.array.astype(np.int64), q.array.astype(np.int64) - q.low)
        return Real(name, array, off, float(q.scale) if exact else None)

    def quantise(self, x, kind, make=None):
        """QuantizeLinear of x, or make(scale, zero) -> name of a node that gives the same. Draws scales until no value is near a tie."""
        info, d = ml_dtypes.iinfo(kind), self.d
        least, most = int(info.min), int(info.max)
        below, above = float(x.array.min(initial=0)), float(x.array.max(initial=0))
        for _ in range(16):
            scale = self.draw_scale(max(above - below, 1e-3) / (most - least) * d.one(0.25, 0.7, *[1] * 6, 2.5))  # the first two saturate
            fitting = int(np.clip(np.round(least - below / scale), least, most))
            zero = d.one(*[fitting] * 9, least, (least + most + 1) // 2, most)
            quotient = x.array.astype(np.float64) / float(scale)
            off = np.zeros(quotient.shape) if x.unit is not None and is_power_of_two(scale) else x.off / float(scale) + 3 * U * np.abs(quotient)
            right = np.rint(quotient)
            low, high = (np.clip(np.where(off > 0, value, right) + zero, least, most).astype(np.int64) for value in (np.ceil(quotient - off - 0.5), np.floor(quotient + off + 0.5)))
            sure = bool((low == high).all())
            # Where nearly all values saturate at one, later layers show nothing.
            if sure and np.bincount((low - least).ravel()).max() <= 0.6 * low.size:
                break
        scale, zero = np.asarray(scale, np.float32), np.asarray(zero, kind)
        if make:
            before = len(self.nodes)
            name = make(self.constant(scale, "scale"), self.constant(zero, "zero"))
            own = self.arrays[name].astype(np.int64)
            if (own < low).any() or (own > high).any():
                del self.nodes[before:]
                raise Ambiguous("ONNX Runtime's kernel is coarser than its definition")
        else:
            names, attributes = self.quantisation(scale, zero)
            name = self.node("QuantizeLinear", x.name, *names, **attributes)
        q = Quantised(name, self.arrays[name], scale, zero, *((None, None) if sure else (low, high)))
        (self.quantised if sure or most - least > 255 else self.ends).append(q)
        return q

    # ---- the model
    def model(self, symbols=False):
        read = {name for node in self.nodes for name in node.input}
        seen = self.d.one(0, 0.5, 1)  # also values that others read: an error shows less the more layers are behind it
        ends = {end.name: end for end in self.ends} | {q.name: q for q in self.quantised if q.name not in self.feeds and (q.name not in read or self.d.chance(seen))}
        if not ends:
            raise Ambiguous("nothing to compare")
        # What nothing reads, and no end needs, goes.
        needed, kept = set(ends), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                kept.insert(0, node)
                needed |= set(node.input)
        feeds = {name: array for name, array in self.feeds.items() if name in needed}
        batch = next(iter(self.feeds))  # the input that all others follow, unlike scales and weights that only a run knows
        shape = lambda name, array: ["N" if symbols and name == batch and k == 0 else extent for k, extent in enumerate(array.shape)]
        info = lambda name, array, given: helper.make_tensor_value_info(name, type_of(array), given)
        graph = helper.make_graph(kept, "network", [info(name, array, shape(name, array)) for name, array in feeds.items()],
                                  [info(name, self.arrays[name], None if symbols else self.arrays[name].shape) for name in ends],
                                  [numpy_helper.from_array(array, name) for name, array in self.constants.items() if name in needed])
        if self.d.chance(0.3):  # exporters state the types of what is inside
            graph.value_info.extend(info(name, self.arrays[name], None) for node in kept for name in node.output if name and name not in ends)
        model = helper.make_model(graph, opset_imports=opsets(self.version), ir_version=10)
        return model, feeds, list(ends.values())


def verdict(end, actual):
    """(what is wrong or None, how many differ as they may)"""
    actual = np.asarray(actual)
    if actual.dtype != end.array.dtype or actual.shape != end.array.shape:
        return f"{actual.dtype}{list(actual.shape)} is not {end.array.dtype}{list(end.array.shape)}", 0
    given, wanted = actual.astype(np.float64), end.array.astype(np.float64)
    if isinstance(end, Quantised):
        low, high = (end.low, end.high) if end.low is not None else (wanted, wanted)
    else:
        low, high = wanted - end.off, wanted + end.off
    wrong = ~((given >= low) & (given <= high))
    if not wrong.any():
        return None, int((given != wanted).sum()) if isinstance(end, Quantised) else 0
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements of {end.name} differ; {list(at)} is {actual[at]}, not {end.array[at]}, allowed [{low[at]:.9g}, {high[at]:.9g}]", 0

