"""Shapes: of inputs, and what operators make of them."""
import numpy as np
from onnx import TensorProto as T

from .case import BUDGET, INVALID, case
from .models import model, node, one, tensor, value


@case(INVALID, "'x'", "extent -3", code="E0304")
def negative_dim():
    return one("Relu", inputs=[value("x", (2, -3))])


@case(INVALID, "'x'", "f32[1099511627776, 1099511627776]", "2^82 bytes", code="E0305")
def overflowing_dims():
    big = (1 << 40, 1 << 40)
    return one("Relu", inputs=[value("x", big)], outputs=[value("y", big)])


@case(INVALID, "'x'", "2^65 bytes")
def overflowing_product():
    big = (1 << 31, 1 << 31, 2)
    return one("Add", extra=["x"], inputs=[value("x", big)], outputs=[value("y", big)])


@case(INVALID, "'x'", "c128", "2^62 bytes")
def wide_elements():
    big = (2**58 + 2,)
    return one("Identity", inputs=[value("x", big, T.COMPLEX128)], outputs=[value("y", big, T.COMPLEX128)])


# 2^64 bits are none where they wrap.
@case(INVALID, "ConstantOfShape 'n'", "'y'", "2^61 bytes")
def wrapping_constant():
    return model([node("ConstantOfShape", ["s"], ["y"], name="n")], [], [value("y", None)], [tensor("s", [2**59 + 2], np.int64)])


@case(INVALID, "Expand 'n'", "'y'", "2^61 bytes")
def wrapping_expand():
    return model([node("Expand", ["c", "s"], ["y"], name="n")], [], [value("y", None)], [tensor("c", [1.0]), tensor("s", [2**59 + 2], np.int64)])


@case(INVALID, "Tile 'n'", "2^62 bytes")
def wrapping_tile():
    return model([node("Tile", ["c", "s"], ["y"], name="n")], [], [value("y", None)], [tensor("c", [1.0, 2.0]), tensor("s", [2**59], np.int64)])


@case(INVALID, "Pad 'n'", "2^61 bytes")
def wrapping_pad():
    return model([node("Pad", ["c", "s"], ["y"], name="n")], [], [value("y", None)], [tensor("c", [1.0, 2.0]), tensor("s", [0, 2**59], np.int64)])


@case(INVALID, "Range 'n'", "2^63 bytes")
def wrapping_range():
    return model([node("Range", ["a", "b", "d"], ["y"], name="n")], [], [value("y", None, T.INT64)], [tensor("a", 0, np.int64), tensor("b", 2**60, np.int64), tensor("d", 1, np.int64)])


@case(INVALID, "OneHot 'n'", "bytes")
def wrapping_one_hot():
    weights = [tensor("i", [[0, 1]], np.int64), tensor("d", 2**58, np.int64), tensor("v", [0.0, 1.0])]
    return model([node("OneHot", ["i", "d", "v"], ["y"], name="n")], [], [value("y", None)], weights)


@case(INVALID, "Add 'n'", "'t'", "2^62 bytes")
def endless_with_a_symbol():
    nodes = [node("Add", ["x", "w"], ["t"], name="n"), node("ReduceMax", ["t"], ["y"], keepdims=0)]
    return model(nodes, [value("x", ["batch", 2**30, 1]), value("w", [2**30])], [value("y", [])])


@case(BUDGET, "the arena")
def endless_arena():
    nodes = [node("Tanh", ["x"], ["t0"]), *(node("Concat", ["x", f"t{k}"], [f"t{k + 1}"], axis=0) for k in range(3)), node("ReduceMax", ["t3"], ["y"], keepdims=0)]
    return model(nodes, [value("x", [2**26, 2**26])], [value("y", [])])


