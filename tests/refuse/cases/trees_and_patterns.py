"""Trees and patterns of strangers."""
from onnx import TensorProto as T
from onnx import helper

from .case import INVALID, case
from .models import node, value


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
