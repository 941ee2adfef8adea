"""Select columns over a Dask cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures

from keepnet import _cluster
from keepnet._parts import Part

__all__ = ["select"]


class _Dask:
    """A `distributed.Client` as the driver wants it."""

    def __init__(self, client):
        from distributed.scheduler import KilledWorker

        self.client = client
        self.lost = (KilledWorker, asyncio.CancelledError, concurrent.futures.CancelledError)

    def submit(self, function, *arguments):
        return self.client.submit(function, *arguments, pure=False)

    def gather(self, handles):
        return self.client.gather(handles)

    def broadcast(self, value):
        # In a list of its own: a list that is scattered is one value a member.
        return self.client.scatter([value], broadcast=True, hash=False)[0]

    def cancel(self, handles):
        self.client.cancel(handles)

    def renew(self):
        self.client.wait_for_workers(1)


def _array(client, x):
    """The column chunks of a Dask array: parts, and what their tasks are given."""
    if x.ndim != 2:
        raise ValueError(f"a Dask array of two dimensions is needed, got {x.ndim}")
    if len(x.chunks[0]) != 1:
        rows = f"the rows of the Dask array are in {len(x.chunks[0])} chunks"
        raise ValueError(f'{rows}; each part needs them all: rechunk((-1, "auto"))')
    parts, place = [], 0
    for at, width in enumerate(x.chunks[1]):
        names = [f"x{j}" for j in range(place, place + width)]
        parts.append(Part(f"part {at}", "array", names))
        place += width
    return parts, client.compute(list(x.to_delayed()[0]))


def select(client, parts, y, k=10, **options):
    """Select features from parts over the cluster of a `distributed.Client`.

    `parts` is as for `keepnet.cluster.select`, or a Dask array whose column chunks are the parts,
    with all rows in one chunk. Other parameters and the result are those of that call.
    """
    data = None
    if hasattr(parts, "to_delayed") and hasattr(parts, "chunks"):
        parts, data = _array(client, parts)
    return _cluster.select(_Dask(client), parts, y, k, data=data, **options)
