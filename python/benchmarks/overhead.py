"""What Python adds to the engine: `fit` beside the engine's own time in it.

    python benchmarks/overhead.py

The engine reports the seconds it spent in the source and in selecting (`run.seconds`); the rest
of a call to `fit` is Python's. Resident memory is compared before and at the peak of the call.
"""

import time

import keepnet
import numpy as np


def status(field):
    with open("/proc/self/status") as lines:
        line = next(line for line in lines if line.startswith(field))
    return int(line.split()[1]) / 1024


def main():
    n, p = 5000, 20_000
    X = np.empty((n, p), dtype=np.float32, order="F")
    rng = np.random.default_rng(0)
    for j in range(p):
        X[:, j] = rng.normal(size=n)
    y = X[:, :50].sum(axis=1) + rng.normal(size=n)
    keepnet.OSPlus(k=5).fit(X[:, :200], y)
    print("| method | fit, s | engine alone, s | overhead | memory beyond X, MB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, selector in {"OSPlus(k=50)": keepnet.OSPlus(k=50), "OS(k=50)": keepnet.OS(k=50)}.items():
        best = (np.inf, 0.0)
        before = status("VmRSS:")
        for _ in range(3):
            start = time.perf_counter()
            selector.fit(X, y)
            whole = time.perf_counter() - start
            seconds = selector.result_["run"]["seconds"]
            best = min(best, (whole, seconds["read"] + seconds["select"]))
        whole, engine = best
        extra = status("VmHWM:") - before
        print(f"| {name} | {whole:.3f} | {engine:.3f} | {100 * (whole / engine - 1):.1f} % | {extra:.0f} |")


if __name__ == "__main__":
    main()
