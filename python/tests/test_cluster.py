"""Columns over parts: brute force, engines, faults, bytes, resume, and the command line."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import keepnet
import keepnet.cluster
import keepnet.dask
import numpy as np
import pandas as pd
import pytest
from keepnet._parts import Serial

N, P, K = 120, 60, 5


def data(seed=0, n=N, p=P, rho=0.7):
    """Correlated columns and a target; the truth is spread over them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    w = np.zeros(p)
    w[:: p // 8] = rng.normal(size=len(w[:: p // 8]))
    return X, X @ w + 0.5 * rng.normal(size=n)


class Made:
    """A part that is made again from its seed, wherever its task runs."""

    def __init__(self, seed, at, of, slow=0.0, **how):
        self.seed, self.at, self.of, self.slow, self.how = seed, at, of, slow, how

    def __call__(self):
        time.sleep(self.slow)
        X, _ = data(self.seed, **self.how)
        mine = range(self.at, X.shape[1], self.of)
        for some in itertools.batched(mine, 7) if sys.version_info >= (3, 12) else [mine]:
            yield [f"g{j}" for j in some], X[:, list(some)]


class Broken(Made):
    """A part that fails."""

    def __call__(self):
        raise ValueError("its file is gone")


def parts(seed=0, of=4, **how):
    return [Made(seed, at, of, **how) for at in range(of)]


def digits(selector):
    """What must be the same on every engine."""
    result = json.loads(json.dumps(selector.result_))
    result.pop("run")
    return result


def loss(X, y, kept, v=None):
    v = np.ones(len(y)) if v is None else v
    A = np.sqrt(v)[:, None] * np.column_stack([np.ones(len(y)), X[:, kept]])
    b = np.sqrt(v) * y
    r = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
    return 0.5 * (r @ r) / v.sum()


def kept_of(selector):
    return [int(name[1:]) for name in selector.get_feature_names_out()]


@pytest.mark.parametrize("weighted", [False, True])
def test_no_exchange_lowers_a_direct_fit(weighted):
    for seed in range(4):
        X, y = data(seed)
        v = np.random.default_rng(seed).uniform(0.5, 2, len(y)) if weighted else None
        found = keepnet.cluster.select(None, parts(seed), y, K, sample_weight=v)
        kept = kept_of(found)
        told = found.result_["cluster"]
        assert told["certificate"] and told["certificate_kind"] == "exact"
        assert (told["parts"], told["features_seen"], len(kept)) == (4, P, K)
        now = loss(X, y, kept, v)
        assert found.result_["final_loss"] == pytest.approx(now, rel=1e-9)
        for out, j in itertools.product(range(K), set(range(P)) - set(kept)):
            other = [*kept[:out], *kept[out + 1 :], j]
            assert loss(X, y, other, v) > now * (1 - 2e-9)
        dropped = {name: count for name, count in found.result_["dropped"].items()}
        assert sum(dropped.values()) == P - K


def test_one_part_keeps_what_scans_rest_keeps():
    for seed in range(5):
        X, y = data(seed, p=300)
        table = pd.DataFrame(X, columns=[f"g{j}" for j in range(300)])
        alone = keepnet.OSPlus(k=8, scans="rest").fit(table, y)
        assert alone.result_["metrics"]["certificate"] is True
        assert alone.result_["scans"] == 2 + alone.result_["metrics"]["rounds"]
        over = keepnet.cluster.select(None, [Made(seed, 0, 1, p=300)], y, 8)
        assert set(kept_of(over)) == set(alone.selected_)
        assert over.result_["final_loss"] == pytest.approx(alone.result_["final_loss"], rel=1e-12)


def test_rest_works_on_callables_and_is_refused_elsewhere():
    X, y = data(1)
    blocks = lambda: iter([([f"g{j}" for j in range(P)], X)])  # noqa: E731
    streamed = keepnet.select(blocks, y, k=K, scans="rest")
    assert streamed.result_["metrics"]["certificate"] is True
    assert set(kept_of(streamed)) == set(keepnet.OSPlus(k=K, scans="rest").fit(X, y).selected_)
    with pytest.raises(ValueError, match="give a callable"):
        keepnet.select(iter([X]), y, k=K, scans="rest")
    with pytest.raises(ValueError, match="scans is rest"):
        keepnet.OS(k=K, scans="rest").fit(X, y)


def test_classes_end_with_a_quadratic_certificate():
    X, y = data(2)
    labels = np.where(y > 0, "yes", "no")
    found = keepnet.cluster.select(None, parts(2), labels, K)
    told = found.result_["cluster"]
    assert told["certificate"] and told["certificate_kind"] == "quadratic"
    assert list(found.classes_) == ["no", "yes"]
    assert found.result_["class_counts"] == [int((labels == "no").sum()), int((labels == "yes").sum())]
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(P)])
    assert found.score(frame, labels) > 0.8


