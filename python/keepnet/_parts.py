"""Parts of a run over a cluster, the tasks on them, and the engines that need no package.

What an engine has to offer is an object with

    submit(function, *arguments)     a handle of the result; handles among the arguments come as
                                     what they stand for
    gather(handles)                  the results, in the order of the handles
    broadcast(value)                 a handle of a value that every worker will ask for
    cancel(handles)                  gives up what is under way
    lost                             exceptions that say that a worker or its memory is gone
    renew()                          called before what was lost is sent again

A task has no state outside its arguments, so an engine may run it again.
"""

from __future__ import annotations

import json
import os
import time
from typing import NamedTuple

from keepnet import _inputs, _keepnet

ERRORS = (FileNotFoundError, PermissionError, MemoryError, TypeError, IndexError, OSError, ValueError)


class Part(NamedTuple):
    """One part: a name for messages, and how a task gets its columns."""

    label: str
    kind: str
    what: object


class Failure(NamedTuple):
    """An error of a part's own."""

    kind: str
    text: str


class Report(NamedTuple):
    """What a task found: counts, columns as (place, name, fall, bytes), seconds."""

    seen: tuple[int, int, int]
    columns: list
    names: bytes
    read: float
    seconds: float


# -- parts


def part_of(at: int, given) -> Part:
    """A part as the user gives it."""
    if isinstance(given, Part):
        return given
    if callable(given):
        return Part(f"part {at}", "blocks", given)
    if isinstance(given, (str, os.PathLike)):
        return Part(os.fspath(given), "files", ([os.fspath(given)], None))
    if isinstance(given, tuple) and len(given) == 2 and not _are_paths(given):
        path, columns = given
        paths = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else list(map(os.fspath, path))
        if isinstance(columns, range):
            if columns.step != 1 or columns.start < 0:
                raise ValueError(f"part {at}: a range of columns has steps of 1, got {columns}")
            return Part(f"{paths[0]}, columns {columns.start} to {columns.stop}", "files", (paths, columns))
        return Part(paths[0], "files", (paths, [str(name) for name in columns]))
    if isinstance(given, (list, tuple)) and given and _are_paths(given):
        paths = list(map(os.fspath, given))
        return Part(paths[0], "files", (paths, None))
    kind = type(given).__name__
    raise TypeError(f"part {at} is {kind}; a part is a path, (path, columns), a list of paths or a callable")


def _are_paths(given) -> bool:
    return all(isinstance(path, (str, os.PathLike)) for path in given)


def _feed(shard, part: Part, data) -> None:
    """Offers every column of a part once."""
    if part.kind == "files":
        paths, columns = part.what
        place, only = None, None
        if isinstance(columns, range):
            place = (columns.start, columns.stop)
        elif columns is not None:
            only = columns
        request = {"inputs": paths} | ({} if only is None else {"columns": only})
        shard.push_files(json.dumps(request), place)
        return
    blocks = [(part.what, data)] if part.kind == "array" else part.what()
    for block in blocks:
        names, packed, count, _ = _inputs.block(block)
        if names is None:
            raise ValueError("its columns have no names; give (names, block) or a table")
        if len(names) != count:
            raise ValueError(f"{count} columns came with {len(names)} names")
        shard.push(packed, names)


# -- tasks, which run on workers


def _guarded(task, *arguments):
    """A result, or the failure of the part itself; what ends a process is for the engine."""
    try:
        return task(*arguments)
    except Exception as error:
        kind = next((known.__name__ for known in ERRORS if isinstance(error, known)), "RuntimeError")
        return Failure(kind, f"{error}" if kind != "RuntimeError" else f"{type(error).__name__}: {error}")


def first_task(part: Part, data, request: str, left_out: list, scans: int, problem: bytes):
    """`os-plus` on the columns of one part."""
    return _guarded(_first, part, data, request, left_out, scans, problem)


def _first(part, data, request, left_out, scans, problem):
    start = time.perf_counter()
    shard = _keepnet.Shard(request, problem, 0)
    shard.leave_out(left_out)
    for _ in range(scans):
        shard.rewind()
        _feed(shard, part, data)
    seconds = time.perf_counter() - start
    return Report(shard.seen(), shard.kept(), shard.names(), shard.read_seconds(), seconds)


def round_task(part: Part, data, request, left_out, first, top, tol, order, problem, outline, *bundles):
    """An exact test of each column of one part against the model."""
    return _guarded(_round, part, data, request, left_out, first, top, tol, order, problem, outline, bundles)


def _round(part, data, request, left_out, first, top, tol, order, problem, outline, bundles):
    start = time.perf_counter()
    shard = _keepnet.Shard(request, problem, first)
    shard.leave_out(left_out)
    shard.redraw(bytes(outline), [bundles[bundle][at] for bundle, at in order])
    shard.test(top, tol)
    _feed(shard, part, data)
    seconds = time.perf_counter() - start
    return Report(shard.seen(), shard.found(), b"", shard.read_seconds(), seconds)


def names_task(part: Part, data, request, left_out, problem: bytes, places: list):
    """The names at some places of a part."""
    return _guarded(_names, part, data, request, left_out, problem, places)


def _names(part, data, request, left_out, problem, places):
    shard = _keepnet.Shard(request, problem, 0)
    shard.leave_out(left_out)
    shard.look_at(places)
    _feed(shard, part, data)
    return shard.looked_at()


# -- the engines that need no package


class Serial:
    """Tasks one after the other, in this process."""

    lost: tuple = ()

    def submit(self, function, *arguments):
        return function(*arguments)

    def gather(self, handles):
        return list(handles)

    def broadcast(self, value):
        return value

    def cancel(self, handles):
        pass

    def renew(self):
        pass


class Pool(Serial):
    """An executor of `concurrent.futures`, or anything with `submit` whose futures have `result`."""

    def __init__(self, executor):
        self.executor = executor

    def submit(self, function, *arguments):
        return self.executor.submit(function, *arguments)

    def gather(self, handles):
        return [handle.result() for handle in handles]

    def cancel(self, handles):
        for handle in handles:
            handle.cancel()


def engine_of(executor):
    """What the driver works with, of what the user gave."""
    if executor is None:
        return Serial()
    if all(hasattr(executor, name) for name in ("submit", "gather", "broadcast")):
        return executor
    if hasattr(executor, "submit"):
        return Pool(executor)
    raise TypeError(f"{type(executor).__name__} is no executor: it has no submit")
