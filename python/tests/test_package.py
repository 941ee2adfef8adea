"""Stubs, docstrings, documentation and pictures."""

import ast
import doctest
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import keepnet
import numpy as np
import pytest
from keepnet._base import Selector
from keepnet._features import FeatureSelector
from keepnet._model import ModelMixin
from keepnet._registry import CLASSES, python_name, words_of
from keepnet._samples import AveragesMixin, SampleSelector
from keepnet._stubs import stubs

HERE = Path(__file__).parents[1]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def test_stubs_are_those_of_the_classes():
    written = (HERE / "keepnet" / "__init__.pyi").read_text()
    assert written == stubs(), "python -m keepnet._stubs > keepnet/__init__.pyi"


def hand_written():
    """What `_stubs` does not take from the classes: each stub with the object it describes."""
    tree = ast.parse((HERE / "keepnet" / "__init__.pyi").read_text())
    real = {
        "_Selector": Selector,
        "_Model": ModelMixin,
        "_Features": FeatureSelector,
        "_Samples": SampleSelector,
        "_Averages": AveragesMixin,
        "Progress": keepnet.Progress,
    }
    return [(node, real.get(node.name)) for node in tree.body if hasattr(node, "name")]


def arguments(node):
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    more = [extra for extra in (node.args.vararg, node.args.kwarg) if extra]
    return sorted(argument.arg for argument in every + more)


def test_stubs_written_by_hand_agree_with_the_code():
    checked = set()
    for node, cls in hand_written():
        if isinstance(node, ast.FunctionDef):
            assert arguments(node) == sorted(inspect.signature(getattr(keepnet, node.name)).parameters)
        if cls is None:
            continue
        methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        fields = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
        # `fit` is that of both kinds of selectors, and has the same arguments in both.
        where = (FeatureSelector, SampleSelector) if cls is Selector else (cls,)
        for name, method in methods.items():
            for each in where:
                theirs = sorted(inspect.signature(getattr(each, name)).parameters)
                assert arguments(method) == theirs or name == "fit_transform", f"{node.name}.{name}"
        # scikit-learn adds `set_fit_request` and the like; `fit` stands in `_Selector`.
        public = {name for name in vars(cls) if not re.fullmatch("_.*|set_.*_request|fit", name)}
        if cls is keepnet.Progress:
            assert fields == set(cls._fields)
        else:
            missing = public - set(methods) - fields
            assert not missing, f"{node.name} of the stubs has no {missing}"
        checked.add(node.name)
    assert len(checked) == 6


def test_types_hold_for_a_caller(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(
        "import keepnet\n"
        "import numpy as np\n"
        "X, y = np.ones((3, 2)), np.ones(3)\n"
        "names = keepnet.OSPlus(k=2, theta='auto').fit(X, y).get_feature_names_out()\n"
        "keepnet.AnnealedRidge(k=None).fit(X, y).extract(k=3).predict(X)\n"
        "keepnet.select('x.csv', 'y', k=2).coef_.sum()\n"
        "keepnet.select('x.csv', 'y', method='sgd').partial_fit(X, y).predict_proba(X)\n"
        "keepnet.select('x.csv', 'y', method=keepnet.SAOLA()).finish().get_support()\n"
        "axes = keepnet.plot.weights(keepnet.OSPlus())\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import keepnet\n"
        "keepnet.OSPlus(kk=2)\n"
        "keepnet.SAOLA(measure='pearson')\n"
        "keepnet.OSPlus(reserve='many')\n"
        "keepnet.OSPlus(intercept=None)\n"
        "keepnet.select('x.csv', 'y', method='saola').coef_\n"
    )
    run = lambda name: subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", name], cwd=tmp_path, capture_output=True, text=True
    )
    good, bad = run("use.py"), run("wrong.py")
    assert good.returncode == 0, good.stdout
    for name in ("kk", "measure", "reserve", "intercept", "coef_"):
        assert f'"{name}"' in bad.stdout, bad.stdout


