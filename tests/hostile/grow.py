"""Random valid graphs, node by node. ONNX Runtime runs each node as it is added, so that shapes, values and their errors are known while the next one is chosen.

An error bound goes with each value: how far two right implementations may lie apart there, as the largest absolute difference. A node multiplies those of its inputs by how much
it can magnify them (its Lipschitz constant at these values) and adds its own rounding: what tests/differential allows one operator, or, for sums of products, what docs/numerics.md
promises. Values that are integers, or are moved only, have the bound of what they came from; zero is exact. What jumps (Floor, comparisons, ArgMax, casts to integers) only
reads values that lie further from the jump than their error.
"""
import warnings
from dataclasses import dataclass

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
np.seterr(all="ignore")
warnings.simplefilter("ignore")

OPSET = 21
RELATIVE = {np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-10}  # as in tests/differential/oracles.py
ABSOLUTE = {np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-11}
MIXED = {np.dtype(np.float32): 2.0 ** -16, np.dtype(np.float64): 2.0 ** -45}  # docs/numerics.md: of the product of norms; doubles are never mixed
WORST = 5e-3     # of a value's magnitude: a node that makes more of its inputs' errors is not added
LARGEST = 1e4    # values beyond that are not added
MOST_ELEMENTS = 4096
FLOATS, INTEGERS = (np.dtype(np.float32), np.dtype(np.float64)), (np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.uint8))


class Unfit(Exception):
    """This node cannot be added; another is tried."""


@dataclass
class Value:
    name: str
    array: np.ndarray
    error: float = 0.0
    used: bool = False

    @property
    def shape(self):
        return self.array.shape

    @property
    def is_float(self):
        return self.array.dtype in FLOATS

    @property
    def size(self):
        """The largest magnitude."""
        return float(np.abs(self.array.astype(np.float64)).max()) if self.array.size else 0.0

    @property
    def least(self):
        return float(np.abs(self.array.astype(np.float64)).min()) if self.array.size else 0.0


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def info(name, array, extents=None):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), list(array.shape) if extents is None else extents)


