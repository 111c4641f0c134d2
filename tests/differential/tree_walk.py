"""The second oracle of forests: a walk through each tree by its attributes, and sums in the order of the trees. onnx.reference has other rules for missing scores and two classes.

Where the specification leaves a choice (two classes, post-transforms of one target), it is ONNX Runtime's.
"""
import numpy as np
from onnx import numpy_helper

HOLDS = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal, "BRANCH_GT": np.greater, "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal,
         "BRANCH_MEMBER": lambda x, members: np.isin(x, members)}
MODES = list(HOLDS)
AGGREGATES = ["AVERAGE", "SUM", "MIN", "MAX"]
POST = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


def values(attributes, name):
    """A list of floats, or the tensor of double in its place; None where neither is there."""
    if f"{name}_as_tensor" in attributes:
        return numpy_helper.to_array(attributes[f"{name}_as_tensor"])
    return np.array(attributes[name], np.float32) if name in attributes else None


class Node:
    def __init__(self, feature, mode, value, missing, yes, no):
        self.feature, self.mode, self.value, self.missing, self.yes, self.no = feature, mode, value, missing, yes, no


def read_columns(a, prefix):
    """({key: Node}, {key: [(target, weight)]}, keys of roots); a key is (tree, node)."""
    keys = list(zip(a["nodes_treeids"], a["nodes_nodeids"]))
    missing = a.get("nodes_missing_value_tracks_true", [0] * len(keys))
    nodes = {key: Node(f, m, v, s, (key[0], y), (key[0], n)) for key, f, m, v, s, y, n in zip(keys, a["nodes_featureids"], a["nodes_modes"], values(a, "nodes_values"), missing,
                                                                                             a["nodes_truenodeids"], a["nodes_falsenodeids"]) if m != "LEAF"}
    children = {child for node in nodes.values() for child in (node.yes, node.no)}
    leaves = {key: [] for key in keys if key not in nodes}
    for tree, node, target, weight in zip(a[f"{prefix}_treeids"], a[f"{prefix}_nodeids"], a[f"{prefix}_ids"], values(a, f"{prefix}_weights")):
        leaves[tree, node].append((target, weight))
    return nodes, leaves, [key for key in keys if key not in children]


def read_ensemble(a):
    array = lambda name: numpy_helper.to_array(a[name])
    sets = [[]]
    for member in array("membership_values") if "membership_values" in a else []:
        sets[-1].append(member) if member == member else sets.append([])
    nodes = {}
    for i, (mode, split) in enumerate(zip(array("nodes_modes"), array("nodes_splits"))):
        child = lambda side: ("leaf" if a[f"nodes_{side}leafs"][i] else "node", a[f"nodes_{side}nodeids"][i])
        value = np.array(sets.pop(0), split.dtype) if MODES[mode] == "BRANCH_MEMBER" else split
        nodes["node", i] = Node(a["nodes_featureids"][i], MODES[mode], value, a["nodes_missing_value_tracks_true"][i], child("true"), child("false"))
    leaves = {("leaf", i): [leaf] for i, leaf in enumerate(zip(a["leaf_targetids"], array("leaf_weights")))}
    return nodes, leaves, [("node", i) for i in a["tree_roots"]]


def reached(nodes, root, x):
    """[(leaf, numbers of the rows that end there)]"""
    found, pending = [], [(root, np.arange(len(x)))]
    while pending:
        at, which = pending.pop()
        if not len(which):
            continue
        if at not in nodes:
            found.append((at, which))
            continue
        node = nodes[at]
        column = x[which, node.feature]
        holds = HOLDS[node.mode](column, node.value)
        if node.missing:
            holds = holds | np.isnan(column)
        pending += [(node.yes, which[holds]), (node.no, which[~holds])]
    return found


def sums(nodes, leaves, roots, x, targets, aggregate):
    scores, has = np.zeros((len(x), targets), x.dtype), np.zeros((len(x), targets), bool)
    for root in roots:
        for leaf, which in reached(nodes, root, x):
            for target, weight in leaves[leaf]:
                old, weight = scores[which, target], x.dtype.type(weight)
                if aggregate in ("SUM", "AVERAGE"):
                    new = old + weight
                else:
                    better = weight < old if aggregate == "MIN" else weight > old
                    new = np.where(~has[which, target] | better, weight, old)
                scores[which, target], has[which, target] = new, True
    return scores / x.dtype.type(len(roots)) if aggregate == "AVERAGE" else scores, has


