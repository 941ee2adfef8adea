"""Classes from the registry of the engine.

A class names its method; settings, their defaults and their meaning come from the engine's own
table, so a new method is a class of a few lines and cannot disagree with the command line.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from keepnet import _keepnet

METHODS = {
    method["name"]: method | {"rows": method["stream"] == "samples"}
    for method in json.loads(_keepnet.methods())
}
CLASSES: dict[str, type] = {}

LOSSES = ("squared", "squared-hinge", "logistic", "squared-epsilon")

_POSITIVE = Interval(Integral, 1, None, closed="left")

# Name: default, constraint, type in words, meaning.
_SIZES = ["int", "array-like of int", "'auto'"]
# Arguments of methods on features that say how far a selection can be trusted.
TRUST = {
    "choose": (
        None,
        [StrOptions({"cv", "cv-min", "ebic"}), None],
        "{'cv', 'cv-min', 'ebic'} or None",
        "How a size is chosen where `k` is a list or 'auto': 'cv' (which None is) takes the "
        "smallest size whose cross-validated loss is within a standard error of the least, "
        "'cv-min' the least, 'ebic' the extended Bayesian information criterion.",
    ),
    "cv": (
        None,
        # A list of splits is what scikit-learn's own checks set where there is no choice to make.
        [Interval(Integral, 2, None, closed="left"), list, None],
        "int or None",
        "Folds of 'cv' and 'cv-min'; None is 5.",
    ),
    "holdout": (
        None,
        [Interval(Real, 0, 1, closed="neither"), None],
        "float or None",
        "Share of the samples that are set aside first; the loss of the result there is "
        "`holdout_loss_`.",
    ),
    "stability": (
        None,
        [Interval(Integral, 2, 500, closed="both"), tuple, None],
        "int, (int, float) or None",
        "Pairs of halves of the samples that the method selects on, and the share of the halves "
        "that has to select a feature, 0.75 unless it is given: `(50, 0.9)`.",
    ),
    "inference": (
        None,
        [str, None],
        "'split', 'knockoffs' or None",
        "Tests what was selected on half of the samples, which did not choose it; 'split:0.3' "
        "takes another share of them. 'split' gives p-values and intervals, 'knockoffs' a false "
        "discovery rate.",
    ),
    "correction": (
        None,
        [StrOptions({"holm", "bh", "none"}), None],
        "{'holm', 'bh', 'none'} or None",
        "How `inference='split'` adjusts p-values for their number; None is 'holm'.",
    ),
    "repeats": (
        None,
        [Interval(Integral, 1, 1000, closed="both"), None],
        "int or None",
        "Draws of `inference='knockoffs'`; None is 1.",
    ),
    "null": (
        None,
        [Interval(Integral, 0, 1000, closed="both"), None],
        "int or None",
        "Permuted targets to select from as well; a warning says where one of them is explained "
        "as well as the real one. None is 0.",
    ),
}
LEVEL = (
    None,
    [Interval(Real, 0, 1, closed="neither"), None],
    "float or None",
    "Level of `inference`; None is 0.05.",
)
COMMON = {
    "task": (
        "auto",
        [StrOptions({"auto", "regression", "classification"})],
        "{'auto', 'regression', 'classification'}",
        "What the target is. With 'auto' the loss decides, if it is for one task only; then text, "
        "booleans, two values or 3 to 20 distinct whole numbers mean classification, and anything "
        "else regression.",
    ),
    "scans": (
        None,
        [_POSITIVE, StrOptions({"rest"}), None],
        "int, 'rest' or None",
        "Times to go through the features; None is the method's own number. 'rest', for `OSPlus`, "
        "goes on until a scan that tests every feature exactly makes no exchange: "
        "`result_['metrics']['certificate']` is then true.",
    ),
    "order": (
        "given",
        [StrOptions({"given", "shuffled"}), "array-like"],
        "{'given', 'shuffled'} or array-like of int",
        "Order of the features. 'shuffled' is a new order each scan, by `random_state`; an array "
        "is the same list of feature indices each scan.",
    ),
    "groups": (
        None,
        [str, Mapping, "array-like", None],
        "str, mapping, array-like or None",
        "Groups of features: 'block:N' for N neighbours each, 'prefix:SEP' for what a name has "
        "before SEP, a mapping from names, or a label for each feature.",
    ),
    "always": (
        None,
        ["array-like", None],
        "list of str or int, or None",
        "Names or indices of features that are kept whatever happens and not counted in `k`.",
    ),
    "missing": (
        "error",
        [StrOptions({"error", "drop-feature", "mean", "zero", "indicator"})],
        "{'error', 'drop-feature', 'mean', 'zero', 'indicator'}",
        "What becomes of missing values. 'indicator' fills with the mean and adds a feature "
        "`NAME:missing` that is 1 where a value was missing.",
    ),
    "max_missing": (
        None,
        [Interval(Real, 0, 1, closed="both"), None],
        "float or None",
        "Features with a larger share of missing values are dropped.",
    ),
    "min_count": (
        1,
        [Interval(Integral, 0, None, closed="left")],
        "int",
        "Features with fewer rows off their commonest value are dropped.",
    ),
    "class_weight": (
        None,
        [StrOptions({"balanced"}), Mapping, None],
        "'balanced', mapping or None",
        "'balanced' makes every class weigh the same; a mapping gives the weight of a sample of "
        "each class, 1 for classes that it does not name.",
    ),
    "memory": (
        None,
        [_POSITIVE, None],
        "int or None",
        "Most bytes that the process may hold; a run that cannot fit raises MemoryError before it "
        "starts.",
    ),
    "n_jobs": (
        None,
        [Integral, None],
        "int or None",
        "Threads; None is 1 unless in a `joblib.parallel_config`, -1 is every core. No result "
        "depends on it, but for `AsyOS` with more than one worker.",
    ),
    "random_state": (
        None,
        ["random_state"],
        "int, RandomState instance or None",
        "Seed of whatever is random. None is the seed 0: the same data give the same answer.",
    ),
    "verbose": (0, ["verbose"], "int", "1 shows a progress bar, by tqdm where it is installed."),
    "callback": (
        None,
        [callable, None],
        "callable or None",
        "Called with a `Progress` a few times a second, in the caller's thread. A true return "
        "value ends the run with what it has.",
    ),
}
ROWS_MISSING = (
    "error",
    [StrOptions({"error", "drop-row", "mean", "zero"})],
    "{'error', 'drop-row', 'mean', 'zero'}",
    "What becomes of missing values; a mean is that of the rows before.",
)
ROWS = ("task", "missing", "memory", "n_jobs", "random_state", "verbose", "callback")
LOSS = (
    None,
    [StrOptions(set(LOSSES)), None],
    "{'squared', 'squared-hinge', 'logistic', 'squared-epsilon'} or None",
    "The loss; None is the method's own for the task.",
)


def python_name(setting: str) -> str:
    """The name of a setting as an argument."""
    name = setting.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def default_of(setting: dict):
    """A setting's default; None where the engine works it out, and for the word 'none'."""
    return None if setting["value"] == "none" else setting["value"]


