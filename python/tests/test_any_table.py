"""Random tables through every class, in everything that can hold them.

What is asked of a method is what the registry says that it promises (`keepnet.methods()`): the same
answer in every container, as the program gives on the same table, after permuting rows, with
weight 2 for doubled rows, on any number of threads; weights of a model on any scale; coefficients
of an independent fit (numpy); counts made by hand. A failure names the seed of its table:
`python -m pytest test_any_table.py -k SEED` runs it again.
"""

import json
import os
import subprocess
import warnings
from pathlib import Path

import keepnet
import numpy as np
import pytest
import tables
from keepnet._registry import CLASSES, METHODS

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target"))
PROGRAM = TARGET / "release" / "keepnet"
SEEDS = range(int(os.environ.get("ANY_TABLE_FROM", 0)), int(os.environ.get("ANY_TABLE_TO", 36)))
NAMES = list(CLASSES)
FEATURES = [name for name in NAMES if not METHODS[name]["rows"]]


def table_of(seed):
    """A table whose shape of problem goes round with the seed."""
    return tables.make(
        seed,
        classes=[None, 2, None, 3][seed % 4],
        weights=seed % 3 == 1,
        missing=seed % 5 == 2,
        whole=seed % 9 == 8,
        copies=seed % 7 < 2,
    )


def fits(name, table):
    """Whether a method is for the table's kind of target."""
    tasks = METHODS[name]["tasks"]
    if not table.classes:
        return "regression" in tasks
    if "binary" in tasks and len(set(table.y)) > 2:
        return False
    return "classification" in tasks or "binary" in tasks or "class" in tasks


def settings(name, table):
    """What a method is asked for: settings under which its promises hold, k and a measure."""
    cls, info = CLASSES[name], METHODS[name]
    chosen = {"task": "classification" if table.classes else "regression"}
    if "k" in cls._defaults:
        chosen["k"] = max(1, min(4, table.rows - 3, len(table.columns)))
    if "products" in cls._settings:
        chosen["products"] = "f64"
    if name == "asy-os":
        chosen |= {"centre": "simulated", "workers": 2}
    if "measure" in cls._settings:
        # The types would decide otherwise, and f64 holds whole numbers too.
        chosen["measure"] = "fisher-z"
    if info["stream"] == "groups":
        chosen["groups"] = "block:3"
    if table.missing():
        chosen["missing"] = ["mean", "zero"][table.seed % 2]
    return chosen


class Refused(Exception):
    """The method said why it does not take the table."""


def fit(name, X, table, **more):
    """The result of a fit; `Refused` where it is an error of one line."""
    estimator = CLASSES[name](**{**settings(name, table), **more})
    if hasattr(estimator, "shuffle"):
        # Files and the program take rows as they come.
        estimator.set_params(shuffle=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return estimator.fit(X, table.y, sample_weight=table.weight).result_
        except ValueError as error:
            assert "\n" not in str(error).strip() and "report" not in str(error), error
            raise Refused(str(error)) from error


def attempt(call):
    """A result, or why it was refused."""
    try:
        return call()
    except Refused as why:
        return str(why)


def by_name(result, table):
    """Selected features by name: coefficients and score."""
    names = table.names
    found = {}
    for feature in [*result["selected"], *result["always"]]:
        name = feature["name"] if feature["name"] in names else names[feature["index"]]
        found[name] = (np.atleast_1d(feature["coefficient"] or 0.0), feature["score"])
    return found


def prediction(result, table):
    """What the coefficients predict on the table, less its mean: an array of (n, outputs)."""
    X = table.wide()
    if np.isnan(X).any():
        mean = np.average if settings("os-plus", table)["missing"] == "mean" else None
        for j in range(X.shape[1]):
            hole = np.isnan(X[:, j])
            weight = None if table.weight is None else table.weight[~hole]
            X[hole, j] = mean(X[~hole, j], weights=weight) if mean and (~hole).any() else 0.0
    X = X - X.mean(axis=0)
    place = {name: j for j, name in enumerate(table.names)}
    parts = [X[:, [place[name]]] * w[None, :] for name, (w, _) in by_name(result, table).items()]
    return sum(parts) if parts else np.zeros((table.rows, 1))


def tie(a, b):
    """Whether scores tie within 1e-9."""
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-300)


