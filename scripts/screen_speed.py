"""Relevant features of a table by `keepnet --method screen` and by tsfresh, in one run.

    python3 scripts/screen_speed.py --keepnet target/release/keepnet TABLE.parquet TARGET

Both start from the table on disk or in memory as they like it best: tsfresh from a DataFrame with
`n_jobs=0`, keepnet from the file, its process included. The selected sets must be the same.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import pandas as pd


def ours(keepnet, table, target, others):
    """Seconds of the process, seconds of the selection alone, and the selected features."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        call = [keepnet, "select", table, "--target", target, "--method", "screen", "--quiet"]
        call += ["--task", "classification", "--output", out]
        call += ["--exclude", ",".join(others)] if others else []
        start = time.perf_counter()
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        result = json.loads(out.read_text())
    return seconds, result["run"]["seconds"]["select"], {f["name"] for f in result["selected"]}


def theirs(table, target, others):
    """Seconds of tsfresh's relevance table, and the relevant features."""
    from tsfresh.feature_selection.relevance import calculate_relevance_table

    frame = pd.read_parquet(table)
    y = frame.pop(target)
    frame = frame.drop(columns=others)
    start = time.perf_counter()
    relevance = calculate_relevance_table(frame, y, ml_task="classification", n_jobs=0)
    seconds = time.perf_counter() - start
    return seconds, set(relevance.loc[relevance.relevant, "feature"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keepnet", required=True)
    parser.add_argument("--exclude", default="", help="other columns that are no features")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("table")
    parser.add_argument("target")
    args = parser.parse_args()
    others = [name for name in args.exclude.split(",") if name]
    best = [float("inf")] * 3
    for _ in range(args.rounds):
        process, select, selected = ours(args.keepnet, args.table, args.target, others)
        seconds, relevant = theirs(args.table, args.target, others)
        assert selected == relevant, selected ^ relevant
        best = [min(pair) for pair in zip(best, (process, select, seconds))]
    process, select, seconds = best
    print(f"{len(relevant)} relevant features, the same in both")
    print(f"keepnet {process:.3f} s in all, {select:.4f} s of it selecting; tsfresh {seconds:.3f} s")
    print(f"tsfresh takes {seconds / process:.1f} times as long ({seconds / select:.0f} times the selection)")


if __name__ == "__main__":
    main()
