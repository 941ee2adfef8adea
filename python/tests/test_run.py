"""While a run is under way: interrupts, callbacks, progress, threads, errors, seeds."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import keepnet
import numpy as np
import pandas as pd
import pytest


def long_data():
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(2000, 3000)))
    return X, X[:, 5] + X[:, 6]


INTERRUPTED = {
    "columns": "keepnet.OS(k=300, scans=10_000, n_jobs=1).fit(X, X[:, 5] + X[:, 6])",
    "rows": "keepnet.OFSA(k=None, iterations=2**31, n_jobs=1).fit(X[:, :1500], X[:, 5])",
}


@pytest.mark.parametrize("what", INTERRUPTED)
def test_ctrl_c_stops_a_run_of_hours(what):
    script = textwrap.dedent(f"""
        import sys, time
        import keepnet, numpy as np
        X = np.asfortranarray(np.random.default_rng(0).normal(size=(4000, 3000)))
        print("ready", flush=True)
        try:
            {INTERRUPTED[what]}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.stdout.flush()
            import os
            os._exit(0)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline().strip() == "ready"
            time.sleep(1.5)
            assert run.poll() is None, "the run was over before the signal"
            run.send_signal(signal.SIGINT)
            said, _ = run.communicate(timeout=20)
        finally:
            run.kill()
    assert said.strip() == "interrupted"


def test_other_python_threads_run_meanwhile():
    X, y = long_data()
    ticks, done = [0], threading.Event()

    def count():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    keepnet.OSPlus(k=60, scans=3).fit(X, y)
    seconds = time.monotonic() - start
    done.set()
    thread.join()
    # With the lock held throughout there would be next to none.
    assert ticks[0] > 20 * seconds


def test_a_callback_sees_progress_and_can_end_the_run():
    X, y = long_data()
    seen = []
    selector = keepnet.OSPlus(k=5, callback=lambda p: seen.append(p)).fit(X, y)
    assert selector.result_["complete"]
    assert isinstance(seen[-1], keepnet.Progress)
    assert seen[-1].total == 2 * X.shape[1]
    stopped = keepnet.OS(k=100, scans=1000, callback=lambda p: p.arrived > 1000).fit(X, y)
    assert not stopped.result_["complete"]
    assert len(stopped.selected_) == 100

    def broken(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        keepnet.OSPlus(k=5, callback=broken).fit(X, y)


def test_verbose_shows_a_bar(capfd):
    X, y = long_data()
    keepnet.OSPlus(k=5, verbose=1).fit(X, y)
    assert "OSPlus" in capfd.readouterr().err


def test_no_result_depends_on_threads_and_seeds_give_the_same_order():
    X, y = long_data()
    X = X[:300, :500]
    y = y[:300] + np.random.default_rng(1).normal(size=300)
    one, two = (keepnet.OSPlus(k=10, n_jobs=n).fit(X, y).result_["selected"] for n in (1, 2))
    assert one == two
    shuffled = lambda seed: keepnet.OS(k=10, order="shuffled", random_state=seed).fit(X, y).coef_
    np.testing.assert_array_equal(shuffled(3), shuffled(3))
    assert not np.array_equal(shuffled(3), shuffled(4))
    fixed = keepnet.OSPlus(k=3, order=[5, 400, 6, 7]).fit(X, y)
    assert set(fixed.selected_) <= {5, 400, 6, 7}


def test_a_forked_child_can_fit_too():
    X, y = long_data()
    keepnet.OSPlus(k=3).fit(X[:, :50], y)
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(1) as pool:
        got = pool.apply_async(_fit_small, (0,)).get(timeout=60)
    assert got == _fit_small(0)


def _fit_small(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 50))
    return keepnet.OSPlus(k=2).fit(X, X[:, 7] - X[:, 9]).selected_.tolist()


def test_errors_are_pythons_own(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(50, 20)), np.arange(50.0)
    with pytest.raises(FileNotFoundError, match="nowhere.csv"):
        keepnet.select(tmp_path / "nowhere.csv", "y")
    with pytest.raises(MemoryError, match="raise memory"):
        keepnet.OSPlus(k=5, memory=1000).fit(X, y)
    with pytest.raises(ValueError, match="'theta' parameter .* Got 'x'"):
        keepnet.OSPlus(theta="x").fit(X, y)
    with pytest.raises(ValueError, match="one value only"):
        keepnet.OSPlus().fit(X, np.ones(50))
    with pytest.raises(TypeError, match="no argument 'kk'"):
        keepnet.select(X, y, kk=3)
    with pytest.raises(ValueError, match="no method 'os-minus'"):
        keepnet.select(X, y, method="os-minus")
    with pytest.raises(TypeError, match="has no columns"):
        keepnet.select(3, y)
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,3\n4,x,6\n")
    with pytest.raises(ValueError, match="'b'|\"b\""):
        keepnet.select(tmp_path / "t.csv", "y", k=1)


def test_always_on_running_averages():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 12))
    y = X[:, 4] - X[:, 5] + 0.1 * rng.normal(size=300)
    model = keepnet.AnnealedRidge(k=2, always=[9, "x2"], products="f64").fit(X, y)
    assert sorted(model.get_support(indices=True)) == [2, 4, 5, 9]
    assert [f["name"] for f in model.result_["always"]] == ["x2", "x9"]
    A = np.column_stack([X[:, [2, 4, 5, 9]], np.ones(300)])
    want = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[[2, 4, 5, 9]], want[:4], rtol=1e-6)
    again = keepnet.OLSth(k=1, always=["x9"]).load_averages(model.averages())
    assert [f["name"] for f in again.result_["always"]] == ["x9"]
    with pytest.raises(ValueError, match="x77"):
        keepnet.AnnealedRidge(k=2, always=["x77"]).fit(X, y)
    for method in (keepnet.AnnealedRidge, keepnet.OSPlus):
        for place in (12, -1):
            with pytest.raises(ValueError, match=f"no feature {place}"):
                method(k=2, always=[place]).fit(pd.DataFrame(X).add_prefix("a"), y)


def test_always_and_groups_and_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    y = X[:, 4] + X[:, 5] + 0.1 * rng.normal(size=200)
    selector = keepnet.OSPlus(k=2, always=[29]).fit(X, y)
    assert list(selector.get_support(indices=True)) == [4, 5, 29]
    assert [f["name"] for f in selector.result_["always"]] == ["x29"]
    labels = np.repeat(["a", "b", "c"], 10)
    grouped = keepnet.GroupSAOLA(groups=labels).fit(X, (y > 0).astype(int))
    assert {f["group"] for f in grouped.result_["selected"]} <= {"a", "b", "c"}
    weight = rng.uniform(0.5, 2, size=200)
    plain, weighted = (keepnet.OSPlus(k=2).fit(X, y, w) for w in (None, weight))
    assert not np.array_equal(plain.coef_, weighted.coef_)
    # The weighted fit is least squares with those weights.
    A = np.column_stack([X[:, [4, 5]], np.ones(200)]) * np.sqrt(weight)[:, None]
    want = np.linalg.lstsq(A, y * np.sqrt(weight), rcond=None)[0]
    np.testing.assert_allclose(weighted.coef_[[4, 5]], want[:2], rtol=1e-8)
