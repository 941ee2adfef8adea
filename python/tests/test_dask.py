"""Running averages over the workers of a real Dask cluster on this machine."""

import keepnet
import numpy as np
import pytest

distributed = pytest.importorskip("distributed")


def part(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 40))
    return X, 3 * X[:, 7] - 2 * X[:, 21] + X[:, 30] + rng.normal(size=500)


def learn(seed):
    return keepnet.AnnealedRidge(k=3).fit(*part(seed))


def test_averages_merge_over_dask_workers():
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        futures = client.map(learn, range(6))
        while len(futures) > 1:
            pairs = [futures[i : i + 2] for i in range(0, len(futures), 2)]
            futures = [client.submit(keepnet.merge, pair) for pair in pairs]
        merged = futures[0].result()
        workers = {worker for held in client.who_has().values() for worker in held}
    assert len(workers) >= 1
    assert merged.n_samples_seen_ == 3000
    assert sorted(merged.selected_) == [7, 21, 30]
    parts = [part(seed) for seed in range(6)]
    X, y = np.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    alone = keepnet.AnnealedRidge(k=3).fit(X, y)
    np.testing.assert_allclose(merged.coef_, alone.coef_, rtol=1e-5)
