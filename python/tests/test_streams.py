"""Rows and columns as they come: any pieces give the same answer, and state survives."""

import copy
import pickle

import joblib
import keepnet
import numpy as np
import pytest
from keepnet._registry import CLASSES, METHODS
from sklearn.base import clone

ROWS, FEATURES = 160, 60
FEATURE_METHODS = [name for name, info in METHODS.items() if not info["rows"]]
ROW_METHODS = [name for name, info in METHODS.items() if info["rows"]]
AVERAGED = [name for name in ROW_METHODS if hasattr(CLASSES[name], "merge")]


def data(name):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(ROWS, FEATURES))
    y = 2 * X[:, 3] - X[:, 17] + X[:, 40] + 0.2 * rng.normal(size=ROWS)
    return X, (y > 0).astype(int) if "regression" not in METHODS[name]["tasks"] else y


def make(name, **more):
    cls = CLASSES[name]
    settings = {"k": 4} if "k" in cls._defaults else {}
    return cls(**settings, **more)


def same(a, b, digits=True):
    drop = ("run", "trace", "warnings")
    # Workers of asy-os report how long they waited.
    drop += ("metrics",) if a["method"] == "asy-os" else ()
    a, b = ({k: v for k, v in r.items() if k not in drop} for r in (a, b))
    if digits:
        assert a == b
    else:
        assert [f["index"] for f in a["selected"]] == [f["index"] for f in b["selected"]]


@pytest.mark.parametrize("name", FEATURE_METHODS)
@pytest.mark.parametrize("piece", [1, 7, 60])
def test_columns_in_any_pieces_are_one_scan_of_fit(name, piece):
    X, y = data(name)
    want = make(name, scans=1).fit(X, y).result_
    selector = make(name)
    for first in range(0, FEATURES, piece):
        selector.partial_fit_columns(X[:, first : first + piece], y)
    same(selector.finish().result_, want)


@pytest.mark.parametrize("name", FEATURE_METHODS)
def test_a_callable_makes_every_scan(name):
    X, y = data(name)
    names = [f"x{j}" for j in range(FEATURES)]
    settings = {"groups": "block:10"} if METHODS[name]["stream"] == "groups" else {}
    k = 4 if "k" in CLASSES[name]._defaults else None

    def blocks():
        for first in range(0, FEATURES, 13):
            yield names[first : first + 13], X[:, first : first + 13]

    got = keepnet.select(blocks, y, k=k, method=name, **settings).result_
    want = make(name).fit(X, y).result_
    if METHODS[name]["scans"] == 0:
        # How many columns are held for a while goes by what is known of the stream.
        got, want = ({**result, "dropped": None} for result in (got, want))
    same(got, want)


@pytest.mark.parametrize("name", FEATURE_METHODS)
def test_a_column_stream_survives_a_pickle_between_blocks(name, tmp_path):
    X, y = data(name)
    want = make(name, scans=1).fit(X, y).result_
    selector = make(name).partial_fit_columns(X[:, :25], y)
    again = pickle.loads(pickle.dumps(selector))
    joblib.dump(again, tmp_path / "s.joblib")
    again = joblib.load(tmp_path / "s.joblib")
    same(again.partial_fit_columns(X[:, 25:]).finish().result_, want)
    # The one that was pickled is none the worse for it.
    same(selector.partial_fit_columns(X[:, 25:]).finish().result_, want)


@pytest.mark.parametrize("name", ROW_METHODS)
def test_rows_in_any_pieces_are_fit_and_survive_a_pickle(name):
    X, y = data(name)
    whole = make(name)
    if hasattr(whole, "shuffle"):
        # Pieces come in the order of the rows.
        whole.set_params(shuffle=False)
    want = whole.fit(X, y).result_
    selector = make(name)
    for first in range(0, ROWS, 37):
        selector.partial_fit(X[first : first + 37], y[first : first + 37], **first_classes(y, first))
        selector = copy.deepcopy(pickle.loads(pickle.dumps(selector)))
    assert selector.n_samples_seen_ == ROWS
    same(selector.result_, want)


def first_classes(y, first):
    return {"classes": [0, 1]} if y.dtype.kind == "i" and first == 0 else {}


@pytest.mark.parametrize("name", AVERAGED)
def test_merged_averages_are_those_of_all_rows(name):
    X, y = data(name)
    parts = [slice(0, 64), slice(64, 100), slice(100, None)]
    parts = [make(name).partial_fit(X[part], y[part]) for part in parts]
    merged = keepnet.merge(parts)
    assert merged.n_samples_seen_ == ROWS
    want = make(name).fit(X, y)
    assert set(merged.selected_) == set(want.selected_)
    np.testing.assert_allclose(merged.coef_, want.coef_, rtol=1e-4, atol=1e-5)
    assert parts[0].n_samples_seen_ == 64


