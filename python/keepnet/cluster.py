"""Select columns over a cluster, with a certificate: `select`, and `python -m keepnet.cluster`."""

from __future__ import annotations

from keepnet import _cluster

__all__ = ["select"]


def select(
    executor,
    parts,
    y,
    k=10,
    *,
    c=1,
    top=None,
    tol=1e-9,
    rounds=50,
    method=None,
    sample_weight=None,
    checkpoint=None,
):
    """Select features from parts that hold columns of their own.

    Each part selects `c k` features, the driver selects `k` of these, and then rounds follow: the
    parts test each of their columns exactly against the model, and the driver makes the exchanges
    that lower the loss. The run ends when no part finds one.

    Parameters
    ----------
    executor : executor or None
        Anything with `submit`, such as those of `concurrent.futures`; None runs the parts in this
        process. `keepnet.dask.select` and `keepnet.ray.select` are for those engines.
    parts : list
        An item for each part: a path or a list of paths, `(path, columns)` with names or a range
        of places, or a callable that gives a fresh iterator of blocks `(names, block)` or tables.
        Names are unique over all parts. Paths and callables are opened where the task runs.
    y : array-like of shape (n_samples,)
        The target. Every part has these rows.
    k : int, default=10
        Features to keep.
    c : int, default=1
        Each part first selects `c k` features.
    top : int or None, default=None
        Most columns that a part returns in a round; None is `k`.
    tol : float, default=1e-9
        Share of the loss that an exchange must lower it by.
    rounds : int, default=50
        Most rounds; 0 leaves out the certificate, with a warning.
    method : OSPlus or None, default=None
        Its settings are those of every part and of the driver. `n_jobs` is the threads of a task;
        None is 1, as a worker runs a task for each of its own.
    sample_weight : array-like of shape (n_samples,), default=None
        A positive weight for each sample.
    checkpoint : path or None, default=None
        The driver's state after each round; the same call goes on from it. Removed at the end.

    Returns
    -------
    selector : OSPlus
        Fitted. `result_["cluster"]` has parts, rounds, exchanges, certificate and bytes moved.

    Examples
    --------
    >>> import numpy as np, keepnet.cluster
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 60))
    >>> y = X[:, 7] - 2 * X[:, 40] + 0.1 * rng.normal(size=200)
    >>> def half(first):
    ...     return lambda: iter([([f"g{j}" for j in range(first, first + 30)], X[:, first : first + 30])])
    >>> with ThreadPoolExecutor(2) as pool:
    ...     found = keepnet.cluster.select(pool, [half(0), half(30)], y, k=2)
    >>> sorted(found.get_feature_names_out()), found.result_["cluster"]["certificate"]
    (['g40', 'g7'], True)
    """
    given = {"c": c, "top": top, "tol": tol, "rounds": rounds, "method": method}
    return _cluster.select(executor, parts, y, k, sample_weight=sample_weight, checkpoint=checkpoint, **given)


if __name__ == "__main__":
    import sys

    from keepnet._cluster_cli import main

    sys.exit(main())
