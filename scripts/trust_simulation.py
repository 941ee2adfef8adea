"""Error rates of `screen`, `stability`, `inference` and the choice of k where the truth is known.

    python scripts/trust_simulation.py [screen|knockoffs|split|stability|sizes|auto]... [--seeds N]

Needs the Python package. Prints a line a design: rates with their standard errors, beside what is
accepted.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from keepnet import OSPlus, Screen

warnings.simplefilter("ignore")


def design(seed, n, p, s, beta, rho):
    """Columns with correlation rho between neighbours, and a target of s of them plus noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    for j in range(1, p if rho else 0):
        x[:, j] = rho * x[:, j - 1] + np.sqrt(1 - rho**2) * x[:, j]
    true = rng.choice(p, s, replace=False)
    effect = np.zeros(p)
    effect[true] = beta * rng.choice([-1.0, 1.0], s)
    return x, x @ effect + rng.normal(size=n), effect


def report(name, numbers, accepted):
    mean, se = np.mean(numbers), np.std(numbers, ddof=1) / np.sqrt(len(numbers))
    print(f"  {name:<28}{mean:8.3f} (s.e. {se:.3f})   {accepted}")


def screen(seeds):
    """No true column; 20 of 2,000; blocks of ten, in 20 of which the first column is true.

    All ten columns of a true block count as true: they do have to do with the target. The other
    blocks are independent of these.
    """
    for name, width, true in (("no true column", 1, 0), ("iid", 1, 20), ("blocks of 10 at 0.5", 10, 20)):
        shares = {procedure: [] for procedure in ("bh", "by", "holm", "lond-dep", "lord", "saffron")}
        power = {procedure: [] for procedure in shares}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            x = rng.normal(size=(200, 2000))
            if width > 1:
                common = rng.normal(size=(200, 2000 // width))
                x = np.sqrt(0.5) * x + np.sqrt(0.5) * np.repeat(common, width, axis=1)
            blocks = rng.choice(2000 // width, true, replace=False)
            y = 0.5 * x[:, blocks * width].sum(axis=1) + rng.normal(size=200)
            is_true = np.repeat(np.isin(np.arange(2000 // width), blocks), width)
            for procedure in shares:
                found = Screen(test="pearson", procedure=procedure, level=0.1).fit(x, y)
                kept = found.selected_
                shares[procedure].append(1 - np.mean(is_true[kept]) if len(kept) else 0.0)
                power[procedure].append(is_true[kept].sum() / max(is_true.sum(), 1))
        print(f"screen at 0.1, pearson, n=200 p=2000, {name}, {seeds} seeds")
        for procedure in shares:
            said = "at most .1 + 2 s.e." if procedure in ("bh", "by", "holm", "lond-dep") else ""
            report(f"{procedure}: FDR", shares[procedure], said)
            report(f"{procedure}: power", power[procedure], "")


def knockoffs(seeds):
    for rho in (0.0, 0.5):
        share, power = [], []
        for seed in range(seeds):
            x, y, effect = design(seed, 1000, 2000, 40, 0.2, rho)
            found = OSPlus(k=100, inference="knockoffs", level=0.1, random_state=seed).fit(x, y)
            kept = found.selected_
            share.append(np.mean(effect[kept] == 0) if len(kept) else 0.0)
            power.append(np.mean(np.isin(np.flatnonzero(effect), kept)))
        print(f"knockoffs, n=1000 p=2000, 40 true of 0.2, rho {rho}, {seeds} seeds")
        report("false discovery rate", share, "at most .1 + 2 s.e. (rho 0); stand-ins count at 0.5")
        report("power", power, "at least .60 (rho 0)")


def split(seeds):
    for rho in (0.0, 0.5):
        covered, errors, power = [], [], []
        for seed in range(seeds):
            x, y, effect = design(seed, 400, 1000, 10, 0.4, rho)
            found = OSPlus(k=15, inference="split", random_state=seed).fit(x, y)
            kept = found.selected_
            # The coefficients of the population's model of the kept features.
            gap = np.abs(np.subtract.outer(np.arange(1000), np.arange(1000)))
            sigma = rho**gap if rho else np.eye(1000)
            target = np.linalg.solve(sigma[np.ix_(kept, kept)], sigma[kept] @ effect)
            ends = found.confidence_intervals_[kept]
            covered.append(np.mean((ends[:, 0] <= target) & (target <= ends[:, 1])))
            rejected = kept[found.pvalues_adjusted_[kept] <= 0.05]
            errors.append(float(np.any(effect[rejected] == 0)))
            power.append(np.isin(np.flatnonzero(effect), rejected).mean())
        print(f"split, n=400 p=1000, 10 true of 0.4, k=15, rho {rho}, {seeds} seeds")
        report("coverage of 95 % intervals", covered, ".95 +- .012")
        report("runs with a false rejection", errors, "at most .05 + 2 s.e. (rho 0)")
        report("power", power, "")


def stability(seeds):
    for rho in (0.0, 0.5):
        for cut in (0.6, 0.7, 0.8, 0.9):
            false, recall, bound = [], [], []
            for seed in range(seeds):
                x, y, effect = design(seed, 200, 500, 10, 0.5, rho)
                found = OSPlus(k=20, stability=(25, cut), random_state=seed).fit(x, y)
                kept = found.selected_
                false.append(float(np.sum(effect[kept] == 0)))
                recall.append(np.isin(np.flatnonzero(effect), kept).mean())
                bound.append(found.expected_false_["unimodal"])
            print(f"stability, n=200 p=500, 10 true of 0.5, k=20, rho {rho}, share {cut}")
            report("false features", false, f"at most the bound {np.mean(bound):.2f}")
            report("recall", recall, "")


def sizes(seeds):
    for choose in ("cv", "cv-min", "ebic"):
        size, error, right = [], [], 0
        for seed in range(seeds):
            x, y, effect = design(seed, 2400, 1000, 10, 0.4, 0.0)
            path = [2, 5, 8, 10, 12, 15, 20, 30, 50]
            found = OSPlus(k=path, choose=choose, random_state=seed).fit(x[:400], y[:400])
            size.append(float(found.k_))
            right += found.k_ == 10
            error.append(np.mean((found.predict(x[400:]) - y[400:]) ** 2))
        print(f"sizes by {choose}, n=400 p=1000, 10 true of 0.4, {seeds} seeds")
        report("k", size, f"10 in {right} of {seeds}; at least 36 of 40 by cv")
        report("squared error on new rows", error, "noise 1")


def auto(seeds):
    """The papers' regression design: matched noise, 100 true of 2,000."""
    sizes, recalls, fixed = [], [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(1316, 2000))
        true = rng.choice(2000, 100, replace=False)
        noise = 0.1 * np.sqrt(1316)
        y = x[:, true] @ rng.normal(size=100) + noise * rng.normal(size=1316)
        found = OSPlus(k="auto", random_state=seed, n_jobs=2).fit(x, y)
        alone = OSPlus(k=100, random_state=seed, n_jobs=2).fit(x, y)
        sizes.append(float(found.k_))
        recalls.append(np.isin(true, found.selected_).mean())
        fixed.append(np.isin(true, alone.selected_).mean())
    print(f"-k auto, the papers' regression design, n=1316 p=2000, 100 true, {seeds} seeds")
    report("k", sizes, "80 to 120")
    report("recall", recalls, "at least that of k = 100 less 0.03")
    report("recall at k = 100", fixed, "")


ALL = {"screen": screen, "knockoffs": knockoffs, "split": split, "stability": stability, "sizes": sizes, "auto": auto}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", choices=[*ALL, []], default=list(ALL))
    parser.add_argument("--seeds", type=int, default=200)
    asked = parser.parse_args()
    for what in asked.what:
        ALL[what](asked.seeds)
