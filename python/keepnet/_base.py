"""What every estimator shares: the request to the engine, and what was learnt."""

from __future__ import annotations

import json
import warnings
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._tags import ClassifierTags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from keepnet import _derived, _inputs
from keepnet._progress import Reporter

# Most distinct whole numbers that are taken for classes, as on the command line.
_CLASSES = 20
# With more rows than this, `k` is not compared with the rows that differ.
MANY_ROWS = 4096
_BY_LOSS = {"logistic": True, "squared-hinge": True, "squared-epsilon": False}


def class_name(value) -> str:
    """The name of a class in results: whole numbers without a point, as the command line's."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def plain(value) -> bool | int | float | str:
    """A setting as JSON has it; infinity, which JSON has not, as text."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if np.isfinite(value) else str(float(value))
    return str(value)


def _are_classes(y: np.ndarray) -> bool:
    """Whether values are classes: text, booleans, two values, or 3 to 20 whole numbers."""
    if y.dtype.kind in "OUSb":
        return True
    for part in (y[:1000], y):
        values = np.unique(part)
        if len(values) > _CLASSES:
            return False
    return len(values) == 2 or (len(values) > 2 and bool(np.all(values % 1 == 0)))


def sizes(k):
    """A size or several, as JSON has them."""
    return k if k is None or isinstance(k, (str, Integral)) else [int(one) for one in k]


