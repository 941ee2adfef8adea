"""Estimators on a stream of features."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from numbers import Integral

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.validation import _check_sample_weight, _check_y, column_or_1d

from keepnet import _inputs, _keepnet
from keepnet._base import Selector

ONE_SCAN = (
    "one scan only: each feature was judged once, against what was kept when it came; a second "
    "scan, where the stream can be had again, usually finds more"
)
MORE_SCANS = (
    "the method is not done: it makes several scans; bring the columns again after `end_scan`, or "
    "give hold='all', with which it holds every column and makes one"
)


# Most names of a stream that are kept for `feature_names_in_`.
MOST_NAMES = 100_000


class FeatureSelector(Selector):
    """Base of the methods on a stream of features."""

    _new_run = _keepnet.ColumnRun
    _attributes = (
        ("k_", "int", "The size that was asked for or chosen; only where there is one."),
        (
            "path_",
            "list of dict",
            "The sizes to choose from: `k`, `cv_mean`, `cv_se`, `cv_error`, `in_sample`, `ebic` "
            "and whether it was `chosen`; only with several sizes.",
        ),
        (
            "holdout_loss_",
            "float",
            "Loss on the samples that `holdout` set aside; only where it did.",
        ),
        (
            "frequencies_",
            "ndarray of shape (n_features_in_,)",
            "With `stability` the share of the halves that selected each feature; NaN for those "
            "below the share that was asked for.",
        ),
        (
            "expected_false_",
            "dict",
            "With `stability` the bounds `mb`, `unimodal` and `r_concave` on the expected number "
            "of false features.",
        ),
        (
            "estimates_, std_errors_, pvalues_, pvalues_adjusted_",
            "ndarray of shape (n_features_in_,) or (n_classes, n_features_in_)",
            "With `inference='split'` the coefficient of each selected feature on the samples that "
            "did not choose it, its standard error and p-values; NaN for the others.",
        ),
        (
            "confidence_intervals_",
            "ndarray of shape (..., n_features_in_, 2)",
            "With `inference='split'` an interval for each, not adjusted for their number.",
        ),
        (
            "w_, e_values_",
            "ndarray of shape (n_features_in_,)",
            "With `inference='knockoffs'` by how much each selected feature did better than its "
            "knockoff, and with `repeats` its e-value; NaN for the others.",
        ),
    )

    def _trust(self) -> dict:
        """The part of a request that says how far the selection can be trusted."""
        names = ("choose", "holdout", "inference", "correction", "repeats", "null")
        trust = {name: getattr(self, name) for name in names} | {"folds": self._folds()}
        if self.stability is not None:
            pairs = self.stability
            pairs = (pairs,) if isinstance(pairs, Integral) else pairs
            trust["stability"] = ":".join(map(str, pairs))
        return trust

    def _folds(self) -> int | None:
        """The number of folds; given splits belong to no run of one size."""
        if self.cv is None or isinstance(self.cv, Integral):
            return self.cv
        k = getattr(self, "k", None)
        if k is None or isinstance(k, Integral):
            return None
        raise ValueError("cv is a list of splits, expected a number of folds")

    def _by_feature(self, field: str, advice: str) -> np.ndarray:
        """A number of each feature, NaN for those that have none."""
        found = [f for f in self._all() if f.get(field) is not None]
        if not found and self._all():
            raise AttributeError(f"there is none without {advice}")
        self._one_place_each(field)
        classes = np.ndim(found[0][field]) and len(found[0][field]) if found else 0
        values = np.full((classes, self._width()) if classes else self._width(), np.nan)
        for feature in found:
            values[..., feature["index"]] = feature[field]
        return values

    @property
    def frequencies_(self) -> np.ndarray:
        return self._by_feature("frequency", "stability=PAIRS")

    @property
    def expected_false_(self) -> dict:
        return self._found("stability", "stability=PAIRS")["expected_false"]

    @property
    def estimates_(self) -> np.ndarray:
        return self._by_feature("estimate", "inference='split'")

    @property
    def std_errors_(self) -> np.ndarray:
        return self._by_feature("std_error", "inference='split'")

    @property
    def pvalues_(self) -> np.ndarray:
        return self._by_feature("p_value", "inference='split'")

    @property
    def pvalues_adjusted_(self) -> np.ndarray:
        return self._by_feature("p_adjusted", "inference='split'")

    @property
    def confidence_intervals_(self) -> np.ndarray:
        ends = [self._by_feature(end, "inference='split'") for end in ("ci_low", "ci_high")]
        return np.stack(ends, axis=-1)

    @property
    def w_(self) -> np.ndarray:
        return self._by_feature("w", "inference='knockoffs'")

    @property
    def e_values_(self) -> np.ndarray:
        return self._by_feature("e_value", "inference='knockoffs' and repeats above 1")

    def _found(self, field: str, advice: str):
        """A part of the result that only some runs have."""
        found = self.result_.get(field)
        if found is None:
            raise AttributeError(f"there is none without {advice}")
        return found

    @property
    def path_(self) -> list[dict]:
        return self._found("path", "a list of sizes: k=[5, 10, 20] or k='auto'")

    @property
    def k_(self) -> int:
        k = getattr(self, "k", None)
        if isinstance(k, Integral):
            return int(k)
        if k is None:
            raise AttributeError("the method decided itself how many features stay")
        return next(point["k"] for point in self.path_ if point["chosen"])

    @property
    def holdout_loss_(self) -> float:
        return self._found("holdout", "holdout=SHARE")["loss"]

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Select features of X that say most about y.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame, Table} of shape (n_samples, n_features)
            The data. Columns of f32 and f64 in Fortran order are read in place.
        y : array-like of shape (n_samples,)
            The target: numbers or classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight for each sample; None is 1 each. A sample of weight 2 counts as two, also in
            tests and p-values; one of weight 0 is left out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._forget()
        packed, names, y, whole = _inputs.matrix(self, X, y, "csc")
        if sample_weight is not None:
            packed, y, sample_weight = self._weighted(packed, y, sample_weight)
        codes, classes = self._encode(y)
        targets = [self._told("", codes, classes)]
        if isinstance(self.class_weight, Mapping):
            weight = self._weight_of_classes(codes, classes, sample_weight)
            packed, codes, sample_weight = self._weighted(packed, codes, weight)
            targets = [self._told("", codes, classes)]
        more = self._feature_request(names, self.n_features_in_, whole, (packed, len(codes), classes))
        request = self._request(**more)
        with self._reporter() as report:
            text = _keepnet.fit_columns(
                request,
                packed,
                names,
                targets,
                sample_weight,
                report,
            )
        self._result = self._take(text, classes)
        return self

    def _told(self, name, codes, classes) -> tuple:
        """A target as the engine takes it."""
        balanced = self.class_weight == "balanced" and classes is not None
        return name, codes, self._class_names(classes), balanced

    def _tell(self, targets: dict) -> tuple[list[tuple], dict]:
        """Several targets as the engine takes them, and the classes of each."""
        if isinstance(self.class_weight, Mapping):
            raise TypeError("a mapping of class_weight is for one target; weigh the rows")
        told, known = [], {}
        for name, y in targets.items():
            y = _check_y(np.asarray(y), multi_output=False, y_numeric=False, estimator=self)
            codes, known[name] = self._encode(y)
            told.append(self._told(name, codes, known[name]))
        return told, known

    def _fit_targets(self, X, targets: dict) -> tuple[dict, dict]:
        """Selects for several targets in one read: the result of all, and the classes of each."""
        self._forget()
        self._validate_params()
        first = next(iter(targets.values()))
        packed, names, _, whole = _inputs.matrix(self, X, first, "csc")
        told, known = self._tell(targets)
        more = self._feature_request(names, self.n_features_in_, whole, (packed, len(first), None))
        with self._reporter() as report:
            text = _keepnet.fit_columns(self._request(**more), packed, names, told, None, report)
        return json.loads(text), known

    def _forget(self):
        for name in ("_run", "_run_arguments", "_streamed", "_result", "_open", "_onehot"):
            self.__dict__.pop(name, None)

    def _weight_of_classes(self, codes, classes, sample_weight):
        """Sample weights times those of the classes; a class that is not named weighs 1."""
        if classes is None:
            raise ValueError("class_weight weighs classes, and the target is one of numbers")
        each = np.array([float(self.class_weight.get(value, 1.0)) for value in classes.tolist()])
        weight = each[codes.astype(np.intp)]
        return weight if sample_weight is None else weight * sample_weight

    @staticmethod
    def _weighted(packed, y, sample_weight):
        """Weights as the engine takes them: positive; samples without weight are left out."""
        rows = len(y)
        weight = _check_sample_weight(sample_weight, np.empty((rows, 0)), ensure_non_negative=True)
        weight = np.ascontiguousarray(weight, dtype=np.float64)
        used = weight > 0
        if used.all():
            return packed, y, weight
        if packed[0] == "dense":
            packed = ("dense", packed[1][used])
        elif packed[0] == "columns":
            packed = ("columns", int(used.sum()), [column[used] for column in packed[2]])
        else:
            from scipy import sparse

            form, across, start, index, data = packed
            x = sparse.csc_array((data, index, start), shape=(across, len(start) - 1))
            packed = _inputs.pack(x[np.flatnonzero(used)], "csc")
        return packed, y[used], weight[used]

    def _feature_request(self, names, features, whole, target=(None, None, None)) -> dict:
        """The part of a request that only methods on features have."""
        order = self.order if isinstance(self.order, str) else [int(j) for j in self.order]
        method = {"integral": whole, "max_missing": self.max_missing, "min_count": self.min_count}
        more = {"method": method, "run": {"scans": self.scans, "order": order}}
        more["trust"] = self._trust()
        if self.level is not None and "level" not in self._settings:
            method["level"] = self.level
        packed, rows, classes = target
        k, notes = getattr(self, "k", None), []
        if rows is not None:
            k, notes = self._allowed_k(packed, rows)
            method["k"] = k
        more["notes"] = self._class_notes(classes) + notes
        if isinstance(k, Integral) and features is not None and k > features:
            method["k"] = features
            seen = f"k is {k} but only {features} features were seen"
            more["notes"].append(f"{seen}; all are kept that can be")
        if self.groups is not None:
            method["groups"] = self._groups(names, features)
        if self.always is not None:
            method["always"] = [self._name(feature, names) for feature in self.always]
        return more

    def _groups(self, names, features):
        if isinstance(self.groups, str):
            return self.groups
        if isinstance(self.groups, Mapping):
            return [(str(feature), str(group)) for feature, group in self.groups.items()]
        labels = list(self.groups)
        if features is not None and len(labels) != features:
            raise ValueError(f"groups has {len(labels)} labels for {features} features")
        return [(self._name(j, names), str(label)) for j, label in enumerate(labels)]

    # -- columns as they are brought

    def partial_fit_columns(self, X_columns, y=None, names=None, sample_weight=None):
        """Offer a block of columns; any number of blocks makes a scan.

        Parameters
        ----------
        X_columns : {array-like, sparse matrix, DataFrame, Table} of shape (n_samples, n_columns)
            The next columns of every sample; one column may have one dimension.
        y : array-like of shape (n_samples,), default=None
            The target; needed with the first block, and the same with every other.
        names : list of str, default=None
            Names of the columns. None takes those of a table, or `x` and the column's index.
        sample_weight : array-like of shape (n_samples,), default=None
            A positive weight for each sample, with the first block.

        Returns
        -------
        self : object
            The estimator. `finish` refits it; a look at any moment is free of cost to the stream.

        Raises
        ------
        ValueError
            Where the estimator was fitted, by `fit` or up to `finish`: its columns are gone, so
            it cannot go on from them.

        Notes
        -----
        One scan judges each feature once, against what was kept when it came, which costs recall
        against `fit` with its two scans. Where columns can be had again, `end_scan` and bring
        them a second time, or use `keepnet.select` with a callable.
        """
        self._validate_params()
        own, packed, count, whole = _inputs.block(X_columns)
        names = own if names is None else [str(name) for name in names]
        if not getattr(self, "_open", False):
            self._begin(y, sample_weight, whole)
        elif y is not None and not isinstance(y, dict):
            self._same_target(y)
        named = names
        if names is None:
            names = [f"x{self._brought + j}" for j in range(count)]
        if len(names) != count:
            raise ValueError(f"{count} columns came with {len(names)} names")
        if len(set(names)) != count:
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"feature name {twice!r} occurs more than once in the block")
        with self._reporter() as report:
            self._run.push(packed, names, report)
        self._note_names(named, count)
        self._brought += count
        self.n_features_in_ = max(self._brought, getattr(self, "n_features_in_", 0))
        self._result = None
        return self

    def _note_names(self, names, count):
        """Notes the names of a first scan, which grow with the stream and so have a limit."""
        if self._brought < getattr(self, "n_features_in_", 0):
            return
        if names is None or self._brought + count > MOST_NAMES:
            self._names = None
        elif self._names is not None:
            self._names += names

    def _begin(self, y, sample_weight, whole):
        if hasattr(self, "_result"):
            fitted = f"this {type(self).__name__} is fitted and a new stream would forget that"
            advice = "stream into sklearn.base.clone(estimator), or call fit with all columns"
            raise ValueError(f"{fitted}; {advice}")
        if y is None:
            raise ValueError("y is needed with the first block of columns")
        if self.order != "given" if isinstance(self.order, str) else True:
            raise ValueError("a stream of columns comes in the given order only")
        # A call of fit that failed may have left its own.
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if isinstance(y, dict):
            # Several targets, from `keepnet.select`.
            told, classes = self._tell(y)
            more = self._feature_request(None, None, whole, (None, len(told[0][1]), None))
            self._start(more, told, None, classes)
            return
        y = _check_y(np.asarray(y), multi_output=False, y_numeric=False, estimator=self)
        codes, classes = self._encode(y)
        if sample_weight is not None:
            sample_weight = np.ascontiguousarray(column_or_1d(sample_weight), dtype=np.float64)
        if isinstance(self.class_weight, Mapping):
            sample_weight = self._weight_of_classes(codes, classes, sample_weight)
        more = self._feature_request(None, None, whole, (None, len(codes), classes))
        for note in more["notes"]:
            warnings.warn(note, UserWarning, stacklevel=3)
        self._start(more, [self._told("", codes, classes)], sample_weight, classes)

    def _start(self, more, targets, sample_weight, classes):
        self._run_arguments = (self._request(**more), targets, sample_weight)
        self._run = self._new_run(*self._run_arguments)
        self._classes, self._streamed, self._open, self._brought = classes, True, True, 0
        self._names = []

    def _same_target(self, y):
        codes, _ = self._encode(column_or_1d(np.asarray(y)), self._classes)
        if not np.array_equal(codes, self._run_arguments[1][0][1]):
            raise ValueError("y is another than the one that came with the first block")

    def _stream(self):
        if not getattr(self, "_open", False):
            raise ValueError("no stream of columns is open; call partial_fit_columns first")
        return self._run

    def end_scan(self) -> bool:
        """End a scan, so that the next block is the first of another.

        Returns
        -------
        converged : bool
            Whether another scan would change nothing.
        """
        run = self._stream()
        converged = run.end_scan()
        run.begin_scan()
        self._brought, self._result = 0, None
        return converged

    def finish(self):
        """End the stream and refit the model on what was kept.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        run = self._stream()
        if self._brought:
            run.end_scan()
        self._result = self._noted(run.finish(True))
        self._open = False
        if self._names:
            self.feature_names_in_ = np.asarray(self._names, dtype=object)
        for name in ("_run", "_run_arguments", "_names"):
            self.__dict__.pop(name)
        return self

    def _noted(self, text: str) -> dict:
        result = json.loads(text)
        for one in result.get("targets", [result]):
            if one["scans"] == 1 and self._info["scans"] > 1:
                one["warnings"].append(ONE_SCAN)
            if self._info["scans"] == 0 and not one["complete"]:
                one["warnings"].append(MORE_SCANS)
        return result

    def _look(self) -> dict:
        return self._noted(self._run.look())
