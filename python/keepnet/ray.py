"""Select columns over a Ray cluster."""

from __future__ import annotations

from keepnet import _cluster

__all__ = ["select"]


class _Ray:
    """Ray as the driver wants it."""

    def __init__(self):
        import ray

        self.ray = ray
        self.lost = (ray.exceptions.WorkerCrashedError, ray.exceptions.ObjectLostError)

    def submit(self, function, *arguments):
        return self.ray.remote(function).remote(*arguments)

    def gather(self, handles):
        return self.ray.get(handles)

    def broadcast(self, value):
        return self.ray.put(value)

    def cancel(self, handles):
        for handle in handles:
            self.ray.cancel(handle)

    def renew(self):
        pass


def select(parts, y, k=10, **options):
    """Select features from parts over the Ray cluster that this process is connected to.

    Parameters and result are those of `keepnet.cluster.select`.
    """
    return _cluster.select(_Ray(), parts, y, k, **options)
