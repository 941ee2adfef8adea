"""Selectors on a stream of samples, a class a method."""

from __future__ import annotations

import numpy as np

from keepnet._registry import method
from keepnet._samples import AveragesMixin, SampleSelector, SequentialSelector


@method("annealed-ridge", products="f64")
class AnnealedRidge(AveragesMixin, SampleSelector):
    """Backward elimination with exact ridge solves: the default for samples.

    Examples
    --------
    >>> from keepnet import AnnealedRidge
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = AnnealedRidge(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 5)
    """

    def _counts_rows(self, sample_weight) -> bool:
        # Cross-validation of the ridge counts rows.
        whole = np.all(sample_weight % 1 == 0) and sample_weight.sum() <= 10 * len(sample_weight)
        return self.ridge == "gcv" and bool(whole)


@method("ols", products="f64")
class OLS(AveragesMixin, SampleSelector):
    """Least squares on every feature.

    Examples
    --------
    >>> from keepnet import OLS
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = OLS(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 50)
    """


@method("olsth", products="f64", ridge=0.01)
class OLSth(AveragesMixin, SampleSelector):
    """The largest weights of least squares, refitted.

    Examples
    --------
    >>> from keepnet import OLSth
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = OLSth(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 5)
    """


@method("ofsa", products="f64")
class OFSA(AveragesMixin, SampleSelector):
    """Gradient steps with an annealing schedule that lets features go.

    Examples
    --------
    >>> from keepnet import OFSA
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = OFSA(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 5)
    """


@method("olasso", products="f64")
class OLasso(AveragesMixin, SampleSelector):
    """The lasso on running averages.

    Examples
    --------
    >>> from keepnet import OLasso
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = OLasso(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 5)
    """


@method("oalasso", products="f64")
class OALasso(AveragesMixin, SampleSelector):
    """The adaptive lasso, weighted by a pilot fit.

    Examples
    --------
    >>> from keepnet import OALasso
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = OALasso(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 5)
    """


@method("oelnet", products="f64")
class OElNet(AveragesMixin, SampleSelector):
    """The elastic net on running averages.

    Examples
    --------
    >>> from keepnet import OElNet
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = OElNet(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 5)
    """


@method("omcp", products="f64")
class OMCP(AveragesMixin, SampleSelector):
    """The minimax concave penalty on running averages.

    Examples
    --------
    >>> from keepnet import OMCP
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = OMCP(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 5)
    """


@method("oscad", products="f64")
class OSCAD(AveragesMixin, SampleSelector):
    """The smoothly clipped penalty on running averages.

    Examples
    --------
    >>> from keepnet import OSCAD
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> selector = OSCAD(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> selector.n_samples_seen_, len(selector.selected_)
    (500, 5)
    """


@method("sgd")
class SGD(SequentialSelector):
    """Stochastic gradient descent, the k largest weights.

    Examples
    --------
    >>> from keepnet import SGD
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> SGD(k=5).fit(X, y).transform(X).shape
    (500, 5)
    """


@method("tsgd")
class TSGD(SequentialSelector):
    """Stochastic gradient descent that truncates after a burn-in.

    Examples
    --------
    >>> from keepnet import TSGD
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> TSGD(k=5).fit(X, y).transform(X).shape
    (500, 5)
    """


@method("siht")
class SIHT(SequentialSelector):
    """Stochastic gradient descent that keeps the k largest weights at every row.

    Examples
    --------
    >>> from keepnet import SIHT
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> SIHT(k=5).fit(X, y).transform(X).shape
    (500, 5)
    """


@method("truncated-gradient")
class TruncatedGradient(SequentialSelector):
    """Stochastic gradient descent that draws small weights to zero every few rows.

    Examples
    --------
    >>> from keepnet import TruncatedGradient
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> TruncatedGradient(k=5).fit(X, y).transform(X).shape
    (500, 5)
    """


@method("opg")
class OPG(SequentialSelector):
    """Online proximal gradient: a soft threshold after every step.

    Examples
    --------
    >>> from keepnet import OPG
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> OPG(k=5).fit(X, y).transform(X).shape
    (500, 5)
    """


@method("rda")
class RDA(SequentialSelector):
    """Regularised dual averaging with the l1 norm.

    Examples
    --------
    >>> from keepnet import RDA
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> RDA(k=5).fit(X, y).transform(X).shape
    (500, 5)
    """


@method("opg-sadmm")
class OPGSADMM(SequentialSelector):
    """Stochastic ADMM with proximal gradient steps.

    Examples
    --------
    >>> from keepnet import OPGSADMM
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> OPGSADMM(k=5).fit(X, y).transform(X).shape
    (500, 5)
    """


@method("rda-sadmm")
class RDASADMM(SequentialSelector):
    """Stochastic ADMM with dual averaging.

    Examples
    --------
    >>> from keepnet import RDASADMM
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(500, 50, n_informative=5, random_state=0)
    >>> RDASADMM(k=5).fit(X, y).transform(X).shape
    (500, 5)
    """


@method("ofs")
class OFS(SequentialSelector):
    """Online feature selection: a perceptron cut to k weights after each mistake.

    Examples
    --------
    >>> from keepnet import OFS
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, 50, n_informative=5, random_state=0)
    >>> selector = OFS(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> len(selector.selected_)
    5
    """


@method("sofs")
class SOFS(SequentialSelector):
    """Second-order online feature selection: the k weights of smallest variance.

    Examples
    --------
    >>> from keepnet import SOFS
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, 50, n_informative=5, random_state=0)
    >>> selector = SOFS(k=5).partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    >>> len(selector.selected_)
    5
    """
