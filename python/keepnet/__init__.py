"""Feature selection from data too large to hold: scikit-learn estimators over a Rust engine.

Every method is a class: `OSPlus`, `SAOLA`, `AnnealedRidge` and more. `fit(X, y)` takes arrays,
sparse matrices and tables; `partial_fit` takes more rows; `partial_fit_columns` takes more
columns; `select` takes files and streams.

Examples
--------
>>> import keepnet
>>> from sklearn.datasets import make_regression
>>> X, y = make_regression(200, 500, n_informative=5, random_state=0)
>>> keepnet.OSPlus(k=5).fit(X, y).get_support(indices=True)
array([207, 213, 244, 246, 378])
"""

from keepnet import features as _feature_classes
from keepnet import plot
from keepnet import samples as _sample_classes
from keepnet._keepnet import __version__
from keepnet._progress import Progress
from keepnet._registry import CLASSES as _CLASSES
from keepnet._registry import METHODS as _METHODS
from keepnet._select import merge, methods, select

__all__ = ["Progress", "__version__", "merge", "methods", "plot", "select"]
__all__ += sorted(cls.__name__ for cls in _CLASSES.values())
for _cls in _CLASSES.values():
    globals()[_cls.__name__] = _cls
del _cls, _feature_classes, _sample_classes, _METHODS
