"""Recall, loss, rounds and bytes of parts with a certificate, beside one process.

    python benchmarks/cluster_columns.py designs [--seeds 20] [--parts 2,8,16] [DESIGN ...]
    python benchmarks/cluster_columns.py parquet [--gigabytes 4] [--folder DIR]

`designs`: squared loss without intercept, signal-to-noise 10, columns dealt out in turn; shuffled
order for one process, the order as it is for parts, which read their own. `parquet`: eight parts of
a Parquet file each, two worker processes, beside `scans="rest"` on two threads in one process.
"""

import argparse
import json
import os
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import keepnet
import keepnet.cluster
import numpy as np

DESIGNS = ("iid", "toeplitz", "equicorrelated", "regression", "wide-iid", "wide-toeplitz")


def design(name, seed):
    """X (n x p), y, true support."""
    r = np.random.default_rng(seed)
    large = {"regression": (1316, 2000, 100), "wide-iid": (400, 10000, 30), "wide-toeplitz": (400, 10000, 30)}
    n, p, s = large.get(name, (400, 1000, 30))
    X = r.standard_normal((n, p))
    if "toeplitz" in name:
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.81) * X[:, j]
    if "equicorrelated" in name:
        X = np.sqrt(0.5) * r.standard_normal((n, 1)) + np.sqrt(0.5) * X
    truth = r.choice(p, s, replace=False)
    f = X[:, truth] @ r.standard_normal(s)
    noise = 0.1 * np.sqrt(n) if name == "regression" else f.std() / np.sqrt(10)
    y = f + noise * r.standard_normal(n)
    return X - X.mean(0), y - y.mean(), truth


def dealt(X, q):
    """Parts of columns dealt out in turn, named by their place in X."""

    def part(at):
        places = range(at, X.shape[1], q)
        block = np.asfortranarray(X[:, at::q])
        return lambda: iter([([f"x{j}" for j in places], block)])

    return [part(at) for at in range(q)]


def designs(names, seeds, parts):
    """A line a design and way: recall, loss over that of one process with two scans, rounds."""
    for name in names:
        rows = {}
        for seed in range(seeds):
            X, y, truth = design(name, seed)
            k = len(truth)
            plain = {"order": "shuffled", "random_state": seed, "intercept": False}
            found = {"one process, two scans": keepnet.OSPlus(k=k, **plain).fit(X, y)}
            found["one process, rest"] = keepnet.OSPlus(k=k, scans="rest", **plain).fit(X, y)
            for q in parts:
                for rounds, what in ((0, "tournament"), (50, "certificate")):
                    method = keepnet.OSPlus(intercept=False)
                    run = keepnet.cluster.select(None, dealt(X, q), y, k, rounds=rounds, method=method)
                    found[f"{what}, {q} parts"] = run
            base = found["one process, two scans"].result_["final_loss"]
            for what, run in found.items():
                kept = {int(f["name"][1:]) for f in run.result_["selected"]}
                told = run.result_.get("cluster", run.result_["metrics"])
                line = (
                    len(kept & set(truth.tolist())) / k,
                    run.result_["final_loss"] / base,
                    told.get("rounds", 0),
                    told.get("bytes", 0) / 1e6,
                )
                rows.setdefault(what, []).append(line)
        for what, lines in rows.items():
            mean = np.mean(lines, axis=0)
            error = np.std(lines, axis=0, ddof=1) / np.sqrt(len(lines)) if len(lines) > 1 else mean * np.nan
            most = max(line[2] for line in lines)
            print(
                f"{name:15} {what:24} recall {mean[0]:.3f} ({error[0]:.3f})  loss {mean[1]:.3f} ({error[1]:.3f})"
                f"  rounds {mean[2]:.1f} ({most})  MB {mean[3]:.1f}",
                flush=True,
            )


def written(folder, gigabytes, parts=8, rows=20_000):
    """Parquet parts of f32 columns, and the target."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = int(gigabytes * 1e9 / (4 * rows * parts))
    rng = np.random.default_rng(0)
    y, paths = np.zeros(rows), []
    for at in range(parts):
        path = os.path.join(folder, f"part{at}.parquet")
        paths.append(path)
        X = rng.standard_normal((columns, rows), dtype=np.float32)
        for j in rng.choice(columns, 12, replace=False):
            y += rng.standard_normal() * X[j]
        names = [f"g{at * columns + j}" for j in range(columns)]
        table = pa.table([pa.array(x) for x in X], names=names)
        pq.write_table(table, path, compression="NONE", use_dictionary=False)
    y += 0.3 * y.std() * rng.standard_normal(rows)
    target = os.path.join(folder, "y.npy")
    np.save(target, y)
    return paths, target


def processor() -> float:
    """Seconds of processor time, of this process and of those that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def parquet(gigabytes, folder):
    """Time and loss of both ways."""
    with tempfile.TemporaryDirectory(dir=folder) as folder:
        paths, target = written(folder, gigabytes)
        y, k = np.load(target), 100
        size = sum(map(os.path.getsize, paths)) / 1e9
        start, used = time.perf_counter(), processor()
        one = keepnet.select(paths, target, k=k, scans="rest", n_jobs=2, stack="columns")
        here, busy = time.perf_counter() - start, processor() - used
        line = {"gigabytes": round(size, 2), "one process": here, "processor": busy, "loss": one.result_["final_loss"]}
        print(json.dumps(line | {"scans": one.result_["scans"]}), flush=True)
        used = processor()
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            start = time.perf_counter()
            run = keepnet.cluster.select(pool, paths, y, k)
            there = time.perf_counter() - start
        # Where other work shares the processor its time says more than the clock.
        share = (processor() - used) / busy
        line = {"two workers": there, "ratio": there / here, "processor ratio": share}
        line["loss"] = run.result_["final_loss"]
        print(json.dumps(line | run.result_["cluster"]), flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=["designs", "parquet"])
    arguments.add_argument("names", nargs="*", default=list(DESIGNS))
    arguments.add_argument("--seeds", type=int, default=20)
    arguments.add_argument("--parts", default="2,8,16")
    arguments.add_argument("--gigabytes", type=float, default=4.0)
    arguments.add_argument("--folder")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    if given.what == "designs":
        designs(given.names or DESIGNS, given.seeds, [int(q) for q in given.parts.split(",")])
    else:
        parquet(given.gigabytes, given.folder)
