"""Pictures of results, through matplotlib.

Every function draws on an axes (a new one where none is given) and returns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def substitutions(selector: Any, ax: Axes | None = None) -> Axes:
    """Loss and substitutions along the stream.

    Parameters
    ----------
    selector : estimator
        A fitted method on features.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        Substitutions on the left; the loss, where the method has one, on a second axis.
    """
    trace = selector.result_["trace"]
    if not trace:
        raise ValueError("the result has no trace; only streams of features have one")
    ax = _axes(ax)
    arrived = [point["arrived"] for point in trace]
    ax.plot(arrived, [point["substitutions"] for point in trace], color="C0")
    ax.set_xlabel("features that had arrived")
    ax.set_ylabel("substitutions", color="C0")
    loss = [(p["arrived"], p["loss"]) for p in trace if p["loss"] is not None]
    if loss:
        right = ax.twinx()
        right.plot(*zip(*loss, strict=True), color="C1")
        right.set_ylabel("loss", color="C1")
    return ax


def weights(selector: Any, ax: Axes | None = None, most: int = 30) -> Axes:
    """Weights of the selected features, or their scores where there is no model.

    Parameters
    ----------
    selector : estimator
        A fitted estimator.
    ax : matplotlib axes, default=None
        Where to draw.
    most : int, default=30
        Most features to draw, the highest scores first.

    Returns
    -------
    ax : matplotlib axes
        A bar a feature; with several classes the length of the weights.
    """
    ax = _axes(ax)
    features = selector.result_["selected"][:most]
    model = bool(features) and features[0]["coefficient"] is not None

    def length(feature: Mapping[str, Any]) -> float:
        value = feature["coefficient"] if model else feature["score"]
        return float(np.linalg.norm(value)) if np.ndim(value) else float(value)

    places = np.arange(len(features))[::-1]
    ax.barh(places, [length(feature) for feature in features])
    ax.set_yticks(places, [feature["name"] for feature in features])
    ax.set_xlabel("weight" if model else selector.result_["score_kind"])
    return ax


def path(selector: Any, X: Any, y: Any, sizes: Iterable[int], ax: Axes | None = None) -> Axes:
    """The score on held-out data against the number of features, to choose `k` by.

    Parameters
    ----------
    selector : estimator
        An estimator with `score`. A fitted one on running averages is asked for each size
        without its data; another is fitted anew on four fifths of the rows for each size.
    X, y : array-like
        Rows to score on; for an estimator that is fitted anew, rows to fit and score on.
    sizes : iterable of int
        Numbers of features.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        A point a size.
    """
    ax = _axes(ax)
    sizes = list(sizes)
    ax.plot(sizes, path_scores(selector, X, y, sizes), marker="o")
    ax.set_xlabel("features")
    ax.set_ylabel("score on held-out rows")
    return ax


def path_scores(selector: Any, X: Any, y: Any, sizes: Sequence[int]) -> list[float]:
    """The scores that `path` draws.

    Parameters
    ----------
    selector, X, y, sizes
        As in `path`.

    Returns
    -------
    scores : list of float
        One a size.
    """
    if hasattr(selector, "extract") and hasattr(selector, "_run"):
        return [float(selector.extract(k=k).score(X, y)) for k in sizes]
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    fitted = (clone(selector).set_params(k=k).fit(train, y_train) for k in sizes)
    return [float(each.score(test, y_test)) for each in fitted]


def recall(selectors: Mapping[str, Any], truth: Iterable[int], ax: Axes | None = None) -> Axes:
    """The share of the true features that each selector found.

    Parameters
    ----------
    selectors : mapping of str to estimator
        Fitted selectors by the name to show; any with `get_support`, scikit-learn's too.
    truth : iterable of int
        Indices of the true features.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        A bar a selector.
    """
    ax = _axes(ax)
    true = set(truth)
    found = [len(true & set(s.get_support(indices=True).tolist())) for s in selectors.values()]
    ax.bar(list(selectors), [hits / len(true) for hits in found])
    ax.set_ylim(0, 1)
    ax.set_ylabel("recall")
    return ax
