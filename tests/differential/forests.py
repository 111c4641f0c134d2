"""TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble: trees of any shape, every mode, sets of members, missing tracks, values at thresholds. tree_walk.py is the second oracle."""
import numpy as np
from onnx import TensorProto, helper

import tree_walk
from spec import Spec, generator

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"]
POST = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
MOST_LEAVES = 4000  # of a forest, mostly


def numbers(d, count, kind, low=-2, high=2):
    """As a list of Python's floats that are numbers of that type."""
    return d.rng.uniform(low, high, count).astype(kind).tolist()


# ---- trees: a node is [feature, mode, threshold or members, missing track, yes, no], a leaf None; children are numbers of nodes, and several nodes may lead to one.


class Shape:
    """What the trees of a case have in common."""

    def __init__(self, d, columns, kind, version):
        self.d, self.columns, self.kind = d, columns, kind
        self.modes = d.one(MODES[:1], MODES[:1], MODES[1:2], [d.among(MODES[:6])], MODES[:6], ["BRANCH_LEQ", "BRANCH_EQ"]) + (["BRANCH_MEMBER"] if version == 5 and d.chance(0.6) else [])
        # What converters make of sets. ONNX Runtime takes a node that two others lead to in ai.onnx.ml 3 alone.
        self.chains = "BRANCH_EQ" in self.modes and d.chance(0.6 if version == 3 else 0.15)
        self.whole = d.chance(0.9)  # members are integers, as ONNX Runtime wants them
        self.missing = d.one(0, 0, 0.5, 1)
        self.depth = d.one("balanced", "random", "random", "chain")
        self.style = d.one("grid", "grid", "plain", "wide")
        self.leaves = d.one((1, 4), (2, 12), (8, 40), (30, 80), (100, 300))

    def threshold(self):
        d = self.d
        if d.chance(0.04):
            return float(d.one(0.0, -0.0, np.inf, -np.inf, *(np.finfo(self.kind).smallest_subnormal * s for s in (1.0, -3.0)), np.finfo(self.kind).max))
        value = d.int(-6, 6) / 2 if self.style == "grid" else d.rng.standard_normal() * (1 if self.style == "plain" else 10.0 ** d.int(-30, 30))
        return float(self.kind(value))

    def members(self):
        d = self.d
        pool = d.one(range(0, 8), range(-3, 40), range(0, 130)) if self.whole else [v / 2 for v in range(-6, 7)]
        return [float(v) for v in d.subset(pool, 1)[: d.int(1, 12)]]

    def tree(self):
        d, nodes = self.d, []

        def grow(leaves):
            at = len(nodes)
            nodes.append(None)
            if leaves == 1:
                return at
            left = {"balanced": leaves // 2, "random": d.int(1, leaves - 1), "chain": d.one(1, 1, 1, leaves - 1)}[self.depth]
            mode, feature, missing = d.among(self.modes), d.int(0, self.columns - 1), int(d.chance(self.missing))
            if mode == "BRANCH_EQ" and self.chains:
                # One node for each member: all lead to the same node where they hold.
                members = self.members()
                chain = [at]
                for _ in members[1:]:
                    chain.append(len(nodes))
                    nodes.append(None)
                yes, no = grow(left), grow(leaves - left)
                for k, (node, member) in enumerate(zip(chain, members)):
                    nodes[node] = [feature, mode, member, missing, yes, chain[k + 1] if k + 1 < len(chain) else no]
                return at
            value = self.members() if mode == "BRANCH_MEMBER" else self.threshold()
            yes = grow(left)
            nodes[at] = [feature, mode, value, missing, yes, grow(leaves - left)]
            return at

        grow(d.int(*self.leaves))
        return nodes

    def forest(self):
        d = self.d
        most = d.one(1, 4, 12, 60, 60)
        if not d.chance(0.1):
            most = max(1, min(most, MOST_LEAVES // self.leaves[1]))
        return [self.tree() for _ in range(d.int(1, most))]


def thresholds(forest, columns):
    """For each feature the numbers that it is compared with."""
    of = [[0.0] for _ in range(columns)]
    for node in (node for tree in forest for node in tree if node):
        of[node[0]] += node[2] if isinstance(node[2], list) else [node[2]]
    return of


def rows(d, forest, columns, kind):
    count = d.one(d.int(1, 6), d.int(1, 6), d.int(7, 70), d.int(100, 700))
    known, floats = thresholds(forest, columns), np.dtype(kind).kind == "f"
    x = np.empty((count, columns), np.float64)
    for f in range(columns):
        kinds = d.rng.random(count)
        equal = d.rng.choice(known[f], count)
        spread = max(1.0, float(np.abs([v for v in known[f] if abs(v) < 1e30] or [1]).max()))
        x[:, f] = np.where(kinds < 0.3, equal, d.rng.standard_normal(count) * spread)
        x[:, f] = np.where((kinds > 0.3) & (kinds < 0.5), np.round(x[:, f]), x[:, f])
    with np.errstate(all="ignore"):
        if not floats:
            info = np.iinfo(kind)
            x = np.clip(np.nan_to_num(np.round(x)), -(2.0**31), 2.0**31 - 1).astype(kind)
            return np.where(d.rng.random(x.shape) < 0.02, d.rng.choice([info.min, info.max], x.shape), x).astype(kind) if d.chance(0.3) else x
        x = x.astype(kind)
        info = np.finfo(kind)
        if d.chance(0.7):
            special = np.array([np.nan, np.nan, np.inf, -np.inf, 0.0, -0.0, info.smallest_subnormal, -info.smallest_subnormal, info.tiny, info.max, info.min], kind)
            x = np.where(d.rng.random(x.shape) < 0.15, d.rng.choice(special, x.shape), x)
        beside = np.nextafter(x, kind(np.inf) * d.one(1, -1))
        x = np.where(d.rng.random(x.shape) < 0.05, beside, x)
        # Mostly integers where a set of members is asked, because ONNX Runtime cuts any number to one there.
        asked = sorted({node[0] for tree in forest for node in tree if node and isinstance(node[2], list)})
        if asked and d.chance(0.85):
            x[:, asked] = np.round(np.clip(x[:, asked], -1000, 1000))
        return x


def columns_of(d, forest):
    """Attributes nodes_* of ai.onnx.ml 3, and (tree, number of the node) of each leaf. Numbers of nodes are any, and all nodes of a tree but its root come in any order."""
    n = {k: [] for k in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves, shuffled = [], d.chance(0.3)
    for t, tree in enumerate(forest):
        ids = d.permutation(len(tree)) if shuffled else list(range(len(tree)))
        order = [0, *(k + 1 for k in d.permutation(len(tree) - 1))] if shuffled else range(len(tree))
        for k in order:
            feature, mode, value, missing, yes, no = tree[k] or (0, "LEAF", 0.0, 0, None, None)
            row = (t, ids[k], feature, mode, value, 0 if yes is None else ids[yes], 0 if no is None else ids[no], missing)
            for column, cell in zip(n.values(), row):
                column.append(cell)
            if tree[k] is None:
                leaves.append((t, ids[k]))
    if not any(n["missing_value_tracks_true"]) and d.chance(0.5):
        del n["missing_value_tracks_true"]
    return {f"nodes_{k}": v for k, v in n.items()}, leaves


def tensors(attributes, names):
    """In double, which lists of attributes cannot hold."""
    for name in names:
        if name in attributes:
            values = attributes.pop(name)
            attributes[f"{name}_as_tensor"] = helper.make_tensor(name, TensorProto.DOUBLE, [len(values)], values)


def spec(op, x, attributes, version, post, **more):
    # Sums in the order of the trees have one result: ONNX Runtime adds them so on one thread. The exponentials of post-transforms need not, and PROBIT near 0.5 is the root of a difference
    # of numbers near 4 that are almost equal: the root of a few of their last bits is 1e-3.
    exact = {"rtol": 0, "atol": 0} if post == "NONE" else {"rtol": 1e-4, "atol": 2e-3} if post == "PROBIT" else {"rtol": 4e-6, "atol": 1e-6}
    return Spec(op, [x], attributes, opset=18, domain="ai.onnx.ml", version=version, second=tree_walk.ask, **exact, **more)


@generator("TreeEnsembleRegressor", "TreeEnsembleClassifier", weight=2)
def columns_forest(d, op):
    element = d.one(np.float32, np.float32, np.float32, np.float64, np.int64, np.int32)
    kind = np.float64 if element == np.float64 else np.float32
    columns = d.one(d.int(1, 6), d.int(1, 40), d.int(200, 300))
    forest = Shape(d, columns, kind, 3).forest()
    attributes, leaves = columns_of(d, forest)
    regressor = op == "TreeEnsembleRegressor"
    width = d.one(1, 1, 2, 3, d.int(4, 9)) if regressor else d.one(2, 2, 3, d.int(4, 9))
    style = d.one("dense", "sparse", "one a tree", "one a leaf", *(("first", "second") if width == 2 and not regressor else ()))
    named = {"dense": lambda t: range(width), "sparse": lambda t: d.subset(range(width), 1), "one a tree": lambda t: [t % width], "one a leaf": lambda t: [d.int(0, width - 1)],
             "first": lambda t: [0], "second": lambda t: [1]}[style]
    weights = [(t, leaf, k) for t, leaf in leaves for k in named(t)]
    if d.chance(0.2):
        weights = [weights[k] for k in d.permutation(len(weights))]
    prefix = "target" if regressor else "class"
    low, high = d.one((-2, 2), (-1, 1), (0, 0.2), (0, 1 / len(forest)))
    attributes.update({f"{prefix}_treeids": [w[0] for w in weights], f"{prefix}_nodeids": [w[1] for w in weights], f"{prefix}_ids": [w[2] for w in weights],
                       f"{prefix}_weights": numbers(d, len(weights), kind, low, high)})
    # Of two classes where some rows have weights for the first one only, a single base value leaves their second scores undefined.
    bases = d.one(1, 2) if not regressor and width == 2 and style in ("dense", "first", "second") else width
    if d.chance(0.5):
        attributes["base_values"] = numbers(d, bases, kind, -0.5, 0.5)
    if kind == np.float64 and d.chance(0.8):
        tensors(attributes, ("nodes_values", f"{prefix}_weights", "base_values"))
    elif kind == np.float64:  # lists are of float32
        attributes.update({name: np.float32(values).tolist() for name, values in attributes.items() if name.endswith(("values", "weights"))})
    x = rows(d, forest, columns, element)
    post = d.one("NONE", "NONE", *(POST if regressor else POST[:4]))
    if regressor:
        return spec(op, x, {**attributes, "n_targets": width, "aggregate_function": d.one("SUM", "SUM", "AVERAGE", "MIN", "MAX"), "post_transform": post}, 3, post)
    names = [int(v) for v in d.permutation(50)[:width]] if d.chance(0.5) else [f"label {v}" for v in d.permutation(50)[:width]]
    if width == 2 and len(set(attributes["class_ids"])) == 2 and isinstance(names[0], int):
        names = [0, 1]  # what ONNX Runtime gives for two classes, whatever their labels
    attributes["classlabels_int64s" if isinstance(names[0], int) else "classlabels_strings"] = names
    return spec(op, x, {**attributes, "post_transform": post}, 3, post, outputs=2)


@generator("TreeEnsemble", weight=2)
def ensemble(d, op):
    kind = d.one(np.float32, np.float32, np.float64)
    columns, targets = d.one(d.int(1, 6), d.int(1, 40)), d.one(1, 1, 2, d.int(3, 6))
    forest = Shape(d, columns, kind, 5).forest()
    n = {k: [] for k in ("featureids", "modes", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs", "missing_value_tracks_true")}
    ids, members, leaf_targets, roots = [], [], [], []
    style = d.one("any", "one a tree")
    for t, tree in enumerate(forest):
        inner = leaf = 0
        ids = []
        for node in tree:
            ids.append((len(leaf_targets) + leaf, 1) if node is None else (len(n["modes"]) + inner, 0))
            leaf, inner = leaf + (node is None), inner + (node is not None)
        leaf_targets += [t % targets if style == "one a tree" else d.int(0, targets - 1) for _ in range(leaf)]
        if tree[0] is None:  # a tree of a leaf alone: a node that leads there in any case
            roots.append(len(n["modes"]))
            for column, cell in zip(n.values(), (0, 0, 0.0, *ids[0], *ids[0], 0)):
                column.append(cell)
            continue
        roots.append(ids[0][0])
        for feature, mode, value, missing, yes, no in filter(None, tree):
            if mode == "BRANCH_MEMBER":
                members += [*value, np.nan]
            for column, cell in zip(n.values(), (feature, MODES.index(mode), 0.0 if mode == "BRANCH_MEMBER" else value, *ids[yes], *ids[no], missing)):
                column.append(cell)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    tensor = lambda name, values, t=element: helper.make_tensor(name, t, [len(values)], values)
    attributes = {f"nodes_{k}": v for k, v in n.items() if k not in ("modes", "splits")}
    attributes.update(nodes_modes=tensor("modes", n["modes"], TensorProto.UINT8), nodes_splits=tensor("splits", n["splits"]),
                      leaf_weights=tensor("weights", numbers(d, len(leaf_targets), kind, *d.one((-2, 2), (0, 0.2)))), leaf_targetids=leaf_targets, tree_roots=roots)
    if members:
        attributes["membership_values"] = tensor("members", members)
    post = d.one("NONE", "NONE", *POST)
    attributes.update(n_targets=targets, aggregate_function=d.int(0, 3), post_transform=POST.index(post))
    return spec(op, rows(d, forest, columns, kind), attributes, 5, post)