# A size without end is told as one, not beside a total that is larger.
@case(BUDGET, "bytes or more, more than 1000; live together", "(17592186044416 bytes or more)", options=["--max-arena", "1000", "--dim", "batch=1..1099511627776"])
def arena_of_a_wide_dimension():
    nodes = [node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), node("MatMul", ["x", "t"], ["m"]), node("Softmax", ["m"], ["s"]), node("MatMul", ["s", "x"], ["y"])]
    return model(nodes, [value("x", ["batch", 4, 2**20])], [value("y", ["batch", 4, 2**20])])


@case(0)
def integers_that_are_no_extents():
    weights = [tensor("a", [2**63 - 1, -(2**63)], np.int64), tensor("b", [2**63 - 1, 4], np.int64)]
    nodes = [node("Equal", ["a", "b"], ["e"]), node("Mul", ["a", "b"], ["m"]), node("Sub", ["a", "b"], ["d"]), node("Neg", ["a"], ["g"]), node("ReduceSum", ["a"], ["s"]),
             node("Less", ["a", "b"], ["l"]), node("Max", ["a", "b"], ["h"])]
    outputs = [value("e", [2], T.BOOL), *(value(name, [2], T.INT64) for name in "mdgh"), value("s", [1], T.INT64), value("l", [2], T.BOOL)]
    return model(nodes, [], outputs, weights)


@case(0)
def range_over_all_of_int64():
    return model([node("Range", ["a", "b", "d"], ["y"])], [], [value("y", [4], T.INT64)],
                 [tensor("a", -(2**63), np.int64), tensor("b", 2**63 - 1, np.int64), tensor("d", 2**62, np.int64)])


@case(INVALID, "rank 1000", code="E0308")
def rank_1000():
    return one("Relu", inputs=[value("x", [1] * 1000)], outputs=[value("y", [1] * 1000)])


@case(INVALID)
def rank_1000_inside():
    shape = tensor("shape", [1] * 1000, np.int64)
    return one("Reshape", extra=["shape"], weights=[shape], inputs=[value("x", (1,))], outputs=[value("y", [1] * 1000)])


@case({0, INVALID})
def lying_output_shape():
    return one("Relu", outputs=[value("y", (7, 7, 7))])


@case(INVALID, "MatMul 'n'", code="E0303")
def mismatched_product():
    return one("MatMul", extra=["w"], weights=[tensor("w", np.ones((5, 4)))], outputs=[value("y", (2, 4))])


@case(INVALID, "Add 'n'", code="E0303")
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


@case(INVALID, "Transpose 'n'", code="E0301")
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


def grouped_attention(query, key, value_):
    shapes = {"q": query, "k": key, "v": value_, "past_k": (1, 1, 3, 4), "past_v": (1, 1, 3, 4)}
    inputs = [value(name, shape) for name, shape in shapes.items()] + [value("last", (1,), T.INT32), value("total", (), T.INT32)]
    operator = node("GroupQueryAttention", [*shapes, "last", "total"], ["y", "", ""], name="n", domain="com.microsoft", num_heads=3, kv_num_heads=1)
    return model([operator], inputs, [value("y", None)], opsets=(("", 17), ("com.microsoft", 1)))


@case(INVALID, "com.microsoft.GroupQueryAttention 'n'", "1 tokens, and input 1 has 2", code="E0301")
def keys_of_other_tokens():
    return grouped_attention((1, 1, 12), (1, 2, 4), (1, 2, 4))


@case(INVALID, "com.microsoft.GroupQueryAttention 'n'", "a batch of 2, and input 1 one of 3", code="E0301")
def keys_of_another_batch():
    return grouped_attention((2, 1, 12), (3, 1, 4), (3, 1, 4))


@case(INVALID, "com.microsoft.GroupQueryAttention 'n'", "its Concat", "4 and 5 do not match", code="E0303")
def a_part_of_a_node():
    """What is wrong with a part is told of the node that the model has."""
    return grouped_attention((1, 1, 12), (1, 1, 5), (1, 1, 5))
