#!/usr/bin/env python3
"""Models and pipelines of scikit-learn, as skl2onnx writes them.

    from_sklearn.py [NAME...]
"""
import sys

import numpy as np
from onnx import helper
from round_trip import Case, exported, main
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier, StackingRegressor, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

TRAINED, FEATURES = 200, 5
r = np.random.default_rng(0)
X = r.standard_normal((300, FEATURES)).astype(np.float32)
NUMBER = X[:, 0] * 2 - X[:, 1] + np.sin(X[:, 2])
TWO = (NUMBER > 0).astype(np.int64)
THREE = np.array(["low", "middle", "high"])[np.digitize(NUMBER, [-1, 1])]
GAPS = np.where(r.random(X.shape) < 0.2, np.float32(np.nan), X)
NUMBERS = FloatTensorType([None, FEATURES])
OPSETS = {"": 21, "ai.onnx.ml": 3}


def without_bools(key, value, *more, made=helper.make_attribute):
    """skl2onnx 1.20 writes missing values of forests as bools, which protobuf 7 takes no more."""
    return made(key, [int(v) for v in value] if key == "nodes_missing_value_tracks_true" else value, *more)


helper.make_attribute = without_bools


def export(estimator, types, **options):
    return to_onnx(estimator, initial_types=types, options={id(estimator): options} if options else None, target_opset=OPSETS)


def classifier(estimator, y, x=X):
    """Labels and a matrix of probabilities."""
    estimator.fit(x[:TRAINED], y[:TRAINED])
    rows = x[TRAINED:]
    return Case(export(estimator, [("x", NUMBERS)], zipmap=False), {"x": rows}, [estimator.predict(rows), estimator.predict_proba(rows)])


def regressor(estimator, y=NUMBER, x=X):
    estimator.fit(x[:TRAINED], y[:TRAINED])
    rows = x[TRAINED:]
    types = NUMBERS if x.dtype == np.float32 else DoubleTensorType([None, FEATURES])
    return Case(export(estimator, [("x", types)]), {"x": rows}, [estimator.predict(rows).reshape(len(rows), -1)])


@exported
def ridge_in_double():
    """Of DoubleTensorType: as accurate as scikit-learn, which computes in double."""
    return regressor(Ridge(), x=X.astype(float))


@exported
def logistic_with_maps():
    """As skl2onnx writes it by default: a ZipMap gives a map from labels to probabilities for each row."""
    estimator = LogisticRegression().fit(X[:TRAINED], THREE[:TRAINED])
    rows = X[TRAINED:]
    maps = [dict(zip(estimator.classes_.tolist(), row)) for row in estimator.predict_proba(rows)]
    return Case(export(estimator, [("x", NUMBERS)]), {"x": rows}, [estimator.predict(rows), maps])


@exported
def logistic_without_maps():
    """The same file with --zipmap=tensor: a matrix, without a heap."""
    case = logistic_with_maps()
    matrix = np.array([list(row.values()) for row in case.expected[1]])
    return case._replace(expected=[case.expected[0], matrix], options=("--zipmap=tensor",))


@exported
def scores_without_probabilities():
    """The decision function in place of probabilities, of a classifier of two classes."""
    estimator = LogisticRegression().fit(X[:TRAINED], TWO[:TRAINED])
    rows = X[TRAINED:]
    scores = estimator.decision_function(rows)
    return Case(export(estimator, [("x", NUMBERS)], zipmap=False, raw_scores=True), {"x": rows}, [estimator.predict(rows), np.stack([-scores, scores], 1)])


@exported
def random_forest():
    return classifier(RandomForestClassifier(10, random_state=0), THREE)


@exported
def decision_tree():
    return regressor(DecisionTreeRegressor(random_state=0))


@exported
def gradient_boosting():
    return regressor(GradientBoostingRegressor(n_estimators=20, random_state=0))


@exported
def histogram_boosting_with_gaps():
    """NaN goes where training says."""
    return classifier(HistGradientBoostingClassifier(max_iter=10, early_stopping=False, random_state=0), TWO, GAPS)


@exported
def support_vectors():
    return regressor(SVR())


@exported
def calibrated_support_vectors():
    return classifier(CalibratedClassifierCV(SVC(), ensemble=False), THREE)


@exported
def neighbours():
    return classifier(KNeighborsClassifier(5), THREE)


