"""Selectors on a stream of features, a class a method."""

from __future__ import annotations

import numpy as np

from keepnet._features import FeatureSelector
from keepnet._model import ModelMixin
from keepnet._registry import method


@method("os-plus")
class OSPlus(ModelMixin, FeatureSelector):
    """Fully corrective substitution: the default for features.

    A feature enters when it improves the fitted model more than the weakest kept feature does,
    measured exactly; most features are let go after one dot product.

    Examples
    --------
    >>> from keepnet import OSPlus
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 500, n_informative=5, random_state=0)
    >>> selector = OSPlus(k=5).fit(X, y)
    >>> selector.get_support(indices=True)
    array([207, 213, 244, 246, 378])
    >>> round(selector.score(X, y), 6)
    1.0
    """


@method("os")
class OS(ModelMixin, FeatureSelector):
    """Online substitution, as published.

    Examples
    --------
    >>> from keepnet import OS
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 500, n_informative=5, random_state=0)
    >>> OS(k=5).fit_transform(X, y).shape
    (200, 5)
    """


@method("saola")
class SAOLA(FeatureSelector):
    """Pairwise redundancy by symmetrical uncertainty or Fisher's Z.

    Examples
    --------
    >>> from keepnet import SAOLA
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> SAOLA(k=3).fit(X, y).get_feature_names_out()
    array(['worst texture', 'worst concave points'], dtype=object)
    """


@method("saola-max")
class SAOLAMax(FeatureSelector):
    """SAOLA with the larger strength as the bound, which keeps more.

    Examples
    --------
    >>> from keepnet import SAOLAMax
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SAOLAMax(k=None).fit(X, y).n_features_seen_
    30
    """


@method("group-saola", takes_k=False, groups="block:10")
class GroupSAOLA(FeatureSelector):
    """SAOLA within and between groups of features.

    Examples
    --------
    >>> from keepnet import GroupSAOLA
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = GroupSAOLA(groups="block:10").fit(X, y)
    >>> sorted({feature["group"] for feature in selector.result_["selected"]})
    ['2']
    """


@method("ossfs-dd")
class OSSFSDD(FeatureSelector):
    """Thresholds that follow the stream; weak features wait for a partner.

    Examples
    --------
    >>> from keepnet import OSSFSDD
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> OSSFSDD(k=None).fit(X, y).n_features_seen_
    30
    """


@method("sfs-fi")
class SFSFI(FeatureSelector):
    """A feature is kept by what it adds to the features kept.

    Examples
    --------
    >>> from keepnet import SFSFI
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SFSFI(k=None).fit(X, y).n_features_seen_
    30
    """


@method("screen", k=None)
class Screen(FeatureSelector):
    """One test a feature, with a false discovery rate over the whole stream.

    Examples
    --------
    >>> from keepnet import Screen
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = Screen().fit(X, y)
    >>> len(selector.selected_), selector.tests_[0]
    (26, 'mann-whitney')
    >>> selector.error_control_["tested"]
    30
    """

    _attributes = (
        (
            "pvalues_",
            "ndarray of shape (n_features_in_,)",
            "The p-value of every feature after `fit`; after a stream, and after `keepnet.select`, "
            "of those selected. NaN for the others.",
        ),
        (
            "log_pvalues_",
            "ndarray of shape (n_features_in_,)",
            "Their natural logarithms, which are right where a p-value is 0.",
        ),
        (
            "qvalues_",
            "ndarray of shape (n_features_in_,)",
            "P-values adjusted for all features tested, of those selected at the end of the scan; "
            "NaN for the others.",
        ),
        (
            "tests_",
            "ndarray of shape (n_features_in_,)",
            "The name of the test of each selected feature; None for the others.",
        ),
        (
            "error_control_",
            "dict",
            "Which error rate is controlled, at which level, and what that rests on.",
        ),
    )

    def _take(self, text, classes) -> dict:
        result = super()._take(text, classes)
        self._log_p = result.pop("log_p", ())
        return result

    def _of_each(self, field: str, empty, dtype) -> np.ndarray:
        self._one_place_each(field)
        values = np.full(self._width(), empty, dtype=dtype)
        for feature in self._all():
            if feature[field] is not None:
                values[feature["index"]] = feature[field]
        return values

    @property
    def log_pvalues_(self) -> np.ndarray:
        values = self._of_each("log_p", np.nan, np.float64)
        for index, log_p in enumerate(self.__dict__.get("_log_p", ())):
            if log_p is not None:
                values[index] = log_p
        return values

    @property
    def pvalues_(self) -> np.ndarray:
        return np.exp(self.log_pvalues_)

    @property
    def qvalues_(self) -> np.ndarray:
        return self._of_each("q_value", np.nan, np.float64)

    @property
    def tests_(self) -> np.ndarray:
        return self._of_each("test", None, object)

    @property
    def error_control_(self) -> dict:
        return self.result_["error_control"]