def spanned(table):
    """Whether some columns say what others of the table say, to 1e-3 of a deviation.

    A penalised method then has more than one best answer, and least squares loses digits: the
    condition number of the standardised Gram is above 1e6.
    """
    X = np.nan_to_num(table.wide())
    X = X[:, np.ptp(X, axis=0) > 0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return table.rows <= Z.shape[1] + 1 or np.linalg.cond(Z) > 1e3


def assert_same(got, want, table, what):
    """The same set, but for features that tie, and the same predictions to 1e-6."""
    if isinstance(got, str) or isinstance(want, str):
        both = isinstance(got, str) and isinstance(want, str)
        # Whether columns depend on each other is a matter of the last digit.
        close = "linearly dependent" in f"{got if isinstance(got, str) else want}"
        assert both or close and spanned(table), f"{what}: one is refused: {got} {want}"[:300]
        return
    a, b = by_name(got, table), by_name(want, table)
    lost, new = ([x[name][1] for name in sorted(x.keys() - y.keys())] for x, y in ((b, a), (a, b)))
    if spanned(table):
        return
    lost, new = sorted(lost, key=str), sorted(new, key=str)
    tied = len(lost) == len(new) and all(map(tie, lost, new))
    assert tied, f"{what}: {sorted(a)} instead of {sorted(b)}, scores {new} and {lost}"
    if lost:
        return
    got, want = prediction(got, table), prediction(want, table)
    scale = max(np.abs(want).max(), 1e-300)
    assert np.abs(got - want).max() <= 1e-6 * scale, f"{what}: predictions differ"


def labelled(name, table, what):
    return f"{name}, seed {table.seed} ({table.rows} rows): {what}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("any")


def sample(seed, names, some):
    """A few of the names, so that all come round as seeds go on."""
    at = (seed * some) % len(names)
    return [names[(at + j) % len(names)] for j in range(some)]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_container_gives_the_same(seed):
    table = table_of(seed)
    forms = tables.containers(table)
    for turn, name in enumerate(sample(seed, NAMES, 9)):
        if not fits(name, table):
            continue
        want = attempt(lambda: fit(name, forms["numpy F f64"](), table))
        for form in sample(seed + turn, list(forms), 4):
            got = attempt(lambda: fit(name, forms[form](), table))
            assert_same(got, want, table, labelled(name, table, form))
            # All of f64, side by side or not: the same numbers in the same order.
            if form in ("numpy C f64", "numpy steps"):
                assert digits(got) == digits(want), labelled(name, table, f"digits of {form}")


def digits(result):
    """All of a result that is the same in every run."""
    return result if isinstance(result, str) else {k: v for k, v in result.items() if k != "run"}


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_that_are_brought_are_those_of_fit(seed):
    table = table_of(seed)
    for name in sample(seed, FEATURES, 4):
        if not fits(name, table):
            continue
        want = attempt(lambda: fit(name, np.asfortranarray(table.wide()), table, scans=1))
        got = attempt(lambda: streamed(name, table))
        assert_same(got, want, table, labelled(name, table, "partial_fit_columns"))


def streamed(name, table):
    """One scan of single columns, each in its own type, some of them in pairs."""
    estimator = CLASSES[name](**settings(name, table))
    items = list(table.columns.items())
    try:
        while items:
            (first, column), *items = items
            weight = table.weight if first == table.names[0] else None
            estimator.partial_fit_columns(column, table.y, names=[first], sample_weight=weight)
        return estimator.finish().result_
    except ValueError as error:
        raise Refused(str(error)) from error


@pytest.mark.parametrize("seed", SEEDS)
def test_files_and_the_program_give_the_same(seed, folder):
    table = table_of(seed)
    paths = tables.write(table, folder)
    more = {} if table.weight is None else {"sample_weight": "weight"}
    for turn, name in enumerate(sample(seed, NAMES, 5)):
        if not fits(name, table):
            continue
        want = attempt(lambda: fit(name, np.asfortranarray(table.wide()), table))
        chosen = settings(name, table)
        k = chosen.pop("k", None)
        form = list(paths)[(seed + turn) % 3]

        def from_file():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    return keepnet.select(
                        paths[form], "target", k=k, method=name, **chosen, **more
                    ).result_
                except ValueError as error:
                    raise Refused(str(error)) from error

        got = attempt(from_file)
        assert_same(got, want, table, labelled(name, table, form))
        if PROGRAM.exists() and not isinstance(got, str):
            said = program(name, table, paths[form])
            assert_same(said, got, table, labelled(name, table, f"the program on {form}"))


def program(name, table, path):
    """The result of the command line."""
    chosen = settings(name, table)
    flags = ["--method", name, "--output", "-", "--quiet"]
    if table.weight is not None:
        flags += ["--sample-weight", "weight"]
    for key, value in chosen.items():
        if key == "k":
            flags += ["-k", str(value)]
        elif key in ("groups", "missing", "task"):
            flags += [f"--{key}", value]
        else:
            flags += ["--set", f"{CLASSES[name]._settings[key]}={value}"]
    cls = CLASSES[name]
    for key, theirs in cls._settings.items():
        if key not in chosen and cls._defaults[key] != cls._engine[key]:
            flags += ["--set", f"{theirs}={cls._defaults[key]}"]
    call = [PROGRAM, "select", path, "--target", "target", *flags]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, labelled(name, table, done.stderr)
    return json.loads(done.stdout)


@pytest.mark.parametrize("seed", SEEDS)
def test_relations_that_are_promised_hold(seed):
    table = table_of(seed)
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(table.wide())
    order = rng.permutation(table.rows)
    twice = np.repeat(np.arange(table.rows), 2)
    for name in sample(seed, NAMES, 7):
        if not fits(name, table):
            continue
        kept = METHODS[name]["promises"]["kept"]
        # On rows the mean that fills a hole is that of the rows before, as the docs say.
        zero = {"missing": "zero"} if METHODS[name]["rows"] and table.missing() else {}
        want = attempt(lambda: fit(name, X, table, n_jobs=1, **zero))
        if "threads" in kept:
            got = attempt(lambda: fit(name, X, table, n_jobs=2, **zero))
            assert digits(got) == digits(want), labelled(name, table, "two threads")
        if "row-order" in kept:
            other = table.take(order)
            got = attempt(lambda: fit(name, np.asfortranarray(other.wide()), other, **zero))
            assert_same(got, want, table, labelled(name, table, "rows in another order"))
        if "doubled" in kept:
            weight = np.ones(table.rows) if table.weight is None else table.weight
            heavy = tables.Table(seed, table.columns, table.y, 2 * weight, table.classes)
            double = tables.Table(seed, table.columns, table.y, weight, table.classes).take(twice)
            more = {**same_k(name, table), **zero}
            heavy_, double_ = (
                attempt(lambda t=t: fit(name, np.asfortranarray(t.wide()), t, **more))
                for t in (heavy, double)
            )
            # Twice the rows may be enough where the rows were not.
            if not isinstance(heavy_, str) and not isinstance(double_, str):
                assert_same(heavy_, double_, table, labelled(name, table, "rows twice"))
        if METHODS[name]["has_loss"] and not METHODS[name]["rows"]:
            weight = np.ones(table.rows) if table.weight is None else table.weight
            for scale in (1e-3, 1e3):
                scaled = tables.Table(seed, table.columns, table.y, scale * weight, table.classes)
                got = attempt(lambda: fit(name, X, scaled))
                assert_same(got, want, table, labelled(name, table, f"weights times {scale}"))


def same_k(name, table):
    """The size that is asked for does not follow the rows."""
    return {"k": settings(name, table)["k"]} if "k" in CLASSES[name]._defaults else {}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_model_is_that_of_least_squares(seed):
    """Coefficients of the refit against `numpy.linalg.lstsq` on the reported features."""
    first = 4 * (seed // 2) + 2 * (seed % 2)
    drawn = (table_of(seed) for seed in range(first, first + 100, 2))
    table = next(table for table in drawn if not table.classes and not table.missing())
    X, weight = table.wide(), np.ones(table.rows) if table.weight is None else table.weight
    centred = X - np.average(X, axis=0, weights=weight)
    y = table.y - np.average(table.y, weights=weight)
    root = np.sqrt(weight)[:, None]
    for name in sample(seed, NAMES, 12):
        if not fits(name, table) or "fit" not in METHODS[name]["promises"]["kept"]:
            continue
        result = attempt(lambda: fit(name, np.asfortranarray(X), table))
        if isinstance(result, str) or (result["params"].get("loss") or "squared") != "squared":
            continue
        chosen = [f["index"] for f in result["selected"]]
        if not chosen:
            continue
        Z = centred[:, chosen] / centred[:, chosen].std(axis=0)
        # The refit has a ridge of 1e-10, as the docs say: it costs 1e-10 times the Gram's condition.
        if np.linalg.cond(root * Z) > 1e2:
            continue
        best = np.linalg.lstsq(root * Z, root[:, 0] * y, rcond=None)[0]
        theirs = prediction(result, table)[:, 0]
        theirs = theirs - np.average(theirs, weights=weight)
        scale = np.sqrt(np.average(y**2, weights=weight))
        assert np.abs(theirs - Z @ best).max() <= 1e-6 * scale, labelled(name, table, "lstsq")
        loss = 0.5 * np.average((y - Z @ best) ** 2, weights=weight)
        if result["final_loss"] is not None:
            close = abs(result["final_loss"] - loss) <= 1e-6 * (loss + 1e-9 * scale**2)
            assert close, labelled(name, table, f"loss {result['final_loss']} {loss}")


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_are_those_made_by_hand(seed):
    table = table_of(seed)
    X = table.wide()
    weight = np.ones(table.rows) if table.weight is None else table.weight
    for name in sample(seed, FEATURES, 5):
        if not fits(name, table):
            continue
        more = {"missing": "drop-feature"} if table.missing() else {}
        result = attempt(lambda: fit(name, np.asfortranarray(X), table, **more))
        if isinstance(result, str):
            continue
        what = labelled(name, table, "counts")
        holes = np.isnan(X).any(axis=0)
        flat = ~holes & (X == X[0]).all(axis=0)
        dropped = result["dropped"]
        assert result["rows"]["input"] == result["rows"]["used"] == table.rows, what
        assert result["features_seen"] == X.shape[1], what
        assert (dropped["constant"], dropped["missing"]) == (flat.sum(), holes.sum()), what
        total = sum(dropped.values()) + len(result["selected"])
        assert total == X.shape[1], f"{what}: {dropped}, {len(result['selected'])} selected"
        for feature in result["selected"]:
            x = X[:, feature["index"]]
            near = abs(feature["mean"] - np.average(x, weights=weight))
            assert near <= 1e-12 * np.abs(x).max() and feature["missing"] == 0, what
