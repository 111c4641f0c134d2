"""Shapes: of inputs, and what operators make of them."""
import numpy as np

from .case import BUDGET, INVALID, case
from .models import model, node, one, tensor, value


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
