#!/usr/bin/env python3
"""Whole forests against ONNX Runtime, to the bit: forests.py [NAME...]

10,000 rows for each. A fifth of the values is equal to a threshold of its feature, a tenth is beside one, and there are NaN, infinities, zeros of both signs, subnormal numbers and the
ends of f32. ONNX Runtime on one thread adds the trees one by one, in their order, so sums of f32 have one right result.

Needs numpy, onnx, onnxruntime and the Python package; ONNXC_EXECUTABLE says where onnxc is.
"""
import hashlib
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]
from classical.trees import Leaf, Split, classifier, ensemble, regressor  # noqa: E402
from record import record  # noqa: E402
from units import Unit, sessions  # noqa: E402

ROWS = 10_000
SIZES = (1, 7, 16, 64, 300, 1000)
OF_SMALL = 2000  # rows that are asked for in small batches, where calls cost more than trees
OF_ZOO = ("lightgbm_clf", "xgboost_reg", "random_forest_clf", "gradient_boosting_reg")
TRAINED = ("small_random_forest", "random_forest_classifier", "gradient_boosting_classes", "histogram_boosting_regressor", "lightgbm_100", "lightgbm_categories", "category_members",
           "xgboost_classes", "isolation_forest")
# Those that compute functions such as Log of leaves, on which ONNX Runtime and onnxc differ in the last bits.
CLOSE = {"isolation_forest": 1e-6}
# By default units flush subnormal numbers: the rows of that variant have none.
KEEP = ("--subnormals=keep",)
VARIANTS = {"one thread": Unit(None, KEEP), "two threads": Unit(None, KEEP, 2), "AVX2": Unit(None, (*KEEP, "--target=x86-64-v3")), "flushing": Unit(None)}


# ---- forests


def drawn_tree(r, leaves, features, targets, deep, sets):
    """A random tree with so many leaves; `deep`: how likely all but one of them are on one side."""
    if leaves == 1:
        return Leaf({t: float(np.float32(r.standard_normal())) for t in sorted(r.permutation(targets)[: r.integers(1, targets + 1)] if targets > 1 and not sets else [r.integers(targets)])})
    left = 1 if r.random() < deep else int(r.integers(1, leaves))
    members = frozenset(map(float, r.permutation(12)[: r.integers(1, 8)])) if sets and r.random() < 0.4 else None
    threshold = members or float(np.float32(r.choice([r.standard_normal() * 3, r.integers(-4, 5), 0.0])))
    return Split(int(r.integers(features)), threshold, bool(r.random() < 0.5), *(drawn_tree(r, n, features, targets, deep, sets) for n in (left, leaves - left)))


def drawn(seed, trees, leaves, features, targets=1, deep=0.1, sets=False):
    r = np.random.default_rng(seed)
    return [drawn_tree(r, int(r.integers(2, leaves)), features, targets, deep, sets) for _ in range(trees)]


def one_class_a_tree(trees, classes):
    """Boosting of several classes: tree k is for class k % classes."""
    def renamed(node, k):
        return Leaf({k: next(iter(node.weights.values()))}) if isinstance(node, Leaf) else Split(node.feature, node.threshold, node.missing_left, renamed(node.left, k), renamed(node.right, k))
    return [renamed(tree, k % classes) for k, tree in enumerate(trees)]


DRAWN = {
    "drawn, one target": lambda: regressor(drawn(1, 60, 40, 8), 8, [0.25]),
    "drawn, four targets": lambda: regressor(drawn(2, 25, 120, 300, 4), 300, [0.5, -1, 0, 2]),
    "drawn, chains": lambda: regressor(drawn(3, 20, 150, 5, deep=0.97), 5, [0]),
    "drawn, classes": lambda: classifier(one_class_a_tree(drawn(4, 45, 40, 10), 3), 10, 3, [0.1, 0, -0.2], "SOFTMAX"),
    "drawn, sets": lambda: ensemble(drawn(5, 30, 60, 6, sets=True), 6),
    # Few enough nodes for nested conditions.
    "drawn, one tree": lambda: regressor(drawn(6, 1, 30, 4), 4, [0.5]),
    "drawn, few nodes": lambda: regressor(drawn(7, 12, 40, 6, 3, 0.3), 6, [0, 1, 0.5]),
    "drawn, few classes": lambda: classifier(one_class_a_tree(drawn(8, 9, 20, 5), 3), 5, 3, [0.1, 0, -0.2], "SOFTMAX"),
    "drawn, few sets": lambda: ensemble(drawn(9, 8, 25, 4, sets=True), 4),
}