def test_files_ranges_and_lists_are_parts(tmp_path):
    X, y = data(3)
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(P)])
    table.to_parquet(tmp_path / "all.parquet")
    halves = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    table.iloc[:, :30].to_parquet(halves[0])
    table.iloc[:, 30:].to_parquet(halves[1])
    whole = tmp_path / "all.parquet"
    ways = {
        "files": halves,
        "ranges": [(whole, range(30)), (whole, range(30, P))],
        "names": [(whole, list(table.columns[:30])), (whole, list(table.columns[30:]))],
        "blocks": [lambda: iter([table.iloc[:, :30]]), lambda: iter([table.iloc[:, 30:]])],
    }
    found = {way: keepnet.cluster.select(None, given, y, K) for way, given in ways.items()}
    want = found["files"].result_
    assert {f["source"] for f in want["selected"]} <= set(map(str, halves))
    for way, selector in found.items():
        same = [(f["name"], f["index"], f["coefficient"]) for f in selector.result_["selected"]]
        assert same == [(f["name"], f["index"], f["coefficient"]) for f in want["selected"]], way
    with pytest.raises(ValueError, match="columns is 30 to 90"):
        keepnet.cluster.select(None, [(whole, range(30, 90))], y, K)


# -- engines


def test_a_process_pool_has_the_digits_of_one_process():
    _, y = data(5, p=200)
    want = keepnet.cluster.select(None, parts(5, 6, p=200), y, 12)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = keepnet.cluster.select(pool, parts(5, 6, p=200), y, 12)
    assert digits(found) == digits(want)


def cluster(workers):
    distributed = pytest.importorskip("distributed")
    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    return distributed.LocalCluster(n_workers=workers, **settings)


@pytest.mark.parametrize("workers", [1, 2])
def test_dask_has_the_digits_of_one_process(workers):
    distributed = pytest.importorskip("distributed")
    _, y = data(5, p=200)
    want = digits(keepnet.cluster.select(None, parts(5, 6, p=200), y, 12))
    with cluster(workers) as running, distributed.Client(running) as client:
        assert digits(keepnet.dask.select(client, parts(5, 6, p=200), y, 12)) == want


def test_dask_arrays_are_parts_by_their_column_chunks():
    distributed = pytest.importorskip("distributed")
    array = pytest.importorskip("dask.array")
    X, y = data(6)
    with distributed.Client(processes=False, n_workers=1, dashboard_address=None) as client:
        lazy = array.from_array(X, chunks=(N, 20))
        found = keepnet.dask.select(client, lazy, y, K)
        assert found.result_["cluster"]["parts"] == 3
        with pytest.raises(ValueError, match="rechunk"):
            keepnet.dask.select(client, lazy.rechunk((40, 20)), y, K)
    kept = kept_of(found)
    falls = [loss(X, y, [*kept[:i], *kept[i + 1 :], j]) for i in range(K) for j in set(range(P)) - set(kept)]
    assert min(falls) > loss(X, y, kept) * (1 - 2e-9)


class Killing(keepnet.dask._Dask):
    """Kills workers while a step runs."""

    def __init__(self, client, running, step, victims):
        super().__init__(client)
        self.running, self.step, self.victims, self.steps = running, step, victims, 0

    def gather(self, handles):
        self.steps += 1
        if self.steps == self.step:
            time.sleep(0.6)
            for worker in list(self.running.workers.values())[: self.victims]:
                os.kill(worker.pid, signal.SIGKILL)
        return super().gather(handles)


@pytest.mark.parametrize("victims", [1, 2])
def test_a_run_goes_on_after_workers_were_killed_in_round_2(victims):
    distributed = pytest.importorskip("distributed")
    _, y = data(5, p=200)
    slow = parts(5, 4, p=200, slow=0.5)
    want = keepnet.cluster.select(None, parts(5, 4, p=200), y, 12)
    assert want.result_["cluster"]["rounds"] >= 2
    with cluster(2) as running, distributed.Client(running) as client:
        engine = Killing(client, running, 3, victims)
        found = keepnet.cluster.select(engine, slow, y, 12)
    assert engine.steps >= 3
    same, other = digits(found), digits(want)
    # What was lost is sent again, which is more bytes.
    assert same["cluster"].pop("bytes") >= other["cluster"].pop("bytes")
    assert same == other


class Losing(Serial):
    """Loses every step."""

    lost = (ConnectionError,)

    def gather(self, handles):
        raise ConnectionError("a worker went away")


