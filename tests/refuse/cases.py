"""Bad inputs, each with what onnxc must answer.

A case writes its files into an empty folder and names the model among them. `exit` is the exit status that is right; `says` are pieces of text
that the one line on standard error must hold. A case with exit status 0 is hard but valid: it must compile.
"""
import os
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

INVALID, USAGE, IO, BUDGET = 1, 2, 3, 4


@dataclass
class Case:
    name: str
    make: Callable[[Path], None]  # writes model.onnx, and what else is needed, into the folder
    exit: int | set[int]
    says: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    lines: int = 1  # of the error message; 0: any number


CASES: list[Case] = []


def case(exit, *says, options=(), lines=1, name=None):
    """The decorated function returns the model (bytes or a ModelProto) or writes into the folder itself."""

    def add(function):
        def make(folder):
            result = function(folder) if function.__code__.co_argcount else function()
            if result is not None:
                save(folder, result)

        CASES.append(Case(name or function.__name__, make, exit, list(says), list(options), lines))
        return function

    return add


def save(folder, model):
    (folder / "model.onnx").write_bytes(model if isinstance(model, bytes) else model.SerializeToString())


# ---- small models

F, I64 = T.FLOAT, T.INT64
node = helper.make_node


def value(name, shape=(2, 3), type=F):
    return helper.make_tensor_value_info(name, type, shape)


def tensor(name, array, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def model(nodes, inputs=None, outputs=None, weights=(), opsets=(("", 17),), functions=(), ir=10):
    inputs = [value("x")] if inputs is None else inputs
    outputs = [value("y")] if outputs is None else outputs
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets], functions=list(functions))
    proto.ir_version = ir
    return proto


def one(op, attributes=None, extra=(), weights=(), outputs=None, inputs=None, **rest):
    """y = op(x, extra...), as a node named 'n'."""
    return model([node(op, ["x", *extra], ["y"], name="n", **(attributes or {}))], inputs, outputs, weights, **rest)


def good():
    w = np.random.default_rng(1).standard_normal((3, 4))
    nodes = [node("MatMul", ["x", "w"], ["t"], name="product"), node("Relu", ["t"], ["y"], name="relu")]
    return model(nodes, [value("x", (2, 3))], [value("y", (2, 4))], [tensor("w", w)])


# ---- the file

NOT_ONNX = "not an ONNX model"


@case(INVALID, "empty")
def empty():
    return b""


