"""Random valid graphs, node by node. ONNX Runtime runs each node as it is added, so that shapes, values and their errors are known while the next one is chosen.

An error bound goes with each value: how far two right implementations may lie apart there, as the largest absolute difference. A node multiplies those of its inputs by how much
it can magnify them (its Lipschitz constant at these values) and adds its own rounding: what tests/differential allows one operator, or, for sums of products, what docs/numerics.md
promises. Values that are integers, or are moved only, have the bound of what they came from; zero is exact. What jumps (Floor, comparisons, ArgMax, casts to integers) only
reads values that lie further from the jump than their error.

Where inputs have symbols for extents the graph grows in several worlds at once (values.py): a node that is not valid in all of them is not added.
"""
import warnings

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

from values import ABSOLUTE, BOOL, FLOATS, RELATIVE, STRING, TYPES, Unfit, Value, type_of

onnxruntime.set_default_logger_severity(4)
np.seterr(all="ignore")
warnings.simplefilter("ignore")

OPSETS = {21: 10, 22: 10, 23: 11, 24: 12, 25: 13}  # with the version of ONNX's format that each needs; the steps write nodes as from 18 on
WORST = 5e-3     # of a value's magnitude: a node that makes more of its inputs' errors is not added
LARGEST = 1e4    # values beyond that are not added
MOST_ELEMENTS, MOST_OF_LARGE = 4096, 1 << 17
MOST_TRIES = 12  # for each node that is wanted
DOMAINS = {"com.microsoft": 1, "ai.onnx.ml": 4}
WORDS = ["", "a", "B", "ab", "Zoo", "42", "-1.5", "straße", "日本", "a b", "x,y", "Abc", "tail "]


def session_of(model, level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def opset_imports(nodes, opset):
    """What the nodes need, those in regions too."""
    domains = set()

    def walk(some):
        for node in some:
            domains.add(node.domain)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    walk(attribute.g.node)

    walk(nodes)
    return [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, DOMAINS[d]) for d in sorted(domains) if d in DOMAINS]


