"""Random tables by seed: mixed types, scales and offsets, copies, constants, missing values."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse


@dataclass
class Table:
    """Columns in their own types with a target; NaN where a value is missing."""

    seed: int
    columns: dict = field(default_factory=dict)
    y: np.ndarray = None
    weight: np.ndarray = None
    classes: bool = False

    @property
    def names(self):
        return list(self.columns)

    @property
    def rows(self):
        return len(self.y)

    def wide(self):
        """The values as f64."""
        return np.column_stack([column.astype(np.float64) for column in self.columns.values()])

    def missing(self):
        return np.isnan(self.wide()).any()

    def take(self, rows):
        """The same table of other rows."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        weight = None if self.weight is None else self.weight[rows]
        return Table(self.seed, columns, self.y[rows], weight, self.classes)


def _offset(rng, values, resolution):
    """Scale, and an offset of up to 1e8 deviations within what the type resolves."""
    most = min(8.0, np.log10(1e-3 / resolution))
    offset = 10 ** rng.uniform(0, most) if rng.random() < 0.4 else 0.0
    return 10 ** rng.uniform(-6, 6) * (values + rng.choice([-1, 1]) * offset)


def _column(rng, n, kind, past):
    """One column of a kind; `past` are the columns before it as f64."""
    normal = rng.normal(size=n)
    match kind:
        case "f64":
            return _offset(rng, normal, 2e-16)
        case "f32":
            return _offset(rng, normal, 1e-7).astype(np.float32)
        case "i8":
            return rng.integers(-3, 4, size=n).astype(np.int8)
        case "u16":
            return rng.integers(0, 2000, size=n).astype(np.uint16)
        case "i64":
            return rng.integers(-(10**6), 10**6, size=n) * int(rng.choice([1, 1000]))
        case "bool":
            return rng.random(n) < rng.uniform(0.1, 0.9)
        case "rare":
            return (rng.permutation(n) < 2).astype(np.int32)
        case "constant":
            return np.full(n, rng.choice([0.1, 0.3, -7.0, 1e9]))
        case "sparse":
            return np.where(rng.random(n) < 0.1, normal, 0.0)
        case "copy":
            return past.copy()
        case "negative":
            return -3.0 * past
        case "near":
            # Near a constant it is one with noise, within what the type resolves.
            spread = past.std() or np.abs(past).max() or 1.0
            return past + 1e-2 * spread * normal
    raise ValueError(kind)


KINDS = ["f64", "f64", "f32", "i8", "u16", "i64", "bool", "rare", "constant", "sparse", "copy",
         "negative", "near"]


def make(seed, classes=None, weights=False, missing=False, whole=False, copies=True):
    """The table of a seed; `classes` is their number, None for a target of numbers.

    `whole` is for columns of whole numbers alone, `copies` for columns that say the same.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.choice([5, 7, 12, 30, 80, 200, 400]))
    kinds = ["i8", "bool", "rare"] if whole else KINDS if copies else KINDS[:10] + ["near"]
    columns, signal = {}, np.zeros(n)
    for j in range(int(rng.integers(5, 13))):
        kind = "f64" if j == 0 and not whole else str(rng.choice(kinds))
        floats = [c for c in columns.values() if c.dtype.kind == "f"]
        past = floats[rng.integers(len(floats))].astype(np.float64) if floats else rng.normal(size=n)
        x = _column(rng, n, kind, past)
        columns[f"{kind}_{j}"] = x
        wide = x.astype(np.float64)
        if rng.random() < 0.5 and np.ptp(wide) > 0:
            signal += rng.normal() * (wide - wide.mean()) / wide.std()
    y = signal + 0.3 * rng.normal(size=n)
    if classes:
        edges = np.quantile(y, np.arange(1, classes) / classes)
        y = np.digitize(y, edges).astype(np.int64)
        y[:classes] = np.arange(classes)
    else:
        y = 10 ** rng.uniform(-3, 3) * (y + (1e6 if rng.random() < 0.3 else 0.0))
    if missing:
        for name in rng.permutation(list(columns))[: max(1, len(columns) // 3)]:
            if columns[name].dtype.kind == "f" and not name.startswith("constant"):
                columns[name] = columns[name].copy()
                columns[name][rng.random(n) < 0.2] = np.nan
    weight = rng.integers(1, 4, size=n).astype(np.float64) if weights else None
    return Table(seed, columns, y, weight, bool(classes))


def _dictionary(column):
    """A column of few whole numbers as an Arrow dictionary."""
    array = pa.array(column)
    return array.dictionary_encode() if column.dtype == np.int8 else array


def containers(table):
    """The table in everything that holds its values without loss, by name."""
    X, columns = table.wide(), table.columns
    out = {
        "numpy C f64": lambda: np.ascontiguousarray(X),
        "numpy F f64": lambda: np.asfortranarray(X),
        "numpy steps": lambda: np.repeat(X, 2, axis=0)[::2],
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table({name: pa.array(x) for name, x in columns.items()}),
        "pyarrow dictionary": lambda: pa.table(
            {name: _dictionary(x) for name, x in columns.items()}
        ),
        "csr": lambda: sparse.csr_array(X),
        "csc": lambda: sparse.csc_array(X),
    }
    if np.array_equal(X.astype(np.float32).astype(np.float64), X, equal_nan=True):
        out["numpy C f32"] = lambda: np.ascontiguousarray(X, dtype=np.float32)
        out["numpy F f32"] = lambda: np.asfortranarray(X, dtype=np.float32)
    return out


def write(table, folder):
    """The table as files with the target `target` and weights `weight`; paths by format."""
    columns = {**table.columns, "target": table.y}
    if table.weight is not None:
        columns["weight"] = table.weight
    import pyarrow.parquet as parquet

    arrow = pa.table({name: pa.array(x, from_pandas=True) for name, x in columns.items()})
    paths = {form: folder / f"{table.seed}.{form}" for form in ("parquet", "csv", "arrow")}
    parquet.write_table(arrow, paths["parquet"])
    with pa.OSFile(str(paths["arrow"]), "wb") as sink, pa.ipc.new_file(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    # Python's shortest digits read back as the same numbers.
    with open(paths["csv"], "w") as out:
        out.write(",".join(columns) + "\n")
        for row in zip(*columns.values(), strict=True):
            cells = ("" if np.isnan(v) else str(v.item()).lower() for v in row)
            out.write(",".join(cells) + "\n")
    return paths
