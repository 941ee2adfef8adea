"""Arrays, sparse matrices and tables in the forms that the engine takes.

Dense columns of f32 and f64 are handed over in place. Tables of polars and pyarrow go column by
column, so no copy of the whole is made.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_y, validate_data


def _is(module: str, name: str, x) -> bool:
    """Whether `x` is an instance of a class of a module that may not be installed."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(x, getattr(loaded, name))


def is_polars(x) -> bool:
    """Whether it is a polars DataFrame."""
    return _is("polars", "DataFrame", x)


def is_arrow(x) -> bool:
    """Whether it is a pyarrow Table or RecordBatch."""
    return _is("pyarrow", "Table", x) or _is("pyarrow", "RecordBatch", x)


def is_reader(x) -> bool:
    """Whether it is a pyarrow RecordBatchReader."""
    return _is("pyarrow", "RecordBatchReader", x)


def is_table(x) -> bool:
    """Whether columns have names: pandas, polars or pyarrow."""
    return _is("pandas", "DataFrame", x) or is_polars(x) or is_arrow(x)


def is_series(x) -> bool:
    """Whether it is one column with a name: a Series of pandas or polars."""
    return _is("pandas", "Series", x) or _is("polars", "Series", x)


def column_names(x) -> list[str] | None:
    """The names of a table's columns."""
    if is_arrow(x):
        return list(x.column_names)
    if is_table(x):
        return [str(name) for name in x.columns]
    return None


def column(x, name: str) -> np.ndarray:
    """One column of a table, by its name."""
    if is_polars(x):
        return x.get_column(name).to_numpy()
    if is_arrow(x):
        return np.asarray(x.column(name).to_numpy(zero_copy_only=False))
    return x.iloc[:, column_names(x).index(name)].to_numpy()


def _column(name, values) -> np.ndarray:
    """One column of a table as numbers."""
    if values.ndim != 1:
        what = f"column {name!r} holds arrays of shape {values.shape[1:]} and is no feature"
        raise TypeError(f"{what}; make a column of each of their values or leave it out")
    kind = values.dtype
    if kind.kind == "f" and kind.itemsize in (4, 8) or kind.kind in "biu":
        return values
    if kind.kind == "f":
        return values.astype(np.float64)
    if kind.kind == "O":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"column {name!r} is {kind} and no feature; encode it or leave it out")


def _no_text(x) -> None:
    """Names the columns of a pandas table that are no numbers."""
    if not _is("pandas", "DataFrame", x):
        return
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    text = []
    for at, kind in enumerate(x.dtypes):
        if is_numeric_dtype(kind) or is_bool_dtype(kind):
            continue
        try:
            np.asarray(x.iloc[:, at], dtype=np.float64)
            number = getattr(kind, "kind", "O") not in "mM"
        except (TypeError, ValueError):
            number = False
        if not number:
            text.append(str(x.columns[at]))
    if text:
        named = ", ".join(map(repr, text[:5])) + (", ..." if len(text) > 5 else "")
        what = f"column {named} holds" if len(text) == 1 else f"columns {named} hold"
        raise ValueError(f"{what} text or dates, not numbers; encode or leave out such columns")


def columns_of(x) -> tuple[list[str], tuple]:
    """Names and columns of a polars or pyarrow table, each in place where it can be."""
    names = column_names(x)
    if is_polars(x):
        arrays = [_column(name, x.get_column(name).to_numpy()) for name in names]
        return names, ("columns", x.height, arrays)
    arrays = []
    for name, column in zip(names, x.columns, strict=True):
        if hasattr(column, "combine_chunks"):
            column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        arrays.append(_column(name, np.asarray(column.to_numpy(zero_copy_only=False))))
    return names, ("columns", x.num_rows, arrays)


