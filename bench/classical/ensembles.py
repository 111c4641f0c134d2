"""Forests: bagged and deep ones, boosted ones by depth, by leaves and by bins, with missing values, with categories, for one target and for several classes."""
import numpy as np

from classical import trees
from classical.made import Made, from_booster, from_sklearn, kind, table


def sklearn_forest(estimator, **data):
    import treelite

    x, y, rows = table(**data)
    estimator.fit(x, y)
    return Made(from_sklearn(estimator, x), {"X": rows}, {"forest.treelite": bytes(treelite.sklearn.import_model(estimator).serialize_bytes())})


@kind
def small_random_forest():
    """10 trees of a depth of 5: what fits into a first-level cache."""
    from sklearn.ensemble import RandomForestClassifier
    return sklearn_forest(RandomForestClassifier(10, max_depth=5, random_state=0), classes=3)


@kind
def random_forest_classifier():
    """Deep trees with a share of each class in a leaf."""
    from sklearn.ensemble import RandomForestClassifier
    return sklearn_forest(RandomForestClassifier(100, random_state=0), classes=5)


@kind
def random_forest_regressor():
    from sklearn.ensemble import RandomForestRegressor
    return sklearn_forest(RandomForestRegressor(100, min_samples_leaf=2, random_state=0))


@kind
def extra_trees_classifier():
    """Random thresholds, the deepest and least balanced trees."""
    from sklearn.ensemble import ExtraTreesClassifier
    return sklearn_forest(ExtraTreesClassifier(100, random_state=0), classes=3)


@kind
def extra_trees_regressor():
    from sklearn.ensemble import ExtraTreesRegressor
    return sklearn_forest(ExtraTreesRegressor(30, random_state=0))


@kind
def gradient_boosting_regressor():
    """Many trees of a depth of 3."""
    from sklearn.ensemble import GradientBoostingRegressor
    return sklearn_forest(GradientBoostingRegressor(n_estimators=300, random_state=0))


@kind
def gradient_boosting_classes():
    """A tree for each class and turn."""
    from sklearn.ensemble import GradientBoostingClassifier
    return sklearn_forest(GradientBoostingClassifier(n_estimators=60, random_state=0), classes=5)


@kind
def histogram_boosting_regressor():
    """31 leaves a tree, 255 bins a feature; NaN goes where training says."""
    import treelite
    from sklearn.ensemble import HistGradientBoostingRegressor

    x, y, rows = table(missing=0.1)
    estimator = HistGradientBoostingRegressor(max_iter=200, early_stopping=False, random_state=0).fit(x, y)
    forest, base = trees.of_histogram(estimator)
    return Made(trees.regressor(forest, x.shape[1], base), {"X": rows}, {"forest.treelite": bytes(treelite.sklearn.import_model(estimator).serialize_bytes())})


@kind
def histogram_boosting_classes():
    import treelite
    from sklearn.ensemble import HistGradientBoostingClassifier

    x, y, rows = table(classes=4, missing=0.1)
    estimator = HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=0).fit(x, y)
    forest, base = trees.of_histogram(estimator)
    return Made(trees.classifier(forest, x.shape[1], 4, base, "SOFTMAX"), {"X": rows}, {"forest.treelite": bytes(treelite.sklearn.import_model(estimator).serialize_bytes())})


def lightgbm_forest(estimator, group=None, write=None, **data):
    x, y, rows = table(**data)
    categories = list(range(x.shape[1] - len(data.get("categories", ())), x.shape[1]))
    estimator.set_params(verbose=-1, n_jobs=1, random_state=0)
    estimator.fit(x, y, **({"group": group} if group else {}), **({"categorical_feature": categories} if categories else {}))
    model = write(estimator.booster_, x.shape[1]) if write else from_booster(estimator, x.shape[1])
    return Made(model, {"X": rows}, {"lightgbm.txt": estimator.booster_.model_to_string().encode()})


def leaf_wise(count, leaves=31):
    def made():
        from lightgbm import LGBMClassifier
        return lightgbm_forest(LGBMClassifier(n_estimators=count, num_leaves=leaves, learning_rate=0.02, min_child_samples=5), features=30, classes=2, missing=0.1)
    made.__name__ = f"lightgbm_{count}"
    return kind(made)


for trees_and_leaves in (10,), (100,), (500, 63), (2000,):
    leaf_wise(*trees_and_leaves)


@kind
def lightgbm_classes():
    """A tree for each class and turn."""
    from lightgbm import LGBMClassifier
    return lightgbm_forest(LGBMClassifier(n_estimators=60), features=30, classes=5, missing=0.1)


@kind
def lightgbm_ranker():
    """One score a row, from trees that were trained on the order inside of groups."""
    from lightgbm import LGBMRanker
    return lightgbm_forest(LGBMRanker(n_estimators=300), group=[40] * 100, features=40, classes=4)


CATEGORIES = dict(features=14, categories=(30, 30, 12, 5), missing=0.1)


@kind
def lightgbm_categories():
    """Splits by sets of categories, as onnxmltools writes them: a chain of BRANCH_EQ for each."""
    from lightgbm import LGBMRegressor
    return lightgbm_forest(LGBMRegressor(n_estimators=100), **CATEGORIES)


@kind
def category_members():
    """The same forest in TreeEnsemble of ai.onnx.ml 5, which knows sets."""
    from lightgbm import LGBMRegressor
    return lightgbm_forest(LGBMRegressor(n_estimators=100), write=lambda booster, features: trees.ensemble(trees.of_lightgbm(booster), features), **CATEGORIES)


def xgboost_forest(estimator, **data):
    x, y, rows = table(**data)
    estimator.set_params(n_jobs=1, random_state=0)
    estimator.fit(x, y)
    return Made(from_booster(estimator, x.shape[1]), {"X": rows}, {"xgboost.ubj": bytes(estimator.get_booster().save_raw("ubj"))})


@kind
def xgboost_regressor():
    from xgboost import XGBRegressor
    return xgboost_forest(XGBRegressor(n_estimators=300, max_depth=6), missing=0.1)


@kind
def xgboost_classes():
    from xgboost import XGBClassifier
    return xgboost_forest(XGBClassifier(n_estimators=60, max_depth=6), classes=4, missing=0.1)


@kind
def isolation_forest():
    """Short paths mean outliers: each leaf holds a depth, and the trees read few features each."""
    from sklearn.ensemble import IsolationForest

    x, _, rows = table()
    estimator = IsolationForest(n_estimators=30, random_state=0).fit(x)
    return Made(from_sklearn(estimator, x.astype(np.float32)), {"X": rows})
