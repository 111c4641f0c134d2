"""What all kinds of classical models share: their list, the data they are trained on, and how they become ONNX."""
from dataclasses import dataclass, field

import numpy as np
import onnx

ROWS = 10_000  # that a model comes with, of the distribution it was trained on
KINDS = {}


@dataclass
class Made:
    model: onnx.ModelProto
    rows: dict                                 # {input: array of ROWS rows}
    files: dict = field(default_factory=dict)  # {name: bytes}: the same forest as other engines read it


def kind(function):
    KINDS[function.__name__] = function
    return function


def table(features=20, rows=4000, classes=0, missing=0.0, categories=(), seed=0):
    """(x, y) to train on and x of ROWS rows more. y is a nonlinear function of a few columns with noise: numbers, or one of `classes` of equal size. The last columns hold
    categories, as many as `categories` tells of each; of the others a share of `missing` is NaN."""
    r = np.random.default_rng(seed)
    numbers, total = features - len(categories), rows + ROWS
    x = r.standard_normal((total, numbers)).astype(np.float32)
    y = x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + np.abs(x[:, 3]) + 0.5 * (x[:, 4] > 0.3) + 0.5 * r.standard_normal(total)
    columns = [x]
    for count in categories:
        of = r.integers(0, count, total)
        y += r.standard_normal(count)[of]
        columns.append(of.astype(np.float32)[:, None])
    x[r.random(x.shape) < missing] = np.nan
    x = np.concatenate(columns, 1)
    if classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y)
    return x[:rows], y[:rows], x[rows:]


def from_sklearn(estimator, x, options=None, types=None):
    """ONNX as skl2onnx writes it, with a matrix of probabilities in place of maps."""
    from skl2onnx import to_onnx
    from sklearn.base import is_classifier

    if options is None:
        options = {"zipmap": False} if is_classifier(estimator) else {}
    return to_onnx(estimator, None if types else x[:1], initial_types=types, options=options, target_opset={"": 21, "ai.onnx.ml": 3})


def from_booster(booster, features):
    """ONNX as onnxmltools writes a model of LightGBM or XGBoost."""
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType

    types = [("X", FloatTensorType([None, features]))]
    if type(booster).__module__.startswith("xgboost"):
        return onnxmltools.convert_xgboost(booster, initial_types=types)
    model = onnxmltools.convert_lightgbm(booster, initial_types=types, zipmap=False)
    for output in model.graph.output:  # it says that there is one label
        output.type.tensor_type.shape.dim[0].Clear()
    return model