def words_of(setting: dict) -> list[str]:
    """The words that a setting takes; 'none' is None."""
    return [word for word in setting.get("choices", ()) if word != "none"]


def interval_of(setting: dict) -> Interval:
    """The numbers that a setting takes."""
    low = setting.get("least", setting.get("above"))
    high = setting.get("most", setting.get("below"))
    ends = ("least" in setting, "most" in setting)
    closed = {(True, True): "both", (True, False): "left", (False, True): "right"}
    kind = Integral if setting["kind"] == "whole" else Real
    return Interval(kind, low, high, closed=closed.get(ends, "neither"))


def setting_entry(setting: dict):
    """Default, constraint, type and meaning of one setting."""
    default, meaning = default_of(setting), setting["help"]
    constraint, kinds = [], []
    if setting["kind"] == "flag":
        constraint, kinds = ["boolean"], ["bool"]
    elif setting["kind"] != "choice":
        constraint = [interval_of(setting)]
        kinds = ["int" if setting["kind"] == "whole" else "float"]
    if setting["kind"] == "step":
        constraint, kinds = [*constraint, str], [*kinds, "str"]
    elif words := words_of(setting):
        constraint = [*constraint, StrOptions(set(words))]
        named = ", ".join(map(repr, words))
        kinds = [*kinds, f"{{{named}}}"]
    if default is None:
        constraint, kinds = [*constraint, None], [*kinds, "None"]
        meaning += f" (None is {setting['default']})"
    return default, constraint, " or ".join(kinds), meaning


