"""Support vectors and nearest neighbours."""
from classical.made import Made, from_sklearn, kind, table


def of(estimator, options=None, **data):
    x, y, rows = table(**data)
    estimator.fit(x, y)
    return Made(from_sklearn(estimator, x, options), {"X": rows})


@kind
def svc_rbf():
    from sklearn.svm import SVC
    return of(SVC(), rows=1500, features=12, classes=3)


@kind
def svc_after_pca():
    """The components are one product before the vectors."""
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC
    return of(make_pipeline(PCA(12), SVC()), rows=1500, features=40, classes=3)


@kind
def svr_rbf():
    from sklearn.svm import SVR
    return of(SVR(), rows=1500, features=12)


@kind
def neighbours_scan():
    """Distances by a Scan over the rows: what skl2onnx writes by default."""
    from sklearn.neighbors import KNeighborsClassifier
    return of(KNeighborsClassifier(5), rows=1500, features=12, classes=3)


@kind
def neighbours_cdist():
    """Distances by com.microsoft's CDist."""
    from sklearn.neighbors import KNeighborsClassifier

    estimator = KNeighborsClassifier(5)
    return of(estimator, {"zipmap": False, "optim": "cdist"}, rows=1500, features=12, classes=3)


@kind
def neighbours_regressor():
    from sklearn.neighbors import KNeighborsRegressor

    estimator = KNeighborsRegressor(5)
    return of(estimator, {"optim": "cdist"}, rows=1500, features=12)
