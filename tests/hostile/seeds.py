"""Valid forms of every operator, at every version that has a schema: what forms.py bends.

They come from ONNX's backend tests (those of 1.12 hold old versions), from the random cases of tests/differential and from the cases of tests/contrib. A version that none
of them holds gets the form of its nearest version, with inputs as attributes, or the other way round, where the schema says so; an operator that none of them knows gets
small inputs of the types that its schema names.
"""
import contextlib
import functools
import importlib
import io
import os
import pathlib
import sys
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, TypeProto, defs, helper, numpy_helper

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "python"), str(TESTS / "differential"), str(TESTS / "contrib")]
MOST_ELEMENTS = 5000  # of a seed's tensors: forms are many, and each is to compile in milliseconds
MICROSOFT = "com.microsoft"


@dataclass
class Value:
    """An input. `tensor`: what it holds where it is a constant, or None for what no constant can be."""

    type: TypeProto
    tensor: TensorProto = None


@dataclass
class Seed:
    domain: str
    op: str
    since: int                                  # the schema's version
    opsets: dict                                # domain -> version
    node: onnx.NodeProto                        # inputs x0, x1, ... or blank; outputs y0, y1, ... or blank
    inputs: list                                # a Value, or None for a blank one
    constants: set = field(default_factory=set)  # numbers of the inputs that are better constants: shapes, axes, weights
    source: str = ""

    @property
    def name(self):
        return (self.domain + "." if self.domain else "") + f"{self.op}-{self.since}"


class Schema:
    """What bends ask of a schema, of ONNX's or ONNX Runtime's."""

    def __init__(self, schema):
        self.domain, self.name, self.since = schema.domain, schema.name, schema.since_version
        self.least, self.most = schema.min_input, schema.max_input
        self.least_outputs, self.most_outputs = schema.min_output, schema.max_output
        self.inputs = [(i.name, self.types_of(i, schema)) for i in schema.inputs]
        self.attributes = {name: (int(str_or_int(a.type)), a.required) for name, a in schema.attributes.items()}

    @staticmethod
    def types_of(parameter, schema):
        text = getattr(parameter, "type_str", None) or getattr(parameter, "typeStr", "")
        for constraint in schema.type_constraints:
            if text == (getattr(constraint, "type_param_str", None) or getattr(constraint, "typeParamStr", "")):
                return sorted(getattr(constraint, "allowed_type_strs", None) or getattr(constraint, "allowedTypeStrs", ()) or ())
        return [text]


def str_or_int(kind):
    return kind.value if hasattr(kind, "value") else kind


@functools.lru_cache(maxsize=None)
def schemas():
    """(domain, operator) -> {version: Schema}, in order."""
    found = {}
    for schema in defs.get_all_schemas_with_history():
        found.setdefault((schema.domain, schema.name), {})[schema.since_version] = Schema(schema)
    import onnxruntime.capi.onnxruntime_pybind11_state as state

    for schema in state.get_all_operator_schema():
        if schema.domain == MICROSOFT:
            found.setdefault((schema.domain, schema.name), {})[schema.since_version] = Schema(schema)
    return {key: dict(sorted(found[key].items())) for key in sorted(found)}


def since_of(domain, op, version):
    return max((v for v in schemas().get((domain, op), {}) if v <= version), default=None)


def tensor_type(elements, extents):
    return helper.make_tensor_type_proto(elements, extents)


