"""scikit-learn's own checks, on every class, and use inside its tools."""

import keepnet
import numpy as np
import pandas as pd
import pytest
from keepnet._registry import CLASSES, METHODS
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._test_common.instance_generator import PER_ESTIMATOR_XFAIL_CHECKS
from sklearn.utils.estimator_checks import parametrize_with_checks

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data",)
WEIGHTS += ("check_sample_weight_equivalence_on_sparse_data",)
IN_ORDER = "learns from one row after the other: order counts, and the check shuffles the rows"
# scikit-learn's own list of checks that its estimators of that kind fail.
THEIRS = PER_ESTIMATOR_XFAIL_CHECKS[SGDClassifier]


def is_sequential(name):
    settings = {setting["name"] for setting in METHODS[name]["settings"]}
    return METHODS[name]["rows"] and "choose" not in settings


def excused(estimator):
    """What scikit-learn excuses `SGDClassifier` of, for methods that learn as it does."""
    if not is_sequential(estimator._info["name"]):
        return {}
    return {check: IN_ORDER for check in WEIGHTS if check in THEIRS}


@parametrize_with_checks([cls() for cls in CLASSES.values()], expected_failed_checks=excused)
def test_scikit_learn_checks(estimator, check):
    if check.func.__name__ in WEIGHTS:
        answerable(estimator)
    check(estimator)


def answerable(estimator):
    """Settings under which the check of weights, 27 rows of 30 features, has an answer."""
    known = estimator._defaults
    # Nine of its rows have a weight, and ten features cannot be fitted to nine rows.
    settings = {"k": 3} if "k" in known else {}
    if "products" in known:
        # It asks for seven digits; products of f32 have about as many.
        settings["products"] = "f64"
        # Least squares needs a ridge there, and cross-validation of one counts rows.
        settings |= {"ridge": 0.01} if "ridge" in known and "k" in known else {}
    estimator.set_params(**settings)


def test_only_methods_of_one_row_after_the_other_are_excused():
    excuses = {name: excused(cls()) for name, cls in CLASSES.items()}
    named = {name for name, checks in excuses.items() if checks}
    assert named == {
        *("sgd", "tsgd", "siht", "truncated-gradient", "opg", "rda"),
        *("opg-sadmm", "rda-sadmm", "ofs", "sofs"),
    }
    assert set(THEIRS) >= {check for checks in excuses.values() for check in checks}


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
