#!/usr/bin/env python3
"""Scans, bytes, seconds and memory of the searches for a Markov blanket on a wide binary file.

    python3 scripts/blanket_scans.py --keepnet target/release/keepnet --features 200000

Writes binary columns of 2,000 rows by seed to an npy file in Fortran order (a byte a value) and a
target that depends on six of them, and runs each method with `--memory 200M`. The standard library
alone is needed.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import tempfile

BITS = bytes(48 + bit for bit in (0, 1))


def column(source, rows):
    """A random column, a byte a value."""
    return format(source.getrandbits(rows), f"0{rows}b").encode().translate(
        bytes(byte - 48 if byte in BITS else byte for byte in range(256))
    )


def write(folder, features, rows):
    """The table, and the target of the columns 100, 200, ..., 600."""
    source = random.Random(17)
    head = f"{{'descr': '|u1', 'fortran_order': True, 'shape': ({rows}, {features}), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    of = [100 * (place + 1) for place in range(6)]
    parts = []
    with open(folder / "x.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        for at in range(features):
            values = column(source, rows)
            if at in of:
                parts.append(values)
            file.write(values)
    score = [sum(part[row] for part in parts) + source.gauss(0, 0.7) for row in range(rows)]
    middle = sorted(score)[rows // 2]
    lines = "".join(f"{int(one > middle)}\n" for one in score)
    (folder / "y.csv").write_text("y\n" + lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keepnet", default="target/release/keepnet")
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--methods", default="iamb,inter-iamb,fast-iamb,mmpc,mmmb")
    options = parser.parse_args()
    print("| method | kept | of the six | scans | MB read | processor seconds | MB at most |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write(folder, options.features, options.rows)
        for method in options.methods.split(","):
            out = folder / "result.json"
            call = [options.keepnet, "select", folder / "x.npy", "--target", folder / "y.csv"]
            call += ["--task", "classification", "--method", method, "--measure", "g2"]
            call += ["--memory", "200MB", "--threads", "1", "--quiet", "--output", out]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(call, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            result = json.loads(out.read_text())
            kept = {feature["index"] for feature in result["selected"]}
            hits = len(kept & {100 * (place + 1) for place in range(6)})
            read, peak = sum(result["run"]["bytes_read"]) / 1e6, result["run"]["peak_bytes"] / 1e6
            print(
                f"| `{method}` | {len(kept)} | {hits} | {result['scans']} | {read:,.0f} "
                f"| {seconds:.1f} | {peak:.0f} |"
            )


if __name__ == "__main__":
    main()
