"""Ways to bend a form, one at a time: each is a name and a function that changes a Draft.

A name says the kind first, then where: `type/x1/string`, `attribute/axis/twice`. What a bend must find (an input, an attribute) the form has: no bend is without effect.
"""
import functools
import math
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper

from seeds import Value, schemas, tensor_type

TYPES = {name: getattr(TensorProto, name.upper()) for name in (
    "float", "double", "float16", "bfloat16", "int8", "int64", "uint8", "uint64", "bool", "string", "complex64", "float8e4m3fn", "int4", "float4e2m1")} | {"undefined": 0, "unknown": 99}
OTHER_TYPES = {name: getattr(TensorProto, name.upper()) for name in ("int16", "int32", "uint16", "uint32", "complex128", "float8e5m2", "float8e4m3fnuz", "float8e8m0", "uint4", "int2", "uint2")
               if hasattr(TensorProto, name.upper())}
BITS = {TensorProto.FLOAT4E2M1: 4, TensorProto.INT4: 4, TensorProto.UINT4: 4, TensorProto.BOOL: 8, TensorProto.INT8: 8, TensorProto.UINT8: 8, TensorProto.FLOAT16: 16, TensorProto.BFLOAT16: 16,
        TensorProto.INT16: 16, TensorProto.UINT16: 16, TensorProto.DOUBLE: 64, TensorProto.INT64: 64, TensorProto.UINT64: 64, TensorProto.COMPLEX64: 64, TensorProto.COMPLEX128: 128}
BITS |= {value: 8 for name, value in TensorProto.DataType.items() if name.startswith("FLOAT8")} | {value: 2 for name, value in TensorProto.DataType.items() if name in ("INT2", "UINT2")}
LARGE = {"2e31": 2**31, "2e58": 2**58}


class Draft:
    """A model that is being made, from a Seed, with the inputs of `constants` as initialisers."""

    def __init__(self, seed, constants):
        self.seed = seed
        self.node = onnx.NodeProto()
        self.node.CopyFrom(seed.node)
        self.opsets = dict(seed.opsets)
        self.inputs = list(seed.inputs)
        self.constants = set(constants)
        self.output_types = {}          # name -> TypeProto; without one its type is not stated
        self.hidden = set()             # outputs that are none of the graph's

    def schema(self):
        return schemas()[self.seed.domain, self.seed.op][self.seed.since]

    def attribute(self, name):
        return next(a for a in self.node.attribute if a.name == name)

    def set_attribute(self, attribute):
        kept = [a for a in self.node.attribute if a.name != attribute.name]
        del self.node.attribute[:]
        self.node.attribute.extend(kept + [attribute])

    def model(self):
        graph_inputs, initialisers = [], []
        for i, value in enumerate(self.inputs):
            if value is None:
                continue
            if i in self.constants:
                tensor = TensorProto()
                tensor.CopyFrom(value.tensor)
                tensor.name = f"x{i}"
                initialisers.append(tensor)
            else:
                graph_inputs.append(helper.make_value_info(f"x{i}", value.type))
        outputs = [name for k, name in enumerate(self.node.output) if name and k not in self.hidden]
        infos = [helper.make_value_info(name, self.output_types[name]) if name in self.output_types else helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(outputs)]
        graph = helper.make_graph([self.node], "form", graph_inputs, infos, initialisers)
        model = onnx.ModelProto(ir_version=10, graph=graph)
        for domain, version in self.opsets.items():
            model.opset_import.add(domain=domain, version=version)
        return model


@dataclass
class Bend:
    name: str
    apply: object  # changes a Draft


# ---- inputs -------------------------------------------------------------------------------------------------------------------------


def elements_of(value):
    """Elements and extents of a tensor's type, or None."""
    if value is None or not value.type.HasField("tensor_type"):
        return None
    t = value.type.tensor_type
    return t.elem_type, [d.dim_value for d in t.shape.dim]