def test_extract_gives_any_size_by_any_method_without_the_data():
    X, y = data("olsth")
    learnt = keepnet.AnnealedRidge(k=10).fit(X, y)
    small = learnt.extract(k=2)
    assert sorted(small.selected_) == sorted(keepnet.AnnealedRidge(k=2).fit(X, y).selected_)
    other = learnt.extract(k=3, estimator=keepnet.OLSth())
    assert sorted(other.selected_) == [3, 17, 40]
    assert len(learnt.selected_) == 10
    more = small.partial_fit(X, y)
    assert more.n_samples_seen_ == 2 * ROWS


def test_looks_cost_the_stream_nothing():
    X, y = data("os-plus")
    quiet, looking = (keepnet.OSPlus(k=4) for _ in range(2))
    for j in range(FEATURES):
        quiet.partial_fit_columns(X[:, j], y)
        looking.partial_fit_columns(X[:, j], y)
        if j > 4:
            assert len(looking.selected_) == 4
            assert looking.result_["complete"] is False
    same(quiet.finish().result_, looking.finish().result_)


def test_one_scan_says_what_it_costs():
    X, y = data("os-plus")
    result = keepnet.OSPlus(k=4).partial_fit_columns(X, y).finish().result_
    assert any("one scan only" in warning for warning in result["warnings"])


def test_after_a_column_stream_columns_are_taken_by_name():
    import pandas as pd

    X, y = data("os-plus")
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(FEATURES)])
    selector = keepnet.OSPlus(k=3)
    for first in range(0, FEATURES, 20):
        selector.partial_fit_columns(frame.iloc[:, first : first + 20], y)
    selector.finish()
    assert list(selector.get_feature_names_out()) == ["g3", "g17", "g40"]
    few = frame[["g40", "g1", "g3", "g17"]]
    assert list(selector.transform(few).columns) == ["g3", "g17", "g40"]
    np.testing.assert_allclose(selector.predict(few), selector.predict(X))
    with pytest.raises(ValueError, match="g17"):
        selector.transform(frame[["g3", "g40"]])


def test_wrong_streams_are_refused():
    X, y = data("os-plus")
    with pytest.raises(ValueError, match="y is needed"):
        keepnet.OSPlus(k=3).partial_fit_columns(X)
    selector = keepnet.OSPlus(k=3).partial_fit_columns(X[:, :9], y)
    with pytest.raises(ValueError, match="another"):
        selector.partial_fit_columns(X[:, 9:], y + 1)
    with pytest.raises(ValueError, match="100 rows, expected 160"):
        selector.partial_fit_columns(X[:100, 9:])
    with pytest.raises(ValueError, match="'a' occurs more than once"):
        selector.partial_fit_columns(X[:, 9:11], names=["a", "a"])
    with pytest.raises(ValueError, match="no stream"):
        keepnet.OSPlus(k=3).finish()
    rows = keepnet.OFS(k=3).partial_fit(X, (y > 0).astype(int))
    with pytest.raises(ValueError, match="did not come before: 7"):
        rows.partial_fit(X, np.full(ROWS, 7))


def test_a_refused_block_of_rows_changes_nothing():
    X, y = data("sgd")
    want = keepnet.SGD(k=4).partial_fit(X, y).result_
    selector = keepnet.SGD(k=4).partial_fit(X[:50], y[:50])
    holes = X[50:].copy()
    holes[60, 3] = np.nan
    with pytest.raises(ValueError, match="row 110"):
        selector.partial_fit(holes, y[50:])
    same(selector.partial_fit(X[50:], y[50:]).result_, want)


@pytest.mark.parametrize("name", FEATURE_METHODS)
def test_a_fitted_estimator_takes_no_further_columns(name, tmp_path):
    X, y = data(name)
    fitted = make(name).fit(X, y)
    ended = make(name).partial_fit_columns(X, y).finish()
    kept = pickle.loads(pickle.dumps(ended))
    one_scan = copy.deepcopy(ended.result_)
    for selector in (fitted, ended, kept):
        before = copy.deepcopy(selector.result_)
        for arguments in ((X[:, :9], y), (X[:, :9],)):
            with pytest.raises(ValueError, match="is fitted.*clone.*fit"):
                selector.partial_fit_columns(*arguments)
        # The refusal leaves it as it was, and what it advises works.
        assert selector.result_ == before
        same(clone(selector).partial_fit_columns(X, y).finish().result_, one_scan)
        same(selector.fit(X, y).result_, make(name).fit(X, y).result_)
    # A stream that is open goes on, looked at or not.
    selector = make(name).partial_fit_columns(X[:, :30], y)
    assert selector.result_["complete"] is False
    same(selector.partial_fit_columns(X[:, 30:]).finish().result_, one_scan)