def truncations():
    whole = good().SerializeToString()
    offsets = sorted({1, 2, 3, 5, 8, 13, *range(16, len(whole), max(1, len(whole) // 24)), len(whole) - 2, len(whole) - 1})
    for at in offsets:
        CASES.append(Case(f"truncated at {at} of {len(whole)}", lambda folder, at=at: save(folder, whole[:at]), INVALID))


truncations()


def random_bytes():
    for seed, size in enumerate((1, 7, 64, 1000, 100_000)):
        data = random.Random(seed).randbytes(size)
        CASES.append(Case(f"random, {size} bytes", lambda folder, data=data: save(folder, data), INVALID, [NOT_ONNX]))


random_bytes()


def flipped_bytes():
    """Anything may come of these but a crash, a hang or a mess."""
    whole = good().SerializeToString()
    for seed in range(60):
        generator = random.Random(seed)
        data = bytearray(whole)
        for _ in range(generator.choice((1, 1, 2, 5))):
            data[generator.randrange(len(data))] = generator.randrange(256)
        CASES.append(Case(f"flipped bytes, seed {seed}", lambda folder, data=bytes(data): save(folder, data), {0, INVALID, BUDGET}, lines=0))


flipped_bytes()


@case(INVALID, NOT_ONNX, "text")
def text():
    return b"import torch\nmodel = torch.nn.Linear(3, 4)\n"


@case(INVALID, NOT_ONNX, "zip")
def zip_archive():
    return b"PK\x03\x04\x14\x00\x00\x00" + bytes(100)


@case(INVALID, NOT_ONNX, "TensorFlow Lite")
def tflite():
    return b"\x1c\x00\x00\x00TFL3" + bytes(100)


@case(INVALID, NOT_ONNX, "pickle")
def pickle():
    return b"\x80\x04\x95" + bytes(100)


@case(INVALID, NOT_ONNX)
def trailing_junk():
    return good().SerializeToString() + b"\xff\xff\xff\xffjunk"


@case(IO, "not a regular file")
def directory(folder):
    (folder / "model.onnx").mkdir()


@case(IO, "not a regular file")
def fifo(folder):
    os.mkfifo(folder / "model.onnx")


@case(IO, "no such file")
def missing(folder):
    pass


@case(IO, "not a regular file")
def device(folder):
    (folder / "model.onnx").symlink_to("/dev/zero")


if os.getuid() != 0:

    @case(IO, "cannot be read")
    def unreadable(folder):
        save(folder, good())
        (folder / "model.onnx").chmod(0)


@case(INVALID, "2 GiB")
def over_two_gigabytes(folder):
    with open(folder / "model.onnx", "wb") as file:
        file.truncate((2 << 30) + 5)


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def message(number, data):
    """A field of protobuf that holds bytes or a message."""
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


@case(INVALID, NOT_ONNX)
def nesting_bomb():
    """A graph in an attribute of a node of a graph in an attribute of a node ..."""
    graph = b""
    for _ in range(3000):
        graph = message(1, message(5, message(6, graph)))
    return b"\x08\x0a" + message(7, graph)


@case({0, INVALID})
def invalid_utf8():
    return good().SerializeToString().replace(b"relu", b"\xff\xfe\xc0\x80")


# ---- the header


@case(INVALID, NOT_ONNX)
def no_graph():
    return onnx.ModelProto(ir_version=8, opset_import=[helper.make_opsetid("", 17)])


@case(INVALID, "opset 0")
def opset_0():
    return one("Relu", opsets=(("", 0),))


@case(INVALID, "opset 999", "newer")
def opset_999():
    return one("Relu", opsets=(("", 999),))


@case(INVALID, "opset -1")
def opset_negative():
    return one("Relu", opsets=(("", -1),))


@case(INVALID, "no opset")
def no_opset():
    return one("Relu", opsets=())


@case(INVALID, "two opsets")
def two_opsets():
    return one("Relu", opsets=(("", 17), ("ai.onnx", 13)))


@case(INVALID, "IR version")
def ir_version_of_the_future():
    return one("Relu", ir=1000)


@case(INVALID, "'n'", "is not imported")
def domain_not_imported():
    return model([node("Relu", ["x"], ["y"], name="n", domain="com.example")])


@case(INVALID, "com.example.Foo 'a'", "com.example.Bar 'b'", "Unheard 'c'", lines=3)
def unknown_operators():
    nodes = [node("Foo", ["x"], ["s"], name="a", domain="com.example"), node("Relu", ["s"], ["t"]),
             node("Bar", ["t"], ["u"], name="b", domain="com.example"), node("Unheard", ["u"], ["y"], name="c")]
    return model(nodes, opsets=(("", 17), ("com.example", 1)))


# ---- the graph


@case(INVALID, "Relu 'b'", "not defined before it")
def cycle():
    return model([node("Relu", ["v"], ["u"], name="b"), node("Relu", ["u"], ["v"], name="c"), node("Add", ["x", "v"], ["y"])])


@case(INVALID, "Relu 'late'", "topological order")
def unsorted():
    return model([node("Relu", ["t"], ["y"], name="late"), node("Relu", ["x"], ["t"])])


@case(INVALID, "'t'", "twice")
def defined_twice():
    return model([node("Relu", ["x"], ["t"]), node("Neg", ["x"], ["t"]), node("Neg", ["t"], ["y"])])


@case(INVALID, "'x'", "twice")
def input_redefined():
    return model([node("Relu", ["x"], ["x"]), node("Neg", ["x"], ["y"])])


@case(INVALID, "'x'", "twice")
def inputs_alike():
    return model([node("Relu", ["x"], ["y"])], [value("x"), value("x")])


@case(INVALID, "'nowhere'")
def undefined_name():
    return model([node("Add", ["x", "nowhere"], ["y"], name="n")])


@case(INVALID, "'z'", "never computed")
def missing_output():
    return one("Relu", outputs=[value("z")])


@case(INVALID, "no output")
def no_outputs():
    return one("Relu", outputs=[])


@case(INVALID, "Relu 'n'")
def too_few_inputs():
    return model([node("Relu", [], ["y"], name="n")])


@case(INVALID, "Relu 'n'")
def too_many_inputs():
    return one("Relu", extra=["x", "x"])


@case(INVALID, "Relu 'n'")
def too_many_outputs():
    return model([node("Relu", ["x"], ["y", "z"], name="n")])


@case(INVALID, "Relu 'n'")
def absent_input():
    return model([node("Relu", [""], ["y"], name="n")])


@case(0)
def output_is_an_input():
    return model([], [value("x")], [value("x")])


@case(0)
def output_twice():
    return one("Relu", outputs=[value("y"), value("y")])


@case(0)
def output_is_a_constant():
    return model([], [value("x")], [value("w")], [tensor("w", np.ones((2, 3)))])


@case(INVALID, "NUL")
def nul_in_a_name():
    return model([node("Relu", ["x"], ["y\0z"])], outputs=[value("y\0z")])


@case(INVALID, "NUL")
def nul_in_a_dimension():
    return one("Relu", inputs=[value("x", ("n\0", 3))], outputs=[value("y", None)])


# ---- shapes


@case(INVALID, "'x'", "extent -3")
def negative_dim():
    return one("Relu", inputs=[value("x", (2, -3))])


@case({INVALID, BUDGET})
def overflowing_dims():
    big = (1 << 40, 1 << 40)
    return one("Relu", inputs=[value("x", big)], outputs=[value("y", big)])


@case({INVALID, BUDGET})
def overflowing_product():
    big = (1 << 31, 1 << 31, 2)
    return one("Add", extra=["x"], inputs=[value("x", big)], outputs=[value("y", big)])


@case(INVALID, "rank 1000")
def rank_1000():
    return one("Relu", inputs=[value("x", [1] * 1000)], outputs=[value("y", [1] * 1000)])


@case(INVALID)
def rank_1000_inside():
    shape = tensor("shape", [1] * 1000, np.int64)
    return one("Reshape", extra=["shape"], weights=[shape], inputs=[value("x", (1,))], outputs=[value("y", [1] * 1000)])


@case({0, INVALID})
def lying_output_shape():
    return one("Relu", outputs=[value("y", (7, 7, 7))])


@case(INVALID, "MatMul 'n'")
def mismatched_product():
    return one("MatMul", extra=["w"], weights=[tensor("w", np.ones((5, 4)))], outputs=[value("y", (2, 4))])


@case(INVALID, "Add 'n'")
def mismatched_broadcast():
    return one("Add", extra=["w"], weights=[tensor("w", np.ones((4,)))])


@case(INVALID, "Concat 'n'")
def mismatched_concat():
    return one("Concat", {"axis": 0}, extra=["w"], weights=[tensor("w", np.ones((1, 5)))])


@case(INVALID, "Conv 'n'")
def kernel_larger_than_image():
    return one("Conv", extra=["w"], weights=[tensor("w", np.ones((4, 3, 9, 9)))], inputs=[value("x", (1, 3, 4, 4))], outputs=[value("y", (1, 4, 1, 1))])


@case(INVALID, "Conv 'n'")
def conv_groups():
    return one("Conv", {"group": 7}, extra=["w"], weights=[tensor("w", np.ones((4, 3, 1, 1)))], inputs=[value("x", (1, 3, 4, 4))],
               outputs=[value("y", (1, 4, 4, 4))])


@case(INVALID, "Conv 'n'")
def conv_zero_stride():
    return one("Conv", {"strides": [0, 1]}, extra=["w"], weights=[tensor("w", np.ones((4, 3, 1, 1)))], inputs=[value("x", (1, 3, 4, 4))],
               outputs=[value("y", None)])


@case(INVALID, "Conv 'n'")
def conv_group_zero():
    return one("Conv", {"group": 0}, extra=["w"], weights=[tensor("w", np.ones((4, 3, 1, 1)))], inputs=[value("x", (1, 3, 4, 4))],
               outputs=[value("y", None)])


@case({INVALID, BUDGET}, "'n'")
def conv_huge_pads():
    return one("Conv", {"pads": [1 << 62] * 4}, extra=["w"], weights=[tensor("w", np.ones((4, 3, 1, 1)))], inputs=[value("x", (1, 3, 4, 4))],
               outputs=[value("y", None)])


@case(INVALID, "MaxPool 'n'")
def pool_without_kernel():
    return one("MaxPool", inputs=[value("x", (1, 3, 4, 4))], outputs=[value("y", None)])


@case(INVALID, "MaxPool 'n'")
def pool_empty_kernel():
    return one("MaxPool", {"kernel_shape": [0, 0]}, inputs=[value("x", (1, 3, 4, 4))], outputs=[value("y", None)])


@case(INVALID, "Transpose 'n'")
def bad_permutation():
    return one("Transpose", {"perm": [0, 0]})


@case(INVALID, "Transpose 'n'")
def permutation_out_of_range():
    return one("Transpose", {"perm": [0, 100000]})


@case(INVALID, "Softmax 'n'")
def bad_axis():
    return one("Softmax", {"axis": 9})


@case(INVALID, "Reshape 'n'")
def bad_reshape():
    return one("Reshape", extra=["s"], weights=[tensor("s", [5, 5], np.int64)], outputs=[value("y", None)])


@case(INVALID, "Split 'n'")
def bad_split():
    return model([node("Split", ["x", "s"], ["y", "z"], name="n", axis=1)], None, [value("y", None), value("z", None)], [tensor("s", [100, -97], np.int64)])


@case(INVALID, "Gather 'n'")
def gather_float_indices():
    return one("Gather", extra=["w"], weights=[tensor("w", [0.5])])


# ---- initialisers


def raw_tensor(dims, data, type=F, name="w"):
    return T(name=name, dims=dims, data_type=type, raw_data=data)


def with_weight(w):
    return one("Add", extra=["w"], weights=[w])


@case(INVALID, "'w'", "4 bytes")
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


# ---- external data


def external(location, dims=(2, 3), **fields):
    w = T(name="w", dims=dims, data_type=F, data_location=T.EXTERNAL)
    for key, v in {"location": location, **fields}.items():
        w.external_data.add(key=key, value=str(v))
    return with_weight(w)


@case(0)
def external_good(folder):
    (folder / "data.bin").write_bytes(bytes(100))
    return external("data.bin", offset=8, length=24)


# A file of the right size outside of the model's folder is what these try to read.


@case(INVALID, "'w'")
def external_parent(folder):
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    return external("../secret.bin")


@case(INVALID, "'w'")
def external_hidden_parent(folder):
    (folder / "sub").mkdir()
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    return external("sub/../../secret.bin")


@case(INVALID, "'w'")
def external_absolute(folder):
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    return external(str(folder.parent / "secret.bin"))


@case(INVALID, "'w'")
def external_symlink(folder):
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    (folder / "data.bin").symlink_to(folder.parent / "secret.bin")
    return external("data.bin")


@case(INVALID, "'w'")
def external_linked_folder(folder):
    (folder.parent / "secrets").mkdir(exist_ok=True)
    (folder.parent / "secrets" / "data.bin").write_bytes(bytes(24))
    (folder / "sub").symlink_to(folder.parent / "secrets")
    return external("sub/data.bin")


@case(INVALID, "'w'")
def external_hard_link(folder):
    (folder.parent / "hard.bin").write_bytes(bytes(24))
    os.link(folder.parent / "hard.bin", folder / "data.bin")
    return external("data.bin")


@case(INVALID, "'w'")
def external_fifo(folder):
    os.mkfifo(folder / "data.bin")
    return external("data.bin")


@case(INVALID, "'w'")
def external_directory(folder):
    (folder / "data.bin").mkdir()
    return external("data.bin")


@case(INVALID, "'w'")
def external_missing(folder):
    return external("data.bin")


@case(INVALID, "'w'")
def external_no_location(folder):
    return external("")


@case(INVALID, "'w'", "too short")
def external_short(folder):
    (folder / "data.bin").write_bytes(bytes(23))
    return external("data.bin")


@case(INVALID, "'w'", "too short")
def external_offset_beyond(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", offset=1)


@case(INVALID, "'w'", "offset")
def external_negative_offset(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", offset=-8)


@case(INVALID, "'w'")
def external_huge_offset(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", offset=(1 << 63) - 8)


@case(INVALID, "'w'")
def external_overflowing_offset(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", offset=1 << 64)


@case(INVALID, "'w'", "length")
def external_bad_length(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", length="twenty-four")


@case(INVALID, "'w'", "23 bytes")
def external_wrong_length(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", length=23)


@case(INVALID, "'w'", "too short")
def external_claims_gigabytes(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", dims=(1 << 33,))


@case(INVALID, "'w'", "NUL")
def external_nul(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin\0.txt")


# ---- attributes


@case(INVALID, "Concat 'n'", "axis")
def attribute_of_wrong_type():
    return one("Concat", {"axis": "zero"}, extra=["x"])


@case(INVALID, "Softmax 'n'", "axis")
def attribute_float_for_int():
    return one("Softmax", {"axis": 1.0})


@case(INVALID, "Conv 'n'", "pads")
def attribute_int_for_ints():
    return one("Conv", {"pads": 1}, extra=["w"], weights=[tensor("w", np.ones((4, 3, 1, 1)))], inputs=[value("x", (1, 3, 4, 4))], outputs=[value("y", None)])


@case(INVALID, "Conv 'n'", "pads")
def attribute_too_short():
    return one("Conv", {"pads": [1]}, extra=["w"], weights=[tensor("w", np.ones((4, 3, 1, 1)))], inputs=[value("x", (1, 3, 4, 4))], outputs=[value("y", None)])


@case(INVALID, "Concat 'n'", "axis")
def attribute_missing():
    return model([node("Concat", ["x", "x"], ["y"], name="n")])


@case(INVALID, "Cast 'n'")
def cast_to_nothing():
    return one("Cast", {"to": 99})


@case(INVALID, "Constant 'n'")
def constant_without_value():
    return model([node("Constant", [], ["c"], name="n"), node("Add", ["x", "c"], ["y"])])


@case(INVALID)
def attribute_of_two_types():
    proto = one("Softmax", {"axis": 1})
    proto.graph.node[0].attribute[0].type = 4  # TENSOR, without one
    return proto


@case(INVALID)
def attribute_of_no_type():
    proto = one("Softmax", {"axis": 1})
    proto.graph.node[0].attribute[0].type = 0
    return proto


# ---- quantised and recurrent operators


def recurrent(op, gates, **attributes):
    weights = [tensor("w", np.ones((1, gates * 4, 3))), tensor("r", np.ones((1, gates * 4, 4)))]
    return one(op, {"hidden_size": 4, **attributes}, extra=["w", "r"], weights=weights, inputs=[value("x", (5, 2, 3))], outputs=[value("y", None)])


@case(INVALID, "LSTM 'n'", "activations", "3")
def lstm_with_two_activations():
    return recurrent("LSTM", 4, activations=["Tanh", "Tanh"])


@case(INVALID, "GRU 'n'", "swish")
def gru_with_unknown_activation():
    return recurrent("GRU", 3, activations=["Sigmoid", "Swish"])


@case(INVALID, "RNN 'n'", "direction")
def rnn_with_unknown_direction():
    return recurrent("RNN", 1, direction="sideways")


@case(INVALID, "RNN 'n'", "alpha")
def rnn_with_infinite_alpha():
    return recurrent("RNN", 1, activations=["Elu"], activation_alpha=[float("inf")])


@case(INVALID, "LSTM 'n'", "hidden_size")
def lstm_with_another_hidden_size():
    return recurrent("LSTM", 4, hidden_size=5)


@case(INVALID, "MatMulInteger 'n'", "f32")
def integer_product_of_floats():
    return one("MatMulInteger", extra=["w"], weights=[tensor("w", np.ones((3, 4)), np.int8)], outputs=[value("y", None, T.INT32)])


@case(INVALID, "QuantizeLinear 'n'", "output_dtype")
def quantise_to_two_types():
    weights = [tensor("s", 0.5), tensor("z", 0, np.int8)]
    return one("QuantizeLinear", {"output_dtype": T.UINT8}, extra=["s", "z"], weights=weights, outputs=[value("y", None, T.INT8)], opsets=(("", 21),))


@case(INVALID, "QuantizeLinear 'n'", "blocks of 2")
def quantise_with_too_few_blocks():
    return one("QuantizeLinear", {"axis": 1, "block_size": 2}, extra=["s"], weights=[tensor("s", np.ones((2, 1)))], outputs=[value("y", None, T.UINT8)], opsets=(("", 21),))


@case(INVALID, "Cast 'n'", "round_mode")
def cast_with_unknown_rounding():
    return one("Cast", {"to": T.FLOAT8E8M0, "round_mode": "sideways"}, outputs=[value("y", None, T.FLOAT8E8M0)], opsets=(("", 24),))


@case(INVALID, "com.microsoft.MatMulNBits 'n'", "block_size")
def few_bits_in_odd_blocks():
    weights = [tensor("w", np.zeros((4, 1, 6)), np.uint8), tensor("s", np.ones(4))]
    return one("MatMulNBits", {"K": 3, "N": 4, "block_size": 12, "domain": "com.microsoft"}, extra=["w", "s"], weights=weights, outputs=[value("y", None)])


@case(INVALID, "onnxc")
def domain_of_the_compiler():
    return one("Map", {"domain": "onnxc"}, opsets=(("", 17), ("onnxc", 1)))


# ---- bombs


def if_tree(depth, name="root"):
    """2^depth branches."""
    branches = {}
    for side in ("then_branch", "else_branch"):
        inner = if_tree(depth - 1, f"{name}_{side[0]}") if depth > 1 else [node("Relu", ["x"], [f"{name}_{side}"])]
        result = inner[-1].output[0]
        branches[side] = helper.make_graph(inner, side, [], [value(result)])
    return [node("If", ["c"], [name], name=name, **branches)]


@case({0, INVALID, BUDGET})
def nested_if():
    return model([*if_tree(8), node("Identity", ["root"], ["y"])], [value("x"), value("c", (), T.BOOL)])


@case(INVALID, "nested")
def deep_if():
    """Written byte by byte, since ONNX's Python refuses to make it."""

    def branch(name, graph):
        return message(5, message(1, name) + message(6, graph) + b"\xa0\x01\x05")

    def graph_of(node, output):
        return message(1, node) + message(2, "g") + message(12, message(1, output))

    graph = graph_of(message(1, "x") + message(2, "v0") + message(4, "Relu"), "v0")
    for k in range(1, 101):
        other = graph_of(message(1, "x") + message(2, f"o{k}") + message(4, "Relu"), f"o{k}")
        name = f"v{k}" if k < 100 else "y"
        node = message(1, "c") + message(2, name) + message(4, "If") + branch("then_branch", graph) + branch("else_branch", other)
        graph = graph_of(node, name)
    proto = one("Relu", inputs=[value("x"), value("c", (), T.BOOL)])
    del proto.graph.node[:]
    whole = proto.graph.SerializeToString() + message(1, node)
    proto.ClearField("graph")
    return proto.SerializeToString() + message(7, whole)


def function(name, nodes):
    return helper.make_function("local", name, ["a"], ["b"], nodes, [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])


def call(f, a, b):
    return node(f, [a], [b], domain="local")


OPSETS = (("", 17), ("local", 1))


@case(BUDGET, "nodes")
def function_bomb():
    functions = [function("f0", [node("Relu", ["a"], ["b"])])]
    functions += [function(f"f{k}", [call(f"f{k - 1}", "a", "t"), call(f"f{k - 1}", "t", "b")]) for k in range(1, 60)]
    return model([call("f59", "x", "y")], functions=functions, opsets=OPSETS)


@case(BUDGET, "nodes")
def function_bomb_in_a_branch():
    functions = [function("f0", [node("Relu", ["a"], ["b"])])]
    functions += [function(f"f{k}", [call(f"f{k - 1}", "a", "t"), call(f"f{k - 1}", "t", "b")]) for k in range(1, 60)]
    then = helper.make_graph([call("f59", "x", "v")], "t", [], [value("v")])
    other = helper.make_graph([node("Relu", ["x"], ["o"])], "e", [], [value("o")])
    return model([node("If", ["c"], ["y"], then_branch=then, else_branch=other)], [value("x"), value("c", (), T.BOOL)], functions=functions, opsets=OPSETS)


@case(INVALID, "calls itself")
def recursive_function():
    return model([call("f", "x", "y")], functions=[function("f", [call("f", "a", "b")])], opsets=OPSETS)


@case(INVALID, "calls itself")
def recursive_functions():
    functions = [function("f", [call("g", "a", "b")]), function("g", [call("f", "a", "b")])]
    return model([call("f", "x", "y")], functions=functions, opsets=OPSETS)


@case(INVALID, "calls itself")
def recursive_function_in_a_branch():
    then = helper.make_graph([call("f", "a", "v")], "t", [], [value("v", None)])
    other = helper.make_graph([node("Relu", ["a"], ["o"])], "e", [], [value("o", None)])
    body = [node("Constant", [], ["c"], value=helper.make_tensor("", T.BOOL, [], [1])), node("If", ["c"], ["b"], then_branch=then, else_branch=other)]
    return model([call("f", "x", "y")], functions=[function("f", body)], opsets=OPSETS)


@case(0)
def deep_functions():
    functions = [function("f0", [node("Relu", ["a"], ["b"])])]
    functions += [function(f"f{k}", [call(f"f{k - 1}", "a", "b")]) for k in range(1, 30)]
    return model([call("f29", "x", "y")], functions=functions, opsets=OPSETS)


def grows(op, attributes=None, weights=(), extra=(), **rest):
    return one(op, attributes, extra, weights, outputs=[value("y", None)], **rest)


def constant_grows(nodes, weights):
    """y = x + bomb, where bomb depends on constants alone."""
    return model([*nodes, node("ReduceSum", ["bomb"], ["total"], keepdims=0), node("Add", ["x", "total"], ["y"])], weights=weights)


HUGE = tensor("shape", [1 << 20, 1 << 20], np.int64)


@case(BUDGET, "arena")
def constant_of_shape():
    return constant_grows([node("ConstantOfShape", ["shape"], ["bomb"], name="n")], [HUGE])


@case(BUDGET, "arena")
def expand():
    return constant_grows([node("Expand", ["w", "shape"], ["bomb"], name="n")], [HUGE, tensor("w", [1.0])])


@case(BUDGET, "arena")
def tile():
    return constant_grows([node("Tile", ["w", "shape"], ["bomb"], name="n")], [HUGE, tensor("w", [[1.0]])])


@case(BUDGET, "arena")
def pad():
    return constant_grows([node("Pad", ["w", "shape"], ["bomb"], name="n")], [tensor("shape", [1 << 40, 0], np.int64), tensor("w", [1.0])])


@case({INVALID, BUDGET})
def range_of_a_terabyte():
    weights = [tensor("a", 0, np.int64), tensor("b", 1 << 40, np.int64), tensor("c", 1, np.int64)]
    nodes = [node("Range", ["a", "b", "c"], ["r"], name="n"), node("Cast", ["r"], ["bomb"], to=F)]
    return constant_grows(nodes, weights)


@case({INVALID, BUDGET})
def range_by_nothing():
    weights = [tensor("a", 0, np.int64), tensor("b", 10, np.int64), tensor("c", 0, np.int64)]
    nodes = [node("Range", ["a", "b", "c"], ["r"], name="n"), node("Cast", ["r"], ["bomb"], to=F)]
    return constant_grows(nodes, weights)


@case({INVALID, BUDGET})
def overflowing_shape():
    return constant_grows([node("ConstantOfShape", ["s"], ["bomb"], name="n")], [tensor("s", [1 << 62, 1 << 62], np.int64)])


@case(INVALID, "ConstantOfShape 'n'")
def negative_shape():
    return constant_grows([node("ConstantOfShape", ["s"], ["bomb"], name="n")], [tensor("s", [-5], np.int64)])


@case({0, BUDGET})
def doubling():
    """Each node doubles what the one before it made: 2^50 elements."""
    nodes = [node("Identity", ["w"], ["v0"])] + [node("Concat", [f"v{k}", f"v{k}"], [f"v{k + 1}"], axis=0) for k in range(50)]
    return constant_grows([*nodes, node("Identity", ["v50"], ["bomb"])], [tensor("w", [1.0])])


@case({0, BUDGET})
def many_large_constants():
    """Each is small enough to be folded; all together are not."""
    nodes = []
    for k in range(200):
        nodes += [node("ConstantOfShape", ["s"], [f"c{k}"], value=helper.make_tensor("", F, [1], [float(k)])),
                  node("ReduceSum", [f"c{k}"], [f"r{k}"], keepdims=0), node("Add", ["x" if k == 0 else f"a{k - 1}", f"r{k}"], [f"a{k}"])]
    return model([*nodes, node("Identity", ["a199"], ["y"])], weights=[tensor("s", [1 << 24], np.int64)])


# ---- arithmetic on constants


@case({0, INVALID})
def division_by_zero():
    weights = [tensor("a", [1, 2, -(2**31)], np.int32), tensor("b", [0, 0, -1], np.int32)]
    return model([node("Div", ["a", "b"], ["q"]), node("Mod", ["a", "b"], ["m"]), node("Add", ["q", "m"], ["y"])], [], [value("y", (3,), T.INT32)], weights)


@case({0, INVALID})
def shift_too_far():
    weights = [tensor("a", [1, 2], np.uint32), tensor("b", [32, 1000], np.uint32)]
    return model([node("BitShift", ["a", "b"], ["y"], direction="LEFT")], [], [value("y", (2,), T.UINT32)], weights)


@case({0, INVALID})
def cast_out_of_range():
    weights = [tensor("a", [1e30, -1e30, np.nan, np.inf])]
    return model([node("Cast", ["a"], ["y"], to=T.INT32)], [], [value("y", (4,), T.INT32)], weights)


# ---- size


@case(0, name="a chain of 100,000 nodes")
def long_chain():
    nodes = [node("Relu" if k % 2 else "Sigmoid", ["x" if k == 0 else f"v{k - 1}"], [f"v{k}"]) for k in range(99_999)]
    return model([*nodes, node("Relu", ["v99998"], ["y"])])


@case(0, name="a chain of 20,000 matrix products")
def long_product():
    nodes = [node("MatMul", ["x" if k == 0 else f"v{k - 1}", "w"], [f"v{k}"]) for k in range(20_000)]
    return model([*nodes, node("Relu", ["v19999"], ["y"])], weights=[tensor("w", np.eye(3))])


@case(0, name="20,000 constants")
def many_constants():
    nodes = [node("Add", ["x" if k == 0 else f"v{k - 1}", f"w{k}"], [f"v{k}"]) for k in range(20_000)]
    return model([*nodes, node("Relu", ["v19999"], ["y"])], weights=[tensor(f"w{k}", np.full((2, 3), k)) for k in range(20_000)])


@case(0, name="a value with 20,000 uses")
def wide():
    nodes = [node("Relu", ["x"], ["t"])] + [node("Exp", ["t"], [f"v{k}"]) for k in range(20_000)]
    sums = [node("Add", ["v0" if k == 0 else f"s{k - 1}", f"v{k}"], [f"s{k}"]) for k in range(20_000)]
    return model([*nodes, *sums, node("Relu", ["s19999"], ["y"])])


@case(0, name="a fan of 20,000 branches")
def fan():
    nodes = [node("MatMul", ["x", f"w{k % 50}"], [f"v{k}"], name=f"m{k}") for k in range(20_000)]
    sums = [node("Max", ["v0" if k == 0 else f"s{k - 1}", f"v{k}"], [f"s{k}"]) for k in range(20_000)]
    return model([*nodes, *sums, node("Relu", ["s19999"], ["y"])], weights=[tensor(f"w{k}", np.eye(3) * k) for k in range(50)])


# ---- usage


@case(BUDGET, "arena", options=["--max-arena", "100"])
def small_budget():
    nodes = [node("MatMul", ["x", "w"], ["t"]), node("MatMul", ["t", "w"], ["y"])]
    return model(nodes, [value("x", (30, 30))], [value("y", (30, 30))], [tensor("w", np.ones((30, 30)))])


@case(BUDGET, "'t' (", options=["--max-arena", "1K"])
def small_budget_names_what_lives():
    return small_budget()


@case(BUDGET, "'w' (", options=["--max-weights", "3000"])
def small_budget_of_weights():
    return small_budget()


def chain_of_any_batch():
    nodes = [node("MatMul", ["x", "w"], ["t"]), node("MatMul", ["t", "w"], ["y"])]
    return model(nodes, [value("x", ("batch", 30))], [value("y", ("batch", 30))], [tensor("w", np.ones((30, 30)))])


@case(BUDGET, "'batch'", "no upper bound", "--dim 'batch=1..MAX'", options=["--max-arena", "1M"])
def budget_without_a_bound():
    return chain_of_any_batch()


@case(BUDGET, "up to 1200", "'t' (", options=["--max-arena", "100K", "--dim", "batch=1..1000"])
def budget_at_the_upper_bound():
    return chain_of_any_batch()


@case(0, options=["--max-arena", "121K", "--dim", "batch=1..1000"])
def budget_that_suffices_at_the_upper_bound():
    return chain_of_any_batch()


@case(USAGE, options=["--target", "pdp11"])
def unknown_target():
    return good()


@case(USAGE, options=["--weights", "papyrus"])
def unknown_weights_form():
    return good()


@case(USAGE, options=["--dim", "batch=many"])
def bad_dim():
    return good()


@case(USAGE, options=["--dim", "batch=5..1"])
def empty_dim():
    return good()


@case(USAGE, options=["--no-such-option"], lines=0)
def unknown_option():
    return good()


@case(IO, options=["-o", "/nonexistent/folder/model.cpp"])
def no_such_output_folder():
    return good()


# ---- trees and patterns of strangers


def trees(**changes):
    """One tree: a comparison and two leaves."""
    attributes = dict(
        nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0], nodes_values=[0.5, 0.0, 0.0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
        target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.0, 2.0], n_targets=1,
    )
    attributes.update(changes)
    made = node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(helper.make_graph([made], "trees", [value("x")], [value("y", (2, 1))]), opset_imports=opsets, ir_version=9)


@case(0)
def tree():
    return trees()


@case(INVALID, "cycle")
def tree_with_a_cycle():
    return trees(nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], nodes_truenodeids=[1, 1, 0], nodes_falsenodeids=[2, 2, 0])


@case(INVALID, "no root")
def tree_without_a_root():
    return trees(nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 2, 0])


@case(INVALID, "leads to node 7")
def tree_with_a_lost_child():
    return trees(nodes_truenodeids=[7, 0, 0])


@case(INVALID, "reads feature 3")
def tree_beyond_the_features():
    return trees(nodes_featureids=[3, 0, 0])


@case(INVALID, "target_ids holds 1")
def tree_beyond_the_targets():
    return trees(target_ids=[0, 1])


@case(INVALID, "different lengths")
def tree_of_uneven_lists():
    return trees(nodes_values=[0.5])


def matches(pattern):
    made = node("RegexFullMatch", ["x"], ["y"], pattern=pattern)
    graph = helper.make_graph([made], "pattern", [value("x", (2,), T.STRING)], [value("y", (2,), T.BOOL)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


@case(INVALID, "does not end")
def pattern_that_does_not_end():
    return matches("(a|b")


@case(INVALID, "more repetitions than fit")
def pattern_that_explodes():
    return matches("((((a{100}){100}){100}){100})")


@case(INVALID, "nested too deeply")
def pattern_that_is_too_deep():
    return matches("(" * 100_000 + "a" + ")" * 100_000)


@case(INVALID, "unknown class")
def pattern_with_an_unknown_unicode_class():
    return matches(r"\p{Klingon}+")
