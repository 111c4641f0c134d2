"""A case: one node (or a graph), what it is fed, how its inputs reach the model, how exactly its result is known."""
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, numpy_helper

from draw import type_of

GENERATORS = {}  # operator -> (function of a Draw that gives a Spec, weight)


@dataclass
class Spec:
    op: str
    inputs: list                       # arrays; None: absent; a list: a sequence of tensors; a dict: a map
    attributes: dict = field(default_factory=dict)
    outputs: object = 1                # how many, or which of them are there: [True, False, True]
    opset: int = 21
    domain: str = ""
    version: int = 1                   # of the domain, where it is not ai.onnx
    constants: tuple = ()              # inputs that usually are initialisers: weights, axes, shapes
    fixed: tuple = ()                  # inputs that always are
    rtol: float = None                 # None: as exact as the element type lets one expect (oracles.tolerance)
    atol: float = None
    int_atol: int = 0
    run_time: bool = True              # may the inputs of `constants` be inputs of the graph?
    symbols: bool = True               # may extents be symbols? Those of `constants` and `rigid` never are
    rigid: tuple = ()
    note: str = ""                     # what the table of disagreements can ask for
    second: object = None              # a function of the Spec that is asked in place of onnx.reference
    nodes: list = None                 # a graph instead of one node: inputs x0, x1, ..., outputs y0, ...


def generator(*ops, weight=1):
    """Registers a function (draw, op) -> Spec for each of the operators. `weight`: how many cases it gets in a round."""
    def register(function):
        for op in ops:
            GENERATORS[op] = (function, weight)
        return function
    return register


@dataclass
class Case:
    name: str
    spec: Spec
    initialised: set                   # numbers of the inputs that are initialisers
    names_of_extents: dict = None      # extent -> symbol, or "each" for a symbol of its own; None: constants


def arrange(name, spec, draw):
    """Decides how the inputs reach the model."""
    present = [i for i, x in enumerate(spec.inputs) if x is not None]
    tensors = {i for i in present if isinstance(spec.inputs[i], np.ndarray)}
    initialised = set(spec.fixed) & set(present)
    as_inputs = spec.run_time and draw.chance(0.25)
    if not as_inputs:
        initialised |= set(spec.constants) & tensors
    if draw.chance(0.06):
        initialised |= {i for i in tensors if draw.chance(0.5)}
    symbols = draw.one("shared", "each") if spec.symbols and draw.chance(0.17) else None
    return Case(name, spec, initialised, symbols)


def value_info(name, value, symbols=None, number=0):
    if isinstance(value, list):
        return helper.make_tensor_sequence_value_info(name, type_of(value[0]), None)
    if isinstance(value, dict):
        key, item = next(iter(value.items()))
        kind = type_of(np.array(item, object if isinstance(item, str) else None))
        key_kind = onnx.TensorProto.STRING if isinstance(key, str) else onnx.TensorProto.INT64
        return helper.make_value_info(name, helper.make_map_type_proto(key_kind, helper.make_tensor_type_proto(kind, [])))
    shape = list(value.shape)
    if symbols == "shared":
        shape = [e if e == 1 else f"n{e}" for e in shape]
    elif symbols == "each":
        shape = [e if e == 1 else f"d{number}_{k}" for k, e in enumerate(shape)]
    return helper.make_tensor_value_info(name, type_of(value), shape)


def names_of_outputs(spec):
    there = [True] * spec.outputs if isinstance(spec.outputs, int) else spec.outputs
    return [f"y{k}" if yes else "" for k, yes in enumerate(there)]


def model_of(spec, initialised, symbols=None, outputs=None, before=(), after=(), hidden=()):
    """`outputs`: value infos, else untyped. `before`, `after`: nodes around it; `hidden`: inputs that are given otherwise."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(spec.inputs)]
    results = names_of_outputs(spec)
    nodes = list(spec.nodes) if spec.nodes is not None else [helper.make_node(spec.op, trim(names), results, domain=spec.domain, **spec.attributes)]
    present = [(i, x) for i, x in enumerate(spec.inputs) if x is not None and i not in hidden]
    rigid = {*spec.constants, *spec.rigid}
    inputs = [value_info(names[i], x, None if i in rigid else symbols, i) for i, x in present if i not in initialised]
    initialisers = [numpy_helper.from_array(x, names[i]) for i, x in present if i in initialised]
    outputs = outputs or [helper.make_empty_tensor_value_info(name) for name in results if name]
    graph = helper.make_graph(list(before) + nodes + list(after), "case", inputs, outputs, initialisers)
    opsets = [helper.make_opsetid("", spec.opset)] + ([helper.make_opsetid(spec.domain, spec.version)] if spec.domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=max(8, min(13, helper.find_min_ir_version_for(opsets, True))))


def trim(names):
    """Without the absent ones at the end."""
    names = list(names)
    while names and not names[-1]:
        names.pop()
    return names


def describe(spec):
    """One line that says what is particular of a case."""
    def of(x):
        return "-" if x is None else f"{x.dtype.name}{list(x.shape)}" if isinstance(x, np.ndarray) else type(x).__name__
    def brief(value):
        if isinstance(value, onnx.TensorProto):
            return f"<{value.dims[0]} of type {value.data_type}>" if len(value.dims) == 1 else "<tensor>"
        return f"<{len(value)}, {sorted(set(map(str, value)))[:8]}>" if isinstance(value, list) and len(value) > 12 else value
    attributes = {name: brief(value) for name, value in spec.attributes.items()}
    return f"opset {spec.opset} {attributes} {' '.join(of(x) for x in spec.inputs)}"
