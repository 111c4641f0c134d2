"""Pipelines: what stands before an estimator, and estimators that stand on others."""
import numpy as np

from classical.made import ROWS, Made, from_sklearn, kind, table

WORDS = ("bad", "bread", "broken", "cheap", "cold", "excellent", "fast", "good", "great", "late", "never", "nice", "poor", "quick", "slow", "soup", "terrible", "the",
         "very", "was", "with", "would", "service", "delivery", "price", "taste", "again", "order", "came", "and")


def of(estimator, **data):
    x, y, rows = table(**data)
    estimator.fit(x, y)
    return Made(from_sklearn(estimator, x), {"X": rows})


@kind
def scaler_logistic():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    return of(make_pipeline(StandardScaler(), LogisticRegression()), classes=2)


@kind
def imputer_polynomial_sgd():
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler
    return of(make_pipeline(SimpleImputer(), PolynomialFeatures(2), StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)), features=10, classes=2, missing=0.1)


@kind
def voting():
    from sklearn.ensemble import RandomForestClassifier, VotingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    members = [("linear", LogisticRegression()), ("forest", RandomForestClassifier(50, max_depth=8, random_state=0)), ("bayes", GaussianNB())]
    return of(VotingClassifier(members, voting="soft", flatten_transform=False), classes=3)


@kind
def stacking():
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, StackingClassifier
    from sklearn.linear_model import LogisticRegression

    members = [("forest", RandomForestClassifier(50, max_depth=8, random_state=0)), ("boosting", GradientBoostingClassifier(n_estimators=50, random_state=0))]
    return of(StackingClassifier(members, final_estimator=LogisticRegression(), cv=3), classes=3)


@kind
def one_hot_forest():
    """Two columns of strings and four of numbers before a forest."""
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    r = np.random.default_rng(0)
    total = 4000 + ROWS
    numbers = r.standard_normal((total, 4)).astype(np.float32)
    words = np.stack([r.choice(WORDS[:12], total), r.choice(WORDS[12:17], total)], 1).astype(object)
    y = (numbers[:, 0] + (words[:, 0] < "d") * numbers[:, 1] + (words[:, 1] == "soup") > 0.3).astype(int)
    x = np.concatenate([numbers.astype(object), words], 1)
    encode = ColumnTransformer([("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [4, 5])], remainder="passthrough")
    estimator = make_pipeline(encode, RandomForestClassifier(50, max_depth=10, random_state=0)).fit(x[:4000], y[:4000])
    types = [("numbers", FloatTensorType([None, 4])), ("words", StringTensorType([None, 2]))]
    return Made(from_sklearn(estimator, x, types=types), {"numbers": numbers[4000:], "words": words[4000:]})


@kind
def tfidf_logistic():
    from skl2onnx.common.data_types import StringTensorType
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    r = np.random.default_rng(0)
    texts = [" ".join(r.choice(WORDS, r.integers(4, 30))) for _ in range(2000 + ROWS)]
    y = [int(text.count("good") + text.count("great") > text.count("bad") + text.count("poor")) for text in texts]
    words = TfidfVectorizer(ngram_range=(1, 2), max_features=500)
    estimator = make_pipeline(words, LogisticRegression()).fit(texts[:2000], y[:2000])
    model = from_sklearn(estimator, None, {id(estimator): {"zipmap": False}, id(words): {"locale": "C.UTF-8"}}, [("text", StringTensorType([None, 1]))])
    return Made(model, {"text": np.array(texts[2000:], object)[:, None]})
