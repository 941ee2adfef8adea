"""Columns over a cluster: parts select, a driver puts together, rounds of exact tests end it.

`_parts.py` has the tasks, and says what an engine has to offer.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _check_y, column_or_1d

from keepnet import _keepnet
from keepnet._parts import (
    ERRORS,
    Failure,
    engine_of,
    first_task,
    names_task,
    part_of,
    round_task,
)

# How often a step is done again after a worker was lost.
REPEATS = 3
_MAGIC = b"keepnet cluster 1\n"


class Target(NamedTuple):
    """The problem as bytes, its rows, classes, and columns of the parts that are no features."""

    problem: bytes
    rows: int
    classes: np.ndarray | None
    left_out: list


class Driver:
    """One run over parts."""

    def __init__(self, engine, parts, data, target: Target, method, k, c, top, tol, rounds, checkpoint):
        self.engine, self.parts, self.data, self.target = engine, parts, data, target
        self.k, self.top, self.tol, self.rounds = k, top or k, tol, rounds
        self.method = method
        self.request = self._request(k)
        self.scans = method.scans or method._info["scans"]
        self.threads = method.n_jobs
        self.checkpoint = checkpoint
        self.notes, self.bytes, self.under_way = [], 0, []
        ck = c * k
        if ck >= target.rows > k:
            ck = target.rows - 1
            self.notes.append(f"c k is {c * k} with {target.rows} rows; each part selects {ck} features")
        self.part_requests = (self._request(ck, 1), self._request(k, 1))
        self.driver = _keepnet.Shard(self.request, target.problem, 0)
        # Of the run; what a checkpoint has beside the model.
        self.state = {
            "firsts": [], "features": [], "round": 0, "exchanges": 0, "certificate": False,
            "done": False, "scans": 0, "losses": [], "returned": [], "seconds": [], "arrived": [], "substitutions": [],
            "bytes": 0, "counts": [0, 0], "read": 0.0, "select": 0.0,
        }  # fmt: skip

    def _request(self, k, threads=None):
        method = clone(self.method).set_params(k=k)
        if threads is not None and (method.n_jobs is None or method.n_jobs < 1):
            # A worker runs a task for each of its own threads.
            method.set_params(n_jobs=threads)
        return method._request(**method._feature_request(None, None, None))

    def run(self, report):
        """The whole run; the result as a dict."""
        try:
            if not self._resume():
                self._begin()
            self._tell(report)
            while not self.state["done"]:
                self._round()
                self._save()
                if self._tell(report) and not self.state["done"]:
                    self.notes.append("ended by the callback before a round without an exchange")
                    break
        except BaseException:
            self.engine.cancel(self.under_way)
            raise
        return self._result()

    # -- a step over all parts

    def _each(self, task):
        """Runs `task(at)`'s arguments for every part; again where a worker was lost."""
        for repeat in range(REPEATS + 1):
            try:
                self.under_way = [self.engine.submit(*task(at)) for at in range(len(self.parts))]
                reports = self.engine.gather(self.under_way)
            except self.engine.lost as error:
                if repeat == REPEATS:
                    what = f"workers were lost {REPEATS + 1} times in one step"
                    raise RuntimeError(f"{what}; the last time: {error!r}") from error
                self.engine.renew()
                self._forget()
                continue
            finally:
                self.under_way = []
            self._own_errors(reports)
            return reports
        raise AssertionError("the loop returns or raises")

    def _own_errors(self, reports):
        for at, report in enumerate(reports):
            if isinstance(report, Failure):
                known = {kind.__name__: kind for kind in ERRORS}
                label = self.parts[at].label
                where = f"part {at}" if label == f"part {at}" else f"part {at} ({label})"
                raise known.get(report.kind, RuntimeError)(f"{where}: {report.text}")

    def _forget(self):
        """What workers were sent is sent again."""
        self.shared, self.bundles, self.places = None, [], {}

    def _problem(self):
        if self.shared is None:
            self.shared = self._send(self.target.problem, len(self.target.problem))
        return self.shared

    def _send(self, value, size):
        self.bytes += size * len(self.parts)
        return self.engine.broadcast(value)

    # -- first step: each part selects, the driver selects from the union

    def _begin(self):
        self._forget()
        left_out, request = self.target.left_out, self.part_requests[0]

        def task(at):
            part = (self.parts[at], self._data(at))
            return first_task, *part, request, left_out, self.scans, self._problem()

        reports = self._each(task)
        features = [report.seen[0] for report in reports]
        for at, count in enumerate(features):
            if count == 0:
                raise ValueError(f"part {at} ({self.parts[at].label}) has no columns")
        self._unique(reports)
        firsts = [0, *np.cumsum(features).tolist()][:-1]
        union = []
        for first, report in zip(firsts, reports, strict=True):
            union += [_keepnet.moved_column(raw, first + place) for place, _, _, raw in report.columns]
        self.bytes += sum(len(raw) for report in reports for *_, raw in report.columns)
        self.driver.solve(union, self.scans)
        self.state.update(firsts=firsts, features=features, scans=self.scans)
        self._count(reports)
        if self.rounds == 0:
            self.state["done"] = True

    def _data(self, at):
        return None if self.data is None else self.data[at]

    def _unique(self, reports):
        """Refuses a name that two columns have."""
        hashes = np.concatenate([np.frombuffer(report.names, "<u8") for report in reports])
        self.bytes += hashes.nbytes
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        if not len(same):
            return
        # A hash may be that of two names: the names themselves decide.
        ends = np.cumsum([len(report.names) // 8 for report in reports])
        for at in same[:16]:
            found = []
            for place in sorted(order[at : at + 2].tolist()):
                part = int(np.searchsorted(ends, place, side="right"))
                local = place - (ends[part - 1] if part else 0)
                arguments = (self.part_requests[1], self.target.left_out, self._problem(), [int(local)])
                handle = self.engine.submit(names_task, self.parts[part], self._data(part), *arguments)
                name = self.engine.gather([handle])[0]
                self._own_errors([name] if isinstance(name, Failure) else [])
                found.append((part, name[0]))
            (low, a), (high, b) = found
            if a == b:
                where = f"part {high} and part {low} both have" if low != high else f"part {low} has twice"
                raise ValueError(f"{where} {a!r}; names are unique over all parts")

    def _count(self, reports):
        state = self.state
        state["counts"] = [sum(report.seen[i] for report in reports) for i in (1, 2)]
        state["read"] += sum(report.read for report in reports)
        state["select"] += sum(report.seconds - report.read for report in reports)
        state["arrived"].append(state["scans"] * sum(state["features"]))
        state["losses"].append(self.driver.loss())
        state["substitutions"].append(self.driver.substitutions())
        state["returned"].append(sum(len(report.columns) for report in reports))
        state["seconds"].append(max(report.seconds for report in reports))

    # -- a round

    def _model(self):
        """The model for workers: handles of columns, in which bundle each is, and the outline.

        Columns that workers have are not sent again.
        """
        held = self.driver.held()
        new = [(place, raw) for place, _, _, raw in held if place not in self.places]
        if new:
            size = sum(len(raw) for _, raw in new)
            self.bundles.append(self._send([raw for _, raw in new], size))
            for at, (place, _) in enumerate(new):
                self.places[place] = (len(self.bundles) - 1, at)
        kept = {place for place, *_ in held}
        self.places = {place: at for place, at in self.places.items() if place in kept}
        used = sorted({bundle for bundle, _ in self.places.values()})
        # What is in none of the model's columns may go from the workers' memory.
        self.bundles = [handle if at in used else None for at, handle in enumerate(self.bundles)]
        renumbered = {bundle: at for at, bundle in enumerate(used)}
        order = [(renumbered[self.places[place][0]], self.places[place][1]) for place, *_ in held]
        return order, [self.bundles[bundle] for bundle in used]

    def _round(self):
        state, left_out = self.state, self.target.left_out
        for repeat in range(REPEATS + 1):
            outline = self.driver.outline()
            sent = {}

            def task(at, outline=outline, sent=sent):
                # What was lost is sent again, with the first task of each attempt.
                if not self.places or "model" not in sent:
                    sent["model"] = self._model()
                    sent["outline"] = self._send(outline, len(outline))
                order, bundles = sent["model"]
                settings = (self.part_requests[1], left_out, state["firsts"][at], self.top, self.tol)
                part = (self.parts[at], self._data(at))
                return round_task, *part, *settings, order, self._problem(), sent["outline"], *bundles

            reports = self._each(task)
            seen = [report.seen[0] for report in reports]
            if seen == state["features"]:
                break
            if repeat == REPEATS:
                at = next(i for i, count in enumerate(seen) if count != state["features"][i])
                what = f"part {at} ({self.parts[at].label}) has {seen[at]} columns"
                raise RuntimeError(f"{what}, where it had {state['features'][at]} before")
        columns = [raw for report in reports for *_, raw in report.columns]
        self.bytes += sum(map(len, columns))
        made = self.driver.exchange(columns, self.tol) if columns else 0
        state["round"] += 1
        state["scans"] += 1
        state["exchanges"] += made
        self._count(reports)
        if made == 0:
            state.update(certificate=True, done=True)
        elif state["round"] >= self.rounds:
            state["done"] = True

    def _tell(self, report) -> bool:
        if report is None:
            return False
        state = self.state
        arrived = {"arrived": state["scans"] * sum(state["features"]), "total": None}
        more = {"substitutions": self.driver.substitutions(), "bytes": self.bytes + state["bytes"]}
        kept = len(self.driver.held())
        loss = state["losses"][-1] if state["losses"] else None
        return report({"scan": state["scans"], "scans": None, "kept": kept, "loss": loss, **arrived, **more})

    # -- between rounds

    def _identity(self) -> dict:
        parts = [part.label for part in self.parts]
        problem = zlib.crc32(self.target.problem)
        settings = [self.request, self.k, self.top, self.tol, self.part_requests[0]]
        return {"version": _keepnet.__version__, "parts": parts, "problem": problem, "settings": settings}

    def _save(self):
        if self.checkpoint is None:
            return
        state = self.state | {"bytes": self.bytes + self.state["bytes"]}
        head = json.dumps({"identity": self._identity(), "state": state}).encode()
        body = _MAGIC + len(head).to_bytes(8, "little") + head + self.driver.save()
        folder = os.path.dirname(os.path.abspath(self.checkpoint))
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(body + zlib.crc32(body).to_bytes(4, "little"))
        os.replace(file.name, self.checkpoint)

    def _resume(self) -> bool:
        if self.checkpoint is None or not os.path.exists(self.checkpoint):
            return False
        with open(self.checkpoint, "rb") as file:
            whole = file.read()
        body, crc = whole[:-4], whole[-4:]
        afresh = "remove the file to start afresh"
        start = len(_MAGIC) + 8
        if not body.startswith(_MAGIC) or zlib.crc32(body).to_bytes(4, "little") != crc or len(body) < start:
            raise ValueError(f"{self.checkpoint} is no checkpoint of a cluster, or damaged; {afresh}")
        end = start + int.from_bytes(body[len(_MAGIC) : start], "little")
        head = json.loads(body[start:end])
        if head["identity"] != self._identity():
            differs = [key for key, value in self._identity().items() if head["identity"].get(key) != value]
            raise ValueError(f"{self.checkpoint} belongs to another run ({', '.join(differs)} differ); {afresh}")
        self._forget()
        self.driver.restore(body[end:])
        self.state = head["state"]
        if not self.state["certificate"]:
            self.state["done"] = self.state["round"] >= self.rounds
        return True

    # -- the result

    def _result(self) -> dict:
        state = self.state
        trace = zip(state["arrived"], state["losses"], state["substitutions"], strict=True)
        kept = len(self.driver.held())
        end = {
            "sources": [part.label for part in self.parts],
            "firsts": state["firsts"],
            "features": sum(state["features"]),
            "constant": state["counts"][0],
            "missing": state["counts"][1],
            "scans": state["scans"],
            "rounds": state["round"],
            "exchanges": state["exchanges"],
            "certificate": state["certificate"],
            "trace": [[arrived, loss, kept, made] for arrived, loss, made in trace],
            "read": state["read"],
            "select": state["select"],
        }
        result = json.loads(self.driver.result(json.dumps(end)))
        result["metrics"] |= {"round_loss": state["losses"], "round_columns": state["returned"]}
        result["run"]["round_seconds"] = state["seconds"]
        result["cluster"] = {
            "parts": len(self.parts),
            "rounds": state["round"],
            "exchanges": state["exchanges"],
            "certificate": state["certificate"],
            "certificate_kind": result["metrics"]["certificate_kind"],
            "bytes": self.bytes + state["bytes"],
            "features_seen": sum(state["features"]),
        }
        if not state["certificate"]:
            if self.rounds == 0:
                why = "rounds=0 leaves the tournament alone, which is no method of its own"
            elif state["round"] >= self.rounds:
                why = f"{self.rounds} rounds were not enough to end"
            else:
                why = "the run ended before a round without an exchange"
            self.notes.append(f"no certificate: {why}")
        result["warnings"] += self.notes
        result["complete"] = state["done"]
        if self.checkpoint is not None and state["done"] and os.path.exists(self.checkpoint):
            os.remove(self.checkpoint)
        return result


# -- the calls


def whole(value, name, least=1):
    """Refuses what is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}, expected a whole number of at least {least}")
    return int(value)


def checked(method, k):
    """A copy of the method with `k`, refused where parts cannot do what it asks for."""
    from keepnet.features import OSPlus

    method = OSPlus() if method is None else clone(method)
    if not isinstance(method, OSPlus):
        raise TypeError(f"method is {type(method).__name__}; parts are selected from by OSPlus alone")
    if not isinstance(method.order, str) or method.order != "given":
        raise ValueError("order has no effect over parts: each is read as it is given; leave it out")
    if method.scans == "rest":
        raise ValueError("scans='rest' is what the rounds do over parts; leave it out")
    if any(not isinstance(name, str) for name in method.always or ()):
        raise ValueError("always takes names over parts, no places")
    method.set_params(k=whole(k, "k"))
    method._validate_params()
    return method


def target_of(method, y, sample_weight) -> Target:
    """The problem of a target in memory."""
    y = _check_y(np.asarray(y), multi_output=False, y_numeric=False, estimator=method)
    codes, classes = method._encode(y)
    if sample_weight is not None:
        sample_weight = np.ascontiguousarray(column_or_1d(sample_weight), dtype=np.float64)
        if len(sample_weight) != len(y):
            raise ValueError(f"sample_weight has {len(sample_weight)} rows, y has {len(y)}")
    balanced = method.class_weight == "balanced" and classes is not None
    names = method._class_names(classes)
    problem = _keepnet.cluster_problem(codes, names, sample_weight, balanced)
    return Target(problem, len(y), classes, [])


def select(
    engine,
    parts,
    y,
    k=10,
    *,
    c=1,
    top=None,
    tol=1e-9,
    rounds=50,
    method=None,
    sample_weight=None,
    checkpoint=None,
    data: list | None = None,
    target: Callable | None = None,
):
    """See `keepnet.cluster.select`; `data` has a value for each part that its tasks are given."""
    method = checked(method, k)
    c, rounds = whole(c, "c"), whole(rounds, "rounds", 0)
    top = None if top is None else whole(top, "top")
    if not 0 <= float(tol) < 1:
        raise ValueError(f"tol is {tol!r}, expected a share of the loss from 0 to 1")
    parts = [part_of(at, part) for at, part in enumerate(parts)]
    if not parts:
        raise ValueError("there are no parts")
    problem = target(method) if target is not None else target_of(method, y, sample_weight)
    driver = Driver(
        engine_of(engine), parts, data, problem, method, method.k, c, top, float(tol), rounds, checkpoint
    )
    with method._reporter() as report:
        result = driver.run(report)
    for warning in result["warnings"]:
        warnings.warn(warning, UserWarning, stacklevel=3)
    method._classes, method._result, method._streamed = problem.classes, result, True
    method.n_features_in_ = result["features_seen"]
    return method