def logistic(z):
    v = 1 / (1 + np.exp(-np.abs(z)))
    return np.where(z < 0, 1 - v, v).astype(z.dtype)


def probit(p):
    """By ONNX Runtime's formula for the inverse of erf, which is good to some thousandths."""
    z = 2 * p.astype(np.float32) - 1
    log = np.log((1 - z) * (1 + z))
    v = np.float32(2 / (3.14159 * 0.147)) + log / 2
    return np.float32(1.41421356) * np.where(z < 0, -1, 1).astype(np.float32) * np.sqrt(-v + np.sqrt(v * v - log / np.float32(0.147)))


def transform(post, z):
    if post == "LOGISTIC":
        return logistic(z)
    if post == "PROBIT":
        return probit(z)
    if post in ("SOFTMAX", "SOFTMAX_ZERO"):
        most = z.max(1, keepdims=True)
        e = np.exp(z - most)
        if post == "SOFTMAX_ZERO":
            e = np.where(np.abs(z) > 1e-7, e, z * np.exp(-most))
        return (e / e.sum(1, keepdims=True)).astype(z.dtype)
    return z


def two_classes(scores, has, base, post, one_sided, positive):
    """(number of the class, scores) by ONNX Runtime's rules. A row without weights for the second class has one score, from which the other one follows."""
    second = has[:, 1]
    if len(base) == 2:  # either one score and its opposite, or that of the first class
        sums = scores[:, 0] + base[second.astype(int)]
        scores = np.where(second[:, None], np.stack([-sums, sums], 1), np.stack([sums, scores[:, 1]], 1))
    elif len(base) == 1:
        scores[:, 0] += base[0]
    scores = np.where(has, scores, scores.dtype.type(0))
    decides = np.where(second, scores[:, 1], scores[:, 0])
    chosen = (decides > 0.5 if one_sided and positive else decides > 0).astype(np.int64)
    z = scores[:, 0]
    if post == "LOGISTIC":
        single = np.stack([logistic(-z), logistic(z)], 1)
    else:
        single = np.stack([1 - z if one_sided and positive else -z, z], 1)
    return chosen, np.where((second | (len(base) == 2))[:, None], transform(post, scores), single)


def ask(spec):
    """The outputs of a case."""
    a, given = spec.attributes, spec.inputs[0]
    x = given if given.dtype.kind == "f" else given.astype(np.float32)
    if spec.op == "TreeEnsemble":
        z, _ = sums(*read_ensemble(a), x, a["n_targets"], AGGREGATES[a["aggregate_function"]])
        post = POST[a["post_transform"]]
        return [(transform(post, z) if a["n_targets"] > 1 or post == "PROBIT" else z).astype(x.dtype)]
    base, post = values(a, "base_values"), a["post_transform"]
    base = np.zeros(0, x.dtype) if base is None else base.astype(x.dtype)
    if spec.op == "TreeEnsembleRegressor":
        targets = a["n_targets"]
        z, _ = sums(*read_columns(a, "target"), x, targets, a["aggregate_function"])
        z = z + base if len(base) else z
        return [(transform(post, z) if targets > 1 or post == "PROBIT" else z).astype(np.float32)]  # a single target is transformed by PROBIT alone
    names = a.get("classlabels_int64s") or a["classlabels_strings"]
    labels = np.array(names, np.int64 if isinstance(names[0], int) else object)
    z, has = sums(*read_columns(a, "class"), x, len(names), "SUM")
    if len(names) == 2:
        used = set(a["class_ids"])
        chosen, z = two_classes(z, has, base, post, len(used) == 1, bool((values(a, "class_weights") >= 0).all()))
    else:
        if len(base):
            z, has = z + base, np.ones_like(has)
        chosen = np.where(has, z, -np.inf).argmax(1)
        z = transform(post, z)
    return [labels[chosen], z.astype(np.float32)]