def seed_of(model, values, source, constants=()):
    """The Seed of a model with one node; None where there are more, or they are large. `values`: name -> TensorProto."""
    graph = model.graph
    if len(graph.node) != 1 or model.functions or graph.sparse_initializer:
        return None
    opsets = {"" if o.domain == "ai.onnx" else o.domain: o.version for o in model.opset_import}
    node = onnx.NodeProto()
    node.CopyFrom(graph.node[0])
    domain = "" if node.domain == "ai.onnx" else node.domain
    since = since_of(domain, node.op_type, opsets.get(domain, 0))
    if since is None:
        return None
    held = {t.name: t for t in graph.initializer}
    types = {i.name: i.type for i in graph.input}
    inputs, fixed = [], set()
    for i, name in enumerate(node.input):
        if not name:
            inputs.append(None)
            continue
        tensor = held.get(name) or values.get(name)
        if isinstance(tensor, TensorProto):
            if np.prod(tensor.dims, dtype=float) > MOST_ELEMENTS or tensor.external_data:
                return None
            tensor = plain(tensor)
        else:
            tensor = None
        type = types.get(name) if name in types else tensor and tensor_type(tensor.data_type, list(tensor.dims))
        if type is None:
            return None
        if tensor is not None and type.HasField("tensor_type"):
            type = tensor_type(tensor.data_type, list(tensor.dims))
        inputs.append(Value(type, tensor))
        if tensor is not None and (name in held or i in constants or is_parameter(tensor, i)):
            fixed.add(i)
    if len(fixed) == len(inputs) and inputs and inputs[0] is not None:
        fixed.discard(0)
    rename(node)
    return Seed(domain, node.op_type, since, opsets, node, inputs, fixed, source)


def is_parameter(tensor, number):
    """Is it a shape, axes or a setting, which models mostly hold as constants?"""
    return number > 0 and (tensor.data_type in (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL) or np.prod(tensor.dims, dtype=int) <= 1)


def rename(node):
    node.name = "node"
    node.doc_string = ""
    inputs = [f"x{i}" if name else "" for i, name in enumerate(node.input)]
    outputs = [f"y{i}" if name else "" for i, name in enumerate(node.output)]
    del node.input[:], node.output[:]
    node.input.extend(inputs)
    node.output.extend(outputs)


def plain(tensor):
    """The same with raw data, strings apart."""
    if tensor.data_type == TensorProto.STRING or tensor.HasField("raw_data"):
        copy = TensorProto()
        copy.CopyFrom(tensor)
        return copy
    return numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name)


def of_suite(folder):
    """Those of a folder with the layout of ONNX's backend tests."""
    for case in sorted(pathlib.Path(folder).glob("test_*")):
        path = case / "model.onnx"
        if not path.exists() or path.stat().st_size > 1 << 17:
            continue
        model = onnx.load(path)
        if len(model.graph.node) != 1:
            continue
        values = {}
        for k, info in enumerate(model.graph.input):
            data = case / "test_data_set_0" / f"input_{k}.pb"
            if data.exists() and info.type.HasField("tensor_type"):
                tensor = TensorProto()
                with contextlib.suppress(Exception):
                    tensor.ParseFromString(data.read_bytes())
                    values[info.name] = tensor
        yield seed_of(model, values, case.name)


def of_differential(each=3):
    from draw import Draw
    from spec import GENERATORS, model_of

    importlib.import_module("families")
    import zlib

    for op in GENERATORS:
        for number in range(each):
            try:
                spec = GENERATORS[op][0](Draw(1, zlib.crc32(op.encode()), number), op)
                model = spec and spec.nodes is None and model_of(spec, set(spec.fixed))
            except Exception:  # a generator that needs another draw
                model = None
            if model:
                values = {f"x{i}": numpy_helper.from_array(x, f"x{i}") for i, x in enumerate(spec.inputs) if isinstance(x, np.ndarray)}
                yield seed_of(model, values, f"{op}_{number}", {*spec.constants, *spec.fixed})


def of_contrib():
    import harness

    folder = TESTS / "contrib"
    for path in sorted(folder.glob("check_*.py")):
        importlib.import_module(path.stem)
    for check in harness.CHECKS:
        if check.refused is None:
            feeds = check.feeds()
            values = {name: numpy_helper.from_array(np.asarray(x), name) for name, x in feeds.items() if isinstance(x, (np.ndarray, np.generic))} if isinstance(feeds, dict) else {}
            yield seed_of(check.model(), values, check.name)
    for path in sorted(folder.glob("cases_*.py")):
        for case in importlib.import_module(path.stem).cases():
            yield seed_of(case.model, {name: numpy_helper.from_array(np.asarray(x), name) for name, x in case.feeds.items()}, case.name)