def trained():
    """{name: path} of those that bench/classical_models.py trains, where it can."""
    sources = sorted((ROOT / "bench/classical").glob("*.py"))
    cache = pathlib.Path(os.environ["ONNXC_CACHE"])
    folder = cache / f"classical-{hashlib.sha256(b''.join(s.read_bytes() for s in sources)).hexdigest()[:12]}"
    done = subprocess.run([sys.executable, str(ROOT / "bench/classical_models.py"), str(folder), *TRAINED], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == 77:
        print(f"no trained forests: {done.stderr.strip()}")
        return {}
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return {name: folder / name / "model.onnx" for name in TRAINED}


def of_zoo():
    zoo = pathlib.Path(os.environ["ONNXC_CACHE"]) / "zoo"
    return {name: path for name in OF_ZOO if (path := zoo / name / "model.onnx").exists()}


# ---- rows


def thresholds(model, features):
    """For each feature the numbers that it is compared with."""
    of = [[] for _ in range(features)]
    for node in model.graph.node:
        a = {x.name: onnx.helper.get_attribute_value(x) for x in node.attribute}
        if node.op_type == "TreeEnsemble":
            values, sets = onnx.numpy_helper.to_array(a["nodes_splits"]).tolist(), [[]]
            for member in onnx.numpy_helper.to_array(a["membership_values"]) if "membership_values" in a else []:
                sets[-1].append(member) if member == member else sets.append([])
            for feature, mode, value in zip(a["nodes_featureids"], onnx.numpy_helper.to_array(a["nodes_modes"]), values):
                of[feature] += sets.pop(0) if mode == 6 else [value]
        elif node.op_type.startswith("TreeEnsemble"):
            for feature, mode, value in zip(a["nodes_featureids"], a["nodes_modes"], a["nodes_values"]):
                if mode != b"LEAF":
                    of[feature].append(value)
    return [np.unique(np.array(values or [0], np.float32)) for values in of]


def rows_for(model, name):
    r = np.random.default_rng(int.from_bytes(name.encode()[:8], "little"))
    features = model.graph.input[0].type.tensor_type.shape.dim[1].dim_value
    special = np.array([np.nan, np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1.1754942e-38, -1.1754942e-38, 3.4028235e38, -3.4028235e38], np.float32)
    columns = []
    for known in thresholds(model, features):
        finite = known[np.isfinite(known)]
        width = max(float(finite.max() - finite.min()), 1.0)
        x = r.uniform(finite.min() - width / 4, finite.max() + width / 4, ROWS).astype(np.float32)
        equal = r.choice(known, ROWS)
        beside = np.nextafter(equal, np.where(r.random(ROWS) < 0.5, np.float32(np.inf), np.float32(-np.inf)))
        kind = r.random(ROWS)
        x = np.where(kind < 0.2, equal, np.where(kind < 0.3, beside, np.where(kind < 0.35, r.choice(special, ROWS), x)))
        columns.append(x)
    return np.stack(columns, 1)


# ---- comparison


def bits(array):
    """What tells two results apart: the bits, but any NaN is NaN."""
    array = np.ascontiguousarray(array)
    return np.where(np.isnan(array), array.dtype.type(np.nan), array).view(f"u{array.itemsize}") if array.dtype.kind == "f" else array


def answers(session, x, size):
    parts = [session.run(None, {"X": x[at : at + size]}) for at in range(0, len(x), size)]
    return [np.concatenate([np.asarray(p[k]) for p in parts]) for k in range(len(parts[0]))]


def different(a, e, tolerance):
    return ~np.isclose(a, e, rtol=tolerance, atol=tolerance, equal_nan=True) if tolerance and a.dtype.kind == "f" else bits(a) != bits(e)


def first_difference(session, x, size, expected, tolerance):
    rows = x[:OF_SMALL] if size < 64 else x
    for k, (a, e) in enumerate(zip(answers(session, rows, size), expected)):
        wrong = np.argwhere(different(a, e[: len(a)], tolerance)) if a.shape == e[: len(a)].shape else [None]
        if len(wrong):
            return f"output {k}: shape {a.shape}" if wrong[0] is None else f"{len(wrong)} elements of output {k}; {tuple(wrong[0])} is {a[tuple(wrong[0])]!r}, not {e[tuple(wrong[0])]!r}"
    return None


def check(name, model, built):
    x = rows_for(model, name)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    runtime = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    plain = np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)
    faults = []
    expected = {False: answers(runtime, x, ROWS), True: answers(runtime, plain, ROWS)}
    for variant, session in built.items():
        if isinstance(session, Exception):
            faults.append(f"{variant}: {session}")
            continue
        flushing = variant == "flushing"
        for size in SIZES if variant in ("one thread", "two threads") else (1, 300):
            if fault := first_difference(session, plain if flushing else x, size, expected[flushing], CLOSE.get(name)):
                faults.append(f"{variant}, {size} rows: {fault}")
    record("forests to the bit", name, model, not faults)
    return faults


def main():
    ort.set_default_logger_severity(4)
    start, wanted = time.monotonic(), sys.argv[1:]
    models = {name: onnx.load(path) for name, path in (of_zoo() | trained()).items()} | {name: make() for name, make in DRAWN.items()}
    models = {name: model for name, model in models.items() if not wanted or name in wanted}
    units = [(name, variant) for name in models for variant in VARIANTS]
    built = dict(zip(units, sessions([VARIANTS[variant]._replace(model=models[name]) for name, variant in units])))
    print(f"{len(models)} forests, {len(units)} units built in {time.monotonic() - start:.0f} s", flush=True)
    failed = 0
    for name, model in models.items():
        begin = time.monotonic()
        faults = check(name, model, {variant: built[name, variant] for variant in VARIANTS})
        failed += bool(faults)
        print(f"{'FAILED' if faults else 'ok    '} {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        for fault in faults:
            print(f"    {fault}")
    print(f"{len(models) - failed} passed, {failed} failed, in {time.monotonic() - start:.0f} s")
    return 1 if failed or not models else 0


if __name__ == "__main__":
    sys.exit(main())