@exported
def neural_network():
    return classifier(MLPClassifier((16, 8), max_iter=300, random_state=0), THREE)


@exported
def naive_bayes():
    return classifier(GaussianNB(), THREE)


@exported
def gaussian_process():
    """In double: in f32 so little is left of its differences of large numbers that engines agree in three digits."""
    return regressor(GaussianProcessRegressor(alpha=1e-2), x=X.astype(float))


@exported
def isolation_forest():
    estimator = IsolationForest(n_estimators=20, random_state=0).fit(X[:TRAINED])
    rows = X[TRAINED:]
    return Case(export(estimator, [("x", NUMBERS)]), {"x": rows}, [estimator.predict(rows)[:, None], estimator.decision_function(rows)[:, None]])


@exported
def clusters():
    estimator = KMeans(4, n_init=2, random_state=0).fit(X[:TRAINED])
    rows = X[TRAINED:]
    return Case(export(estimator, [("x", NUMBERS)]), {"x": rows}, [estimator.predict(rows), estimator.transform(rows)])


@exported
def several_targets():
    return regressor(MultiOutputRegressor(Ridge()), np.stack([NUMBER, X[:, 3]], 1))


@exported
def votes():
    members = [("linear", LogisticRegression()), ("forest", RandomForestClassifier(5, random_state=0)), ("bayes", GaussianNB())]
    return classifier(VotingClassifier(members, voting="soft", flatten_transform=False), THREE)


@exported
def stack():
    return regressor(StackingRegressor([("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))], cv=3))


@exported
def components():
    return classifier(make_pipeline(StandardScaler(), PCA(3), LogisticRegression()), THREE)


@exported
def polynomials_of_gaps():
    return classifier(make_pipeline(SimpleImputer(strategy="median"), RobustScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=500)), TWO, GAPS)


@exported
def bins():
    return regressor(make_pipeline(KBinsDiscretizer(4, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), Ridge()))


def table():
    """Numbers with gaps and two columns of words, as a table of a program has them."""
    words = np.stack([r.choice(["tea", "soup", "bread"], len(X)), r.choice(["north", "south"], len(X))], 1).astype(object)
    y = (NUMBER + (words[:, 0] == "soup") > 0).astype(np.int64)
    return np.concatenate([GAPS.astype(object), words], 1), words, y


@exported
def numbers_and_words():
    """A column transformer of two inputs: numbers with gaps, and words, of which a row may have unknown ones."""
    x, words, y = table()
    first = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("numbers", first, list(range(FEATURES))), ("words", OneHotEncoder(handle_unknown="ignore"), [FEATURES, FEATURES + 1])])
    estimator = make_pipeline(columns, LogisticRegression()).fit(x[:TRAINED], y[:TRAINED])
    words[TRAINED] = "unknown"
    rows = np.concatenate([GAPS.astype(object), words], 1)[TRAINED:]
    model = export(estimator, [("numbers", NUMBERS), ("words", StringTensorType([None, 2]))], zipmap=False)
    return Case(model, {"numbers": GAPS[TRAINED:], "words": words[TRAINED:]}, [estimator.predict(rows), estimator.predict_proba(rows)])


@exported
def words_in_order():
    _, words, y = table()
    estimator = make_pipeline(OrdinalEncoder(), RandomForestClassifier(5, random_state=0)).fit(words[:TRAINED], y[:TRAINED])
    rows = words[TRAINED:]
    return Case(export(estimator, [("words", StringTensorType([None, 2]))], zipmap=False), {"words": rows}, [estimator.predict(rows), estimator.predict_proba(rows)])


@exported
def texts():
    """Sentences to classes by the weights of their words; the locale is of onnxruntime's interest alone."""
    lines = np.array([" ".join(r.choice(["good", "bad", "very", "Soup", "nice", "cold"], r.integers(2, 9))) for _ in X], object)
    y = np.array([line.count("good") > line.count("bad") for line in lines]).astype(np.int64)
    estimator = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression()).fit(lines[:TRAINED], y[:TRAINED])
    rows = lines[TRAINED:]
    return Case(export(estimator, [("text", StringTensorType([None, 1]))], zipmap=False), {"text": rows[:, None]}, [estimator.predict(rows), estimator.predict_proba(rows)])


if __name__ == "__main__":
    sys.exit(main(__doc__))
