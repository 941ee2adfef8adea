"""Prediction, for methods that fit a linear model on what they keep."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils._tags import RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _classifies(estimator):
    check_is_fitted(estimator)
    if estimator._classes is None:
        raise AttributeError("a regression has no decision_function; use predict")
    return True


def _gives_probabilities(estimator):
    if not hasattr(estimator, "_result"):
        loss = getattr(estimator, "loss", None)
    else:
        _classifies(estimator)
        loss = estimator.result_["params"].get("loss")
    if loss != "logistic":
        raise AttributeError("probabilities need loss='logistic' and classes")
    return True


class ModelMixin:
    """`coef_`, `intercept_` and what follows from them."""

    _attributes = (
        (
            "coef_",
            "ndarray of shape (n_features_in_,) or (n_classes, n_features_in_)",
            "Weights on the original scale, 0 for features that were not selected; a row a class "
            "with more than two classes.",
        ),
        ("intercept_", "float or ndarray of shape (n_classes,)", "The constant of the model."),
        ("classes_", "ndarray", "The classes in ascending order; classification only."),
    )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        task = self._known_task()
        if hasattr(self, "_classes"):
            task = "regression" if self._classes is None else "classification"
        if task == "classification":
            tags.estimator_type = "classifier"
        elif task == "regression":
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags

    @property
    def coef_(self) -> np.ndarray:
        self._one_place_each("coef_")
        outputs = np.ndim(self.result_["intercept"])
        many = len(self.result_["intercept"]) if outputs else 1
        coef = np.zeros((many, self._width()))
        for feature in self._all():
            coef[:, feature["index"]] = feature["coefficient"]
        return coef if outputs else coef[0]

    @property
    def intercept_(self):
        intercept = self.result_["intercept"]
        return np.array(intercept) if np.ndim(intercept) else float(intercept)

    def _margins(self, X) -> np.ndarray:
        check_is_fitted(self)
        order = self._kept()
        weights = np.array([f["coefficient"] for f in order], dtype=np.float64)
        if len(order) == 0:
            weights = np.zeros((0, *np.shape(self.result_["intercept"])))
        return self._kept_values(X) @ weights + self.intercept_

    @available_if(_classifies)
    def decision_function(self, X):
        """Margins of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Above 0 for the second of two classes; the largest wins among several.
        """
        return self._margins(X)

    def predict(self, X):
        """Predict with the linear model on the selected features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Numbers, or classes.
        """
        margins = self._margins(X)
        if self._classes is None:
            return margins
        best = margins.argmax(axis=1) if margins.ndim == 2 else (margins > 0).astype(int)
        return self._classes[best]

    @available_if(_gives_probabilities)
    def predict_proba(self, X):
        """Probabilities of the classes, under the logistic loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`. Several classes are each fitted against the rest; their
            probabilities are divided by their sum.
        """
        p = expit(self._margins(X))
        if p.ndim == 1:
            return np.column_stack([1 - p, p])
        total = p.sum(axis=1, keepdims=True)
        even = np.full_like(p, 1 / p.shape[1])
        return np.divide(p, total, out=even, where=total > 0)

    def score(self, X, y, sample_weight=None):
        """The share of right classes, or the coefficient of determination.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        score : float
            1 is best.
        """
        measure = r2_score if self._is_fitted_regression() else accuracy_score
        return measure(y, self.predict(X), sample_weight=sample_weight)

    def _is_fitted_regression(self) -> bool:
        check_is_fitted(self)
        return self._classes is None