def test_what_is_lost_again_and_again_is_an_error():
    _, y = data(0)
    with pytest.raises(RuntimeError, match="lost 4 times.*went away"):
        keepnet.cluster.select(Losing(), parts(), y, K)


# -- faults of parts


def test_a_fault_names_its_part(tmp_path):
    X, y = data(0)
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(P)])
    half = lambda: iter([table.iloc[:, :30]])  # noqa: E731
    rest = lambda: iter([table.iloc[:, 30:]])  # noqa: E731

    def error(given, kind=ValueError, **options):
        with pytest.raises(kind) as caught:
            keepnet.cluster.select(None, given, y, options.pop("k", K), **options)
        return str(caught.value)

    assert error([half, Broken(0, 0, 1)]) == "part 1: its file is gone"
    again = lambda: iter([table.iloc[:, [17]]])  # noqa: E731
    assert error([half, rest, again]) == "part 2 and part 0 both have 'g17'; names are unique over all parts"
    twice = lambda: iter([table.iloc[:, [40]], table.iloc[:, [40]]])  # noqa: E731
    assert "part 1 has twice 'g40'" in error([half, twice])
    short = lambda: iter([table.iloc[:50, 30:]])  # noqa: E731
    said = error([half, short])
    assert said.startswith("part 1: ") and "has 50 rows, expected 120" in said
    table.iloc[:50].to_parquet(tmp_path / "short.parquet")
    said = error([half, tmp_path / "short.parquet"])
    assert said.startswith("part 1 (") and "has 50 rows, expected 120" in said
    assert "part 1 (part 1) has no columns" in error([half, lambda: iter([])])
    assert "no such file" in error([half, tmp_path / "gone.parquet"], OSError).lower()
    assert "columns have no names" in error([lambda: iter([X])])
    assert error([3], TypeError).startswith("part 0 is int")
    assert "there are no parts" in error([])
    assert "order has no effect" in error([half], method=keepnet.OSPlus(order="shuffled"))
    assert "rounds do" in error([half], method=keepnet.OSPlus(scans="rest"))
    assert "OSPlus alone" in error([half], TypeError, method=keepnet.SAOLA())
    assert "k is 0" in error([half], k=0)
    hole = table.copy()
    hole.iloc[3, 45] = np.nan
    assert error([half, lambda: iter([hole.iloc[:, 30:]])]).startswith("part 1: ")
    dropped = keepnet.OSPlus(missing="drop-feature")
    found = keepnet.cluster.select(None, [half, lambda: iter([hole.iloc[:, 30:]])], y, K, method=dropped)
    assert found.result_["dropped"]["missing"] == 1


def test_small_parts_and_large_k():
    X, y = data(0, n=40)
    few = parts(0, 12, n=40)  # five columns each, fewer than k
    found = keepnet.cluster.select(None, few, y, 8)
    assert found.result_["cluster"]["certificate"]
    with pytest.warns(UserWarning, match="c k is 60 with 40 rows; each part selects 39"):
        keepnet.cluster.select(None, parts(0, 2, n=40), y, 20, c=3)
    with pytest.warns(UserWarning, match="no certificate: rounds=0"):
        alone = keepnet.cluster.select(None, few, y, 8, rounds=0)
    assert alone.result_["cluster"]["certificate"] is False
    assert loss(X, y, kept_of(found)) <= loss(X, y, kept_of(alone)) * (1 + 1e-12)


def test_pinned_features_stay_and_one_that_does_not_come_is_named():
    X, y = data(4)
    method = keepnet.OSPlus(always=["g33"])
    found = keepnet.cluster.select(None, parts(4), y, K, method=method)
    assert [f["name"] for f in found.result_["always"]] == ["g33"]
    assert len(found.result_["selected"]) == K
    with pytest.warns(UserWarning, match="'?\"?gone\"?'? is always kept, but has not come"):
        keepnet.cluster.select(None, parts(4), y, K, method=keepnet.OSPlus(always=["gone"]))


# -- bytes, resume, interruption


class Counting(Serial):
    """Counts what would move between `workers` of one part each."""

    def __init__(self, workers):
        self.workers, self.down, self.up = workers, 0, 0

    def broadcast(self, value):
        size = sum(map(len, value)) if isinstance(value, list) else len(value)
        self.down += self.workers * size
        return value

    def gather(self, handles):
        for report in handles:
            self.up += len(report.names) + sum(len(raw) for *_, raw in report.columns)
        return handles


