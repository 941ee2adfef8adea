"""Peers of the benchmark `classes`, on the files that it wrote.

usage: classes.py DIR N P SEEDS [NAME...]; with names only these

Forward selection reads all columns k times: the column with the largest fall of the loss in the
quadratic model, the Schur complement against the chosen ones included, then Newton to convergence
with a ridge of 1e-3. Errors are those of scikit-learn's LogisticRegression(C=1) refitted on the
chosen columns, on 2,000 other rows. Seconds are processor seconds of one thread.
"""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression

K = 100


def value(x, y, w, ridge):
    return np.logaddexp(0, -y * (x @ w)).mean() + 0.5 * (ridge * w * w).sum()


def curvature(x, y, w, ridge):
    """Slopes and curvatures of the rows, and the Hessian."""
    miss = 1 / (1 + np.exp(y * (x @ w)))
    d = miss * (1 - miss)
    return -y * miss, d, (x.T * d) @ x / len(y) + np.diag(ridge + 1e-12)


def newton(x, y, w, ridge):
    here = value(x, y, w, ridge)
    for _ in range(30):
        g, _, h = curvature(x, y, w, ridge)
        slope = x.T @ g / len(y) + ridge * w
        step = np.linalg.solve(h, slope)
        descent = slope @ step
        if descent < 1e-10 * max(here, 1e-3):
            break
        length = 1.0
        while length > 1e-4:
            there = value(x, y, w - length * step, ridge)
            if there <= here - 1e-4 * length * descent:
                break
            length *= 0.5
        w, here = w - length * step, there
    return w


def forward(x, y, ridge=1e-3):
    x = x - x.mean(0)
    n, variance, squares = len(y), (x * x).mean(0), x * x
    chosen, model, w, ridges = [], np.ones((n, 1)), np.zeros(1), np.zeros(1)
    w = newton(model, y, w, ridges)
    for _ in range(K):
        g, d, h = curvature(model, y, w, ridges)
        cross = (model.T * d) @ x / n
        schur = d @ squares / n + ridge * variance - (cross * np.linalg.solve(h, cross)).sum(0)
        gain = (x.T @ g / n) ** 2 / schur
        gain[chosen] = -1
        chosen.append(int(gain.argmax()))
        model = np.hstack([model, x[:, chosen[-1:]]])
        w, ridges = np.append(w, 0.0), np.append(ridges, ridge * variance[chosen[-1]])
        w = newton(model, y, w, ridges)
    return chosen


def adelie(x, y):
    import adelie as ad

    path = ad.grpnet(
        X=np.asfortranarray(x),
        glm=ad.glm.binomial((y > 0).astype(float)),
        progress_bar=False,
        n_threads=1,
        early_exit=False,
        min_ratio=1e-2,
    )
    betas = path.betas.toarray()
    full = [b for b in betas if np.count_nonzero(b) >= K]
    last = full[0] if full else betas[-1]
    return np.argsort(-np.abs(last))[:K].tolist()


def abess(x, y):
    from abess import LogisticRegression as Abess

    model = Abess(support_size=K, thread=1).fit(x, (y > 0).astype(int))
    return np.flatnonzero(model.coef_).tolist()


def main():
    directory, n, p, seeds = sys.argv[1], *map(int, sys.argv[2:5])
    names = sys.argv[5:]
    rows = {}
    for seed in range(seeds):
        def table(name):
            return np.fromfile(f"{directory}/{name}-{seed}.f32", np.float32).reshape(p + 1, -1).T

        train, test = table("train"), table("test")
        assert len(train) == n, "the files are of another n"
        x, y = np.asfortranarray(train[:, :p], dtype=float), train[:, p].astype(float)
        truth = set(np.loadtxt(f"{directory}/truth-{seed}.txt", int).tolist())

        def found(x, y):
            return np.loadtxt(f"{directory}/found-{seed}.txt", int).tolist()

        chosen_by = [
            ("os-plus", found),
            ("forward", forward),
            ("adelie", adelie),
            ("abess", abess),
        ]
        for name, choose in chosen_by:
            if names and name not in names:
                continue
            start = time.process_time()
            try:
                chosen = sorted(choose(x, y))
            except ImportError as error:
                rows[name] = str(error)
                continue
            seconds = time.process_time() - start
            fit = LogisticRegression(C=1, max_iter=2000).fit(x[:, chosen], y)
            error = 1 - fit.score(test[:, chosen], test[:, p])
            rows.setdefault(name, []).append((seconds, len(truth & set(chosen)) / K, error))
    for name, row in rows.items():
        if isinstance(row, str):
            print(f"  {name}: not measured, {row}")
            continue
        seconds, recall, error = np.mean(row, 0)
        deviation = np.std(row, 0) / np.sqrt(len(row))
        took = "" if name == "os-plus" else f"{seconds:.2f} s, "
        print(f"  {name}: {took}recall {recall:.3f} ({deviation[1]:.3f}), error {error:.4f} ({deviation[2]:.4f})")
    print("  L0Learn is no package of PyPI and was not measured")


main()
