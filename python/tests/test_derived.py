"""Features made of a column: indicators of missing values, and levels of text."""

import keepnet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

ROWS = 300


def holes():
    """Whether `b` is missing says more about the target than any value."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=list("abcd"))
    frame["town"] = rng.choice(["Bern", "Genf", "a=b"], size=ROWS)
    gone = rng.random(ROWS) < 0.4
    y = 5.0 * gone + frame["a"] + 3.0 * (frame["town"] == "a=b") + 0.1 * rng.normal(size=ROWS)
    frame.loc[gone, "b"] = np.nan
    return frame, y.to_numpy(), gone


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "numpy", "sparse"])
def test_indicators_come_out_of_transform(form):
    frame, y, gone = holes()
    numbers = frame.drop(columns="town")
    X = {
        "pandas": lambda: numbers,
        "polars": lambda: pl.from_pandas(numbers, nan_to_null=False),
        "arrow": lambda: pa.table({name: numbers[name].to_numpy() for name in numbers}),
        "numpy": numbers.to_numpy,
        "sparse": lambda: sparse.csc_array(numbers.to_numpy()),
    }[form]()
    selector = keepnet.OSPlus(k=2, missing="indicator").fit(X, y)
    named = form not in ("numpy", "sparse")
    names = ["a", "b:missing"] if named else ["x0", "x1:missing"]
    assert list(selector.get_feature_names_out()) == names
    out = np.asarray(selector.transform(X))
    np.testing.assert_array_equal(out, np.column_stack([numbers["a"], gone]))
    assert list(selector.get_support(indices=True)) == [0, 1]
    # The model is least squares on what transform gives.
    model = LinearRegression().fit(out, y)
    np.testing.assert_allclose(selector.predict(X), model.predict(out), rtol=1e-6)
    with pytest.raises(AttributeError, match="made of one; see result_"):
        selector.coef_
    with pytest.raises(ValueError, match="leave input_features out"):
        selector.get_feature_names_out(list("abcd"))
    if form == "pandas":
        table = selector.set_output(transform="pandas").transform(X)
        assert list(table.columns) == names


def test_a_column_may_be_called_like_an_indicator():
    frame, y, gone = holes()
    X = pd.DataFrame({"a": frame["a"], "b:missing": gone.astype(float)})
    selector = keepnet.OSPlus(k=2, missing="indicator").fit(X, y)
    assert selector.coef_.shape == (2,)
    np.testing.assert_array_equal(np.asarray(selector.transform(X)), X.to_numpy())


@pytest.mark.parametrize("method", ["os-plus", "saola"])
def test_levels_and_indicators_of_a_file(method, tmp_path):
    frame, y, gone = holes()
    path = tmp_path / "x.parquet"
    frame.assign(y=y).to_parquet(path)
    options = {"missing": "indicator", "categorical": "onehot"}
    selector = keepnet.select(path, "y", k=3, method=method, **options)
    names = list(selector.get_feature_names_out())
    assert "b:missing" in names and any(name.startswith("town=") for name in names)
    made = {"b:missing": gone} | {f"town={town}": frame["town"] == town for town in frame["town"]}
    want = np.column_stack([made[name] if name in made else frame[name] for name in names])
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        np.testing.assert_array_equal(np.asarray(selector.transform(table)), want)
    if method == "os-plus":
        model = LinearRegression().fit(want, y)
        np.testing.assert_allclose(selector.predict(frame), model.predict(want), rtol=1e-6)
    with pytest.raises(ValueError, match="give a table with names"):
        selector.transform(frame.drop(columns="town").to_numpy())
    with pytest.raises(ValueError, match="no column 'town="):
        selector.transform(frame.drop(columns="town"))


def test_codes_of_text_can_be_chosen_but_not_predicted_with(tmp_path):
    frame, y, _ = holes()
    path = tmp_path / "x.parquet"
    frame[["a", "town"]].assign(y=y).to_parquet(path)
    selector = keepnet.select(path, "y", k=2, categorical="codes")
    assert list(selector.transform(frame).columns) == ["a", "town"]
    with pytest.raises(ValueError, match="onehot"):
        selector.predict(frame)


def test_gaps_of_text_are_features_of_their_own(tmp_path):
    frame, _, gone = holes()
    frame = frame[["town", "a", "c"]].copy()
    frame.loc[gone, "town"] = None
    y = 5.0 * gone + 3.0 * (frame["town"] == "a=b") + frame["a"]
    path = tmp_path / "x.parquet"
    frame.assign(y=y).to_parquet(path)
    options = {"missing": "indicator", "categorical": "onehot"}
    selector = keepnet.select(path, "y", k=3, **options)
    names = sorted(selector.get_feature_names_out())
    # The indicators of the three levels are equal, and the first is enough.
    assert names == ["a", "town=Bern:missing", "town=a=b"]
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        np.testing.assert_allclose(selector.predict(table), y, atol=1e-6)
