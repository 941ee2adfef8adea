"""The classification rivals on the very draws of the reference prototypes.

    python benchmarks/reference_draws.py [--seeds 3] [--features 1000 3000 5000]

`cargo run -p keepnet-papers --example os_tables -- 30 rival-classes` judges them on draws of its own,
where the reference has three seeds, so that its own luck counts. Here X, y, the true features and
the fresh rows are drawn as the reference draws them, and means over the same three seeds are
printed beside its numbers: recall / test error.
"""

import argparse

import keepnet
import numpy as np

# p: recall and test error of the reference.
REFERENCE = {
    "proj-gd": {1000: (0.673, 0.099), 3000: (0.607, 0.120), 5000: (0.590, 0.117)},
    "l1-hinge": {1000: (0.650, 0.090), 3000: (0.613, 0.120), 5000: (0.557, 0.128)},
    "grafting": {1000: (0.650, 0.090), 3000: (0.610, 0.122), 5000: (0.553, 0.128)},
}
TRUE = 100


def draw(p, seed):
    """Rows, classes, true features, and fresh rows and classes, as `gen_cls` of the reference."""
    rng = np.random.default_rng(10_000 + seed)
    n = round(1.2 * TRUE * np.log2(p))
    X, fresh = rng.standard_normal((p, n)), rng.standard_normal((p, n))
    w = np.zeros(p)
    w[rng.choice(p, TRUE, replace=False)] = rng.standard_normal(TRUE)
    return X.T, np.sign(w @ X), np.flatnonzero(w), fresh.T, np.sign(w @ fresh)


def chosen(name, X, y, seed):
    plain = {"k": TRUE, "intercept": False, "standardise": False}
    if name == "proj-gd":
        model = keepnet.ProjGD(eta=0.6, loss="squared-hinge", **plain)
    else:
        model = keepnet.L1Hinge(**plain)
    model.fit(X, y)
    if name == "grafting":
        penalty = {"lambda_": model.result_["metrics"]["lambda"], "loss": "squared-hinge"}
        model = keepnet.Grafting(scans=2, order="shuffled", random_state=seed, **penalty, **plain)
        model.fit(X, y)
    return model.selected_


def test_error(X, y, kept, fresh, truth):
    """Share of fresh rows that a squared-hinge refit on the kept features gets wrong."""
    refit = keepnet.OS(k=len(kept), scans=1, loss="squared-hinge", intercept=False)
    refit.fit(X[:, kept], y)
    return np.mean(np.sign(fresh[:, kept] @ refit.coef_) != truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--features", type=int, nargs="*", default=[1000, 3000, 5000])
    args = parser.parse_args()
    print("| method | p | recall | reference | test error | reference |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for p in args.features:
        found = {name: [] for name in REFERENCE}
        for seed in range(args.seeds):
            X, y, true, fresh, truth = draw(p, seed)
            for name, runs in found.items():
                kept = chosen(name, X, y, seed)
                recall = len(set(kept.tolist()) & set(true.tolist())) / TRUE
                runs.append((recall, test_error(X, y, kept, fresh, truth)))
        for name, runs in found.items():
            recall, error = np.mean(runs, axis=0)
            theirs = REFERENCE[name].get(p, (np.nan, np.nan))
            row = f"{recall:.3f} | {theirs[0]:.3f} | {error:.3f} | {theirs[1]:.3f}"
            print(f"| {name} | {p} | {row} |", flush=True)


if __name__ == "__main__":
    main()