def parameters(info: dict, takes_k: bool, more: dict, changed: dict) -> dict:
    """Every argument of a class, in order: default, constraint, type, meaning."""
    entries = {}
    if takes_k:
        constraint, kinds = [_POSITIVE], ["int"]
        meaning = "Most features to keep"
        if not info["rows"]:
            constraint, kinds = [*constraint, "array-like", StrOptions({"auto"})], _SIZES
            meaning += "; a list of sizes, or 'auto', chooses one by `choose`"
        if not info["needs_k"]:
            constraint, kinds = [*constraint, None], [*kinds, "None"]
            meaning += "; None leaves the number to the method"
        entries["k"] = (10, constraint, " or ".join(kinds), meaning + ".")
    if info["has_loss"]:
        entries["loss"] = LOSS
    for setting in info["settings"]:
        entries[python_name(setting["name"])] = setting_entry(setting)
    entries |= more
    if not info["rows"]:
        entries |= TRUST
        entries.setdefault("level", LEVEL)
    for name in ROWS if info["rows"] else COMMON:
        entries[name] = COMMON[name]
    if info["rows"]:
        entries["missing"] = ROWS_MISSING
    for name, default in changed.items():
        entries[name] = (default, *entries[name][1:])
    return entries


def _init(entries: dict, owner: str):
    """An `__init__` with these arguments; scikit-learn reads its signature."""
    star = ["*"] if entries else []
    first = ["k=_d['k']"] if "k" in entries else []
    rest = [f"{name}=_d[{name!r}]" for name in entries if name != "k"]
    lines = [f"    self.{name} = {name}" for name in entries]
    text = f"def __init__(self, {', '.join(first + star + rest)}):\n" + "\n".join(lines)
    space = {"_d": {name: entry[0] for name, entry in entries.items()}}
    exec(text, space)  # noqa: S102 - as dataclasses do, from names of our own table
    init = space["__init__"]
    init.__qualname__ = f"{owner}.__init__"
    return init


def _wrapped(text: str, indent: str) -> str:
    import textwrap

    return textwrap.fill(text, 88, initial_indent=indent, subsequent_indent=indent)


def _document(cls, info: dict, entries: dict) -> str:
    """The docstring in the order of numpydoc."""
    summary, _, own = (cls.__doc__ or "").strip().partition("\n")
    own, _, examples = own.partition("Examples\n")
    out = [summary, ""]
    if own.strip():
        out += [own.strip("\n").rstrip(), ""]
    out += ["    Parameters", "    ----------"]
    for name, (default, _, kind, meaning) in entries.items():
        out += [f"    {name} : {kind}, default={default!r}"]
        out += [_wrapped(meaning if meaning.endswith(".") else meaning + ".", " " * 8), ""]
    out += ["    Attributes", "    ----------"]
    for base in reversed(cls.__mro__):
        for name, kind, meaning in vars(base).get("_attributes", ()):
            out += [f"    {name} : {kind}", _wrapped(meaning, " " * 8), ""]
    out += ["    Notes", "    -----"]
    notes = f"Method `{info['name']}` of the command line. Cost: {info['cost']}. "
    notes += f"Memory: {info['memory']}."
    out += [_wrapped(notes, "    "), "", "    References", "    ----------"]
    out += [_wrapped(info["paper"] + ".", "    "), ""]
    if examples:
        out += ["    Examples", examples.rstrip()]
    return "\n".join(out) + "\n    "


def method(name: str, takes_k: bool = True, **changed):
    """Makes a class the estimator of a method.

    Parameters
    ----------
    name : str
        The method's name in the engine.
    takes_k : bool, default=True
        Whether the method takes a number of features.
    **changed
        Defaults that are not the common ones.
    """
    info = METHODS.get(name)

    def complete(cls):
        if info is None:
            return None  # An engine that was built without the method has no class for it.
        entries = parameters(info, takes_k, getattr(cls, "_own", {}), changed)
        cls._info = info
        cls._settings = {python_name(s["name"]): s["name"] for s in info["settings"]}
        cls._engine = {python_name(s["name"]): default_of(s) for s in info["settings"]}
        cls._defaults = {name: entry[0] for name, entry in entries.items()}
        cls._parameter_constraints = {name: list(entry[1]) for name, entry in entries.items()}
        cls._entries = entries
        cls.__init__ = _init(entries, cls.__qualname__)
        cls.__doc__ = _document(cls, info, entries)
        CLASSES[name] = cls
        return cls

    return complete