def adapted(seed, schema):
    """The same operator's form at another version, as far as schemas tell."""
    node = onnx.NodeProto()
    node.CopyFrom(seed.node)
    known = schemas()[seed.domain, seed.op][seed.since]
    names = [known.inputs[min(i, len(known.inputs) - 1)][0] if known.inputs else "" for i in range(len(seed.inputs))]
    wanted = [name for name, _ in schema.inputs]
    inputs = list(seed.inputs)
    attributes = {a.name: a for a in node.attribute}
    for i in range(len(inputs) - 1, -1, -1):  # inputs that were attributes
        if len(inputs) <= schema.most and (names[i] in wanted or not known.inputs):
            continue
        if names[i] in schema.attributes and inputs[i] is not None and inputs[i].tensor is not None:
            array = numpy_helper.to_array(inputs[i].tensor)
            kind = schema.attributes[names[i]][0]
            with contextlib.suppress(Exception):
                value = {AttributeProto.INT: lambda: int(array.reshape(-1)[0]), AttributeProto.FLOAT: lambda: float(array.reshape(-1)[0]),
                         AttributeProto.INTS: lambda: [int(x) for x in array.reshape(-1)], AttributeProto.FLOATS: lambda: [float(x) for x in array.reshape(-1)]}[kind]()
                attributes[names[i]] = helper.make_attribute(names[i], value)
        if names[i] not in wanted or i >= schema.most:
            del inputs[i]
            del names[i]
    present = {names[i] for i in range(len(inputs))}
    for name, attribute in list(attributes.items()):  # attributes that are inputs later
        if name not in schema.attributes and name in wanted and name not in present and wanted.index(name) >= len(inputs):
            array = np.asarray(helper.get_attribute_value(attribute), np.int64 if attribute.type in (AttributeProto.INT, AttributeProto.INTS) else np.float32)
            inputs += [None] * (wanted.index(name) - len(inputs))
            inputs.append(Value(tensor_type(helper.np_dtype_to_tensor_dtype(array.dtype), list(array.shape)), numpy_helper.from_array(array)))
    for then, now in (("pads", "paddings"),):  # as the first version of Pad calls them
        if then in attributes and now in schema.attributes:
            attributes[now] = helper.make_attribute(now, list(attributes[then].ints))
    attributes = {name: as_kind(a, schema.attributes[name][0]) for name, a in attributes.items() if name in schema.attributes}
    for i, value in enumerate(inputs):  # types that came later
        types = schema.inputs[min(i, len(schema.inputs) - 1)][1] if schema.inputs else []
        if value is not None and value.type.HasField("tensor_type") and TYPE_NAMES.get(value.type.tensor_type.elem_type) not in types:
            other = next((t for t in DTYPES if t in types), None)
            if other is not None:
                inputs[i] = as_type(value, np.dtype(DTYPES[other]))
    del node.attribute[:], node.input[:]
    node.attribute.extend(attributes.values())
    node.input.extend(f"x{i}" if value else "" for i, value in enumerate(inputs))
    del node.output[schema.most_outputs:]
    constants = {i for i, value in enumerate(inputs) if value and value.tensor is not None and (is_parameter(value.tensor, i) or i in seed.constants and len(inputs) == len(seed.inputs))}
    return Seed(seed.domain, seed.op, schema.since, {**seed.opsets, seed.domain: schema.since}, node, inputs, constants, seed.source + " adapted")


DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(bool)": np.bool_,
          "tensor(float16)": np.float16, "tensor(string)": object, "tensor(uint64)": np.uint64, "tensor(uint32)": np.uint32}


TYPE_NAMES = {helper.np_dtype_to_tensor_dtype(np.dtype(dtype)): name for name, dtype in DTYPES.items()} | {TensorProto.STRING: "tensor(string)", TensorProto.BFLOAT16: "tensor(bfloat16)"}
TYPE_NAMES |= {TensorProto.INT16: "tensor(int16)", TensorProto.UINT16: "tensor(uint16)", TensorProto.COMPLEX64: "tensor(complex64)", TensorProto.COMPLEX128: "tensor(complex128)"}


