"""Where a run stands: for callbacks, and as a bar."""

from __future__ import annotations

import sys
from typing import NamedTuple


class Progress(NamedTuple):
    """Where a run stands, as a callback sees it.

    Attributes
    ----------
    scan : int
        The scan under way, from 0.
    scans : int or None
        Scans asked for; None where there are as many as it takes.
    arrived : int
        Features or rows that have arrived, over all scans.
    total : int or None
        Features or rows of all scans, where that is known.
    kept : int
        Features in the model.
    loss : float or None
        Loss of the model, where the method has one.
    substitutions : int
        Features that replaced another.
    bytes : int
        Bytes that the method holds.
    """

    scan: int
    scans: int | None
    arrived: int
    total: int | None
    kept: int
    loss: float | None
    substitutions: int
    bytes: int


class _Plain:
    """A bar for those without tqdm: a line that is written over."""

    def __init__(self, total, desc):
        self.n, self.total, self.desc, self.note = 0, total, desc, ""

    def set_postfix_str(self, note, refresh=False):
        self.note = note

    def update(self, more):
        self.n += more
        share = f"{100 * self.n / self.total:3.0f}%" if self.total else f"{self.n}"
        sys.stderr.write(f"\r{self.desc}: {share} {self.note}")
        sys.stderr.flush()

    def close(self):
        sys.stderr.write("\n")


def _bar(total, desc):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Plain(total, desc)
    return tqdm(total=total, desc=desc, unit_scale=True)


class Reporter:
    """Hands progress to the user's callback and to a bar."""

    def __init__(self, name, verbose, callback):
        self.name, self.verbose, self.callback = name, verbose, callback
        self.bar = None

    def __enter__(self):
        return self if self.verbose or self.callback else None

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()

    def __call__(self, seen: dict):
        progress = Progress(**seen)
        if self.verbose:
            if self.bar is None:
                self.bar = _bar(progress.total, self.name)
            loss = "" if progress.loss is None else f", loss {progress.loss:.4g}"
            self.bar.set_postfix_str(f"{progress.kept} kept{loss}", refresh=False)
            self.bar.update(progress.arrived - self.bar.n)
        return bool(self.callback(progress)) if self.callback is not None else False