@pytest.mark.parametrize("cls", CLASSES.values(), ids=lambda cls: cls.__name__)
def test_settings_are_checked_by_the_table_of_the_engine(cls):
    for setting in cls._info["settings"]:
        name, words = python_name(setting["name"]), words_of(setting)
        for word in words:
            cls(**{name: word})._validate_params()
        wrong = ["nonesuch"] if setting["kind"] != "step" else []
        wrong += [setting["most"] + 1] if "most" in setting else []
        wrong += [setting["below"]] if "below" in setting else []
        wrong += [setting["least"] - 1] if "least" in setting else []
        wrong += [setting["above"]] if "above" in setting else []
        wrong += [2.5] if setting["kind"] in ("whole", "flag") else []
        assert wrong
        for value in wrong:
            with pytest.raises(ValueError, match=f"'{name}'"):
                cls(**{name: value})._validate_params()


def test_the_engine_checks_what_python_lets_pass():
    X, y = np.random.default_rng(0).normal(size=(20, 4)), np.arange(20.0)
    with pytest.raises(ValueError, match="eta is fast, expected auto, a number above 0 or c/L"):
        keepnet.OS(k=2, eta="fast").fit(X, y)
    assert keepnet.OS(k=2, eta="0.5/L").fit(X, y).result_["params"]["eta"] == "0.5/L"
    assert keepnet.OS(k=2, m=np.float32(1.5), eta=0.1).fit(X, y).result_["params"]["m"] == 1.5


MODULES = ["keepnet"] + [
    f"keepnet.{module.name}" for module in pkgutil.iter_modules(keepnet.__path__)
]


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith("_keepnet")])
def test_examples_in_docstrings(module):
    failed, _ = doctest.testmod(import_module(module), optionflags=FLAGS)
    assert failed == 0


@pytest.mark.parametrize("cls", CLASSES.values(), ids=lambda cls: cls.__name__)
def test_docstrings_are_whole_and_their_examples_run(cls):
    sections = re.findall(r"^    (\w+)\n    -+$", cls.__doc__, re.MULTILINE)
    assert sections == ["Parameters", "Attributes", "Notes", "References", "Examples"]
    parts = doctest.DocTestFinder(recurse=False).find(cls)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for part in parts:
        runner.run(part)
    assert runner.summarize(verbose=False).failed == 0
    for name in cls()._defaults:
        assert f"    {name} : " in cls.__doc__


@pytest.mark.parametrize("page", sorted((HERE / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_examples_in_the_documentation(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    test = doctest.DocTestParser().get_doctest(page.read_text(), {}, page.name, str(page), 0)
    assert test.examples or "There are no examples to run" in page.read_text()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_pictures_show_what_they_say():
    import_module("matplotlib").use("Agg")
    from keepnet import plot
    from sklearn.datasets import make_regression

    X, y, truth = make_regression(200, 300, n_informative=4, coef=True, random_state=0)
    selector = keepnet.OSPlus(k=4).fit(X, y)
    line = plot.substitutions(selector).lines[0]
    assert line.get_ydata()[-1] == selector.result_["trace"][-1]["substitutions"]
    bars = plot.weights(selector).patches
    widths = sorted(bar.get_width() for bar in bars)
    np.testing.assert_allclose(widths, sorted(selector.coef_[selector.selected_]))
    assert plot.recall({"os-plus": selector}, np.flatnonzero(truth)).patches[0].get_height() == 1
    learnt = keepnet.AnnealedRidge().fit(X[:150, :50], y[:150])
    scores = plot.path(learnt, X[150:, :50], y[150:], [1, 2, 4]).lines[0].get_ydata()
    assert len(scores) == 3
    assert len(plot.weights(keepnet.SAOLA(k=3).fit(X, (y > 0).astype(int))).patches) <= 3
    with pytest.raises(ValueError, match="no trace"):
        plot.substitutions(learnt)
