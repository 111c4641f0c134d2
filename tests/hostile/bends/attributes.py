"""Attributes, and the bodies among them."""
import math

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper

from bends.draft import Bend, OTHER_TYPES, TYPES
from bends.inputs import constant
from seeds import tensor_type

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
