"""An order of rows that depends on their values and a seed, and not on how they were given.

Every row has a key, a hash of its values and target under the seed; rows come by their keys. Zeros
count for nothing in it, so that dense and sparse rows of the same values have the same key. Equal
rows have equal keys and are one row with the sum of their weights.
"""

from __future__ import annotations

import numpy as np

# Values of a dense matrix that are hashed at a time.
_SLAB = 1 << 20
_MOST = 2**31


def _mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), in place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(31)
    return x


def _hash(values: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """A number for each value and its place; 0 for a zero."""
    values = np.array(values, dtype=np.float64)
    values[np.isnan(values)] = np.nan  # one of the many
    out = _mix(values.view(np.uint64) ^ marks)
    out[values == 0] = 0
    return out


def keys(packed: tuple, y: np.ndarray, seed: int) -> np.ndarray:
    """The key of every row of a matrix as `_inputs.pack` gives it, with its target."""
    features = packed[1].shape[1] if packed[0] == "dense" else packed[1]
    start = _mix(np.array([seed % 2**64], dtype=np.uint64))
    marks = _mix(start + np.arange(1, features + 2, dtype=np.uint64))
    key = _hash(y, marks[-1])
    if packed[0] == "dense":
        step = max(1, _SLAB // max(features, 1))
        for at in range(0, len(y), step):
            slab = _hash(packed[1][at : at + step], marks[:-1])
            key[at : at + step] += slab.sum(axis=1, dtype=np.uint64)
    else:
        _, _, start, index, data = packed
        total = np.zeros(len(data) + 1, dtype=np.uint64)
        np.cumsum(_hash(data, marks[index]), out=total[1:])
        key += total[start[1:]] - total[start[:-1]]
    return _mix(key)


def steps(key: np.ndarray, weight: np.ndarray | None):
    """Rows by their keys, and a weight of each or None.

    A weight of 2.5 is two steps of weight 1 and a last one of 0.5, and a weight of 0 is none.
    """
    if weight is None:
        return np.argsort(key, kind="stable").astype(np.int64, copy=False), None
    order = np.lexsort((weight, key))
    first = np.flatnonzero(np.diff(key[order], prepend=~key[order[:1]]) != 0)
    total = np.add.reduceat(weight[order], first)
    if total.sum() > _MOST:
        what = f"sample_weight adds up to {total.sum():.3g} and is a number of steps"
        raise ValueError(f"{what} where shuffle=True; scale it down")
    whole = np.floor(total)
    rest = total - whole
    count = whole.astype(np.int64) + (rest > 0)
    rows = np.repeat(order[first].astype(np.int64, copy=False), count)
    out = np.ones(len(rows))
    out[np.cumsum(count)[rest > 0] - 1] = rest[rest > 0]
    return rows, out