class Graph:
    def __init__(self, seed):
        self.seed = seed
        self.random = np.random.default_rng([9173, seed])
        self.nodes, self.values, self.inputs, self.constants = [], [], [], []
        self.refused = 0

    # ---- drawing ----
    def chance(self, p):
        return self.random.random() < p

    def among(self, items):
        items = list(items)
        if not items:
            raise Unfit
        return items[int(self.random.integers(len(items)))]

    def between(self, low, high):
        return int(self.random.integers(low, high + 1))

    def value(self, wanted=lambda v: True):
        """A value, of the latest mostly: chains grow long."""
        found = [v for v in self.values if wanted(v)]
        if not found:
            raise Unfit
        value = found[-1 - min(int(self.random.exponential(2.5)), len(found) - 1)] if self.chance(0.75) else self.among(found)
        return value

    def fresh(self, shape, dtype):
        dtype = np.dtype(dtype)
        if dtype == bool:
            return self.random.random(shape) < 0.5
        if dtype in FLOATS:
            return np.asarray(self.random.standard_normal(shape)).astype(dtype)
        return np.asarray(self.random.integers(0 if dtype == np.uint8 else -9, 10, shape)).astype(dtype)

    # ---- what the graph holds ----
    def constant(self, array):
        array = np.asarray(array)
        value = Value(f"c{len(self.constants)}", array)
        self.constants.append(value)
        return value

    def input(self, shape, dtype):
        value = Value(f"in{len(self.inputs)}", self.fresh(shape, dtype))
        self.inputs.append(value)
        self.values.append(value)
        return value

    def operand(self, shape, dtype):
        """A weight, mostly; else one more input of the graph."""
        array = self.fresh(shape, dtype)
        if self.chance(0.85):
            return self.constant(array)
        value = Value(f"in{len(self.inputs)}", array)
        self.inputs.append(value)
        return value

    def add(self, op, inputs, attributes=None, error=0.0, outputs=1, rounds=True, captured=(), keep=None):
        """A node with its values. `error`: what its inputs' errors become, or a function of its results that tells; `rounds`: does it compute floats?"""
        names = [f"v{len(self.nodes)}_{k}" for k in range(outputs)]
        node = helper.make_node(op, [v.name if v is not None else "" for v in inputs], names, f"node{len(self.nodes)}", **(attributes or {}))
        given = {v.name: v.array for v in [*inputs, *captured] if v is not None}
        model = helper.make_model(helper.make_graph([node], "one", [info(n, a) for n, a in given.items()], [helper.make_empty_tensor_value_info(n) for n in names]),
                                  opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        try:
            results = [np.asarray(r) for r in session_of(model).run(None, given)]
        except Exception as refused:
            self.refused += 1
            raise Unfit from refused
        made = []
        for name, array in zip(names, results):
            value = Value(name, array)
            if array.size > MOST_ELEMENTS or array.ndim > 6 or value.size > (LARGEST if value.is_float else 1 << 20) or array.size == 0 and self.chance(0.9):
                raise Unfit
            if value.is_float:
                if not np.isfinite(array).all():
                    raise Unfit
                value.error = float(error(value) if callable(error) else error) + (ABSOLUTE[array.dtype] + RELATIVE[array.dtype] * value.size if rounds else 0.0)
                if not value.error <= WORST * max(1.0, value.size):
                    raise Unfit
            made.append(value)
        for v in [*inputs, *captured]:
            if v is not None:
                v.used = True
        self.nodes.append(node)
        self.values += [v for k, v in enumerate(made) if keep is None or k in keep]
        return made if outputs > 1 else made[0]

    def ints(self, values):
        return self.constant(np.asarray(values, np.int64))

    # ---- the whole ----
    def model(self, symbols):
        """`symbols`: extent of the inputs' first axes -> name; None: none."""
        def extents(value):
            return [symbols.get(e, e) if axis == 0 and symbols and e > 1 else e for axis, e in enumerate(value.shape)]

        written = [v for v in self.values if v not in self.inputs]
        sinks = [v for v in written if not v.used]
        extra = [v for v in written if v.used and self.chance(0.08)]
        self.outputs = (sinks + extra)[:12] or written[-1:]
        graph = helper.make_graph(self.nodes, f"random{self.seed}", [info(v.name, v.array, extents(v)) for v in self.inputs],
                                  [helper.make_tensor_value_info(v.name, helper.np_dtype_to_tensor_dtype(v.array.dtype), [None] * v.array.ndim) for v in self.outputs],
                                  [numpy_helper.from_array(v.array, v.name) for v in self.constants])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


STEPS = []  # (function of a Graph, weight)


def step(weight=1):
    def register(function):
        STEPS.append((function, weight))
        return function
    return register


def make(seed):
    """A Graph of 10 to 40 nodes."""
    import steps  # noqa: F401  which registers what can be added

    graph = Graph(seed)
    batch = graph.among((1, 2, 3, 4))
    main = graph.among((np.float32,) * 4 + (np.float64,))
    layouts = {"image": (batch, graph.among((1, 3, 4, 8)), graph.between(4, 11), graph.between(4, 11)), "matrix": (graph.between(2, 9), graph.between(2, 17)),
               "sequence": (batch, graph.between(2, 7), graph.between(2, 16)), "vector": (graph.between(1, 20),)}
    graph.input(layouts[graph.among(("image", "image", "matrix", "sequence", "sequence", "vector"))], main)
    for _ in range(graph.between(0, 2)):
        graph.input(layouts[graph.among(sorted(layouts))], graph.among((main, np.int64, np.int32, np.uint8, np.bool_)))
    wanted = graph.between(10, 40)
    functions, weights = zip(*STEPS)
    weights = np.array(weights, float) / sum(weights)
    for _ in range(400):
        if len(graph.nodes) >= wanted:
            break
        kept = len(graph.nodes), len(graph.values), len(graph.constants), len(graph.inputs)
        used = [v.used for v in graph.values]
        try:
            functions[graph.random.choice(len(functions), p=weights)](graph)
        except Unfit:  # nothing of it stays
            del graph.nodes[kept[0]:], graph.values[kept[1]:], graph.constants[kept[2]:], graph.inputs[kept[3]:]
            for v, was in zip(graph.values, used):
                v.used = was
    style = graph.among(("none", "none", "shared", "each"))
    symbols = {"none": None, "shared": {e: f"n{e}" for e in range(2, 100)}}.get(style)
    model = graph.model(symbols)
    if style == "each":  # every extent of every input
        for i in model.graph.input:
            for axis, d in enumerate(i.type.tensor_type.shape.dim):
                if d.dim_value > 1:
                    d.dim_param = f"{i.name}_{axis}"
    return graph, model
