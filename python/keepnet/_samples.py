"""Estimators on a stream of samples."""

from __future__ import annotations

import json
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from keepnet import _inputs, _keepnet, _order
from keepnet._base import Selector
from keepnet._model import ModelMixin
from keepnet._registry import COMMON


class SampleSelector(ModelMixin, Selector):
    """Base of the methods on a stream of samples."""

    _new_run = _keepnet.RowRun

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Learn from every row of X, once, in order.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame, Table} of shape (n_samples, n_features)
            The data. Rows of f32 and f64 in C order are read in place.
        y : array-like of shape (n_samples,)
            The target: numbers or classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight for each sample; None is 1 each.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        for name in ("_run", "_run_arguments", "_result", "_classes"):
            self.__dict__.pop(name, None)
        shuffle = getattr(self, "shuffle", False)
        self._learn(X, y, None, sample_weight, reset=True, shuffle=shuffle, whole=True)
        self._result = self._take(self._run.result(), self._classes)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more rows; the stream may never end.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame, Table} of shape (n_samples, n_features)
            The next samples.
        y : array-like of shape (n_samples,)
            Their targets.
        classes : array-like, default=None
            Every class that will come, with the first rows of a classification; None takes those
            of the first rows.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight for each sample; None is 1 each.

        Returns
        -------
        self : object
            The estimator. What it would keep is worked out when it is asked for.
        """
        first = not hasattr(self, "_run")
        self._learn(X, y, classes, sample_weight, reset=first)
        for note in self._notes if first else []:
            warnings.warn(note, UserWarning, stacklevel=2)
        self._result = None
        return self

    def _learn(self, X, y, classes, sample_weight, reset, shuffle=False, whole=False):
        packed, names, y, _ = _inputs.matrix(self, X, y, "csr", reset=reset, least=1)
        if reset and len(y) < 2 and classes is None:
            raise ValueError(f"n_samples={len(y)} is too few to begin with; bring 2 or more")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, np.empty((len(y), 0)), ensure_non_negative=True
            )
            sample_weight = np.ascontiguousarray(sample_weight, dtype=np.float64)
        if reset:
            known = None if classes is None else np.unique(classes)
            used = y if sample_weight is None else y[sample_weight > 0]
            codes, known = (
                self._encode(y, known) if known is not None else self._encode(used)
            )
            if names is None:
                names = [f"x{j}" for j in range(self.n_features_in_)]
            self._notes = self._class_notes(known) if classes is None else []
            k = None
            if whole:
                k, lowered = self._allowed_k(self._used(packed, sample_weight), len(used))
                self._notes += lowered
            arguments = (self._asked(names, k), names, self._class_names(known))
            run = self._new_run(*arguments)
            self._run, self._run_arguments, self._classes = run, arguments, known
        if self._classes is None:
            codes = np.ascontiguousarray(y, dtype=np.float64)
        elif sample_weight is not None and not np.all(sample_weight > 0):
            # Classes of samples that do not count need not be known.
            used = sample_weight > 0
            codes = np.zeros(len(y))
            codes[used] = self._encode(y[used], self._classes)[0]
        else:
            codes, _ = self._encode(y, self._classes)
        order = None
        # Missing values that are an error are named by their row, so rows stay as they are.
        if shuffle and (self.missing != "error" or _inputs.is_finite(packed)):
            key = _order.keys(packed, codes, self._seed())
            order, sample_weight = _order.steps(key, sample_weight)
            codes = codes[order]
        if order is None and sample_weight is not None and self._counts_rows(sample_weight):
            times = sample_weight.astype(np.int64)
            order, sample_weight = np.repeat(np.arange(len(times)), times), None
            codes = codes[order]
        with self._reporter() as report:
            self._run.push(packed, codes, sample_weight, order, not reset, report)

    def _counts_rows(self, sample_weight) -> bool:
        """Whether whole weights are rows that come several times, for a method that counts rows."""
        return False

    @staticmethod
    def _used(packed, sample_weight):
        """The rows that have a weight."""
        if sample_weight is None or np.all(sample_weight > 0):
            return packed
        used = np.flatnonzero(sample_weight > 0)
        if packed[0] == "dense":
            return ("dense", packed[1][used])
        form, across, start, index, data = packed
        x = sparse.csr_array((data, index, start), shape=(len(start) - 1, across))
        return _inputs.pack(x[used], "csr")

    def _asked(self, names, k=None) -> str:
        """The request for `k` features, with the names of those that are always kept."""
        method = {} if k is None else {"k": k}
        if getattr(self, "always", None) is not None:
            method["always"] = [self._name(feature, names) for feature in self.always]
        return self._request(method=method, notes=self._notes)

    def _look(self) -> dict:
        return json.loads(self._run.result())

    @property
    def n_samples_seen_(self) -> int:
        check_is_fitted(self)
        return self._run.used()

    _attributes = (("n_samples_seen_", "int", "Rows that were learnt from."),)


class SequentialSelector(SampleSelector):
    """Base of the methods that learn from one row after the other."""

    _own = {
        "shuffle": (
            True,
            ["boolean"],
            "bool",
            "Whether `fit` takes the rows in an order drawn from `random_state` and their values, "
            "so that it does not matter how they were given: a weight of w is then w steps, and "
            "equal rows come one after the other. If False, rows come as they are, as on the "
            "command line, and a weight makes one longer step. `partial_fit` never shuffles, nor "
            "does `keepnet.select` with files and streams.",
        )
    }


class AveragesMixin:
    """Merging and extracting, for methods on running averages."""

    # Rules that move every weight cannot keep a feature apart; running averages can.
    _own = {"always": COMMON["always"]}

    def averages(self) -> bytes:
        """The running averages, as a file of `keepnet merge` and `keepnet extract`.

        Returns
        -------
        averages : bytes
            Everything a selection needs, without the data: names, means, products.
        """
        check_is_fitted(self)
        return self._run.averages()

    def load_averages(self, averages):
        """Take up running averages in place of rows.

        Parameters
        ----------
        averages : bytes
            What `averages` or the command line wrote.

        Returns
        -------
        self : object
            The estimator, as if it had learnt from those rows.
        """
        self._validate_params()
        averages, names, classes = _keepnet.merge_averages([averages])
        mine = self.__dict__.get("_classes")
        known = np.array(classes) if classes else None
        if mine is not None and self._class_names(mine) == classes:
            known = mine
        plain = [f"x{j}" for j in range(len(names))]
        self.n_features_in_ = len(names)
        if names != plain:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._notes = []
        self._run_arguments = (self._asked(names), names, classes or None)
        self._run = self._new_run(*self._run_arguments)
        self._run.load(averages)
        self._classes, self._result = known, None
        return self

    def merge(self, *others):
        """Add what other estimators have learnt, as if their rows had come here.

        Parameters
        ----------
        *others : estimators or bytes
            Estimators on the same features, or their `averages`.

        Returns
        -------
        self : object
            The estimator.
        """
        parts = [other if isinstance(other, bytes) else other.averages() for other in others]
        merged, _, _ = _keepnet.merge_averages([self.averages(), *parts])
        return self.load_averages(merged)

    def extract(self, k=None, estimator=None):
        """A selection from the running averages, without the data.

        Parameters
        ----------
        k : int or None, default=None
            Features to keep; None leaves the number to the method.
        estimator : estimator or None, default=None
            Another method on running averages to extract with; None is this one.

        Returns
        -------
        selector : estimator
            A fitted estimator; this one stays as it is.
        """
        other = clone(self if estimator is None else estimator).set_params(k=k)
        other._classes = self._classes
        return other.load_averages(self.averages())
