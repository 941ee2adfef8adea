"""Results equal the command line's, for every method."""

import json
import os
import subprocess
from pathlib import Path

import keepnet
import numpy as np
import pytest
from keepnet._registry import CLASSES, METHODS

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target"))
PROGRAM = TARGET / "release" / "keepnet"

pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(), reason="the command line is not built: cargo build --release -p keepnet-cli"
)

ROWS, FEATURES = 240, 60


def classifies(name):
    return "regression" not in METHODS[name]["tasks"] or name in ("saola", "osfs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    y = 2 * X[:, 3] - X[:, 17] + X[:, 40] + 0.3 * rng.normal(size=ROWS)
    np.save(folder / "x.npy", np.asfortranarray(X))
    np.save(folder / "rows.npy", np.ascontiguousarray(X))
    np.save(folder / "y.npy", y)
    np.save(folder / "c.npy", (y > 0).astype(float))
    return folder


def command(folder, name, *more):
    info = METHODS[name]
    flags = ["--method", name, "--output", "-", "--quiet", *more]
    flags += ["-k", "4"] if "k" in CLASSES[name]._defaults else []
    flags += ["--groups", "block:10"] if info["stream"] == "groups" else []
    cls = CLASSES[name]
    for setting, theirs in cls._settings.items():
        if cls._defaults[setting] != cls._engine[setting]:
            flags += ["--set", f"{theirs}={cls._defaults[setting]}"]
    target = "c.npy" if classifies(name) else "y.npy"
    source = "rows.npy" if info["rows"] else "x.npy"
    call = [PROGRAM, "select", folder / source, "--target", folder / target, *flags]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def estimator(name):
    cls = CLASSES[name]
    settings = {"k": 4} if "k" in cls._defaults else {}
    # The command line takes rows as they come.
    settings |= {"shuffle": False} if "shuffle" in cls._defaults else {}
    return cls(**settings)


def plain(result):
    """Everything outside `run`, and without what names files."""
    drop = ("name", "source")
    left_out = ["run", "warnings"]
    # Workers of asy-os report how long they waited, and are looked at while they work.
    left_out += ["metrics", "trace"] if result["method"] == "asy-os" else []
    keep = {key: value for key, value in result.items() if key not in left_out}
    for part in ("selected", "always"):
        keep[part] = [{k: v for k, v in f.items() if k not in drop} for f in keep[part]]
    return keep


@pytest.mark.parametrize("name", CLASSES)
def test_fit_is_the_command_line_to_the_last_digit(folder, name):
    want = command(folder, name)
    X = np.load(folder / ("rows.npy" if METHODS[name]["rows"] else "x.npy"))
    y = np.load(folder / ("c.npy" if classifies(name) else "y.npy"))
    got = estimator(name).fit(X, y).result_
    assert want["selected"], "nothing was selected, so nothing is compared"
    assert plain(got) == plain(want)


@pytest.mark.parametrize("name", CLASSES)
def test_select_on_the_same_files_is_the_same_result(folder, name):
    want = command(folder, name)
    source = folder / ("rows.npy" if METHODS[name]["rows"] else "x.npy")
    target = str(folder / ("c.npy" if classifies(name) else "y.npy"))
    asked = {"groups": "block:10"} if METHODS[name]["stream"] == "groups" else {}
    k = 4 if "k" in CLASSES[name]._defaults else None
    got = keepnet.select(source, target, k=k, method=name, **asked).result_
    for result in (want, got):
        result.pop("run")
        if name == "asy-os":
            result.pop("metrics")
            result.pop("trace")
        # An argument is `name=value` in Python and a flag on the command line.
        said = [text.replace("--", "").replace("`", "") for text in result["warnings"]]
        result["warnings"] = [text.replace("method=", "method ") for text in said]
    assert got == want


def test_averages_go_to_the_command_line_and_back(folder, tmp_path):
    X, y = np.load(folder / "rows.npy"), np.load(folder / "y.npy")
    halves = [keepnet.AnnealedRidge(k=4).fit(X[half], y[half]) for half in (slice(0, 99), slice(99, None))]
    for at, half in enumerate(halves):
        (tmp_path / f"{at}.kn").write_bytes(half.averages())
    paths = [tmp_path / "0.kn", tmp_path / "1.kn", "--output", tmp_path / "all.kn"]
    subprocess.run([PROGRAM, "merge", *paths], check=True, capture_output=True)
    call = [PROGRAM, "extract", tmp_path / "all.kn", "-k", "4", "--output", "-", "--quiet"]
    want = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    got = keepnet.merge(halves).result_
    assert plain(got)["selected"] == plain(want)["selected"]
