"""What is a class: the rule of the command line, and what scikit-learn is told of it."""

import warnings

import keepnet
import numpy as np
import pandas as pd
import polars as pl
import pytest
from keepnet._registry import CLASSES
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(120, 8))


def fitted(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return keepnet.OSPlus(k=2, **settings).fit(X, y)


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (["a", "b"], True),
        ([True, False], True),
        ([0.5, 1.5], True),
        ([1, 2, 3], True),
        ([1.0, 2.0, 3.0], True),
        (range(20), True),
        (range(21), False),
        ([1, 2, 2.5], False),
    ],
)
def test_the_rule_is_that_of_the_command_line(x, tmp_path, values, classes):
    y = np.resize(list(values), 120)
    got = fitted(x, y)
    assert (got.result_["task"] == "classification") == classes
    table = pd.DataFrame(x, columns=list("abcdefgh")).assign(y=y)
    table.to_csv(tmp_path / "x.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = keepnet.select(tmp_path / "x.csv", "y", k=2)
        stream = keepnet.select(iter([table[["a", "b"]], table[["c"]]]), y, k=2)
        rows = keepnet.AnnealedRidge(k=2).partial_fit(x, y)
    for other in (file, stream, rows):
        assert other.result_["task"] == got.result_["task"]


def test_whole_numbers_are_named_in_a_warning(x):
    y = np.resize([1, 2, 3], 120)
    said = "3 distinct whole numbers, which are taken for classes; task='regression'"
    for fit in (
        lambda: keepnet.OSPlus(k=2).fit(x, y),
        lambda: keepnet.OSPlus(k=2).partial_fit_columns(x, y),
        lambda: keepnet.AnnealedRidge(k=2).fit(x, y),
        lambda: keepnet.AnnealedRidge(k=2).partial_fit(x, y),
    ):
        with pytest.warns(UserWarning, match=said):
            got = fit()
        assert any(said in warning for warning in got.result_["warnings"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert keepnet.OSPlus(k=2, task="regression").fit(x, y).result_["task"] == "regression"
        assert keepnet.OSPlus(k=2, task="classification").fit(x, y).result_["warnings"] == []
        assert keepnet.OSPlus(k=2, loss="logistic").fit(x, y).result_["classes"] == ["1", "2", "3"]
        assert keepnet.OSPlus(k=2).fit(x, y > 1).result_["warnings"] == []


def test_a_class_that_did_not_come_before_leads_to_the_way_out(x):
    model = keepnet.AnnealedRidge(k=2)
    with pytest.warns(UserWarning, match="taken for classes"):
        model.partial_fit(x, np.resize([1, 2, 3], 120))
    with pytest.raises(ValueError, match="did not come before: 4; give every class in `classes`"):
        model.partial_fit(x, np.resize([1, 4], 120))


def test_scikit_learn_knows_the_task_before_fit(x):
    cls = keepnet.OSPlus
    assert is_classifier(cls(task="classification")) and not is_regressor(cls(task="classification"))
    assert is_regressor(cls(task="regression")) and not is_classifier(cls(task="regression"))
    assert is_classifier(cls(loss="logistic")) and is_regressor(cls(loss="squared-epsilon"))
    assert not is_classifier(cls()) and not is_regressor(cls())
    assert is_classifier(keepnet.SOFS()) and is_classifier(keepnet.L1Hinge())
    # A method without a model predicts nothing.
    assert not is_classifier(keepnet.SAOLA(task="classification"))
    assert is_classifier(fitted(x, np.resize(["a", "b"], 120)))
    assert is_regressor(fitted(x, x[:, 0]))
    # So rows of a class in order are divided by class.
    y = np.repeat([0, 1, 2], 40)
    x[:, 1] += 4 * y
    x[:, 2] += 4 * (y == 1)
    assert cross_val_score(cls(k=2, task="classification"), x, y, cv=3).min() > 0.9


def test_probabilities_are_those_of_the_logistic_model(x):
    rng = np.random.default_rng(1)
    y = (x[:, 1] - x[:, 4] + rng.logistic(size=120) > 0).astype(int)
    model = keepnet.OSPlus(k=2, loss="logistic").fit(x, y)
    # The refit has a ridge of 1e-3 on columns of unit variance (docs/methods.md).
    kept = x[:, model.get_support()] / x[:, model.get_support()].std(axis=0)
    want = LogisticRegression(C=1 / (120 * 1e-3), tol=1e-10).fit(kept, y).predict_proba(kept)
    np.testing.assert_allclose(model.predict_proba(x), want, atol=1e-6)
    three = fitted(x, np.digitize(x[:, 1], [-0.5, 0.5]), loss="logistic")
    p = three.predict_proba(x)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.array_equal(three.classes_[p.argmax(axis=1)], three.predict(x))
    # The default for classes is logistic; other losses and regression have no probabilities.
    assert hasattr(keepnet.OSPlus(k=2).fit(x, y), "predict_proba")
    assert not hasattr(keepnet.OSPlus(k=2, loss="squared-hinge").fit(x, y), "predict_proba")
    assert not hasattr(keepnet.OSPlus(k=2).fit(x, x[:, 0]), "predict_proba")
    assert not hasattr(keepnet.OSPlus(), "predict_proba")
    assert hasattr(keepnet.OSPlus(loss="logistic"), "predict_proba")


def test_no_jobs_is_one_as_in_scikit_learn(x):
    assert keepnet.OSPlus(k=2).fit(x, x[:, 0]).result_["run"]["threads"] == 1
    assert keepnet.OSPlus(k=2, n_jobs=2).fit(x, x[:, 0]).result_["run"]["threads"] == 2


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_a_stream_of_series_keeps_their_names(x, series):
    def named(values, name):
        return pd.Series(values, name=name) if series is pd.Series else pl.Series(name, values)

    born = (named(x[:, j], f"gene {j}") for j in range(8))
    got = keepnet.select(born, 2 * x[:, 3] - x[:, 5], k=2)
    assert list(got.feature_names_in_) == [f"gene {j}" for j in range(8)]
    assert list(got.get_feature_names_out()) == ["gene 3", "gene 5"]
    assert list(got.transform(pd.DataFrame(x, columns=got.feature_names_in_))) == ["gene 3", "gene 5"]


@pytest.mark.parametrize("method", ["os-plus", "annealed-ridge"])
def test_text_columns_are_named(x, method):
    table = pd.DataFrame(x, columns=list("abcdefgh")).assign(town="Rome", day=pd.Timestamp(0))
    with pytest.raises(ValueError, match="columns 'town', 'day' hold text or dates"):
        CLASSES[method]().fit(table, x[:, 0])


def test_the_plots_are_there():
    assert keepnet.plot.weights.__module__ == "keepnet.plot"


def test_a_mapping_weighs_the_classes(x):
    y = np.resize(["a", "b", "b"], 120)
    each = {"a": 2.0, "b": 0.5}
    weight = np.array([each[value] for value in y])
    mapped = keepnet.OSPlus(k=2, class_weight=each).fit(x, y)
    weighed = keepnet.OSPlus(k=2).fit(x, y, sample_weight=weight)
    np.testing.assert_array_equal(mapped.coef_, weighed.coef_)
    # A class that is not named weighs 1, and one of weight 0 is left out.
    other = keepnet.OSPlus(k=2, class_weight={"a": 2.0}).fit(x, y).coef_
    named = keepnet.OSPlus(k=2, class_weight={"a": 2.0, "b": 1.0}).fit(x, y).coef_
    np.testing.assert_array_equal(other, named)
    with pytest.raises(ValueError, match="one of numbers"):
        keepnet.OSPlus(k=2, class_weight=each).fit(x, x[:, 0])
