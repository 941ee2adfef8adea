"""scikit-learn's own checks, on every class, and use inside its tools."""

import keepnet
import numpy as np
import pandas as pd
import pytest
from keepnet import _order
from keepnet._registry import CLASSES, METHODS
from keepnet._samples import SequentialSelector
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

# Every class as it comes, `cls()`, runs every check, and none is expected to fail.
SEQUENTIAL = [cls for cls in CLASSES.values() if issubclass(cls, SequentialSelector)]
INSTANCES = [cls() for cls in CLASSES.values()]


@parametrize_with_checks(INSTANCES)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_methods_of_one_row_after_the_other_can_shuffle():
    settings = {name: {s["name"] for s in METHODS[name]["settings"]} for name in METHODS}
    # Methods on running averages choose a model of a path; the others on rows go step by step.
    names = [name for name in METHODS if METHODS[name]["rows"] and "choose" not in settings[name]]
    assert [CLASSES[name] for name in names] == SEQUENTIAL and len(SEQUENTIAL) == 10


def test_k_is_lowered_to_what_the_rows_allow_with_a_warning():
    X, y = np.random.default_rng(0).normal(size=(8, 30)), np.random.default_rng(1).normal(size=8)
    said = "k is 10 but 8 different rows allow 7 features; k is lowered to that"
    for model in (keepnet.OSPlus(), keepnet.Lasso(), keepnet.AnnealedRidge()):
        for x in (X, np.asfortranarray(X), sparse.csr_array(X), sparse.csc_array(X), pd.DataFrame(X)):
            if isinstance(x, pd.DataFrame):
                x.columns = [f"c{j}" for j in range(30)]
            with pytest.warns(UserWarning, match=said):
                model.fit(x, y)
            assert len(model.selected_) <= 7 and said in model.result_["warnings"]
    # A row that comes twice allows no more, and a weight of two is the same.
    twice, weight = np.tile(np.arange(8), 2), np.full(8, 2.0)
    with pytest.warns(UserWarning, match="8 different rows"):
        doubled = keepnet.OSPlus().fit(X[twice], y[twice])
        weighted = keepnet.OSPlus().fit(X, y, sample_weight=weight)
    assert doubled.selected_.tolist() == weighted.selected_.tolist()
    # Losses with a ridge can fit more.
    assert keepnet.OSPlus(loss="logistic").fit(X, y > 0).result_["params"]["k"] == 10


def sequential_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 12)) * (rng.random((90, 12)) < 0.5)
    X[60:] = X[:30]
    y = (X[:, 0] - X[:, 5] + 0.1 * rng.normal(size=90) > 0).astype(int)
    return X, y, rng.permutation(90)


def learnt(cls, *data, **settings):
    weight = settings.pop("sample_weight", None)
    model = cls(k=4, **settings).fit(*data, sample_weight=weight)
    return np.append(model.coef_, model.intercept_)


@pytest.mark.parametrize("cls", SEQUENTIAL, ids=lambda cls: cls.__name__)
def test_shuffled_rows_may_be_given_in_any_order(cls):
    X, y, other = sequential_data()
    want = learnt(cls, X, y, shuffle=True)
    same = [
        learnt(cls, X[other], y[other], shuffle=True),
        learnt(cls, np.asfortranarray(X)[other], y[other], shuffle=True),
        learnt(cls, sparse.csr_array(X[other]), y[other], shuffle=True),
        learnt(cls, X, y, shuffle=True, sample_weight=np.ones(90)),
        learnt(cls, X, y, shuffle=True, random_state=np.int64(0)),
    ]
    for got in same:
        # Sparse rows add up in another order of operations.
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    assert not np.array_equal(learnt(cls, X, y, shuffle=True, random_state=1), want)
    # Without it, and in partial_fit always, rows come as they are.
    as_they_come = learnt(cls, X, y, shuffle=False)
    assert not np.array_equal(learnt(cls, X[other], y[other], shuffle=False), as_they_come)
    in_parts = cls(k=4, shuffle=True).partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(np.append(in_parts.coef_, in_parts.intercept_), as_they_come)


@pytest.mark.parametrize("cls", SEQUENTIAL, ids=lambda cls: cls.__name__)
def test_weights_of_shuffled_rows_are_steps(cls):
    X, y, other = sequential_data()
    times = np.random.default_rng(1).integers(0, 4, size=90)
    want = learnt(cls, X.repeat(times, axis=0), y.repeat(times), shuffle=True)
    weighted = learnt(cls, X[other], y[other], shuffle=True, sample_weight=times[other])
    np.testing.assert_array_equal(weighted, want)
    # Equal rows are one row with the sum of their weights, however it was divided.
    two, halves = np.vstack([X, X])[::-1], np.concatenate([times * 0.25, times * 0.75])[::-1]
    np.testing.assert_array_equal(
        learnt(cls, two, np.append(y, y)[::-1], shuffle=True, sample_weight=halves), want
    )
    # A part of a step is smaller than a step.
    part = learnt(cls, X, y, shuffle=True, sample_weight=times + 0.5)
    assert not np.array_equal(part, learnt(cls, X, y, shuffle=True, sample_weight=times + 1))