class Selector(SelectorMixin, BaseEstimator):
    """The part that methods on features and on rows share."""

    _info: dict
    _settings: dict
    _defaults: dict
    _engine: dict
    # Whether text columns became a feature for each level.
    _onehot = False
    _attributes = (
        (
            "result_",
            "dict",
            "The whole result, as the command line writes it in JSON: selection, trace, counts.",
        ),
        (
            "selected_",
            "ndarray of int",
            "Indices of the selected features, the highest score first.",
        ),
        (
            "scores_",
            "ndarray of shape (n_features_in_,)",
            "What the method ranks by; NaN for features that were not selected. "
            "`result_['score_kind']` says what it means.",
        ),
        ("n_features_seen_", "int", "Different features that arrived."),
        ("n_features_in_", "int", "Features of the input."),
        (
            "feature_names_in_",
            "ndarray of shape (n_features_in_,)",
            "Names of the features; only where the input had names, and a stream of features no "
            "more than 100,000 of them.",
        ),
    )

    @staticmethod
    def _name(feature, names) -> str:
        """The name of a feature that is given by its name or by its place."""
        if isinstance(feature, str):
            return feature
        if names is None:
            return f"x{int(feature)}"
        if not 0 <= int(feature) < len(names):
            raise ValueError(f"there is no feature {int(feature)}: X has {len(names)} features")
        return names[int(feature)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") != "error"
        tasks = self._info["tasks"]
        if "class" in tasks:
            tags.classifier_tags = ClassifierTags(multi_class="binary" not in tasks)
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_result")

    # -- what is asked of the engine

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            return 0
        if isinstance(state, (int, np.integer)):
            return int(state)
        return int(check_random_state(state).randint(np.iinfo(np.int32).max))

    def _request(self, **more) -> str:
        """What the engine is asked for, as JSON; `more` has further parts of its groups."""
        settings = {}
        for name, theirs in self._settings.items():
            value = getattr(self, name)
            if value is None or value == self._engine[name]:
                continue
            settings[theirs] = plain(value)
        threads = int(effective_n_jobs(self.n_jobs))
        method = {
            "name": self._info["name"],
            "k": sizes(getattr(self, "k", None)),
            "loss": getattr(self, "loss", None),
            "settings": settings,
            "missing": self.missing,
        }
        run = {"seed": self._seed(), "memory": self.memory, "threads": threads}
        method.update(more.pop("method", {}))
        run.update(more.pop("run", {}))
        return json.dumps({"method": method, "run": run, **more}, default=int)

    def _reporter(self) -> Reporter:
        return Reporter(type(self).__name__, self.verbose, self.callback)

    # -- the target

    def _known_task(self) -> str | None:
        """The task where it does not depend on the target: asked for, by the loss or the method."""
        if self.task != "auto":
            return self.task
        by_loss = _BY_LOSS.get(getattr(self, "loss", None))
        if by_loss is None and "regression" not in self._info["tasks"]:
            by_loss = True
        return None if by_loss is None else "classification" if by_loss else "regression"

    def _is_classification(self, y: np.ndarray) -> bool:
        known = self._known_task()
        return _are_classes(y) if known is None else known == "classification"

    def _class_notes(self, classes) -> list[str]:
        """What to say where the values of the target decided that whole numbers are classes."""
        if classes is None or self._known_task() is not None:
            return []
        if len(classes) < 3 or classes.dtype.kind not in "biuf":
            return []
        many = f"the target has {len(classes)} distinct whole numbers, which are taken for classes"
        return [f"{many}; task='regression' takes them as numbers"]

    def _encode(self, y: np.ndarray, classes=None):
        """The target as numbers, and the classes or None; `classes` where they are known."""
        if classes is None:
            if not self._is_classification(y):
                return np.ascontiguousarray(y, dtype=np.float64), None
            classes, codes = np.unique(y, return_inverse=True)
            if len(classes) != 2:
                # Two fractions are two classes, which scikit-learn would call continuous.
                check_classification_targets(y)
            if len(classes) > 2 and "binary" in self._info["tasks"]:
                many = f"{type(self).__name__} takes two classes, the target has {len(classes)}"
                advice = "task='regression' takes numbers" if "regression" in self._info["tasks"] else ""
                raise ValueError(f"Only binary classification is supported. {many}. {advice}".strip())
            return codes.astype(np.float64), classes
        codes = np.searchsorted(classes, y)
        known = np.take(classes, np.minimum(codes, len(classes) - 1)) == y
        if not np.all(known):
            strange = y[~known][0]
            advice = "give every class in `classes`, or set task='regression' for numbers"
            raise ValueError(f"the target has a class that did not come before: {strange}; {advice}")
        return codes.astype(np.float64), classes

    def _allowed_k(self, packed, rows) -> tuple[int | None, list[str]]:
        """`k`, lowered to what the rows allow least squares to fit, and what to say of that.

        Equal rows allow no more than one of them, so that a weight of 2 is a row that comes twice.
        """
        k, loss = getattr(self, "k", None), getattr(self, "loss", None)
        fits = self._info["has_loss"] and ("choose" in self._settings or not self._info["rows"])
        if not isinstance(k, Integral) or rows > MANY_ROWS:
            return sizes(k), []
        if loss not in (None, "squared") or not fits:
            return k, []
        different = rows if packed is None else _inputs.different_rows(packed, k + 1)
        if different < 2 or k < different:
            return k, []
        allowed = f"{different} different rows allow {different - 1} features"
        return different - 1, [f"k is {k} but {allowed}; k is lowered to that"]

    @staticmethod
    def _class_names(classes):
        return None if classes is None else [class_name(value) for value in classes]

    # -- what was learnt

    def _take(self, text: str, classes) -> dict:
        """Takes up a result."""
        result = json.loads(text)
        self._classes = classes
        for warning in result["warnings"]:
            if not warning.startswith("measure "):
                warnings.warn(warning, UserWarning, stacklevel=4)
        return result

    @property
    def result_(self) -> dict:
        check_is_fitted(self)
        if self._result is None:
            self._result = self._look()
        return self._result

    def _look(self) -> dict:
        raise NotImplementedError

    def _all(self) -> list[dict]:
        return [*self.result_["selected"], *self.result_["always"]]

    @property
    def selected_(self) -> np.ndarray:
        return np.array([f["index"] for f in self.result_["selected"]], dtype=np.int64)

    @property
    def n_features_seen_(self) -> int:
        return self.result_["features_seen"]

    @property
    def classes_(self) -> np.ndarray:
        check_is_fitted(self)
        if self._classes is None:
            raise AttributeError("a regression has no classes")
        return self._classes

    @property
    def scores_(self) -> np.ndarray:
        self._one_place_each("scores_")
        scores = np.full(self._width(), np.nan)
        for feature in self._all():
            scores[feature["index"]] = feature["score"]
        return scores

    def _width(self) -> int:
        return getattr(self, "n_features_in_", None) or self.n_features_seen_

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self._width(), dtype=bool)
        mask[[feature["index"] for feature in self._all()]] = True
        return mask

    def _kept(self) -> list[dict]:
        """The kept features in the order of their columns; what is made of one comes after it."""
        made = lambda f: (f["index"], f["name"].endswith(_derived.MISSING), f["name"])
        return sorted(self._all(), key=made)

    def _kept_names(self) -> list[str]:
        return [feature["name"] for feature in self._kept()]

    def _is_made(self, feature: dict) -> bool:
        """Whether a feature is none of the input's columns but made of one."""
        name = feature["name"]
        if self.missing == "indicator" and name.endswith(_derived.MISSING):
            fitted = getattr(self, "feature_names_in_", None)
            return fitted is None or fitted[feature["index"]] != name
        return self._onehot and "=" in name

    def _one_place_each(self, attribute: str):
        made = next((f["name"] for f in self._all() if self._is_made(f)), None)
        if made is not None:
            why = f"{attribute} has one place for each column, and {made!r} is made of one"
            raise AttributeError(f"{why}; see result_['selected']")

    def _by_name(self) -> bool:
        return getattr(self, "_streamed", False)

    def get_feature_names_out(self, input_features=None):
        """Names of the selected features.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input's features; None takes those that `fit` saw.

        Returns
        -------
        names : ndarray of str objects
            In the order of the input.
        """
        check_is_fitted(self)
        made = any(map(self._is_made, self._all()))
        if input_features is None and (made or self._by_name()):
            return np.asarray(self._kept_names(), dtype=object)
        if made:
            made = "features made of columns have names of their own"
            raise ValueError(f"{made}; leave input_features out")
        return super().get_feature_names_out(input_features)

    def transform(self, X):
        """Keep the selected features of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame, Table} of shape (n_samples, n_features)
            After a stream of columns, a table needs to have only the selected columns: they are
            taken by name.

        Returns
        -------
        X_r : array of shape (n_samples, n_selected_features)
            The selected columns, in the order of the input.
        """
        check_is_fitted(self)
        if _inputs.is_reader(X):
            X = X.read_all()
        names = _inputs.column_names(X)
        fitted = getattr(self, "feature_names_in_", None)
        arrow = _inputs.is_arrow(X)
        made = any(map(self._is_made, self._all()))
        if names is None and made:
            return self._made_of_array(X)
        if names is None or not (self._by_name() or arrow or made):
            return super().transform(X)
        kept = self._kept_names()
        if not self._by_name() and fitted is not None and list(fitted) != names:
            raise ValueError("the columns are not those of fit, or in another order")
        if made:
            columns = [_derived.feature(X, names, name) for name in kept]
            lost = [name for name, column in zip(kept, columns, strict=True) if column is None]
        else:
            lost = [name for name in kept if name not in set(names)]
        if lost:
            raise ValueError(f"the table has no column {lost[0]!r}, which was selected")
        if made:
            pairs = zip(kept, columns, strict=True)
            return np.column_stack([_derived.numbers(*pair) for pair in pairs])
        X = X.select(kept) if arrow else X[kept]
        return X.to_pandas().to_numpy() if arrow else X

    def _made_of_array(self, X):
        """The selected features of an array, indicators of missing values among them."""
        if self._onehot:
            raise ValueError("features of text columns are made by name; give a table with names")
        X = validate_data(self, X, accept_sparse="csc", ensure_all_finite=False, reset=False)
        columns = []
        for feature in self._kept():
            column = X[:, [feature["index"]]]
            column = (column.toarray() if sparse.issparse(X) else column).ravel()
            columns.append(_derived.is_missing(column) if self._is_made(feature) else column)
        return np.column_stack(columns)

    def _kept_values(self, X) -> np.ndarray:
        """The selected columns as plain numbers, missing values filled as `fit` filled them."""
        X = type(self).transform.__wrapped__(self, X)
        if sparse.issparse(X):
            return X
        try:
            X = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            text = _inputs.column_names(X) or []
            for name in text:
                _derived.numbers(name, _inputs.column(X, name))
            raise
        if self.missing not in ("error",) and not np.isfinite(X).all():
            fill = [0.0 if self.missing == "zero" else f["mean"] for f in self._kept()]
            X = np.where(np.isfinite(X), X, np.array(fill)[None, :])
        return X

    # -- pickling

    def __getstate__(self):
        state = super().__getstate__()
        run = state.get("_run")
        return state if run is None else {**state, "_run": run.save()}

    def __setstate__(self, state):
        super().__setstate__(state)
        saved = self.__dict__.get("_run")
        if isinstance(saved, bytes):
            run = self._new_run(*self._run_arguments)
            run.restore(saved)
            self._run = run
