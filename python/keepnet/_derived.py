"""Features that are made of a column: `NAME:missing`, and `NAME=LEVEL` of a text column.

The engine makes them while it reads (`missing='indicator'`, `categorical='onehot'`); here they
are made again of what `transform` is given.
"""

from __future__ import annotations

import numpy as np

from keepnet import _inputs

MISSING = ":missing"


def is_missing(values: np.ndarray) -> np.ndarray:
    """Where a value is missing: NaN, infinite, or none at all."""
    if values.dtype.kind == "f":
        return ~np.isfinite(values)
    if values.dtype.kind == "O":
        # None, and NaN or NA, which do not equal themselves.
        return np.array([v is None or not bool(np.all(_equal(v, v))) for v in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _equal(a, b):
    try:
        return bool(a == b)
    except TypeError:  # pandas.NA has no truth
        return False


def feature(table, names: list[str], name: str) -> np.ndarray | None:
    """The values of a feature by its name; None where the table has nothing to make it of."""
    if name in names:
        return _inputs.column(table, name)
    if name.endswith(MISSING):
        base = feature(table, names, name[: -len(MISSING)])
        return None if base is None else is_missing(base).astype(np.float64)
    for at in (at for at, letter in enumerate(name) if letter == "="):
        if name[:at] in names:
            values = _inputs.column(table, name[:at])
            here = np.array([float(str(value) == name[at + 1 :]) for value in values])
            return np.where(is_missing(values), np.nan, here)
    return None


def numbers(name: str, values: np.ndarray) -> np.ndarray:
    """One column as floats."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        text = f"column {name!r} is text, and the codes that stood for it are not kept"
        raise ValueError(f"{text}; use categorical='onehot'") from None
