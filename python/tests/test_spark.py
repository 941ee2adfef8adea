"""The Spark example of docs/cluster.md, as it stands there, with Spark in this process.

Spark needs Java, and neither comes with the test requirements: `pip install pyspark` and a Java
runtime make this test run.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import keepnet
import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
    pytest.skip("there is no Java for Spark", allow_module_level=True)

PAGE = Path(__file__).parents[1] / "docs" / "cluster.md"


@pytest.fixture
def spark(monkeypatch):
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = session.getOrCreate()
    yield session
    session.stop()


def test_the_example_of_the_documentation_runs_on_spark(spark):
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(30)]
    table = pd.DataFrame(rng.normal(size=(900, 30)), columns=names)
    table["y"] = 2 * table["x5"] - table["x11"] + rng.normal(size=900)
    # More partitions than rows to fill them: one of them is empty.
    data = spark.createDataFrame(table).repartitionByRange(3, "x0").union(
        spark.createDataFrame(table.head(1)).filter("y > 1e9")
    )
    example = re.search(r"### Spark.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    space = {"data": data}
    exec(example.group(1), space)  # noqa: S102 - the page of this repository
    selector = space["selector"]
    assert selector.n_samples_seen_ == 900
    assert {"x5", "x11"} <= set(selector.get_feature_names_out())
    alone = keepnet.AnnealedRidge(k=20).fit(table[names], table["y"])
    np.testing.assert_allclose(selector.coef_, alone.coef_, rtol=1e-5, atol=1e-6)


class Columns:
    """A part that an executor makes."""

    def __init__(self, at):
        self.at = at

    def __call__(self):
        rng = np.random.default_rng(self.at)
        return iter([([f"g{self.at}_{j}" for j in range(20)], rng.normal(size=(100, 20)))])


def test_columns_over_spark_are_those_of_one_process(spark):
    import keepnet.cluster
    import keepnet.spark

    names, block = next(Columns(1)())
    y = block[:, 3] - block[:, 11] + 0.1 * np.random.default_rng(9).normal(size=100)
    parts = [Columns(at) for at in range(3)]
    want = keepnet.cluster.select(None, parts, y, 2).result_
    found = keepnet.spark.select(spark, parts, y, 2).result_
    assert {f["name"] for f in found["selected"]} == {names[3], names[11]}
    assert found["selected"] == want["selected"]
