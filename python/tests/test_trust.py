"""The choice of k, stability, inference and permuted targets in Python."""

import json
import warnings
from pathlib import Path

import keepnet
import numpy as np
import pandas as pd
import pytest
from keepnet import SAOLA, OSPlus
from scipy import stats
from sklearn.linear_model import LinearRegression


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 60))
    return x, x[:, 3] - 0.8 * x[:, 20] + 0.6 * x[:, 41] + 0.5 * rng.normal(size=200)


def test_a_list_chooses_a_size_and_its_model_is_that_of_the_size(data):
    x, y = data
    for choose in (None, "cv-min", "ebic"):
        found = OSPlus(k=[1, 3, 6], choose=choose, holdout=0.25, random_state=1).fit(x, y)
        assert [point["k"] for point in found.path_] == [1, 3, 6]
        assert found.k_ == len(found.selected_) and found.k_ >= 3
        alone = OSPlus(k=found.k_, holdout=0.25, random_state=1).fit(x, y)
        assert alone.holdout_loss_ == found.holdout_loss_
        np.testing.assert_array_equal(alone.coef_, found.coef_)
    auto = OSPlus(k="auto", cv=4, random_state=1).fit(x, y)
    assert [point["k"] for point in auto.path_] == [1, 2, 5, 10, 20]
    with pytest.raises(AttributeError, match="list of sizes"):
        OSPlus(k=3).fit(x, y).path_
    with pytest.raises(Exception, match="no model"):
        SAOLA(k=[2, 3]).fit(x, y)


def test_split_is_least_squares_on_the_other_rows(data):
    x, y = data
    found = OSPlus(k=3, inference="split", random_state=2).fit(x, y)
    kept = np.sort(found.selected_)
    assert list(kept) == [3, 20, 41]
    rows = found.result_["inference"]
    assert rows["rows_selection"] + rows["rows_inference"] == 200
    # Which rows those are: leaving the estimates alone, a row that chose can move anywhere.
    estimates, errors = found.estimates_[kept], found.std_errors_[kept]
    other = []
    for i in range(0, 200, 20):
        moved = y.copy()
        moved[i] += 1e-3
        again = OSPlus(k=3, inference="split", random_state=2).fit(x, moved)
        other.append(not np.array_equal(again.estimates_[kept], estimates))
    assert any(other) and not all(other)
    wide = found.confidence_intervals_[kept]
    half = stats.t.ppf(0.975, rows["df"]) * errors
    np.testing.assert_allclose(wide[:, 1] - wide[:, 0], 2 * half, rtol=1e-9)
    t = estimates / errors
    np.testing.assert_allclose(found.pvalues_[kept], 2 * stats.t.sf(abs(t), rows["df"]), rtol=1e-9)
    assert np.all(found.pvalues_adjusted_[kept] >= found.pvalues_[kept])
    assert np.isnan(found.estimates_).sum() == 57


def test_stability_has_frequencies_and_a_refit_of_all_rows(data):
    x, y = data
    found = OSPlus(k=4, stability=(20, 0.8), random_state=0).fit(x, y)
    kept = found.selected_
    assert {3, 20, 41} <= set(kept)
    assert np.all(found.frequencies_[kept] >= 0.8)
    assert set(found.expected_false_) == {"mb", "unimodal", "r_concave"}
    own = LinearRegression().fit(x[:, kept], y)
    np.testing.assert_allclose(found.coef_[kept], own.coef_, rtol=1e-7)
    assert found.transform(x).shape == (200, len(kept))


def test_null_and_knockoffs(data):
    x, y = data
    found = OSPlus(k=3, null=4).fit(x, y)
    assert found.result_["null"]["least"] > found.result_["final_loss"]
    with pytest.warns(UserWarning, match="a permuted target is explained as well"):
        noise = np.random.default_rng(0).normal(size=200)
        OSPlus(k=3, null=20).fit(x, noise)
    found = OSPlus(k=20, inference="knockoffs", level=0.34, random_state=0).fit(x, y)
    assert {3, 20, 41} <= set(found.selected_)
    assert np.all(found.w_[found.selected_] > 0)
    with pytest.raises(ValueError, match="correction"):
        OSPlus(k=20, correction="holm", inference="knockoffs", level=0.3).fit(x, y)


def test_streams_have_one_size(data):
    x, y = data
    with pytest.raises(Exception, match="brought once"):
        OSPlus(k=[2, 3]).partial_fit_columns(x, y)


def test_files_give_what_arrays_give(data, tmp_path):
    x, y = data
    np.save(tmp_path / "x.npy", np.asfortranarray(x))
    np.savetxt(tmp_path / "y.csv", y, header="y", comments="", fmt="%.17g")
    files = keepnet.select(
        str(tmp_path / "x.npy"), str(tmp_path / "y.csv"), k=[2, 3, 5], holdout=0.2
    )
    arrays = OSPlus(k=[2, 3, 5], holdout=0.2).fit(x, y)
    assert json.dumps(files.path_) == json.dumps(arrays.path_)
    assert files.holdout_loss_ == arrays.holdout_loss_


ROBOT = Path(__file__).parents[2] / "../shared/oracles/error-control/robot"


@pytest.mark.parametrize(
    ("target", "table", "test"),
    [
        ("y", "binary_mann", "auto"),
        ("y", "binary_smir", "ks"),
        ("y_multi", "multiclass_mann", "auto"),
        ("F_x__mean", "regression_F_x_mean", "auto"),
    ],
)
def test_the_robot_features_have_the_p_values_and_the_relevant_set_of_tsfresh(target, table, test):
    if not ROBOT.is_dir():
        pytest.skip("../shared/oracles/error-control/robot is not there")
    frame = pd.read_parquet(ROBOT / "robot_lp1_features.parquet")
    y = frame[target]
    frame = frame.drop(columns=["y", "y_multi", target], errors="ignore")
    oracle = pd.read_parquet(ROBOT / f"relevance_{table}_fdr0.05.parquet").set_index("feature")
    oracle = oracle.reindex(frame.columns)
    task = "regression" if target == "F_x__mean" else "classification"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = keepnet.Screen(test=test, task=task).fit(frame, y)
    p_value = oracle.filter(regex="^p_value").min(axis=1).to_numpy()
    tested = ~np.isnan(found.pvalues_)
    # tsfresh gives constant columns no p-value; more than half of its 4,698 features are.
    assert tested.sum() == (~np.isnan(p_value)).sum() > 2000
    np.testing.assert_allclose(found.pvalues_[tested], p_value[tested], rtol=1e-9, atol=1e-300)
    relevant = set(oracle.index[oracle["relevant"].to_numpy(dtype=bool)])
    assert set(found.get_feature_names_out()) == relevant
    assert len(relevant) > 50
