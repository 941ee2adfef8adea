"""Several targets in one read: each estimator is what `fit` with that target alone gives."""

import keepnet
import numpy as np
import pandas as pd
import pytest
from keepnet._registry import CLASSES, METHODS

ROWS, FEATURES = 150, 40
FEATURE_METHODS = [name for name, info in METHODS.items() if not info["rows"]]


def data(name):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(ROWS, FEATURES))
    y = [2 * X[:, j] - X[:, j + 9] + X[:, j + 20] + 0.3 * rng.normal(size=ROWS) for j in (1, 5, 7)]
    if "regression" not in METHODS[name]["tasks"]:
        y = [(one > 0).astype(int) for one in y]
    return X, np.column_stack(y)


def settings(name):
    k = {"k": 4} if "k" in CLASSES[name]._defaults else {"k": None}
    groups = {"groups": "block:10"} if METHODS[name]["stream"] == "groups" else {}
    workers = {"centre": "simulated"} if name == "asy-os" else {}
    return {"method": name, **k, **groups, **workers}


def same(got, want):
    """Everything outside `run`, every digit."""
    drop = ("run", "target", "log_p")
    got, want = ({k: v for k, v in r.items() if k not in drop} for r in (got, want))
    assert got == want


@pytest.mark.parametrize("name", FEATURE_METHODS)
def test_an_array_of_targets_is_each_target_alone(name):
    X, Y = data(name)
    together = keepnet.select(X, Y, **settings(name))
    assert list(together) == ["y0", "y1", "y2"]
    for j, selector in enumerate(together.values()):
        alone = keepnet.select(X, Y[:, j], **settings(name))
        assert type(selector) is CLASSES[name]
        same(selector.result_, alone.result_)
        np.testing.assert_array_equal(selector.get_support(), alone.get_support())
        np.testing.assert_array_equal(selector.transform(X), alone.transform(X))
    different = {f["index"] for one in together.values() for f in one.result_["selected"]}
    assert together.result_["distinct_kept"] == len(different)


@pytest.mark.parametrize("name", ["os-plus", "os", "saola", "screen"])
def test_a_stream_of_columns_has_each_target_alone(name):
    X, Y = data(name)

    def columns():
        for first in range(0, FEATURES, 7):
            part = X[:, first : first + 7]
            yield [f"c{first + j}" for j in range(part.shape[1])], part

    together = keepnet.select(columns, Y, **settings(name))
    for j, selector in enumerate(together.values()):
        same(selector.result_, keepnet.select(columns, Y[:, j], **settings(name)).result_)


def test_tables_and_files_name_their_targets(tmp_path):
    X, Y = data("os-plus")
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(FEATURES)])
    targets = pd.DataFrame({"a": Y[:, 0], "b": Y[:, 1] > 0, "c": np.round(3 * Y[:, 2])})
    apart = keepnet.select(frame, targets, k=4)
    inside = keepnet.select(pd.concat([frame, targets[["a", "b"]]], axis=1), ["a", "b"], k=4)
    frame.to_csv(tmp_path / "x.csv", index=False)
    targets.to_csv(tmp_path / "t.csv", index=False)
    file = str(tmp_path / "t.csv")
    listed = keepnet.select(tmp_path / "x.csv", [f"{file}:a", f"{file}:b"], k=4)
    every = keepnet.select(tmp_path / "x.csv", f"{file}:*", k=4)
    assert (list(apart), list(inside), list(every)) == (["a", "b", "c"], ["a", "b"], ["a", "b", "c"])
    for name in ("a", "b"):
        alone = keepnet.select(frame, targets[name], k=4)
        same(apart[name].result_, alone.result_)
        same(inside[name].result_, alone.result_)
        from_file = keepnet.select(tmp_path / "x.csv", f"{file}:{name}", k=4)
        same(listed[name].result_, from_file.result_)
        same(every[name].result_, from_file.result_)
        assert list(listed[name].get_feature_names_out()) == list(alone.get_feature_names_out())
    assert list(apart["b"].classes_) == [False, True]


def test_what_takes_one_target_says_so():
    X, Y = data("os-plus")
    with pytest.raises(ValueError, match="takes one target"):
        keepnet.select(X, Y, method="annealed-ridge")
    with pytest.raises(ValueError, match="1d array"):
        keepnet.OSPlus(k=3).fit(X, Y)
    with pytest.raises(TypeError, match="class_weight"):
        keepnet.select(X, (Y > 0).astype(int), k=3, class_weight={0: 2.0})
    # Labels of one target are no names of several.
    words = np.where(Y[:, 0] > 0, "yes", "no").tolist()
    assert list(keepnet.select(X, words, k=3).classes_) == ["no", "yes"]