@method("alpha-investing")
class AlphaInvesting(FeatureSelector):
    """Streamwise regression with a wealth of error that successes refill.

    Examples
    --------
    >>> from keepnet import AlphaInvesting
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, noise=1, random_state=0)
    >>> selector = AlphaInvesting(k=None).fit(X, y)
    >>> selector.result_["p_value_kind"]
    'bid'
    """


@method("osfs")
class OSFS(FeatureSelector):
    """Relevance and redundancy by conditional independence.

    Examples
    --------
    >>> from keepnet import OSFS
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> OSFS(alpha=0.01).fit_transform(X, y).shape
    (569, 3)
    """


@method("fast-osfs")
class FastOSFS(FeatureSelector):
    """OSFS that tests the newcomer first and then only sets with it.

    Examples
    --------
    >>> from keepnet import FastOSFS
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> FastOSFS(alpha=0.01).fit_transform(X, y).shape
    (569, 4)
    """


@method("ogfs", groups="block:10")
class OGFS(FeatureSelector):
    """Class scatter within a group, a lasso between groups.

    Examples
    --------
    >>> from keepnet import OGFS
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> OGFS(k=5).fit_transform(X, y).shape
    (569, 4)
    """


@method("asy-os", workers=1)
class AsyOS(ModelMixin, FeatureSelector):
    """Asynchronous substitution: workers share one prediction.

    One worker gives the same answer each time; more of them, with `centre='threads'`, do not.

    Examples
    --------
    >>> from keepnet import AsyOS
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, random_state=0)
    >>> AsyOS(k=5).fit(X, y).transform(X).shape[0]
    200
    """


@method("grafting")
class Grafting(ModelMixin, FeatureSelector):
    """A newcomer enters where its slope beats lambda; then the L1 problem is solved anew.

    Examples
    --------
    >>> from keepnet import Grafting
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, random_state=0)
    >>> Grafting(k=5).fit(X, y).transform(X).shape[0]
    200
    """


@method("grafting-light")
class GraftingLight(ModelMixin, FeatureSelector):
    """Grafting with one gradient step in place of each full optimisation.

    Examples
    --------
    >>> from keepnet import GraftingLight
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, random_state=0)
    >>> GraftingLight(k=5).fit(X, y).transform(X).shape[0]
    200
    """


@method("l1-cd")
class L1CD(ModelMixin, FeatureSelector):
    """One coordinate step with a soft threshold for the feature that arrives.

    Examples
    --------
    >>> from keepnet import L1CD
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, random_state=0)
    >>> L1CD(k=5).fit(X, y).transform(X).shape[0]
    200
    """


@method("l0-cd")
class L0CD(ModelMixin, FeatureSelector):
    """One coordinate step for the feature that arrives; the k largest weights stay.

    Examples
    --------
    >>> from keepnet import L0CD
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, random_state=0)
    >>> L0CD(k=5).fit(X, y).transform(X).shape[0]
    200
    """


@method("lasso")
class Lasso(ModelMixin, FeatureSelector):
    """The L1 penalised model of all features at once, its k largest weights.

    Examples
    --------
    >>> from keepnet import Lasso
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, random_state=0)
    >>> Lasso(k=5).fit(X, y).transform(X).shape[0]
    200
    """