def whole_sparse(x) -> None:
    """Refuses a sparse matrix whose parts do not fit together.

    SciPy makes no such matrix, but its parts can be replaced, and both SciPy's conversions and
    the engine would then read what is not theirs. Formats that SciPy builds from Python objects
    (dok, lil, dia) are converted by it with checks of its own.
    """
    if x.ndim != 2:
        raise ValueError(f"a sparse matrix of two dimensions is needed, got {x.ndim}")
    if x.format not in ("csr", "csc", "bsr", "coo"):
        return
    block = x.blocksize if x.format == "bsr" else ()
    places = (x.row, x.col) if x.format == "coo" else (x.indptr, x.indices)
    flat = all(part.ndim == 1 and part.dtype.kind in "iu" for part in places)
    if not flat or x.data.ndim != 1 + len(block) or x.data.shape[1:] != tuple(block):
        raise ValueError("the sparse matrix is damaged: its parts have other dimensions or types")
    height, width = (n // step for n, step in zip(x.shape, block or (1, 1), strict=True))
    if x.format == "coo":
        stored, bounds = len(x.row), ((x.row, height), (x.col, width))
    else:
        lines, across = (width, height) if x.format == "csc" else (height, width)
        start = x.indptr
        if len(start) != lines + 1 or start[0] != 0 or np.any(start[:-1] > start[1:]):
            raise ValueError("the sparse matrix is damaged: indptr does not ascend from 0")
        stored, bounds = int(start[-1]), ((x.indices, across),)
    if any(len(part) < stored for part in (*(place for place, _ in bounds), x.data)):
        raise ValueError("the sparse matrix is damaged: indices or data are too short")
    for place, most in bounds:
        if stored and not 0 <= place[:stored].min() <= place[:stored].max() < most:
            raise ValueError(f"the sparse matrix is damaged: an index is not between 0 and {most}")


def dense(x: np.ndarray) -> np.ndarray:
    """An array of numbers that the engine can read."""
    if x.dtype.kind == "f" and x.dtype.itemsize not in (4, 8):
        return x.astype(np.float64)
    if not x.dtype.isnative:
        return x.astype(x.dtype.newbyteorder("="))
    return x


def pack(x, form: str) -> tuple:
    """A matrix as the engine takes it: dense, or sparse by columns or rows."""
    if not sparse.issparse(x):
        return ("dense", dense(x))
    x = x.tocsc() if form == "csc" else x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    data = x.data if x.data.dtype.kind == "f" else x.data.astype(np.float64)
    across = x.shape[0] if form == "csc" else x.shape[1]
    index = [part.astype(np.int64) if part.dtype.kind == "u" else part for part in (x.indptr, x.indices)]
    return (form, across, index[0], index[1], dense(data))


def different_rows(packed: tuple, most: int) -> int:
    """How many rows of a packed matrix differ, of which no more than `most` are counted."""
    rows = len(packed[2][0]) if packed[0] == "columns" else _height(packed)
    part = min(rows, 2 * most)
    while True:
        count = len(_row_bytes(packed, part))
        if count >= most or part == rows:
            return min(count, most)
        part = min(rows, 4 * part)


def _height(packed: tuple) -> int:
    if packed[0] == "csr":
        return len(packed[2]) - 1
    return packed[1].shape[0] if packed[0] == "dense" else packed[1]


def _row_bytes(packed: tuple, part: int) -> set[bytes]:
    """The first rows as bytes, each once; zeros are of one sign."""
    form = packed[0]
    if form == "dense":
        return {(row + 0.0).tobytes() for row in packed[1][:part]}
    if form == "columns":
        columns = [column[:part].astype(np.float64) + 0.0 for column in packed[2]]
        return {row.tobytes() for row in np.column_stack(columns)}
    across, start, index, data = packed[1:]
    kind, shape = sparse.csr_array, (len(start) - 1, across)
    if form == "csc":
        kind, shape = sparse.csc_array, shape[::-1]
    x = kind((data, index, start), shape=shape)[:part].tocsr()
    x.sort_indices()
    ends = zip(x.indptr[:-1], x.indptr[1:], strict=True)
    return {x.indices[a:b].tobytes() + x.data[a:b].tobytes() for a, b in ends}


def is_finite(packed: tuple) -> bool:
    """Whether every value of a packed matrix is a finite number."""
    values = packed[-1]
    # A sum that is finite proves it and makes no copy; one that is not may have overflowed.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def _whole(x) -> bool:
    """Whether the types say that every column holds whole numbers."""
    if _is("pandas", "DataFrame", x):
        return all(getattr(kind, "kind", "O") in "biu" for kind in x.dtypes)
    return getattr(getattr(x, "dtype", None), "kind", "f") in "biu"


def matrix(estimator, x, y, form: str, reset: bool = True, least: int = 2):
    """Checks X and y as scikit-learn does; the engine looks at the values itself.

    Returns
    -------
    packed, names, y, whole : tuple
        X for the engine, names or None, y checked, and whether the types are whole numbers.
    """
    if is_reader(x):
        x = x.read_all()
    if form == "csc" and (is_polars(x) or is_arrow(x)):
        names, packed = columns_of(x)
        if len(names) == 0 or packed[1] < least:
            raise ValueError(f"the table has {packed[1]} rows and {len(names)} columns")
        if reset:
            estimator.n_features_in_ = len(names)
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        y = _check_y(np.asarray(y), multi_output=False, y_numeric=False, estimator=estimator)
        whole = all(column.dtype.kind in "biu" for column in packed[2])
        return packed, names, y, whole
    if is_arrow(x):
        x = x.to_pandas()
    if sparse.issparse(x):
        whole_sparse(x)
    _no_text(x)
    whole = _whole(x)
    x, y = validate_data(
        estimator,
        x,
        y,
        reset=reset,
        accept_sparse=form,
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=least,
    )
    names = getattr(estimator, "feature_names_in_", None)
    return pack(x, form), None if names is None else list(names), y, whole


def block(x) -> tuple[list[str] | None, tuple, int, bool]:
    """A block of columns: names where it has them, packed, number of columns, whole numbers."""
    if isinstance(x, tuple) and len(x) == 2:
        names, x = x
        names = [names] if isinstance(names, str) else [str(name) for name in names]
        _, packed, count, whole = block(x)
        return names, packed, count, whole
    if is_polars(x) or is_arrow(x):
        names, packed = columns_of(x)
        whole = all(column.dtype.kind in "biu" for column in packed[2])
        return names, packed, len(names), whole
    names, whole = column_names(x), _whole(x)
    if names is None and is_series(x) and x.name not in (None, ""):
        names = [str(x.name)]
    if sparse.issparse(x):
        whole_sparse(x)
    else:
        _no_text(x)
        x = np.asarray(x)
        if x.dtype.kind not in "fbiu":
            x = x.astype(np.float64)
        if x.ndim == 1:
            x = x[:, None]
        if x.ndim != 2:
            raise ValueError(f"a block of columns has two dimensions, got {x.ndim}")
    return names, pack(x, "csc"), x.shape[1], whole