def as_kind(attribute, kind):
    """The attribute as another version of its operator types it: Cast's `to` was a name, p of LpPool a float."""
    if attribute.type == AttributeProto.INT and kind == AttributeProto.FLOAT:
        return helper.make_attribute(attribute.name, float(attribute.i))
    if attribute.type == AttributeProto.INT and kind == AttributeProto.STRING:
        return helper.make_attribute(attribute.name, TensorProto.DataType.Name(attribute.i))
    return attribute


def as_type(value, dtype):
    """The input as one of another element type; small integers where numpy cannot tell its values."""
    extents = [d.dim_value for d in value.type.tensor_type.shape.dim]
    kind = TensorProto.STRING if dtype == object else helper.np_dtype_to_tensor_dtype(dtype)
    if value.tensor is None:
        return Value(tensor_type(kind, extents))
    try:
        array = numpy_helper.to_array(value.tensor).astype(dtype)
    except Exception:
        array = np.ones(extents, dtype)
    return Value(tensor_type(kind, extents), numpy_helper.from_array(array))


def made(schema):
    """From the schema alone: inputs of four by eight ones. Mostly not valid, but of the right number and types."""
    inputs = []
    for name, types in schema.inputs[: max(schema.least, min(len(schema.inputs), 3))]:
        dtype = next((DTYPES[t] for t in DTYPES if t in types), None)
        if dtype is None:
            return None
        array = np.full((4, 8), "a", object) if dtype is object else np.ones((4, 8), dtype)
        inputs.append(Value(tensor_type(TensorProto.STRING if dtype is object else helper.np_dtype_to_tensor_dtype(array.dtype), [4, 8]), numpy_helper.from_array(array)))
    values = {AttributeProto.INT: 2, AttributeProto.FLOAT: 1.0, AttributeProto.STRING: "a", AttributeProto.INTS: [1, 2], AttributeProto.FLOATS: [1.0, 2.0], AttributeProto.STRINGS: ["a", "b"],
              AttributeProto.TENSOR: numpy_helper.from_array(np.ones(2, np.float32))}
    attributes = {name: values[kind] for name, (kind, required) in schema.attributes.items() if required and kind in values}
    node = helper.make_node(schema.name, [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(max(1, schema.least_outputs))], "node", domain=schema.domain, **attributes)
    opsets = {"": 21, schema.domain: schema.since}
    return Seed(schema.domain, schema.name, schema.since, opsets, node, inputs, set(), "schema")


def richness(seed):
    return sum(v is not None for v in seed.inputs) + len(seed.node.attribute)


def two_of(found):
    """The form with most inputs and attributes, and the one with fewest where it differs."""
    order = sorted(found, key=lambda seed: (-richness(seed), seed.source))
    return [order[0]] + ([order[-1]] if richness(order[-1]) != richness(order[0]) else [])


def all_seeds():
    """Lists of one or two Seeds, one list for each version of each operator, in order."""
    cache = pathlib.Path(os.environ.get("ONNXC_CACHE", pathlib.Path.home() / ".cache/onnxc"))
    found = {}
    with contextlib.redirect_stdout(io.StringIO()):
        sources = [of_suite(folder) for folder in [*sorted(cache.glob(f"conformance-{onnx.__version__}/node")), pathlib.Path("/usr/share/libonnx-testdata/data/node"),
                                                   pathlib.Path("/usr/share/libonnx-testdata/data/pytorch-operator")]] + [of_differential(), of_contrib()]
        for source in sources:
            for seed in source:
                if seed:
                    found.setdefault((seed.domain, seed.op), {}).setdefault(seed.since, []).append(seed)
    for key, versions in schemas().items():
        at = {version: two_of(seeds) for version, seeds in found.get(key, {}).items()}
        for version, schema in versions.items():
            if version in at:
                yield at[version]
            elif at:
                nearest = min(at, key=lambda v: (v < version, abs(v - version)))
                yield [adapted(at[nearest][0], schema)]
            elif seed := made(schema):
                yield [seed]
