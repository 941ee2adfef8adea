#!/usr/bin/env python3
"""Precision and recall of Markov blankets on networks whose blankets are known.

    python3 scripts/blanket_recovery.py --keepnet target/release/keepnet alarm.bif child.bif ...

Each file is a network of discrete variables in the BIF format (plain or .gz), as the bnlearn
repository and the package pgmpy have them. Rows are drawn from its tables by seed. Then every
variable is the target once and `keepnet select` looks for its blanket among the others. A
blanket is the parents, the children and the other parents of the children. Hits, selected and
wanted are summed over the variables and draws; precision = hits / selected, recall = hits /
wanted. Needs the standard library alone.
"""

import argparse
import csv
import gzip
import itertools
import json
import pathlib
import random
import re
import subprocess
import tempfile

METHODS = {
    "iamb": ["--measure", "g2"],
    "inter-iamb": ["--measure", "g2"],
    "fast-iamb": ["--measure", "g2"],
    "mmpc": ["--measure", "g2"],
    "mmmb": ["--measure", "g2"],
    "fast-osfs": ["--measure", "g2"],
    "saola": ["--measure", "su"],
    "fcbf": ["--measure", "su"],
}


def network(path):
    """The parents of each variable, and a row of probabilities for each configuration."""
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        text = file.read()
    levels, tables = {}, {}
    for name, values in re.findall(
        r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}", text
    ):
        levels[name] = [value.strip() for value in values.split(",")]
    for head, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
        name, _, given = (part.strip() for part in head.partition("|"))
        parents = [parent.strip() for parent in given.split(",")] if given else []
        rows = {}
        for values in re.findall(r"table\s+([^;]*);", body):
            rows[()] = [float(value) for value in values.split(",")]
        for where, values in re.findall(r"\(([^)]*)\)\s*([^;]*);", body):
            rows[tuple(value.strip() for value in where.split(","))] = [
                float(value) for value in values.split(",")
            ]
        configurations = list(itertools.product(*(levels[parent] for parent in parents)))
        if set(rows) != set(configurations):
            raise SystemExit(f"{path}: the table of {name} does not name every configuration")
        codes = itertools.product(*(range(len(levels[parent])) for parent in parents))
        tables[name] = parents, {code: rows[c] for code, c in zip(codes, configurations)}
    return tables


def blanket(tables, target):
    """Parents, children and spouses."""
    parents = set(tables[target][0])
    children = {name for name, (given, _) in tables.items() if target in given}
    spouses = {given for child in children for given in tables[child][0]}
    return (parents | children | spouses) - {target}


def draw(tables, rows, seed):
    """Codes of every variable, parents before their children."""
    order, left = [], dict(tables)
    while left:
        ready = [name for name, (given, _) in left.items() if all(one in order for one in given)]
        order += ready
        for name in ready:
            del left[name]
    source = random.Random(seed)
    out = {name: [] for name in tables}
    for _ in range(rows):
        row = {}
        for name in order:
            given, table = tables[name]
            chances = table[tuple(row[one] for one in given)]
            row[name] = source.choices(range(len(chances)), chances)[0]
            out[name].append(row[name])
    return out


def select(keepnet, path, target, method, words, folder):
    """Names that a method selects."""
    out = folder / "result.json"
    call = [keepnet, "select", path, "--target", target, "--task", "classification"]
    call += ["--method", method, *words, "--quiet", "--output", out]
    subprocess.run(call, check=True)
    result = json.loads(out.read_text())
    return {feature["name"] for feature in result["selected"]}


def measured(keepnet, tables, rows, draws, folder):
    """Hits, selected and wanted of each method."""
    sums = {method: [0, 0, 0] for method in METHODS}
    for seed in range(draws):
        columns = {name: x for name, x in draw(tables, rows, seed).items() if len(set(x)) > 1}
        path = folder / "rows.csv"
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values()))
        for target in columns:
            want = blanket(tables, target)
            for method, words in METHODS.items():
                got = select(keepnet, path, target, method, words, folder)
                new = (len(got & want), len(got), len(want))
                sums[method] = [a + b for a, b in zip(sums[method], new)]
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", type=pathlib.Path)
    parser.add_argument("--keepnet", default="target/release/keepnet")
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    print("| network | rows | method | precision | recall | F1 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in options.networks:
        tables = network(path)
        name = path.name.split(".")[0]
        for rows in options.rows:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                sums = measured(options.keepnet, tables, rows, options.draws, folder)
            for method, (hits, selected, wanted) in sums.items():
                precision, recall = hits / max(selected, 1), hits / wanted
                f1 = 2 * hits / (selected + wanted)
                print(f"| {name} | {rows} | `{method}` | {precision:.2f} | {recall:.2f} | {f1:.2f} |")


if __name__ == "__main__":
    main()
