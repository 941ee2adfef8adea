"""`select`: one call for files, streams and arrays."""

from __future__ import annotations

import glob
import itertools
import json
import os
from collections.abc import Iterable

import numpy as np
from sklearn.base import BaseEstimator, clone

from keepnet import _inputs, _keepnet
from keepnet._base import Selector
from keepnet._registry import CLASSES, METHODS

# Arguments that only files have, by the group of the request that they stand in.
_PROBLEM = ("sample_weight", "offset", "covar")
_INPUT = ("key", "columns", "exclude", "categorical", "stack", "format")
_LISTS = ("key", "columns", "exclude")
_FILES = _PROBLEM + _INPUT


def methods() -> list[dict]:
    """Every method of the engine: name, stream, settings, cost, source.

    Returns
    -------
    methods : list of dict
        In the order of `keepnet methods`; the class of each is under 'class'.

    Examples
    --------
    >>> import keepnet
    >>> keepnet.methods()[0]["name"]
    'os-plus'
    """
    named = {name: cls.__name__ for name, cls in CLASSES.items()}
    return [{**info, "class": named.get(name)} for name, info in METHODS.items()]


def merge(estimators):
    """One estimator from several that learnt from rows of their own.

    Parameters
    ----------
    estimators : iterable of estimators
        Fitted methods on running averages, with the same features.

    Returns
    -------
    estimator : estimator
        As if it had learnt from all rows; a copy of the first, the others stay as they are.
    """
    first, *rest = estimators
    merged = clone(first)
    merged._classes = first._classes
    return merged.load_averages(first.averages()).merge(*rest)


def _estimator(method, k, options) -> Selector:
    if isinstance(method, BaseEstimator):
        estimator = clone(method)
        return estimator.set_params(**({} if k is None else {"k": k}), **options)
    if method not in CLASSES:
        known = ", ".join(CLASSES)
        raise ValueError(f"there is no method {method!r}; the methods are {known}")
    cls = CLASSES[method]
    estimator = cls()
    if "k" in cls._defaults:
        options = {"k": k, **options}
    elif k is not None:
        raise ValueError(f"{method} decides itself how many features stay; leave k out")
    unknown = [name for name in options if name not in cls._defaults]
    if unknown:
        raise TypeError(f"{method} has no argument {unknown[0]!r}")
    return estimator.set_params(**options)


def select(source, target=None, k=10, method="os-plus", **options):
    """Select features from files, a stream or an array.

    Parameters
    ----------
    source : path, list of paths, iterable, callable, table or array
        Files or globs (parquet, arrow, csv, tsv, npy, svm, jsonl); an iterable of blocks of
        columns, each `(names, block)` or a table; a callable that makes a fresh iterable for
        each scan; for a method on samples an iterable of `(X, y)` or a pyarrow
        RecordBatchReader; or anything that `fit` takes.
    target : str, list of str or array-like, default=None
        With files or a table the name of a column, a file, or 'FILE:COLUMN'; a svm file carries
        its own. Else the target itself. Several targets are selected for in one read, by methods
        on features: with files 'FILE:Y1,Y2', 'FILE:*' or a list of these, with a table a list of
        its columns, else an array of two dimensions or a table with a target a column.
    k : int or None, default=10
        Features to keep.
    method : str or estimator, default='os-plus'
        A name of `keepnet.methods()`, or an estimator whose settings are taken.
    **options
        Arguments of the method's class, and for files `key`, `sample_weight`, `offset`, `covar`,
        `columns`, `exclude`, `categorical`, `stack` and `format` as on the command line.

    Returns
    -------
    selector : estimator or Targets
        The fitted estimator; `transform` takes the selected columns by name. For several targets a
        dict of them by the target's name, each as if it had been fitted alone; the columns of an
        array are called 'y0', 'y1' and so on.

    Examples
    --------
    Features made one by one, and none of them stored:

    >>> import keepnet, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=300)
    >>> def born():
    ...     rng = np.random.default_rng(1)
    ...     for j in range(1000):
    ...         x = rng.normal(size=300)
    ...         yield [f"f{j}"], x + y if j % 400 == 7 else x
    >>> selector = keepnet.select(born, y, k=3)
    >>> list(selector.get_feature_names_out())
    ['f7', 'f407', 'f807']
    """
    files = {name: options.pop(name) for name in list(options) if name in _FILES}
    estimator = _estimator(method, k, options)
    rows = METHODS[estimator._info["name"]]["rows"]
    paths = _paths(source)
    held = paths is None and (_inputs.is_table(source) or hasattr(source, "shape"))
    if getattr(estimator, "shuffle", False) and not held:
        if options.get("shuffle"):
            raise ValueError("shuffle=True needs rows in memory; a file or stream comes as it is")
        estimator.set_params(shuffle=False)
    if paths is not None:
        return _from_files(estimator, paths, target, files)
    several = _several(source, target)
    if several is not None and rows:
        method = estimator._info["name"]
        raise ValueError(f"{method} learns from rows and takes one target; call it for each")
    if files:
        raise TypeError(f"{next(iter(files))!r} is an argument for files")
    if _inputs.is_reader(source) and rows:
        return _from_batches(estimator, source, target)
    if _inputs.is_reader(source):
        source = source.read_all()
    if several is not None:
        source, targets = several
        if held or _inputs.is_table(source):
            return _spread(estimator, *estimator._fit_targets(source, targets))
        _from_columns(estimator, source, targets)
        return _spread(estimator, estimator.result_, estimator._classes)
    if held or _inputs.is_table(source):
        return estimator.fit(*_split(source, target))
    if rows:
        return _from_rows(estimator, source, target)
    return _from_columns(estimator, source, target)