class Graph:
    def __init__(self, seed):
        self.seed = seed
        self.random = np.random.default_rng([9173, seed])
        self.opset = self.among((21, 21, 22, 23, 24, 25))
        self.nodes, self.values, self.inputs, self.constants = [], [], [], []
        self.symbols = {}  # name -> its extent in each world
        self.dims = {}     # name of an input -> its extents: integers and symbols
        self.worlds, self.world = 1, 0
        self.is_large = self.chance(0.04)  # so that there is work for several threads
        self.most_elements = MOST_OF_LARGE if self.is_large else MOST_ELEMENTS
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
        if low > high:
            raise Unfit
        return int(self.random.integers(low, high + 1))

    def value(self, wanted=lambda v: True, wild=False):
        """A value, of the latest mostly: chains grow long. `wild`: it may hold infinities."""
        found = [v for v in self.values if wanted(v) and (wild or v.is_finite)]
        if not found:
            raise Unfit
        return found[-1 - min(int(self.random.exponential(2.5)), len(found) - 1)] if self.chance(0.75) else self.among(found)

    def in_worlds(self):
        """Each world in turn; at the end the first again."""
        try:
            for self.world in range(self.worlds):
                yield self.world
        finally:
            self.world = 0

    def everywhere(self, holds):
        """Unfit unless it holds in all worlds."""
        if not all([holds() for _ in self.in_worlds()]):
            raise Unfit

    def fresh(self, shape, dtype, plain=False):
        """Mostly of the size of 1; unless `plain`, some are all equal, tiny or large."""
        dtype = np.dtype(dtype)
        if dtype == BOOL:
            return np.asarray(self.random.random(shape) < 0.5)
        if dtype == STRING:
            return np.array([self.among(WORDS) for _ in range(int(np.prod(shape)))], object).reshape(tuple(shape))
        if dtype in FLOATS:
            if not plain and self.chance(0.12):
                return np.full(shape, self.among((0, 1, -1, 2, 0.5)), dtype)
            scale = self.among((1e-3, 1e-6, 20)) if not plain and self.chance(0.08) else 1
            return np.asarray(self.random.standard_normal(shape) * scale).astype(dtype)
        if not plain and self.chance(0.1):
            return np.full(shape, self.among((0, 1, 2)), dtype)
        return np.asarray(self.random.integers(0 if dtype.kind == "u" else -9, 10, shape)).astype(dtype)

    # ---- what the graph holds ----
    def constant(self, array):
        array = np.asarray(array)
        value = Value(self, f"c{len(self.constants)}", [array] * self.worlds)
        self.constants.append(value)
        return value

    def input(self, dims, dtype, plain=False, listed=True):
        """`dims`: extents, and names of symbols. `listed`: later nodes may read it, too."""
        shapes = [[self.symbols[d][k] if isinstance(d, str) else d for d in dims] for k in range(self.worlds)]
        value = Value(self, f"in{len(self.inputs)}", [self.fresh(shape, dtype, plain) for shape in shapes])
        return self.add_input(value, dims, listed)

    def add_input(self, value, dims, listed=True):
        self.inputs.append(value)
        self.dims[value.name] = list(dims)
        if listed:
            self.values.append(value)
        return value

    def given(self, array):
        """An input of these values, or a constant."""
        if self.chance(0.5):
            return self.constant(array)
        return self.add_input(Value(self, f"in{len(self.inputs)}", [np.asarray(array)] * self.worlds), np.shape(array), False)

    def operand(self, shape, dtype, plain=False):
        """A weight, mostly, some of which others have, too; else one more input of the graph."""
        like = [c for c in self.constants if c.shape == tuple(shape) and c.dtype == dtype]
        if like and self.chance(0.3):
            return self.among(like)
        return self.constant(self.fresh(shape, dtype, plain)) if self.chance(0.85) else self.input(shape, dtype, plain, listed=False)

    def add(self, op, inputs, attributes=None, error=None, outputs=1, rounds=True, captured=(), keep=None, domain="", wild=False):
        """A node with its values. `error`: a function of each result that tells what its inputs' errors become; `rounds`: does it compute floats? `outputs`: how many, or which of
        them are there. `wild`: results may be infinite."""
        there = [True] * outputs if isinstance(outputs, int) else list(outputs)
        names = [f"v{len(self.nodes)}_{k}" if yes else "" for k, yes in enumerate(there)]
        written = [v.name if v is not None else "" for v in inputs]
        while written and not written[-1]:
            written.pop()
        node = helper.make_node(op, written, names, f"node{len(self.nodes)}", domain=domain, **(attributes or {}))
        made = self.add_nodes([node], [*inputs, *captured], [n for n in names if n], error, rounds, keep, wild)
        return made if len(made) > 1 else made[0]

    def add_nodes(self, nodes, inputs, names, error=None, rounds=True, keep=None, wild=False):
        """Nodes that belong together, of which only the values `names` are for others to read."""
        given = {v.name: v for v in inputs if v is not None}
        infos = [helper.make_tensor_value_info(n, type_of(v.dtype), [None] * v.rank) for n, v in given.items()]
        model = helper.make_model(helper.make_graph(nodes, "some", infos, [helper.make_empty_tensor_value_info(n) for n in names]), opset_imports=opset_imports(nodes, self.opset), ir_version=OPSETS[self.opset])
        made = [Value(self, name, [], []) for name in names]
        try:
            session = session_of(model)
            for _ in self.in_worlds():
                results = session.run(None, {n: v.array for n, v in given.items()})
                for value, array in zip(made, results):
                    if not isinstance(array, (np.ndarray, np.generic)):
                        raise Unfit
                    value.arrays.append(np.asarray(array))
        except Exception as refused:
            self.refused += 1
            raise Unfit from refused
        for value in made:
            if len({a.ndim for a in value.arrays}) != 1 or value.arrays[0].dtype not in TYPES:
                raise Unfit
        for _ in self.in_worlds():
            for value in made:
                value.errors.append(self.checked_error(value, error, rounds, wild))
        for v in given.values():
            v.used = True
        self.nodes += nodes
        self.values += [v for k, v in enumerate(made) if keep is None or k in keep]
        return made

    def checked_error(self, value, error, rounds, wild):
        """The bound of a result in this world. Unfit if it is too far, too large or of no use."""
        array = value.array
        if array.size > self.most_elements or array.ndim > 6 or value.size > (LARGEST if value.is_float else 2.0 ** 63) or array.size == 0 and self.world == 0 and self.chance(0.9):
            raise Unfit
        if not value.is_float:
            return 0.0
        if not (np.isfinite(array).all() or wild and not np.isnan(array).any()):
            raise Unfit
        bound = float(error(value)) if error else 0.0
        bound += ABSOLUTE[array.dtype] + RELATIVE[array.dtype] * value.size if rounds else 0.0
        if not bound <= WORST * max(1.0, value.size) * (4 if array.dtype == np.float16 else 1):
            raise Unfit
        return bound

    def ints(self, values):
        return self.constant(np.asarray(values, np.int64))

    # ---- the whole ----
    def choose_outputs(self):
        written = [v for v in self.values if v not in self.inputs]
        sinks = [v for v in written if not v.used]
        extra = [v for v in written if v.used and self.chance(0.08)]
        self.outputs = (sinks + extra)[:12] or written[-1:]

    def model(self):
        infos = [helper.make_tensor_value_info(v.name, type_of(v.dtype), self.dims[v.name]) for v in self.inputs]
        results = [helper.make_tensor_value_info(v.name, type_of(v.dtype), [None] * v.rank) for v in self.outputs]
        graph = helper.make_graph(self.nodes, f"random{self.seed}", infos, results, [numpy_helper.from_array(v.array, v.name) for v in self.constants])
        return helper.make_model(graph, opset_imports=opset_imports(self.nodes, self.opset), ir_version=OPSETS[self.opset])

    def feeds(self, world):
        return {v.name: v.arrays[world] for v in self.inputs}