def test_bytes_stay_within_the_formula():
    n, k, q = 400, 30, 8
    _, y = data(0, n=n, p=400, rho=0.9)
    counting = Counting(q)
    found = keepnet.cluster.select(counting, parts(0, q, n=n, p=400, rho=0.9), y, k)
    told = found.result_["cluster"]
    assert told["bytes"] == counting.down + counting.up
    rounds, returned = told["rounds"], found.result_["metrics"]["round_columns"]
    # A column has a name and statistics beside its values, and each part is sent the target.
    column, target = 8 * n + 100, 8 * n + 100
    up = column * (k * q + sum(returned[1:])) + 8 * 400
    changed = k + told["exchanges"]
    down = q * (column * changed + target + rounds * 8 * (k * k + n))
    assert counting.up <= up and counting.down <= down
    assert counting.down > q * 8 * n * k


def test_a_driver_resumes_between_rounds(tmp_path):
    _, y = data(5, p=200)
    path = tmp_path / "run.kn"
    want = keepnet.cluster.select(None, parts(5, 4, p=200), y, 12, checkpoint=path)
    assert not path.exists()
    rounds = want.result_["cluster"]["rounds"]
    assert rounds >= 2

    class Stops(Serial):
        steps = 0

        def gather(self, handles):
            self.steps += 1
            if self.steps == 3:
                raise KeyboardInterrupt
            return handles

    with pytest.raises(KeyboardInterrupt):
        keepnet.cluster.select(Stops(), parts(5, 4, p=200), y, 12, checkpoint=path)
    assert path.exists()
    with pytest.raises(ValueError, match=r"belongs to another run \(settings differ\)"):
        keepnet.cluster.select(None, parts(5, 4, p=200), y, 13, checkpoint=path)
    raw = path.read_bytes()
    path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(ValueError, match="damaged"):
        keepnet.cluster.select(None, parts(5, 4, p=200), y, 12, checkpoint=path)
    path.write_bytes(raw)
    found = keepnet.cluster.select(None, parts(5, 4, p=200), y, 12, checkpoint=path)
    same, other = digits(found), digits(want)
    same["cluster"].pop("bytes"), other["cluster"].pop("bytes")
    assert same == other and not path.exists()


def test_a_callback_sees_rounds_and_ends_the_run():
    _, y = data(5, p=200)
    seen = []
    method = keepnet.OSPlus(callback=seen.append)
    found = keepnet.cluster.select(None, parts(5, 4, p=200), y, 12, method=method)
    assert len(seen) == 1 + found.result_["cluster"]["rounds"]
    assert seen[0].scan == 2 and seen[0].scans is None
    assert all(a.loss >= b.loss for a, b in itertools.pairwise(seen))
    method = keepnet.OSPlus(callback=lambda progress: progress.scan == 3)
    with pytest.warns(UserWarning, match="no certificate"):
        found = keepnet.cluster.select(None, parts(5, 4, p=200), y, 12, method=method)
    assert found.result_["complete"] is False


# -- the command line


def run(*given):
    command = [sys.executable, "-m", "keepnet.cluster", *map(str, given)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_the_command_line_writes_the_result(tmp_path):
    X, y = data(3)
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(P)])
    table.iloc[:, :30].to_parquet(tmp_path / "a.parquet")
    table.iloc[:, 30:].assign(y=y).to_parquet(tmp_path / "b.parquet")
    out = tmp_path / "r.json"
    common = ("--target", "y", "-k", K, "--output", out, "--workers", 2)
    done = run("select", tmp_path / "*.parquet", *common, "--progress", "json")
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    assert result["cluster"]["certificate"] and result["features_seen"] == P
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert len(lines) == 1 + result["cluster"]["rounds"]
    kept = [int(f["name"][1:]) for f in result["selected"]]
    here = keepnet.cluster.select(None, [tmp_path / "a.parquet", lambda: iter([table.iloc[:, 30:]])], y, K)
    assert sorted(kept) == sorted(kept_of(here))
    wrong = run("select", tmp_path / "gone.parquet", *common)
    assert wrong.returncode == 1 and "gone.parquet: there is no such file" in wrong.stderr
    wrong = run("select", tmp_path / "a.parquet", "--target", "z", "-k", K)
    assert wrong.returncode == 1 and '"z"' in wrong.stderr and "Traceback" not in wrong.stderr
    assert run("select").returncode == 2


def test_ray_keeps_what_one_process_keeps():
    ray = pytest.importorskip("ray", reason="ray is not installed")
    import keepnet.ray

    _, y = data(5)
    want = digits(keepnet.cluster.select(None, parts(5), y, K))
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join([here, *sys.path])
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    try:
        assert digits(keepnet.ray.select(parts(5), y, K)) == want
    finally:
        ray.shutdown()
