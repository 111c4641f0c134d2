#!/usr/bin/env python3
"""Boosted forests of LightGBM and XGBoost, as onnxmltools writes them.

    from_boosting.py [NAME...]
"""
import sys

import lightgbm
import numpy as np
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from round_trip import Case, exported, main

TRAINED, FEATURES = 400, 6
r = np.random.default_rng(0)
X = r.standard_normal((600, FEATURES)).astype(np.float32)
X[:, 5] = r.integers(0, 8, len(X))  # a category, where the model says so
NUMBER = X[:, 0] * 2 - X[:, 1] + np.sin(X[:, 2]) + np.isin(X[:, 5], [1, 4, 6])
TWO, THREE = (NUMBER > 0).astype(int), np.digitize(NUMBER, [-1, 1])
GAPS = np.where((r.random(X.shape) < 0.1) & (np.arange(FEATURES) < 5), np.float32(np.nan), X)
TYPES = [("x", FloatTensorType([None, FEATURES]))]
FEW = {"n_estimators": 12, "random_state": 0}


def of_lightgbm(estimator, y, x=X, zipmap=False, **given):
    estimator.set_params(**FEW, verbose=-1).fit(x[:TRAINED], y[:TRAINED], **given)
    rows = x[TRAINED:]
    model = onnxmltools.convert_lightgbm(estimator, initial_types=TYPES, zipmap=zipmap)
    if hasattr(estimator, "predict_proba"):
        return Case(model, {"x": rows}, [estimator.predict(rows), estimator.predict_proba(rows)])
    return Case(model, {"x": rows}, [estimator.predict(rows)[:, None]])


def of_xgboost(estimator, y, x=X):
    estimator.set_params(**FEW).fit(x[:TRAINED], y[:TRAINED])
    rows = x[TRAINED:]
    model = onnxmltools.convert_xgboost(estimator, initial_types=TYPES)
    if hasattr(estimator, "predict_proba"):
        return Case(model, {"x": rows}, [estimator.predict(rows), estimator.predict_proba(rows)])
    return Case(model, {"x": rows}, [estimator.predict(rows)[:, None]])


@exported
def lightgbm_two_classes():
    return of_lightgbm(lightgbm.LGBMClassifier(), TWO)


@exported
def lightgbm_with_maps():
    """By default the converter puts a ZipMap behind the classifier."""
    case = of_lightgbm(lightgbm.LGBMClassifier(), THREE, zipmap=True)
    labels, scores = case.expected
    return case._replace(expected=[labels, [dict(enumerate(row)) for row in scores]])


@exported
def lightgbm_three_classes():
    return of_lightgbm(lightgbm.LGBMClassifier(), THREE)


@exported
def lightgbm_regression():
    return of_lightgbm(lightgbm.LGBMRegressor(), NUMBER)


@exported
def lightgbm_gaps():
    return of_lightgbm(lightgbm.LGBMRegressor(), NUMBER, GAPS)


@exported
def lightgbm_categories():
    return of_lightgbm(lightgbm.LGBMClassifier(min_data_per_group=5, cat_smooth=1), TWO, categorical_feature=[5])


@exported
def lightgbm_counts():
    """Of Poisson: the result is the exponential of the sum."""
    return of_lightgbm(lightgbm.LGBMRegressor(objective="poisson"), np.maximum(NUMBER, 0))


@exported
def xgboost_two_classes():
    return of_xgboost(xgboost.XGBClassifier(), TWO)


@exported
def xgboost_three_classes():
    return of_xgboost(xgboost.XGBClassifier(), THREE)


@exported
def xgboost_regression():
    return of_xgboost(xgboost.XGBRegressor(), NUMBER)


@exported
def xgboost_gaps():
    return of_xgboost(xgboost.XGBRegressor(), NUMBER, GAPS)


@exported
def xgboost_counts():
    return of_xgboost(xgboost.XGBRegressor(objective="count:poisson"), np.maximum(NUMBER, 0))


@exported
def xgboost_random_forest():
    return of_xgboost(xgboost.XGBRFClassifier(subsample=0.7), TWO)


@exported
def xgboost_categories():
    return of_xgboost(xgboost.XGBClassifier(enable_categorical=True, feature_types=["q"] * 5 + ["c"], max_cat_to_onehot=2), TWO)


if __name__ == "__main__":
    sys.exit(main(__doc__))