STEPS = []  # (function of a Graph, weight)


def step(weight=1):
    def register(function):
        STEPS.append((function, weight))
        return function
    return register


def draw_symbols(graph):
    """In a third of the graphs: two to four worlds, in which some extents differ. One extent of 1, in a few graphs one of 0."""
    if not graph.chance(0.35):
        return
    graph.worlds = graph.between(2, 4)
    for name in ("N", "S", "other name"):
        extents = [graph.between(2, 6)]
        while len(extents) < graph.worlds:
            extents.append(graph.among((1, 1, 3, 7, graph.between(1, 9), 0 if graph.chance(0.3) else 8)))
        graph.symbols[name] = extents


def draw_inputs(graph):
    batch = graph.among((1, 2, 3, 4))
    main = graph.among((np.float32,) * 9 + (np.float64, np.float16, np.uint8, np.int8))
    layouts = {"image": (batch, graph.among((1, 3, 4, 8)), graph.between(4, 11), graph.between(4, 11)), "matrix": (graph.between(2, 9), graph.between(2, 17)),
               "sequence": (batch, graph.between(2, 7), graph.between(2, 16)), "vector": (graph.between(1, 20),), "scalar": (), "volume": (batch, 2, 3, 4, graph.between(2, 5)),
               "wide": (graph.between(1, 6), graph.between(31, 70)), "channels": (graph.between(1, 2), graph.among((16, 17, 32)), graph.between(3, 6), graph.between(3, 6))}
    if graph.is_large:
        layouts |= {"image": (1, graph.between(8, 40), graph.between(20, 36), graph.between(20, 36)), "matrix": (graph.between(50, 200), graph.between(60, 300)), "sequence": (2, 64, graph.between(30, 128))}
    names = list(graph.symbols)

    def dims_of(layout):
        dims = list(layouts[layout])
        if names and dims and graph.chance(0.8):
            dims[0] = "N"
            if len(dims) > 2 and graph.chance(0.4):
                dims[2 if layout in ("image", "channels") else 1] = graph.among(names)
        return dims

    graph.input(dims_of(graph.among(("image", "matrix", "sequence") if graph.is_large else ("image", "image", "matrix", "matrix", "sequence", "sequence", "vector", "volume", "wide", "channels"))), main)
    for _ in range(graph.between(0, 2)):
        kinds = (main, main, np.int64, np.int32, np.uint8, np.bool_, np.int8, np.int16, np.uint16, np.uint32, np.uint64, np.object_)
        graph.input(dims_of(graph.among(sorted(layouts))), graph.among(kinds))


def make(seed, most=None):
    """A Graph of 2 to 12 nodes, one in seven of up to 40; with its model, and before anything is dressed."""
    import steps  # noqa: F401  which registers what can be added

    graph = Graph(seed)
    draw_symbols(graph)
    draw_inputs(graph)
    wanted = graph.between(2, 12) if graph.chance(0.85) else graph.between(13, 40)
    wanted = min(wanted, most or wanted, 8 if graph.is_large else wanted)
    functions, weights = zip(*STEPS)
    weights = np.array(weights, float) / sum(weights)
    for _ in range(MOST_TRIES * wanted):
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
    graph.choose_outputs()
    return graph
