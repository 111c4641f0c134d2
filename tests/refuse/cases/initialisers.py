"""Initialisers, dense and sparse, whose data is not what they say."""
import numpy as np
from onnx import TensorProto as T

from .case import BUDGET, INVALID, case
from .models import F, model, node, one, tensor, with_weight


def raw_tensor(dims, data, type=F, name="w"):
    return T(name=name, dims=dims, data_type=type, raw_data=data)


@case(INVALID, "'w'", "4 bytes", code="E0107")
def initialiser_too_short():
    return with_weight(raw_tensor([2, 3], b"\0" * 4))


@case(INVALID, "'w'", "400 bytes")
def initialiser_too_long():
    return with_weight(raw_tensor([2, 3], b"\0" * 400))


@case(INVALID, "'w'", "no data")
def initialiser_empty():
    return with_weight(T(name="w", dims=[2, 3], data_type=F))


@case({INVALID, BUDGET}, "'w'")
def initialiser_claims_a_terabyte():
    return with_weight(raw_tensor([1 << 38], b"\0" * 4))


@case(INVALID, "'w'")
def initialiser_overflows():
    return with_weight(raw_tensor([1 << 32, 1 << 32], b""))


@case(INVALID, "'w'")
def initialiser_negative():
    return with_weight(raw_tensor([-2, -3], b"\0" * 24))


@case(INVALID, "'w'")
def initialiser_wrong_field():
    return with_weight(T(name="w", dims=[2, 3], data_type=F, int64_data=[1, 2, 3, 4, 5, 6]))


@case(INVALID, "'w'")
def initialiser_two_fields():
    return with_weight(T(name="w", dims=[2, 3], data_type=F, float_data=[1] * 6, raw_data=b"\0" * 24))


@case(INVALID, "'w'", "element type 77")
def initialiser_unknown_type():
    return with_weight(raw_tensor([2, 3], b"\0" * 24, 77))


@case(INVALID, "'w'", "rank 1000")
def initialiser_rank_1000():
    return with_weight(raw_tensor([1] * 1000, b"\0" * 4))


@case(INVALID, "twice")
def initialisers_alike():
    return one("Add", extra=["w"], weights=[tensor("w", np.ones((2, 3)))] * 2)


def sparse(dims, indices, shape=None, values=None):
    indices = np.asarray(indices, np.int64)
    proto = model([node("Add", ["x", "w"], ["y"], name="n")])
    s = proto.graph.sparse_initializer.add()
    s.values.CopyFrom(tensor("w", values if values is not None else np.ones(len(indices))))
    s.indices.CopyFrom(tensor("", indices, np.int64))
    if shape is not None:
        s.indices.dims[:] = shape
    s.dims.extend(dims)
    return proto


@case(0)
def sparse_good():
    return sparse([2, 3], [0, 5])


@case(INVALID, "'w'", "out of range")
def sparse_index_out_of_range():
    return sparse([2, 3], [0, 6])


@case(INVALID, "'w'")
def sparse_index_negative():
    return sparse([2, 3], [0, -1])


@case({INVALID, BUDGET}, "'w'")
def sparse_bomb():
    return sparse([1 << 16, 1 << 15], [0, 6])


@case(INVALID, "'w'")
def sparse_wrong_rank():
    return sparse([2, 3], [[0, 0, 0], [1, 1, 1]])