class Targets(dict):
    """The fitted estimator of each of several targets, by name.

    Attributes
    ----------
    result_ : dict
        The result of the whole run: what the targets share, `distinct_kept`, and the result of
        each under 'targets'.
    """

    result_: dict


def _several(source, target):
    """The source without its targets, and these by name; None where there is one."""
    if isinstance(target, (list, tuple)) and all(isinstance(name, str) for name in target):
        names = _inputs.column_names(source) if _inputs.is_table(source) else None
        if not target or names is None or not set(target) <= set(names):
            return None
        targets = {name: _split(source, name)[1] for name in target}
        for name in target:
            source, _ = _split(source, name)
        return source, targets
    if isinstance(target, str) or target is None:
        return None
    if _inputs.is_table(target):
        names = _inputs.column_names(target)
        if names is None or len(names) < 2:
            return None
        return source, {str(name): _split(target, name)[1] for name in names}
    values = np.asarray(target)
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    return source, {f"y{j}": values[:, j] for j in range(values.shape[1])}


def _spread(estimator, result, classes) -> Targets:
    """An estimator a target, with what the run told of all of them."""
    out = Targets()
    estimator.__dict__.pop("_result", None)
    for one in result["targets"]:
        name = one["target"]
        fitted = clone(estimator)
        fitted.__dict__.update(
            (key, value) for key, value in estimator.__dict__.items() if key not in fitted.__dict__
        )
        known = classes[name] if classes is not None else _named(one["classes"])
        notes = estimator._class_notes(known) if classes is not None else []
        one["warnings"][:0] = notes
        fitted._result = fitted._take(json.dumps(one), known)
        out[name] = fitted
    out.result_ = result
    return out


def _named(classes):
    return None if classes is None else np.array(classes)


def _paths(source):
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    if isinstance(source, (list, tuple)) and source:
        if all(isinstance(path, (str, os.PathLike)) for path in source):
            return [os.fspath(path) for path in source]
    return None


def _split(table, target):
    """A table without its target, and the target."""
    names = _inputs.column_names(table)
    if names is None or not isinstance(target, str):
        return table, target
    if target not in names:
        raise ValueError(f"the table has no column {target!r}")
    if _inputs.is_arrow(table):
        rest = table.select([name for name in names if name != target])
        return rest, table.column(target).to_numpy(zero_copy_only=False)
    rest = table.drop(target) if _inputs.is_polars(table) else table.drop(columns=target)
    return rest, table[target].to_numpy()


def _from_files(estimator, paths, target, files):
    for path in paths:
        if not os.path.exists(path) and not glob.glob(path):
            raise FileNotFoundError(f"{path}: there is no such file")
    estimator._validate_params()
    for name in _LISTS:
        if isinstance(files.get(name), str):
            files[name] = [files[name]]
    more = {}
    if not estimator._info["rows"]:
        more = estimator._feature_request(None, None, None)
        if not isinstance(estimator.class_weight, (str, type(None))):
            raise TypeError("a mapping of class_weight is for data in memory; weigh the rows")
        files["class_weight"] = estimator.class_weight
    files = {name: value for name, value in files.items() if value is not None}
    more["input"] = {"inputs": paths, **{name: files[name] for name in _INPUT if name in files}}
    more["problem"] = {"target": target, "task": estimator.task}
    for name in ("class_weight", *_PROBLEM):
        if name in files:
            more["problem"][name] = files[name]
    with estimator._reporter() as report:
        text = _keepnet.select_files(estimator._request(**more), report)
    result = json.loads(text)
    estimator._streamed = True
    estimator._onehot = files.get("categorical") == "onehot"
    estimator.n_features_in_ = result["features_seen"]
    if "targets" in result:
        return _spread(estimator, result, None)
    estimator._result = estimator._take(text, _named(result["classes"]))
    return estimator


def _from_columns(estimator, source, target):
    again = callable(source)
    if not again and not isinstance(source, Iterable):
        raise TypeError(f"source is {type(source).__name__}, which has no columns")
    # A method with 0 scans makes as many as it takes.
    scans = estimator.scans or estimator._info["scans"] or None
    if scans == "rest" and not again:
        raise ValueError("scans='rest' reads the columns several times; give a callable")
    many = itertools.count() if scans in (None, "rest") else range(scans)
    for scan in many if again else range(1):
        if scan and estimator.end_scan():
            break
        for block in source() if again else source:
            first = not getattr(estimator, "_open", False)
            estimator.partial_fit_columns(block, target if first else None)
    return estimator.finish()


def _from_rows(estimator, source, target):
    for block in source() if callable(source) else source:
        if isinstance(block, tuple):
            X, y = block
        else:
            X, y = _split(block, target)
        estimator.partial_fit(X, y)
    estimator.result_  # noqa: B018 - a fault shows here, not at the first look
    return estimator


def _from_batches(estimator, reader, target):
    for batch in reader:
        X, y = _split(batch, target)
        estimator.partial_fit(X.to_pandas(), y)
    estimator.result_  # noqa: B018
    return estimator
