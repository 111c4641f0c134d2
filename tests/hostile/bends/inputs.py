"""Types, ranks, extents and values of inputs."""
import math

import numpy as np
from onnx import TensorProto, TypeProto, helper, numpy_helper

from bends.draft import Bend, BITS, LARGE, OTHER_TYPES, TYPES
from seeds import Value, tensor_type


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
