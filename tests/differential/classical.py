"""ai.onnx.ml."""
import numpy as np

from spec import Spec, generator

I64 = np.int64
POST = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]


def ml(op, inputs, attributes, version=3, **more):
    return Spec(op, inputs, attributes, opset=18, domain="ai.onnx.ml", version=version, **{"rtol": 1e-4, "atol": 1e-5, **more})


def matrix(d, columns, kinds=(np.float32, np.float32, np.float64, np.int64, np.int32)):
    return d.array([d.int(1, 6), columns], d.among(kinds), "plain", -5, 5)


def floats(d, count, low=-2, high=2):
    return [d.uniform(low, high) for _ in range(count)]


@generator("Scaler", "Normalizer", "Binarizer", "Imputer", "LinearRegressor", "SVMRegressor")
def numbers(d, op):
    columns = d.int(1, 5)
    x = matrix(d, columns, (np.float32,) if op in ("Binarizer", "SVMRegressor", "LinearRegressor") else (np.float32, np.float64, np.int64, np.int32))
    if op == "Scaler":
        count = d.one(1, columns)
        return ml(op, [x], {"scale": floats(d, count), "offset": floats(d, count)})
    if op == "Normalizer":
        return ml(op, [x], {"norm": d.one("MAX", "L1", "L2")})
    if op == "Binarizer":
        return ml(op, [x], {"threshold": d.uniform(-1, 1)})
    if op == "Imputer":
        count = d.one(1, columns)
        if x.dtype == np.int64:
            return ml(op, [x], {"imputed_value_int64s": d.ints(count, -9, 9), "replaced_value_int64": d.int(-2, 2)})
        x = np.where(d.rng.random((x.shape)) < 0.3, np.float32(np.nan), x.astype(np.float32))
        return ml(op, [x], {"imputed_value_floats": floats(d, count), "replaced_value_float": float("nan")})
    if op == "LinearRegressor":
        targets = d.int(1, 3)
        return ml(op, [x], {"coefficients": floats(d, targets * columns), "targets": targets, **({"intercepts": floats(d, targets)} if d.chance(0.7) else {}),
                            "post_transform": d.one("NONE", "NONE", "LOGISTIC", "SOFTMAX")})
    supports = d.int(0, 3)
    if supports:
        return ml(op, [x], {"n_supports": supports, "support_vectors": floats(d, supports * columns), "coefficients": floats(d, supports), "rho": floats(d, 1),
                            "kernel_type": d.one("LINEAR", "POLY", "RBF", "SIGMOID"), "kernel_params": [0.2, 0.3, 2.0]}, rtol=1e-3, atol=1e-4)
    return ml(op, [x], {"coefficients": floats(d, columns), "rho": floats(d, 1), "kernel_type": "LINEAR"})


def labels(d, count, ints="classlabels_ints", strings="classlabels_strings"):
    return {ints: [int(v) for v in d.permutation(50)[:count]]} if d.chance(0.5) else {strings: [f"label {v}" for v in d.permutation(50)[:count]]}


@generator("LinearClassifier")
def linear_classifier(d, op):
    columns, classes = d.int(1, 5), d.int(2, 4)
    return ml(op, [matrix(d, columns, (np.float32,))], {"coefficients": floats(d, classes * columns), "intercepts": floats(d, classes), "multi_class": d.int(0, 1),
                                                       "post_transform": d.among(POST), **labels(d, classes)}, outputs=2)


@generator("LabelEncoder")
def label_encoder(d, op):
    count = d.int(1, 5)
    source, target = d.one("int64s", "strings", "floats"), d.one("int64s", "strings", "floats")
    values = {"int64s": lambda: [int(v) for v in d.permutation(9)[:count]], "strings": lambda: [f"w{v}" for v in d.permutation(9)[:count]],
              "floats": lambda: [float(v) / 2 for v in d.permutation(9)[:count]]}
    keys = values[source]()
    kind = {"int64s": np.int64, "strings": object, "floats": np.float32}[source]
    pool = keys + {"int64s": [77], "strings": ["none"], "floats": [9.5]}[source]
    x = np.array([d.among(pool) for _ in range(d.int(1, 6))], kind)
    default = {"int64s": ("default_int64", 5), "strings": ("default_string", "?"), "floats": ("default_float", -2.5)}[target]
    return ml(op, [x], {f"keys_{source}": keys, f"values_{target}": values[target](), **(dict([default]) if d.chance(0.6) else {})}, version=d.int(2, 3))


@generator("OneHotEncoder", "ArrayFeatureExtractor", "FeatureVectorizer", "CategoryMapper")
def features(d, op):
    if op == "OneHotEncoder":
        cats = [int(v) for v in d.permutation(6)[:d.int(1, 4)]]
        if d.chance(0.5):
            x = d.array(d.shape(1, 2, zero=0), d.one(np.int64, np.int32, np.float32), "grid", 0, 5)
            return ml(op, [np.round(x)], {"cats_int64s": cats, "zeros": 1})
        return ml(op, [np.array([f"w{d.int(0, 5)}" for _ in range(d.int(1, 5))], object)], {"cats_strings": [f"w{c}" for c in cats], "zeros": 1})
    if op == "ArrayFeatureExtractor":
        shape = d.shape(1, 3, zero=0)
        return ml(op, [d.array(shape, d.one(np.float32, np.int64, np.float64, np.int32, object)), d.array([d.int(1, 4)], I64, "grid", 0, shape[-1] - 1)], {})
    if op == "FeatureVectorizer":
        rows, widths = d.int(1, 4), d.ints(d.int(1, 3), 1, 3)
        return ml(op, [d.array([rows, w], np.float32) for w in widths], {"inputdimensions": widths})
    names, numbers = ["a", "b", "c"], [3, 1, 2]
    x = np.array([d.one("a", "b", "c", "z") for _ in range(4)], object) if d.chance(0.5) else np.array([d.int(0, 4) for _ in range(4)], I64)
    return ml(op, [x], {"cats_strings": names, "cats_int64s": numbers, "default_string": "?", "default_int64": -7})
