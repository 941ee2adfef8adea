"""Accumulation of running averages beside its peers, on the same rows, one thread each.

    python3 benches/peers/averages.py [n=100000] [p=1000] [rounds=3]

Times in turn, best of the rounds, in processor seconds: `X.T @ Y` of NumPy in f32 and f64 (the
rate of its BLAS), `Ridge(solver="cholesky")` of scikit-learn, and `OLSth` of keepnet with products
in f32 and in f64. The useful work of a second-moment matrix is `n p (p + 1)` flops, half of a full
product; rates are of useful flops. What is not installed is named and left out.
"""

import os
import sys
import time

# Before NumPy is loaded: its BLAS reads them once.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"
# A core type that somebody set may keep OpenBLAS from the kernels of this processor.
os.environ.pop("OPENBLAS_CORETYPE", None)

try:
    import numpy as np
except ImportError:
    sys.exit("averages.py: numpy is not installed; install numpy, scikit-learn and keepnet")


def optional(module, name):
    """A class of a package, or None with a line that says so."""
    try:
        return getattr(__import__(module, fromlist=[name]), name)
    except ImportError as error:
        print(f"{module.split('.')[0]} is not installed, left out: {error}")
        return None


def settings(arguments):
    values = {"n": 100_000, "p": 1000, "rounds": 3}
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key not in values or not value.isdigit() or int(value) < 1:
            sys.exit(f"averages.py: {argument!r} is not n=, p= or rounds= with a number from 1")
        values[key] = int(value)
    return values["n"], values["p"], values["rounds"]


def jobs(n, p):
    """Name, useful flops and call of each thing that is timed."""
    random = np.random.default_rng(0)
    x = random.standard_normal((n, p), dtype=np.float32)
    y = x[:, 9::10].sum(axis=1) + random.standard_normal(n, dtype=np.float32)
    moments = n * p * (p + 1)
    depth = min(n, 8192)
    narrow = x[:depth]
    wide = narrow.astype(np.float64)
    # Two different arrays: of one array and its transpose NumPy computes half.
    other, other_wide = narrow.copy(), wide.copy()
    yield "numpy sgemm", 2 * depth * p * p, lambda: narrow.T @ other
    yield "numpy dgemm", 2 * depth * p * p, lambda: wide.T @ other_wide
    if ridge := optional("sklearn.linear_model", "Ridge"):
        model = ridge(alpha=1.0, solver="cholesky")
        yield "sklearn Ridge f32", moments, lambda: model.fit(x, y)
    if olsth := optional("keepnet", "OLSth"):
        k = max(1, p // 10)
        for products in ("f32", "f64"):
            selector = olsth(k, products=products, n_jobs=1)
            yield f"keepnet OLSth {products}", moments, lambda s=selector: s.fit(x, y)


def main():
    n, p, rounds = settings(sys.argv[1:])
    print(f"n = {n}, p = {p}, f32 rows in memory, one thread, best of {rounds} in turn")
    work = list(jobs(n, p))
    best = [float("inf")] * len(work)
    for _ in range(rounds):
        for at, (_, _, call) in enumerate(work):
            start = time.process_time()
            call()
            best[at] = min(best[at], time.process_time() - start)
    peer = next((t for (name, _, _), t in zip(work, best) if name.startswith("sklearn")), None)
    print(f"{'':20} {'seconds':>8} {'GFLOP/s':>8} {'to Ridge':>9}")
    for (name, flops, _), seconds in zip(work, best):
        compared = peer is not None and name.startswith("keepnet")
        ratio = f"{seconds / peer:9.2f}" if compared else ""
        print(f"{name:20} {seconds:8.3f} {flops / seconds / 1e9:8.1f} {ratio}")


if __name__ == "__main__":
    main()
