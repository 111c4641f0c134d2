"""Budgets of the compiler itself: each with what exceeds it by one, and with what just fits."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper

from .bombs import call, function
from .case import BUDGET, USAGE, case
from .initialisers import sparse
from .models import F, model, node, tensor, value

OPSETS = (("", 17), ("local", 1))


def chain(count):
    """y is x after so many Relus."""
    return [node("Relu", ["x" if k == 0 else f"v{k - 1}"], ["y" if k == count - 1 else f"v{k}"]) for k in range(count)]


# ---- nodes


@case(BUDGET, "graph 'g' has 10 nodes, more than 9", "--max-nodes", options=["--max-nodes", "9"])
def one_node_too_many():
    return model(chain(10))


@case(0, options=["--max-nodes", "10"])
def as_many_nodes_as_allowed():
    return model(chain(10))


def branches(count):
    then = helper.make_graph([node("Relu", ["x" if k == 0 else f"t{k - 1}"], [f"t{k}"]) for k in range(count)], "t", [], [value(f"t{count - 1}")])
    other = helper.make_graph([node("Neg", ["x"], ["o"])], "e", [], [value("o")])
    return model([node("If", ["c"], ["y"], then_branch=then, else_branch=other)], [value("x"), value("c", (), T.BOOL)])


@case(BUDGET, "has 10 nodes, more than 9", options=["--max-nodes", "9"])
def nodes_of_branches_count():
    return branches(8)


@case(0, options=["--max-nodes", "10"])
def nodes_of_branches_fit():
    return branches(8)


def four_nodes_a_call(calls):
    body = [node("Relu", ["a" if k == 0 else f"t{k - 1}"], ["b" if k == 3 else f"t{k}"]) for k in range(4)]
    calls = [call("f", "x" if k == 0 else f"v{k - 1}", "y" if k == calls - 1 else f"v{k}") for k in range(calls)]
    return model(calls, functions=[function("f", body)], opsets=OPSETS)


@case(BUDGET, "expand graph 'g' to more than 11 nodes", "--max-nodes", options=["--max-nodes", "11"])
def functions_expand_to_one_node_too_many():
    return four_nodes_a_call(3)


@case(0, options=["--max-nodes", "12"])
def functions_expand_to_as_many_as_allowed():
    return four_nodes_a_call(3)


# ---- constants that are computed


@case(BUDGET, "tensor 'w'", "is sparse", "--max-fold-bytes", options=["--max-fold-bytes", "23"])
def sparse_weights_of_a_byte_too_many():
    return sparse([2, 3], [0, 5])


@case(0, options=["--max-fold-bytes", "24"])
def sparse_weights_that_fit():
    return sparse([2, 3], [0, 5])


def two_megabytes():
    """y = x and the sums of two constants of a megabyte each. Where a sum is not folded, its constant is a weight; where that is not, it lies in the arena."""
    shape, nodes = tensor("s", [1 << 18], np.int64), []
    for k in range(2):
        nodes += [node("ConstantOfShape", ["s"], [f"c{k}"], value=helper.make_tensor("", F, [1], [float(k + 1)])),
                  node("ReduceSum", [f"c{k}"], [f"r{k}"], keepdims=0), node("Add", ["x" if k == 0 else "a0", f"r{k}"], [f"a{k}"])]
    return model([*nodes, node("Identity", ["a1"], ["y"])], weights=[shape])


SUMS = 2 * 4  # bytes that are folded beside the constants


SMALL = ["--max-arena", "64K", "--max-weights", "64K"]


@case(BUDGET, "the weights", options=["--max-fold-bytes", str((1 << 21) + SUMS - 1), *SMALL])
def a_sum_of_a_byte_too_many_is_left_to_the_run():
    return two_megabytes()


@case(BUDGET, "the arena", options=["--max-fold-bytes", str((1 << 20) - 1), *SMALL])
def constants_of_a_byte_too_many_are_left_to_the_run():
    return two_megabytes()


@case(0, options=["--max-fold-bytes", str((1 << 21) + SUMS), *SMALL])
def constants_that_fit_are_folded():
    return two_megabytes()


# ---- memory and time


def eight_megabytes():
    w = np.random.default_rng(1).standard_normal((1024, 2048))
    return model([node("MatMul", ["x", "w"], ["y"], name="product")], [value("x", (2, 1024))], [value("y", (2, 2048))], [tensor("w", w)])


@case(BUDGET, "8388608 bytes", "--max-memory", options=["--max-memory", "8M"])
def memory_for_less_than_the_weights():
    return eight_megabytes()


@case(0, options=["--max-memory", "64M"])
def memory_that_does():
    return eight_megabytes()


@case(BUDGET, "more than 0.001 s", "--timeout", options=["--timeout", "0.001"])
def no_time():
    return model(chain(20_000))


@case(0, options=["--timeout", "50"])
def time_that_does():
    return model(chain(20_000))


@case(0, options=["--timeout", "0"])
def any_time():
    return model(chain(10))


@case(USAGE, "--timeout", options=["--timeout", "-1"], code="E0501")
def negative_time():
    return model(chain(10))


@case(USAGE, "--max-nodes", "at least 1", options=["--max-nodes", "0"], code="E0501")
def no_nodes():
    return model(chain(10))