@method("l1-hinge")
class L1Hinge(ModelMixin, FeatureSelector):
    """The L1 penalised squared hinge of all features at once, its k largest weights.

    Examples
    --------
    >>> from keepnet import L1Hinge
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(200, 50, n_informative=5, random_state=0)
    >>> L1Hinge(k=5).fit(X, y).transform(X).shape[0]
    200
    """


@method("proj-gd")
class ProjGD(ModelMixin, FeatureSelector):
    """Gradient steps on all features at once, each cut to the k largest weights.

    Examples
    --------
    >>> from keepnet import ProjGD
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, random_state=0)
    >>> ProjGD(k=5).fit(X, y).transform(X).shape[0]
    200
    """


@method("sparse-group-lasso", groups="block:10")
class SparseGroupLasso(ModelMixin, FeatureSelector):
    """A model penalised by groups and by features, of all features at once.

    Examples
    --------
    >>> from keepnet import SparseGroupLasso
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 50, n_informative=5, random_state=0)
    >>> SparseGroupLasso(k=5, groups="block:10").fit(X, y).transform(X).shape[0]
    200
    """


@method("fcbf")
class FCBF(FeatureSelector):
    """The strongest feature, then each that no kept one makes redundant.

    Examples
    --------
    >>> from keepnet import FCBF
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> FCBF(measure="fisher-z").fit_transform(X, y).shape
    (569, 3)
    """


@method("mrmr")
class MRMR(FeatureSelector):
    """Relevance less, or over, the mean redundancy with what is selected.

    Examples
    --------
    >>> from keepnet import MRMR
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MRMR(k=5).fit_transform(X, y).shape
    (569, 5)
    """


@method("spsf-lar")
class SPSFLAR(FeatureSelector):
    """Features that preserve the similarity of the samples, by least angles.

    Examples
    --------
    >>> from keepnet import SPSFLAR
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SPSFLAR(k=5).fit_transform(X, y).shape
    (569, 5)
    """


@method("gdm")
class GDM(FeatureSelector):
    """The feature generating machine with a limit on the correlation of what it selects.

    After Zhai, Tan, Ong and Tsang (2012); the cost, the limit and the end of the rounds are ours.

    Examples
    --------
    >>> from keepnet import GDM
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = GDM(k=5).fit(X, y)
    >>> len(selector.selected_), sorted(selector.affiliated_[0])
    (5, ['correlation', 'index', 'name', 'of'])
    """

    _attributes = (
        (
            "affiliated_",
            "list of dict",
            "Features that were passed over as they are correlated with a selected one: their "
            "`index` and `name`, the name of the selected one (`of`), and the `correlation`.",
        ),
    )

    @property
    def affiliated_(self) -> list:
        return self.result_["affiliated"]


@method("iamb")
class IAMB(FeatureSelector):
    """A Markov blanket by its strongest links: grows by tests, then shrinks.

    Examples
    --------
    >>> from keepnet import IAMB
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> IAMB(measure="fisher-z").fit_transform(X, y).shape
    (569, 10)
    """


@method("inter-iamb")
class InterIAMB(FeatureSelector):
    """IAMB that shrinks after every addition.

    Examples
    --------
    >>> from keepnet import InterIAMB
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> InterIAMB(k=4).fit_transform(X, y).shape
    (569, 4)
    """


@method("fast-iamb")
class FastIAMB(FeatureSelector):
    """IAMB that adds as many features a scan as the rows allow.

    Examples
    --------
    >>> from keepnet import FastIAMB
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> FastIAMB(bins=2).fit_transform(X, y).shape
    (569, 5)
    """


@method("mmpc")
class MMPC(FeatureSelector):
    """Parents and children of the target in a network, by max-min links.

    Examples
    --------
    >>> from keepnet import MMPC
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MMPC().fit_transform(X, y).shape
    (569, 4)
    """


@method("mmmb")
class MMMB(FeatureSelector):
    """The Markov blanket: parents, children and spouses by max-min links.

    Examples
    --------
    >>> from keepnet import MMMB
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MMMB().fit_transform(X, y).shape
    (569, 4)
    """
