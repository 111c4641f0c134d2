#!/usr/bin/env python3
"""Every classifier that scikit-learn, LightGBM and XGBoost make, as their converters write it, compiles without a heap.

    no_heap.py [NAME...]

With --zipmap=tensor; without it, the refusal says that this helps. Needs numpy and scikit-learn with skl2onnx; LightGBM and XGBoost where they are. ONNXC_EXECUTABLE says where onnxc is. Exit status: 0, 1 where a model
is refused, 77 where scikit-learn or its converter is missing.
"""
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import environment  # noqa: E402

try:
    environment.enter(("numpy", "onnx", "sklearn", "skl2onnx"))
except environment.Missing as missing:
    print(f"no_heap: {missing}")
    sys.exit(77)

import numpy as np  # noqa: E402
import skl2onnx  # noqa: E402
from skl2onnx.common.data_types import FloatTensorType, StringTensorType  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler, Normalizer, OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler  # noqa: E402
from sklearn.utils import all_estimators  # noqa: E402

SUGGESTION = "--zipmap=tensor gives the scores as a tensor, without a heap"
ROWS, FEATURES = 60, 4


def classifiers():
    """(name, estimator, input type, rows, labels), not fitted."""
    r = np.random.default_rng(0)
    x = np.abs(r.standard_normal((ROWS, FEATURES))).astype(np.float32)
    numbers, words = FloatTensorType([None, FEATURES]), StringTensorType([None, 1])
    targets = {"two": (x[:, 0] > x[:, 1]).astype(int), "three": np.digitize(x[:, 0], [0.4, 1]), "strings": np.array(["low", "high"])[(x[:, 0] > x[:, 1]).astype(int)]}
    inner = LogisticRegression()
    for name, kind in all_estimators(type_filter="classifier"):
        for which, y in targets.items():
            # Those that stand on others take these.
            for given in ({}, {"estimator": inner}, {"estimators": [("a", inner), ("b", inner)]}):
                try:
                    estimator = kind(**given)
                    break
                except TypeError:
                    continue
            yield f"{name}, {which}", estimator, numbers, x, y
    for step in StandardScaler(), MinMaxScaler(), Normalizer(), SimpleImputer(), PolynomialFeatures(2), PolynomialFeatures(3):
        yield type(step).__name__, make_pipeline(step, LogisticRegression()), numbers, x, targets["two"]
    texts = np.array([" ".join(r.choice(["good", "bad", "very", "soup", "nice"], 5)) for _ in range(ROWS)])
    y = np.array(["good" in text for text in texts]).astype(int)
    for step in TfidfVectorizer(), TfidfVectorizer(ngram_range=(1, 2)), CountVectorizer(lowercase=False):
        yield f"{type(step).__name__}{step.ngram_range}", make_pipeline(step, LogisticRegression()), words, texts, y
    for step in OneHotEncoder(handle_unknown="ignore", sparse_output=False), OrdinalEncoder():
        yield type(step).__name__, make_pipeline(step, LogisticRegression()), words, texts.astype(object)[:, None], y
    for module, kind, options in ("lightgbm", "LGBMClassifier", {"n_estimators": 3, "verbose": -1}), ("xgboost", "XGBClassifier", {"n_estimators": 3}):
        try:
            found = getattr(__import__(module), kind)
            __import__("onnxmltools")
        except ImportError:
            continue
        for which in "two", "three":
            yield f"{kind}, {which}", found(**options), module, x, targets[which]


def converted(estimator, kind, x):
    if isinstance(kind, str):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType as Numbers
        return getattr(onnxmltools, f"convert_{kind}")(estimator, initial_types=[("x", Numbers([None, FEATURES]))], target_opset=15)
    return skl2onnx.convert_sklearn(estimator, initial_types=[("x", kind)], target_opset={"": 18, "ai.onnx.ml": 3})


def compile_model(path, *options):
    return subprocess.run([os.environ["ONNXC_EXECUTABLE"], path, "--emit=program", "--target=x86-64-v3", *options], capture_output=True, text=True)


def main():
    warnings.simplefilter("ignore")
    compiled, failed, without_model = 0, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        for name, estimator, kind, x, y in classifiers():
            if sys.argv[1:] and name.split(",")[0] not in sys.argv[1:]:
                continue
            try:
                model = converted(estimator.fit(x, y), kind, x)
            except Exception:
                without_model.add(name.split(",")[0])
                continue
            path.write_bytes(model.SerializeToString())
            if compile_model(path).returncode:  # for other reasons: a model that contradicts itself, an operator that is missing
                without_model.add(name.split(",")[0])
                continue
            result = compile_model(path, "--no-heap", "--zipmap=tensor")
            fault = result.stderr if result.returncode else ""
            if not fault and any(node.op_type == "ZipMap" for node in model.graph.node):
                plain = compile_model(path, "--no-heap")
                if plain.returncode != 1 or "ZipMap" not in plain.stderr or SUGGESTION not in plain.stderr:
                    fault = f"without --zipmap=tensor, exit status {plain.returncode}: {plain.stderr}"
            compiled, failed = compiled + (not fault), failed + bool(fault)
            if fault:
                print(f"FAILED {name}: {fault.strip()[:600]}", flush=True)
    print(f"no heap: {compiled} classifiers compile, {failed} do not; no model that onnxc takes: {', '.join(sorted(without_model)) or 'none'}")
    return 1 if failed or not compiled else 0


if __name__ == "__main__":
    sys.exit(main())