def test_an_order_of_steps_worked_by_hand():
    key = np.array([7, 3, 7, 5], dtype=np.uint64)
    rows, weight = _order.steps(key, np.array([1.0, 0.5, 1.25, 0.0]))
    # Row 1 for half a step, row 3 for none, then rows 0 and 2, which are equal, for 2.25.
    assert rows.tolist() == [1, 0, 0, 0] and weight.tolist() == [0.5, 1.0, 1.0, 0.25]
    rows, weight = _order.steps(key, None)
    assert rows.tolist() == [1, 3, 0, 2] and weight is None
    with pytest.raises(ValueError, match="is a number of steps"):
        _order.steps(key, np.full(4, 1e9))


def test_what_shuffling_cannot_do_is_said():
    X, y, _ = sequential_data()
    with pytest.raises(ValueError, match="needs rows in memory"):
        keepnet.select([(X, y)], method="sgd", shuffle=True)
    # A missing value is named by the row that has it.
    X[41, 2] = np.nan
    with pytest.raises(ValueError, match="at row 41"):
        keepnet.SGD(k=4, shuffle=True).fit(X, y)
    want = learnt(keepnet.SGD, X, y, shuffle=True, missing="zero")
    np.testing.assert_array_equal(
        learnt(keepnet.SGD, X[::-1], y[::-1], shuffle=True, missing="zero"), want
    )


@pytest.mark.parametrize("name", ["saola", "osfs", "fast-osfs", "alpha-investing"])
def test_weights_count_rows_in_tests(name):
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, size=80)
    for whole in (False, True):
        X = rng.integers(0, 3, size=(80, 12)) if whole else rng.normal(size=(80, 12))
        y = (X[:, 0] + X[:, 5] + rng.normal(size=80) > 1).astype(int)
        fit = lambda *data, **more: CLASSES[name]().fit(*data, **more).result_["selected"]
        weighted = fit(X, y, sample_weight=times)
        repeated = fit(X.repeat(times, axis=0), y.repeat(times))
        assert [f["index"] for f in weighted] == [f["index"] for f in repeated] != []
        p_values = lambda selected: [f["p_value"] for f in selected]
        np.testing.assert_allclose(p_values(weighted), p_values(repeated), rtol=1e-7)


def test_least_squares_with_fewer_rows_than_features_is_the_shortest_solution():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 30)) * np.arange(1, 31), rng.normal(size=12)
    Z = StandardScaler().fit_transform(X)
    want = np.linalg.lstsq(Z, y - y.mean(), rcond=None)[0] / X.std(axis=0)
    got = keepnet.OLS(products="f64").fit(X, y)
    np.testing.assert_allclose(got.coef_, want, rtol=1e-8)
    np.testing.assert_allclose(got.predict(X), y, rtol=1e-8)
    # Products in f32 keep what they can.
    np.testing.assert_allclose(keepnet.OLS(products="f32").fit(X, y).predict(X), y, atol=1e-3)


def test_the_ridge_of_least_squares_is_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + rng.normal(size=60)
    Z = StandardScaler().fit_transform(X)
    want = Ridge(alpha=60 * 0.5).fit(Z, y).coef_ / X.std(axis=0)
    got = keepnet.OLS(ridge=0.5, products="f64").fit(X, y)
    np.testing.assert_allclose(got.coef_, want, rtol=1e-8)


def test_weights_of_least_squares_are_repeated_rows():
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(60, 5)), rng.integers(0, 4, size=60)
    y = X[:, 0] + rng.normal(size=60)
    weighted = keepnet.OLS(products="f64").fit(X, y, sample_weight=times)
    repeated = keepnet.OLS(products="f64").fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)


def test_every_method_of_the_engine_has_a_class():
    missing = [name for name in METHODS if name not in CLASSES]
    assert not missing, f"write a class for {missing} in keepnet/features.py or samples.py"


def test_pipeline_grid_search_and_cross_validation():
    X, y = make_classification(300, 60, n_informative=5, random_state=0)
    pipe = make_pipeline(StandardScaler(), keepnet.OSPlus(k=5), LogisticRegression())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.75
    search = GridSearchCV(pipe, {"osplus__k": [2, 5, 10]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.75
    assert clone(search.best_estimator_).get_params()["osplus__k"] in (2, 5, 10)


def test_own_prediction_in_cross_validation():
    X, y = make_regression(300, 60, n_informative=5, noise=1, random_state=0)
    assert cross_val_score(keepnet.OSPlus(k=5), X, y, cv=3).min() > 0.99
    assert cross_val_score(keepnet.AnnealedRidge(k=5), X, y, cv=3).min() > 0.99


def test_frames_in_and_names_out():
    X, y = make_regression(200, 20, n_informative=3, random_state=0)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(20)])
    frame["town"] = ["a", "b"] * 100
    parts = [("numbers", keepnet.OSPlus(k=3), make_column_selector(dtype_include="number"))]
    transform = ColumnTransformer(parts).set_output(transform="pandas").fit(frame, y)
    out = transform.transform(frame)
    names = list(out.columns)
    assert len(names) == 3 and all(name.startswith("numbers__c") for name in names)
    pipe = make_pipeline(keepnet.OSPlus(k=3), Ridge()).fit(frame.drop(columns="town"), y)
    assert [f"numbers__{n}" for n in pipe[0].get_feature_names_out()] == names


@pytest.mark.parametrize("kind", ["polars", "pandas", "default"])
def test_set_output(kind):
    if kind != "default":
        pytest.importorskip(kind)
    X, y = make_regression(100, 10, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    out = keepnet.OSPlus(k=2).set_output(transform=kind).fit(frame, y).transform(frame)
    module = type(out).__module__.split(".")[0]
    assert module == ("numpy" if kind == "default" else kind)
