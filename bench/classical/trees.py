"""Forests as ONNX, from trees of Split and Leaf: what the converters cannot write.

    regressor(trees, ...), classifier(trees, ...)    attributes of one list a column (ai.onnx.ml 3)
    ensemble(trees, ...)                             TreeEnsemble of ai.onnx.ml 5, with sets of members
"""
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper


@dataclass
class Leaf:
    weights: dict  # target: weight


@dataclass
class Split:
    feature: int
    threshold: object  # a number: x <= threshold goes left; a set of numbers: a member of it does
    missing_left: bool
    left: object
    right: object


def floor32(value):
    """The largest f32 that is not above, so that no f32 is compared otherwise."""
    rounded = np.float32(value)
    return float(rounded if rounded <= value else np.nextafter(rounded, np.float32(-np.inf)))


def model(op, inputs, outputs, version, **attributes):
    node = helper.make_node(op, ["X"], list(outputs), domain="ai.onnx.ml", **attributes)
    infos = [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in outputs.items()]
    graph = helper.make_graph([node], "forest", [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, inputs])], infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", version)], ir_version=9)


def columns(trees, weights):
    """nodes_* and, with the prefix `weights`, the leaves'. Nodes of a tree are numbered in depth-first order."""
    n = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}

    def write(values, *row):
        for column, value in zip(values.values(), row):
            column.append(value)

    for tree, root in enumerate(trees):
        pending, count = [(root, None)], 0
        while pending:
            node, parent = pending.pop()
            if parent is not None:
                n["falsenodeids"][parent] = count
            number, at, count = count, len(n["modes"]), count + 1
            if isinstance(node, Leaf):
                write(n, tree, number, 0, "LEAF", 0.0, 0, 0, 0)
                for target, weight in node.weights.items():
                    write(leaves, tree, number, target, float(weight))
            else:
                write(n, tree, number, node.feature, "BRANCH_LEQ", floor32(node.threshold), count, 0, int(node.missing_left))
                pending += [(node.right, at), (node.left, None)]
    return {f"nodes_{name}": values for name, values in n.items()} | {f"{weights}_{name}": values for name, values in leaves.items()}


def regressor(trees, features, base):
    return model("TreeEnsembleRegressor", features, {"variable": (TensorProto.FLOAT, [None, len(base)])}, 3, **columns(trees, "target"), n_targets=len(base),
                 base_values=[float(b) for b in base])


def classifier(trees, features, classes, base, post):
    outputs = {"label": (TensorProto.INT64, [None]), "probabilities": (TensorProto.FLOAT, [None, classes])}
    return model("TreeEnsembleClassifier", features, outputs, 3, **columns(trees, "class"), base_values=[float(b) for b in base], post_transform=post,
                 classlabels_int64s=list(range(classes)))


def ensemble(trees, features, targets=1):
    names = ("featureids", "modes", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs", "missing_value_tracks_true")
    n = {name: [] for name in names}
    leaves, weights, members, roots = [], [], [], []

    def number(node):
        """(where it stands, whether it is a leaf)"""
        if isinstance(node, Leaf):
            (target, weight), = node.weights.items()
            leaves.append(target)
            weights.append(float(weight))
            return len(leaves) - 1, 1
        at, a_set = len(n["modes"]), isinstance(node.threshold, (set, frozenset))
        if a_set:
            members.extend([*sorted(float(m) for m in node.threshold), np.nan])
        for name, value in zip(names, (node.feature, 6 if a_set else 0, 0.0 if a_set else floor32(node.threshold), 0, 0, 0, 0, int(node.missing_left))):
            n[name].append(value)
        for side, child in ("true", node.left), ("false", node.right):
            n[f"{side}nodeids"][at], n[f"{side}leafs"][at] = number(child)
        return at, 0

    for tree in trees:
        roots.append(number(tree)[0])
    tensor = lambda kind, values: helper.make_tensor("", kind, [len(values)], values)
    attributes = {f"nodes_{name}": values for name, values in n.items() if name not in ("modes", "splits")}
    if members:
        attributes["membership_values"] = tensor(TensorProto.FLOAT, members)
    return model("TreeEnsemble", features, {"y": (TensorProto.FLOAT, [None, targets])}, 5, **attributes, nodes_modes=tensor(TensorProto.UINT8, n["modes"]),
                 nodes_splits=tensor(TensorProto.FLOAT, n["splits"]), leaf_targetids=leaves, leaf_weights=tensor(TensorProto.FLOAT, weights), tree_roots=roots,
                 n_targets=targets, aggregate_function=1, post_transform=0)


def of_histogram(estimator):
    """Trees of scikit-learn's histogram boosting and the base of each target; those of several classes are for one class each."""
    def tree(nodes, at, target):
        node = nodes[at]
        if node["is_leaf"]:
            return Leaf({target: node["value"]})
        left, right = (tree(nodes, node[side], target) for side in ("left", "right"))
        return Split(int(node["feature_idx"]), float(node["num_threshold"]), bool(node["missing_go_to_left"]), left, right)

    trees = [tree(predictor.nodes, 0, target) for turn in estimator._predictors for target, predictor in enumerate(turn)]
    return trees, [float(b) for b in np.ravel(estimator._baseline_prediction)]


def of_lightgbm(booster):
    """Trees of a booster of one target."""
    def tree(node):
        if "leaf_value" in node:
            return Leaf({0: node["leaf_value"]})
        left, right = tree(node["left_child"]), tree(node["right_child"])
        if node["decision_type"] == "==":
            return Split(node["split_feature"], frozenset(map(float, str(node["threshold"]).split("||"))), False, left, right)
        # Where training saw no NaN, it counts as 0.
        missing = node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] >= 0
        return Split(node["split_feature"], node["threshold"], missing, left, right)

    return [tree(info["tree_structure"]) for info in booster.dump_model()["tree_info"]]
