"""Select columns over a Spark cluster."""

from __future__ import annotations

from keepnet import _cluster
from keepnet._parts import Serial

__all__ = ["select"]


def _work(task):
    """Runs one task on an executor; broadcasts among its arguments come as their values."""
    from pyspark.broadcast import Broadcast

    function, arguments = task
    return function(*(one.value if isinstance(one, Broadcast) else one for one in arguments))


class _Spark(Serial):
    """A SparkContext as the driver wants it: tasks wait until they are gathered."""

    def __init__(self, context):
        self.context = context

    def submit(self, function, *arguments):
        return function, arguments

    def gather(self, handles):
        return self.context.parallelize(handles, len(handles)).map(_work).collect()

    def broadcast(self, value):
        return self.context.broadcast(value)

    def cancel(self, handles):
        self.context.cancelAllJobs()


def select(context, parts, y, k=10, **options):
    """Select features from parts over Spark; `context` is a SparkContext or a SparkSession.

    Other parameters and the result are those of `keepnet.cluster.select`.
    """
    context = getattr(context, "sparkContext", context)
    return _cluster.select(_Spark(context), parts, y, k, **options)