def constant(elements, extents, like=None):
    """A tensor of that type with the values of `like` repeated, or zeros where that type cannot hold them."""
    count = math.prod(extents)
    if elements == TensorProto.STRING:
        return helper.make_tensor("", elements, extents, ["1"] * count)
    if like is not None:
        try:
            array = np.resize(numpy_helper.to_array(like), count).reshape(extents)
            return numpy_helper.from_array(array.astype(helper.tensor_dtype_to_np_dtype(elements)))
        except Exception:  # no such type of numpy, or strings
            pass
    return TensorProto(data_type=elements, dims=extents, raw_data=bytes((count * BITS.get(elements, 32) + 7) // 8))


def retyped(value, elements, extents):
    return Value(tensor_type(elements, extents), constant(elements, extents, value.tensor) if value.tensor is not None and math.prod(extents) <= 100000 else None)


def on_inputs(numbers, change):
    def apply(draft):
        for i in numbers:
            draft.inputs[i] = change(draft.inputs[i])
            if draft.inputs[i].tensor is None:
                draft.constants.discard(i)
    return apply


def set_type(elements):
    return lambda value: retyped(value, elements, elements_of(value)[1])


def set_rank(rank):
    def change(value):
        elements, extents = elements_of(value)
        return retyped(value, elements, extents[len(extents) - rank:] if rank <= len(extents) else [2] * (rank - len(extents)) + extents)
    return change


def set_extent(axis, extent):
    def change(value):
        elements, extents = elements_of(value)
        if axis >= len(extents):
            return value
        return retyped(value, elements, extents[:axis] + [extent] + extents[axis + 1:])
    return change


def set_info_extent(axis, dimension):
    """What no tensor has: a negative extent, a symbol, none at all."""
    def change(value):
        type = TypeProto()
        type.CopyFrom(value.type)
        dim = type.tensor_type.shape.dim[axis]
        dim.Clear()
        if isinstance(dimension, str):
            dim.dim_param = dimension
        elif dimension is not None:
            dim.dim_value = dimension
        return Value(type)
    return change


def no_shape(value):
    return Value(TypeProto(tensor_type=TypeProto.Tensor(elem_type=value.type.tensor_type.elem_type)))


def kind_of_value(kind):
    def change(value):
        inner = value.type
        return Value({"sequence": lambda: helper.make_sequence_type_proto(inner), "optional": lambda: helper.make_optional_type_proto(inner),
                      "map": lambda: helper.make_map_type_proto(TensorProto.INT64, inner), "sparse": lambda: helper.make_sparse_tensor_type_proto(1, [2, 3]), "none": TypeProto}[kind]())
    return change


def input_bends(draft):
    tensors = [i for i, value in enumerate(draft.inputs) if elements_of(value)]
    groups = [(f"x{i}", [i]) for i in tensors] + ([("all", tensors)] if len(tensors) > 1 else [])
    folded = bool(tensors) and set(tensors) <= draft.constants
    for where, numbers in groups:
        for name, elements in {**TYPES, **(OTHER_TYPES if folded or where == "all" else {})}.items():
            if any(elements_of(draft.inputs[i])[0] != elements for i in numbers):
                yield Bend(f"type/{where}/{name}", on_inputs(numbers, set_type(elements)))
        for rank in (*range(10), 11):
            if any(len(elements_of(draft.inputs[i])[1]) != rank for i in numbers) and (where != "all" or rank in (0, 1, 2, 5, 9)):
                yield Bend(f"rank/{where}/{rank}", on_inputs(numbers, set_rank(rank)))
        for axis in range(max(len(elements_of(draft.inputs[i])[1]) for i in numbers)):
            for name, extent in {"0": 0, "1": 1, "3": 3, **({} if folded else LARGE)}.items():
                if any(elements_of(draft.inputs[i])[1][axis:axis + 1] != [extent] for i in numbers):
                    yield Bend(f"extent/{where}/{axis}/{name}", on_inputs(numbers, set_extent(axis, extent)))
    for i in tensors:
        if i in draft.constants:
            continue
        yield Bend(f"extent/x{i}/no_shape", on_inputs([i], no_shape))
        for axis in range(len(elements_of(draft.inputs[i])[1])):
            yield Bend(f"extent/x{i}/{axis}/negative", on_inputs([i], set_info_extent(axis, -3)))
            yield Bend(f"extent/x{i}/{axis}/symbol", on_inputs([i], set_info_extent(axis, "n")))
            yield Bend(f"extent/x{i}/{axis}/unknown", on_inputs([i], set_info_extent(axis, None)))
        for kind in ("sequence", "optional", "map", "sparse", "none"):
            yield Bend(f"kind/x{i}/{kind}", on_inputs([i], kind_of_value(kind)))
    if folded and len(tensors) > 1:
        return  # single values are those of the mixed form
    for i in tensors:
        if i in draft.constants:
            yield from value_bends(f"x{i}", i, draft.inputs[i].tensor)


def value_bends(where, number, tensor):
    """A constant with other values, of other lengths, or whose data is not what it says."""
    elements, extents = tensor.data_type, list(tensor.dims)

    def put(change):
        def apply(draft):
            draft.inputs[number] = Value(draft.inputs[number].type, change(tensor))
        return apply

    if elements == TensorProto.STRING:
        for name, text in (("blank", b""), ("long", b"a" * 5000), ("bytes", b"\xff\n\0")):
            yield Bend(f"value/{where}/{name}", put(lambda t, text=text: TensorProto(data_type=8, dims=t.dims, string_data=[text] * len(t.string_data))))
    else:
        try:
            array = numpy_helper.to_array(tensor)
            kind = array.dtype
        except Exception:
            return
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            values = {"0": 0, "-1": -1, "least": limits.min, "most": limits.max, "2e31": 2**31, "2e40": 2**40, "7": 7, "-100": -100}
            values = {name: v for name, v in values.items() if limits.min <= v <= limits.max}
        elif kind == bool:
            values = {"false": False, "true": True}
        else:
            values = {"nan": math.nan, "infinity": math.inf, "-infinity": -math.inf, "0": 0, "-1": -1, "1e30": 1e30 if kind.itemsize > 2 else 100}
        for name, v in values.items():
            with np.errstate(all="ignore"):
                yield Bend(f"value/{where}/all_{name}", put(lambda t, v=v: numpy_helper.from_array(np.full(array.shape, v).astype(kind))))
                if array.size > 1:
                    def first(t, v=v):
                        changed = array.copy()
                        changed.reshape(-1)[0] = np.asarray(v).astype(kind)
                        return numpy_helper.from_array(changed)
                    yield Bend(f"value/{where}/first_{name}", put(first))
        if array.ndim == 1:
            for name, length in (("shorter", max(array.size - 1, 0)), ("longer", array.size + 1), ("long", 100)):
                yield Bend(f"value/{where}/{name}", put(lambda t, length=length: numpy_helper.from_array(np.resize(array, length).astype(kind))))
        yield Bend(f"value/{where}/scalar", put(lambda t: numpy_helper.from_array(np.resize(array, 1).reshape(()).astype(kind))))
        yield Bend(f"value/{where}/empty", put(lambda t: numpy_helper.from_array(np.zeros(0, kind))))
    raw = tensor.raw_data
    lies = {"data_short": dict(raw_data=raw[:-1]), "data_none": {}, "data_long": dict(raw_data=raw + b"\0"), "dims_2e58": dict(raw_data=raw, dims=[2**58]), "dims_negative": dict(raw_data=raw, dims=[-1]),
            "dims_wrap": dict(raw_data=raw, dims=[2**32, 2**32]), "external": dict(data_location=1)}
    for name, parts in lies.items():
        if name in ("data_none", "external", "dims_2e58") or elements != TensorProto.STRING:
            yield Bend(f"lie/{where}/{name}", put(lambda t, parts=parts: TensorProto(data_type=elements, **{"dims": extents, **parts})))


# ---- numbers of inputs and outputs --------------------------------------------------------------------------------------------------


def on_names(of, change):
    """Puts what `change` makes of the names of the node's inputs or outputs (`of`) in their place."""
    def apply(d):
        names = getattr(d.node, of)
        wanted = change(list(names))
        del names[:]
        names.extend(wanted)
    return apply


def arity_bends(draft):
    names = functools.partial(on_names, "input")
    count = len(draft.node.input)
    if count:
        yield Bend("arity/none", names(lambda n: []))
        yield Bend("arity/all_blank", names(lambda n: [""] * len(n)))
        yield Bend("arity/undefined", names(lambda n: n[:-1] + ["undefined"]))
        yield Bend("arity/own_output", names(lambda n: n[:-1] + ["y0"]))
        for extra in (1, 20):
            yield Bend(f"arity/{extra}_more", names(lambda n, extra=extra: n + [n[0] or n[-1]] * extra))
        yield Bend("arity/20_blank_more", names(lambda n: n + [""] * 20))
        for i in range(count):
            if i < count - 1:
                yield Bend(f"arity/first_{i + 1}", names(lambda n, i=i: n[: i + 1]))
            if draft.node.input[i]:
                yield Bend(f"arity/blank_x{i}", names(lambda n, i=i: n[:i] + [""] + n[i + 1:]))
        if count > 1:
            yield Bend("arity/swapped", names(lambda n: [n[1], n[0]] + n[2:]))
            yield Bend("arity/reversed", names(lambda n: n[::-1]))
            yield Bend("arity/all_first", names(lambda n: [n[0]] * len(n)))
    else:
        yield Bend("arity/undefined", names(lambda n: ["undefined"]))
        yield Bend("arity/20_blank_more", names(lambda n: [""] * 20))


def output_bends(draft):
    names = functools.partial(on_names, "output")
    yield Bend("output/none", names(lambda n: []))
    yield Bend("output/all_blank", names(lambda n: [""] * len(n)))
    for k, name in enumerate(draft.node.output):
        if name:
            yield Bend(f"output/blank_{name}", names(lambda n, k=k: n[:k] + [""] + n[k + 1:]))
            yield Bend(f"output/first_{k + 1}", names(lambda n, k=k: n[: k + 1]))
            yield Bend(f"output/unread_{name}", lambda d, k=k: d.hidden.add(k))
    yield Bend("output/repeated", names(lambda n: n + [n[0]]))
    for extra in (1, 2, 20):
        yield Bend(f"output/{extra}_more", names(lambda n, extra=extra: n + [f"z{k}" for k in range(extra)]))
    if draft.node.input:
        yield Bend("output/of_input", names(lambda n: [draft.node.input[0]] + n[1:]))
    first = next(iter(draft.node.output), "")
    if first:
        def declared(type):
            def apply(d):
                d.output_types[first] = type
            return apply
        for name in ("float", "int64", "bool", "string", "undefined"):
            yield Bend(f"declared/{name}", declared(tensor_type(TYPES[name], None)))
        for name, shape in (("rank_0", []), ("rank_7", [1, 2, 3, 4, 5, 6, 7]), ("large", [2**58, 2**58]), ("negative", [-1])):
            def shaped(d, shape=shape):
                elements = next((elements_of(v)[0] for v in d.inputs if elements_of(v)), 1)
                d.output_types[first] = tensor_type(elements, shape)
            yield Bend(f"declared/{name}", shaped)
        yield Bend("declared/sequence", declared(helper.make_sequence_type_proto(tensor_type(1, [2]))))
        yield Bend("declared/optional", declared(helper.make_optional_type_proto(tensor_type(1, [2]))))
        yield Bend("declared/map", declared(helper.make_map_type_proto(7, tensor_type(1, []))))


# ---- attributes ---------------------------------------------------------------------------------------------------------------------

SAMPLES = {AttributeProto.INT: 1, AttributeProto.FLOAT: 1.0, AttributeProto.STRING: "a", AttributeProto.INTS: [1], AttributeProto.FLOATS: [1.0], AttributeProto.STRINGS: ["a"]}
OTHERS = {
    AttributeProto.INT: {"-1": -1, "0": 0, "1": 1, "3": 3, "-100": -100, "2e31": 2**31, "2e62": 2**62, "-2e63": -(2**63)},
    AttributeProto.FLOAT: {"nan": math.nan, "infinity": math.inf, "-1": -1.0, "0": 0.0, "1e38": 1e38},
    AttributeProto.STRING: {"blank": "", "bogus": "bogus", "bytes": b"\xff\n\0\x1b[1m", "long": "a" * 2000, "quote": '"*/\\'},
    AttributeProto.INTS: {"-1": [-1], "0": [0], "2e31": [2**31], "2e62": [2**62], "-2e63": [-(2**63)], "same": [1, 1, 1], "long": list(range(100))},
    AttributeProto.FLOATS: {"nan": [math.nan], "-1": [-1.0], "0": [0.0], "1e38": [1e38], "long": [1.0] * 100},
    AttributeProto.STRINGS: {"blank": [""], "bogus": ["bogus"], "bytes": [b"\xff\n\0"], "long": ["a"] * 100},
}
LISTS = (AttributeProto.INTS, AttributeProto.FLOATS, AttributeProto.STRINGS)


def made_attribute(name, kind, value):
    attribute = AttributeProto(name=name, type=kind)
    if kind == AttributeProto.INT:
        attribute.i = value
    elif kind == AttributeProto.FLOAT:
        attribute.f = value
    elif kind == AttributeProto.STRING:
        attribute.s = value.encode() if isinstance(value, str) else value
    elif kind == AttributeProto.INTS:
        attribute.ints.extend(value)
    elif kind == AttributeProto.FLOATS:
        attribute.floats.extend(value)
    elif kind == AttributeProto.STRINGS:
        attribute.strings.extend(v.encode() if isinstance(v, str) else v for v in value)
    elif kind == AttributeProto.TENSOR and value is not None:
        attribute.t.CopyFrom(value)
    elif kind == AttributeProto.GRAPH and value is not None:
        attribute.g.CopyFrom(value)
    return attribute


def attribute_bends(draft):
    present = {a.name: a for a in draft.node.attribute}
    declared = draft.schema().attributes

    def put(name, kind, value):
        return lambda d: d.set_attribute(made_attribute(name, kind, value))

    def change(name, how):
        def apply(d):
            copy = AttributeProto()
            copy.CopyFrom(d.attribute(name))
            how(copy)
            d.set_attribute(copy)
        return apply

    def twice(name, differently):
        def apply(d):
            copy = AttributeProto()
            copy.CopyFrom(d.attribute(name))
            if differently:
                copy.i += 1
            d.node.attribute.append(copy)
        return apply

    def without(name):
        def apply(d):
            kept = [a for a in d.node.attribute if a.name != name]
            del d.node.attribute[:]
            d.node.attribute.extend(kept)
        return apply

    for name in sorted({*present, *declared}):
        a = present.get(name)
        kind = a.type if a is not None else declared[name][0]
        if a is not None:
            yield Bend(f"attribute/{name}/twice", twice(name, False))
            yield Bend(f"attribute/{name}/removed", without(name))
            yield Bend(f"attribute/{name}/no_type", change(name, lambda c: c.ClearField("type")))
            yield Bend(f"attribute/{name}/reference", change(name, lambda c: (c.Clear(), setattr(c, "name", "alpha"), setattr(c, "ref_attr_name", "beta"), setattr(c, "type", 1))))
            if kind == AttributeProto.INT:
                yield Bend(f"attribute/{name}/twice_other", twice(name, True))
        for other, sample in SAMPLES.items():
            if other != kind and (a is not None or other in (AttributeProto.STRING, AttributeProto.FLOATS)):
                yield Bend(f"attribute_type/{name}/{AttributeProto.AttributeType.Name(other).lower()}", put(name, other, sample))
        if a is not None:
            yield Bend(f"attribute_type/{name}/tensor", put(name, AttributeProto.TENSOR, numpy_helper.from_array(np.ones(2, np.float32))))
            yield Bend(f"attribute_type/{name}/graph", put(name, AttributeProto.GRAPH, onnx.GraphProto(name="g")))
            yield Bend(f"attribute_type/{name}/sparse", put(name, AttributeProto.SPARSE_TENSOR, None))
        for label, value in OTHERS.get(kind, {}).items():
            yield Bend(f"attribute_value/{name}/{label}", put(name, kind, value))
        if kind in LISTS:
            yield Bend(f"attribute_value/{name}/empty", put(name, kind, []))
            values = list(helper.get_attribute_value(a)) if a is not None else []
            if values:
                yield Bend(f"attribute_value/{name}/shorter", put(name, kind, values[:-1]))
                yield Bend(f"attribute_value/{name}/longer", put(name, kind, values + values[:1]))
                for label in ("-1", "2e31", "2e62", "nan", "bogus", "0"):
                    if label in OTHERS[kind]:
                        yield Bend(f"attribute_value/{name}/first_{label}", put(name, kind, OTHERS[kind][label] + values[1:]))
                        if len(values) > 1:
                            yield Bend(f"attribute_value/{name}/all_{label}", put(name, kind, OTHERS[kind][label] * len(values)))
        if kind == AttributeProto.TENSOR:
            base = a.t if a is not None else numpy_helper.from_array(np.ones(2, np.float32))
            for label, elements in {**TYPES, **OTHER_TYPES}.items():
                yield Bend(f"attribute_value/{name}/{label}", put(name, kind, constant(elements, list(base.dims), base)))
            for label, extents in (("scalar", []), ("empty", [0]), ("rank_1", [3]), ("rank_2", [2, 3]), ("rank_9", [1] * 9)):
                yield Bend(f"attribute_value/{name}/{label}", put(name, kind, constant(base.data_type, extents, base)))
            for label, lie in (("no_data", dict(dims=[4])), ("2e58", dict(dims=[2**58], raw_data=b"1234")), ("negative", dict(dims=[-1], raw_data=b"1234")), ("nothing", {})):
                yield Bend(f"attribute_value/{name}/{label}", put(name, kind, TensorProto(**{"data_type": base.data_type, **lie} if lie else {})))
        if kind == AttributeProto.GRAPH and a is not None:
            yield from body_bends(name, change)
    yield Bend("attribute/unknown", put("bogus_attribute", AttributeProto.INT, 1))
    yield Bend("attribute/nameless", put("", AttributeProto.INT, 1))


def body_bends(name, change):
    """Graphs of If, Loop, Scan, SequenceMap."""
    def of(how):
        return change(name, lambda a: how(a.g))

    def drop(field, number):
        def how(g):
            items = getattr(g, field)
            if len(items):
                del items[number]
        return how

    def rename(field, number, to):
        def how(g):
            items = getattr(g, field)
            if len(items):
                items[number].name = to
        return how

    def more(field, count):
        def how(g):
            for k in range(count):
                getattr(g, field).append(helper.make_tensor_value_info(f"more{k}", 1, [2]))
        return how

    def types(field, elements, extents):
        def how(g):
            for info in getattr(g, field):
                info.type.CopyFrom(tensor_type(elements, extents) if elements is not None else TypeProto())
        return how

    yield Bend(f"body/{name}/nothing", of(lambda g: g.Clear()))
    yield Bend(f"body/{name}/no_nodes", of(lambda g: g.ClearField("node")))
    for field in ("input", "output", "node"):
        yield Bend(f"body/{name}/no_first_{field}", of(drop(field, 0)))
        yield Bend(f"body/{name}/no_last_{field}", of(drop(field, -1)))
        yield Bend(f"body/{name}/no_{field}", of(lambda g, field=field: g.ClearField(field)))
    for field in ("input", "output"):
        for to in ("", "undefined", "x0"):
            yield Bend(f"body/{name}/first_{field}_{to or 'blank'}", of(rename(field, 0, to)))
            yield Bend(f"body/{name}/last_{field}_{to or 'blank'}", of(rename(field, -1, to)))
        for count in (1, 20):
            yield Bend(f"body/{name}/{count}_more_{field}", of(more(field, count)))
        yield Bend(f"body/{name}/{field}_same", of(lambda g, field=field: [setattr(i, "name", getattr(g, field)[0].name) for i in getattr(g, field)]))
        for label, elements, extents in (("string", 8, []), ("f32_5", 1, [5]), ("f32_large", 1, [2**58]), ("int64", 7, None), ("bool", 9, []), ("none", None, None)):
            yield Bend(f"body/{name}/{field}_{label}", of(types(field, elements, extents)))
    yield Bend(f"body/{name}/nested", of(lambda g: g.node.append(onnx.NodeProto(op_type="If", input=["undefined"], output=["q"]))))
    yield Bend(f"body/{name}/unknown_op", of(lambda g: g.node.append(onnx.NodeProto(op_type="Bogus", output=["q"]))))


# ---- versions -----------------------------------------------------------------------------------------------------------------------


def version_bends(draft):
    domain, since = draft.seed.domain, draft.seed.since
    first = min(schemas()[domain, draft.seed.op])

    def put(version):
        return lambda d: d.opsets.__setitem__(domain, version)

    for name, version in {"0": 0, "-1": -1, "1": 1, "1000": 1000, "2e62": 2**62, "before_first": first - 1, "before": since - 1, **({"latest": 26} if not domain else {})}.items():
        if version != draft.opsets[domain]:
            yield Bend(f"version/{name}", put(version))
    yield Bend("version/not_imported", lambda d: d.opsets.pop(domain))
    yield Bend("version/no_imports", lambda d: d.opsets.clear())


def bends_of(draft, kind):
    """Those of a form: `mixed`, with constants where they are usual; `folded`, with constants alone; `run_time`, with none."""
    yield Bend("as_it_is", lambda d: None)
    if kind in ("mixed", "folded"):
        yield from input_bends(draft)
        yield from arity_bends(draft)
    if kind == "run_time":
        usual = {i for i in draft.seed.constants}
        yield from (b for b in input_bends(draft) if any(b.name.startswith(f"{k}/x{i}/") for i in usual for k in ("type", "rank", "extent")))
    if kind == "mixed":
        yield from output_bends(draft)
        yield from version_bends(draft)
    if kind == "mixed" or kind == "folded" and draft.node.attribute:
        yield from attribute_bends(draft)


def forms_of(seed, first):
    """(name, function that makes the model), of a Seed and all bends. `first`: is it its operator's first form?"""
    tensors = {i for i, value in enumerate(seed.inputs) if value is not None and value.tensor is not None}
    kinds = {"mixed": seed.constants & tensors}
    if tensors and tensors == {i for i, value in enumerate(seed.inputs) if value is not None} and tensors != kinds["mixed"]:
        kinds["folded"] = tensors
    if kinds["mixed"]:
        kinds["run_time"] = set()
    for kind, constants in kinds.items():
        for bend in bends_of(Draft(seed, constants), kind):
            def make(bend=bend, constants=constants):
                draft = Draft(seed, constants)
                bend.apply(draft)
                return draft.model()
            yield f"{seed.name}{'' if first else '.less'}/{kind}/{bend.name}", make
