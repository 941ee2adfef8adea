"""keepnet beside scikit-learn and abess: time, peak memory and recall in one run.

    python benchmarks/rivals.py --shapes small large [--seeds 3] [--only NAME...] [--skip NAME...]

Every method runs in a process of its own on the same matrix (f32, Fortran order, standard
normal features with a common factor, `k` of them true with weights of random sign, noise as
large as the signal). Peak memory is what the process held at most beyond the matrix and the
imports. A method that takes longer than --limit seconds is ended and said to be.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

SHAPES = {"small": (1300, 2000, 50), "large": (5000, 20_000, 50)}


def data(shape, seed):
    n, p, k = SHAPES[shape]
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n).astype(np.float32)
    X = np.empty((n, p), dtype=np.float32, order="F")
    for j in range(p):
        X[:, j] = rng.normal(size=n) + common
    truth = rng.choice(p, k, replace=False)
    signal = X[:, truth] @ rng.choice([-1.0, 1.0], k)
    signal -= signal.mean()
    y = signal + signal.std() * rng.normal(size=n)
    return X, y.astype(np.float64), truth, k


def os_plus(X, y, k):
    from keepnet import OSPlus

    return OSPlus(k=k).fit(X, y).selected_


def os_plus_reserve(X, y, k):
    from keepnet import OSPlus

    return OSPlus(k=k, reserve=k).fit(X, y).selected_


def annealed_ridge(X, y, k):
    from keepnet import AnnealedRidge

    return AnnealedRidge(k=k).fit(X, y).selected_


def select_k_best(X, y, k):
    from sklearn.feature_selection import SelectKBest, f_regression

    return SelectKBest(f_regression, k=k).fit(X, y).get_support(indices=True)


def lasso(X, y, k):
    from sklearn.feature_selection import SelectFromModel
    from sklearn.linear_model import Lasso

    # The penalty that leaves about k features, by bisection as a user without a grid would.
    low, high = 0.0, float(np.abs((X - X.mean(0)).T @ (y - y.mean())).max()) / len(y)
    for _ in range(8):
        alpha = (low + high) / 2
        model = Lasso(alpha=alpha, max_iter=1000).fit(X, y)
        if np.count_nonzero(model.coef_) > k:
            low = alpha
        else:
            high = alpha
        if abs(np.count_nonzero(model.coef_) - k) <= k // 20:
            break
    chosen = SelectFromModel(model, max_features=k, threshold=-np.inf, prefit=True)
    return chosen.get_support(indices=True)


def omp(X, y, k):
    from sklearn.linear_model import orthogonal_mp

    centred = X - X.mean(0)
    centred /= np.linalg.norm(centred, axis=0)
    return np.flatnonzero(orthogonal_mp(centred, y - y.mean(), n_nonzero_coefs=k))


def abess(X, y, k):
    from abess import LinearRegression

    return np.flatnonzero(LinearRegression(support_size=k).fit(X, y).coef_)


RIVALS = {
    "keepnet OSPlus": os_plus,
    "keepnet OSPlus(reserve=k)": os_plus_reserve,
    "keepnet AnnealedRidge": annealed_ridge,
    "SelectKBest(f_regression)": select_k_best,
    "SelectFromModel(Lasso)": lasso,
    "orthogonal_mp": omp,
    "abess": abess,
}


def peak():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def one(name, shape, seed):
    """Runs in the child."""
    X, y, truth, k = data(shape, seed)
    run = RIVALS[name]
    small = np.asfortranarray(np.random.default_rng(0).normal(size=(60, 30)).astype(np.float32))
    run(small, small[:, 0].astype(np.float64) + small[:, 3], 3)  # imports and warm-up
    before = peak()
    start = time.perf_counter()
    chosen = run(X, y, k)
    seconds = time.perf_counter() - start
    recall = len(set(map(int, chosen)) & set(map(int, truth))) / k
    print(json.dumps({"seconds": seconds, "mb": max(peak() - before, 0.0), "recall": recall}))


def measure(name, shape, seed, limit):
    call = [sys.executable, __file__, "--one", name, "--shape", shape, "--seed", str(seed)]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="*", default=["small"], choices=list(SHAPES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--only", nargs="*", default=list(RIVALS))
    parser.add_argument("--skip", nargs="*", default=[])
    parser.add_argument("--one")
    parser.add_argument("--shape", default="small")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.one:
        return one(args.one, args.shape, args.seed)
    for shape in args.shapes:
        n, p, k = SHAPES[shape]
        print(f"\nn = {n:,}, p = {p:,}, k = {k}; X is {n * p * 4 / 2**20:,.0f} MB\n")
        print("| method | seconds | memory beyond X, MB | recall |\n| --- | ---: | ---: | ---: |")
        for name in RIVALS:
            if name in args.skip or name not in args.only:
                continue
            runs = [measure(name, shape, seed, args.limit) for seed in range(args.seeds)]
            if any(run is None for run in runs):
                print(f"| {name} | over {args.limit:.0f} or failed | | |", flush=True)
                continue
            middle = {key: float(np.median([run[key] for run in runs])) for key in runs[0]}
            mean = float(np.mean([run["recall"] for run in runs]))
            row = f"{middle['seconds']:.2f} | {middle['mb']:.0f} | {mean:.2f}"
            print(f"| {name} | {row} |", flush=True)
    return None


if __name__ == "__main__":
    main()
