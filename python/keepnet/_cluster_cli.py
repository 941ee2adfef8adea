"""`python -m keepnet.cluster select FILES... --target SPEC -k K`: a run over parts from a shell."""

from __future__ import annotations

import argparse
import contextlib
import glob
import json
import os
import sys
import tempfile
import time

import numpy as np

from keepnet import _cluster, _keepnet
from keepnet._select import _estimator

_PROBLEM = ("sample_weight", "offset", "covar")


def _value(text: str):
    """A setting as its type: the engine reads text by itself, Python's constraints do not."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _setting(text: str) -> tuple[str, object]:
    name, mark, value = text.partition("=")
    if not mark:
        raise argparse.ArgumentTypeError(f"{text!r} is no KEY=VALUE")
    return name.replace("-", "_"), _value(value)


def parser() -> argparse.ArgumentParser:
    """The flags."""
    out = argparse.ArgumentParser(prog="python -m keepnet.cluster", description=__doc__)
    select = out.add_subparsers(dest="command", required=True).add_parser(
        "select", help="select features; each file is a part"
    )
    add = select.add_argument
    add("files", nargs="+", metavar="FILE", help="files or globs with the same rows; each file is a part")
    add("--target", required=True, metavar="SPEC", help="a column of a part, a file, or FILE:COLUMN")
    add("-k", type=int, required=True, metavar="K", help="features to keep")
    add("--scheduler", metavar="ADDRESS", help="a Dask scheduler [default: processes of this machine]")
    add("--workers", type=int, metavar="N", help="processes without --scheduler [default: all cores]")
    add("--output", metavar="FILE", help="the result as JSON; it appears whole or not at all")
    add("--checkpoint", metavar="FILE", help="the driver's state after each round; the same command resumes")
    add("--c", type=int, default=1, metavar="C", help="each part first selects C K features [default: 1]")
    add("--top", type=int, metavar="N", help="columns that a part returns in a round [default: K]")
    add("--tol", type=float, default=1e-9, metavar="SHARE", help="least fall of the loss [default: 1e-9]")
    add("--rounds", type=int, default=50, metavar="N", help="most rounds [default: 50]")
    add("--loss", metavar="NAME", help="as of keepnet select")
    add("--task", default="auto", metavar="NAME", help="auto, regression or classification")
    add("--set", type=_setting, action="append", default=[], metavar="KEY=VALUE", help="a setting of os-plus")
    add("--always", metavar="NAMES", help="features kept whatever happens, with commas between them")
    add("--missing", default="error", metavar="WAY", help="as of keepnet select")
    add("--sample-weight", metavar="SPEC", help="as of keepnet select")
    add("--offset", metavar="SPEC", help="as of keepnet select")
    add("--covar", metavar="SPEC", help="as of keepnet select")
    add("--class-weight", metavar="WAY", help="balanced, or nothing")
    add("--progress", default="text", choices=["text", "json", "none"], help="lines on standard error")
    return out


def _files(given: list[str]) -> list[str]:
    files = []
    for name in given:
        found = sorted(glob.glob(name)) if glob.has_magic(name) and not os.path.exists(name) else [name]
        if not found or not all(map(os.path.exists, found)):
            raise FileNotFoundError(f"{name}: there is no such file")
        files += map(os.path.abspath, found)
    return files


def _target(arguments, files):
    """How the problem is found once the method is known: in the files, or beside them."""

    def target(method):
        problem = {"target": arguments.target, "task": arguments.task}
        given = {name: getattr(arguments, name) for name in _PROBLEM}
        problem |= {name: value for name, value in given.items() if value is not None}
        if arguments.class_weight is not None:
            problem["class_weight"] = arguments.class_weight
        # The part that has the target; any, where it is in a file of its own.
        first = None
        for file in files:
            request = method._request(input={"inputs": [file]}, problem=problem)
            try:
                raw, rows, classes, left_out = _keepnet.cluster_problem_of_files(request)
            except (ValueError, OSError) as error:
                first = first or error
                continue
            names = None if classes is None else np.array(classes)
            return _cluster.Target(raw, rows, names, left_out)
        raise first

    return target


@contextlib.contextmanager
def _engine(arguments):
    """The scheduler that was named, or processes of this machine."""
    if arguments.scheduler is None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        # A process that is forked has none of its parent's threads.
        with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn")) as pool:
            yield pool
        return
    if arguments.workers is not None:
        raise ValueError("--workers has no effect with --scheduler, which has its own")
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("--scheduler needs Dask: pip install distributed") from None
    from keepnet.dask import _Dask

    with Client(arguments.scheduler, timeout="30s") as client:
        yield _Dask(client)


def _progress(kind):
    """Prints a line for each step."""
    if kind == "none":
        return None
    start = time.monotonic()

    def show(seen):
        seconds = round(time.monotonic() - start, 3)
        if kind == "json":
            line = {"scan": seen.scan, "scans": None, "arrived": seen.arrived, "kept": seen.kept}
            line |= {"loss": seen.loss, "substitutions": seen.substitutions, "bytes": seen.bytes}
            print(json.dumps(line | {"seconds": seconds}), file=sys.stderr, flush=True)
        else:
            said = f"scan {seen.scan}: kept {seen.kept}, loss {seen.loss:.6g}, {seen.bytes / 1e6:.1f} MB moved"
            print(f"{said}, {seconds:.1f} s", file=sys.stderr, flush=True)
        return False

    return show


def _write(path, text):
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)


def _select(arguments):
    files = _files(arguments.files)
    options = dict(arguments.set) | {"loss": arguments.loss, "missing": arguments.missing, "task": arguments.task}
    if arguments.always:
        options["always"] = arguments.always.split(",")
    if arguments.output and not os.path.isdir(os.path.dirname(os.path.abspath(arguments.output))):
        raise FileNotFoundError(f"{arguments.output}: there is no such folder")
    method = _estimator("os-plus", arguments.k, options)
    method.set_params(callback=_progress(arguments.progress))
    names = ("c", "top", "tol", "rounds", "checkpoint")
    more = {name: getattr(arguments, name) for name in names}
    with _engine(arguments) as engine:
        target = _target(arguments, files)
        return _cluster.select(engine, files, None, arguments.k, method=method, target=target, **more)


def main(given=None) -> int:
    """Runs the command; 0, 1 after an error, 2 after a wrong call, 130 after Ctrl-C."""
    import warnings

    arguments = parser().parse_args(given)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = _select(arguments)
    except KeyboardInterrupt:
        print("keepnet: interrupted; nothing was written", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, MemoryError, RuntimeError) as error:
        print(f"keepnet: {error}", file=sys.stderr)
        return 1
    result = selector.result_
    result["run"]["command"] = " ".join(["python -m keepnet.cluster", *(given or sys.argv[1:])])
    for warning in result["warnings"]:
        print(f"keepnet: warning: {warning}", file=sys.stderr)
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    if arguments.output:
        _write(arguments.output, text)
    else:
        sys.stdout.write(text)
    return 0
