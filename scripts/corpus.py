#!/usr/bin/env python3
"""Records the results of a corpus of runs and compares two recordings, so that a change of the
program that is meant to change no result can show that it changed none.

    scripts/corpus.py record BINARY FOLDER [DATA_FOLDER]
    scripts/corpus.py compare FOLDER_A FOLDER_B

`record` makes small tables in FOLDER/data, runs every case there with relative paths, and writes
FOLDER/results/NAME.json: the commands of the case, their exit status, standard output and standard
error, and every file that they wrote. A JSON result is held without its field `run`, a short text
as it is, other bytes as their SHA-256; times and sizes of memory are left out. Parquet and Arrow
tables and the list of methods come from BINARY: give a second recording the data of the first
(FOLDER_A/data) as DATA_FOLDER, so that both read the same. Where KEEPNET_DATA is a folder of real
data sets (NAME.parquet with the class in column y), a few of them are run as well.

`compare` prints how many runs were compared and, for each that differs, its name, its commands and
the first places that differ. Its status is 1 where an exit status, an output or a file differs.
Standard error may be reworded: texts that differ are listed apart and are no failure.
"""

import array
import collections
import gzip
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

ROWS, WIDE, REAL = 120, 25, ["colon", "wdbc", "lung_small"]

# Each method runs on each of these tables, with and without -k, with each loss and measure where it
# has them, and on three of them with each of its settings. What it refuses is recorded as well.
TABLES = [f"{name}.csv --target y" for name in ("reg", "two", "codes", "three", "wide")]
TABLES += ["levels.csv --target y --task classification"]
LOSSES = ["squared", "squared-hinge", "logistic", "squared-epsilon"]
MEASURES = ["su", "mi", "fisher-z", "g2"]
SETTINGS = """a=5|active=8|alpha=0.2|average=true|bins=3|bins=4 --measure su|bins=4 --measure g2
|cool=0.5|burn=10|choose=ebic|choose=holdout|choose=holdout --loss logistic|delta=0.1|drop=0.4
|epsilon=0.1|epsilon=0.3 --loss squared-epsilon|eta=0.05|eta=0.5/L|eta=1/Lf|every=3|forget=0.02
|gamma=5|l2=0.5|intercept=false|iterations=200|lambda=0.05|level=0.3|m=3 --set eta=0.5/L|margin=0
|max-condition=1|measure=fisher-z --set rules=lofs|mu=3|on-full=evict|payout=0.1|power=0.5
|preset=published|r=3|products=f64|rate=0.5|regret=true|reserve=3|rho=0.5|ridge=0.3|rules=lofs
|solver=cd|solver=ista|standardise=false|step=1|storage=f32|tau=1|theta=0|theta=0.5|tolerance=0.5
|wealth=0.1|workers=2|workers=3 --set tau=5""".replace("\n", "").split("|")

# Words in capitals stand for these.
WORDS = {
    "REG": "select reg.csv --target y -k 4", "TWO": "select two.csv --target y -k 4",
    "THREE": "select three.csv --target y -k 4", "HOLES": "select holes.csv --target y -k 4",
    "ALL": "select all.csv --columns *_* --target y -k 4", "CODES": "select codes.csv --target y",
    "MIXED": "select mixed.csv --target y --sample-weight w -k 5",
    "BOTH": "{--method os-plus|--method annealed-ridge}",
    "EACH": "{-k 5|--method saola|--method annealed-ridge -k 5}",
}

# A line, with the indented lines after it, is a case for each choice of what stands in braces. The
# commands of a case are separated by semicolons and share the folder `out`, which is empty before
# the first; `< FILE` is standard input. A selection goes to out/result.json where nothing is said.
CASES = {
    "formats": """
select num.{csv|tsv|jsonl|csv.gz|tsv.gz|jsonl.gz|parquet|arrow|feather} --target target EACH
select num.{svm|svm.gz|c.npy --target f24|c4.npy --target f24|big.npy --target f24} EACH
select {num.f.npy --target f24|num.f4.npy --target f24|made.npy --target f40} EACH
select {codes.i1|codes.i2|codes.i4|codes.i8|codes.u1|codes.b1}.npy --target spam.csv EACH
select {kinds.csv|kinds.jsonl|kinds.parquet|made.parquet|made.arrow} --target target EACH
select {made.svm|one.svm two.svm|part*.csv --target y} EACH
select - --format csv --target y --task regression EACH < reg.csv
""",
    "flags": """
ALL BOTH {--task regression|--sample-weight w|--sample-weight w.csv|--offset o|--seed 9|--time 1h
  |--offset beside.csv:o|--covar beside.csv:sex,age|--covar people.csv|--always c_0,a_1
  |--always @names.txt|--always a_1,twin_0,same_0|--threads 1|--threads 3|--memory 1GB|--scans 1
  |--max-line 1MB|--missing zero|--covar people.csv --always d_5 --sample-weight w --offset o}
select all.csv --target y -k 3 BOTH {--columns a_*,b_2|--columns @names.txt|--categorical skip
  |--columns [a-c]_* --exclude @names.txt|--exclude id,town,?_0|--exclude id --categorical skip}
ALL {--order shuffled|--order shuffled --seed 4 --scans 3|--order order.txt|--order places.txt
  |--min-count 30|--max-missing 0.2|--covar all.csv:age,sex|--set reserve=2 --scans 4}
ALL --method {annealed-ridge|olsth|omcp} --covar age,sex {|--always d_5,a_1|--set products=f64}
{TWO|THREE|CODES -k 4} {--method os-plus|--method annealed-ridge|--method ogfs --groups prefix:_}
  {--class-weight balanced|--sample-weight w.csv --task classification}
{TWO|CODES} --method {saola|osfs|alpha-investing} {--class-weight balanced|--sample-weight w.csv}
CODES -k 4 BOTH --task regression
CODES --method {group-saola|ogfs} --groups {groups.csv|prefix:_|block:4} {|--order shuffled}
HOLES {|--method saola|--method lasso} --missing {drop-feature|mean|zero|indicator}
HOLES --missing {indicator --max-missing 0.5|mean --max-missing 0.2}
HOLES --method {annealed-ridge|olsth|sgd} --missing {drop-row|mean|zero}
MIXED --categorical {skip|codes|onehot|onehot --always town=Oslo} {|--method lasso|--method saola}
MIXED --method {annealed-ridge|ols|ofsa|sgd} {--categorical skip|--exclude town,copy,big}
CODES --on-full {evict|error} --method saola
""",
    "files": """
select part1.csv part2.csv --target y -k 4 BOTH {|--stack rows}
select left.csv {cols.csv --exclude id --target y|right.csv --key id --target side.csv:y} -k 4
select num.c.npy num.f4.npy --target y.csv --stack columns -k 4
select x.csv --target {y.csv|beside.csv:o} --exclude id -k 4 BOTH
select x.csv --key id -k 4 BOTH --target side.csv:{y|kind --sample-weight side.csv:w}
select x.csv --key id,sex -k 4 BOTH --target side.csv:y {--offset side.csv:o|--covar side.csv:age}
select side.csv --columns age,sex,o,w --key id --target x.csv:a_1 -k 2 BOTH
""",
    "outputs": """
{REG|TWO|THREE} BOTH --output {out/r.csv --quiet|- --quiet|-|out/r.json}
{REG|TWO|THREE} BOTH --reduced out/small.{csv|tsv|jsonl|parquet|arrow}
{REG|CODES -k 4} BOTH --reduced out/small.{npy|svm}
HOLES {--missing indicator|--method ols --missing mean} --reduced out/small.csv
{REG|CODES --method saola|TWO --method osfs|HOLES --missing drop-feature|ALL --order shuffled
  |CODES --method group-saola --groups prefix:_} --decisions out/decisions.{csv|parquet}
{REG|TWO} --every 40 --method {annealed-ridge|ofsa|sgd|olasso}
{REG|THREE} BOTH {--report out/report.html|--dry-run|--progress json|--progress none}
{CODES --method saola|HOLES --missing mean --memory 1GB|MIXED --categorical codes} --dry-run
{REG|TWO|CODES -k 3} --method {os-plus|os|lasso|saola|alpha-investing|annealed-ridge|sgd}
  --checkpoint out/run.kn --checkpoint-every 1b
select part1.csv --target y --method ols --averages out/a.kn;
  select part2.csv --target y --method ols --averages out/b.kn;
  merge out/a.kn out/b.kn --output out/all.kn; extract out/all.kn {|-k 4} --method
  {annealed-ridge|ols|olsth|ofsa|olasso|oalasso|oelnet|omcp|oscad}
{REG|TWO|THREE|ALL --covar age,sex} --method {ols|olsth --set products=f64} --averages out/a.kn;
  extract out/a.kn -k 3 {|--always c_0 --output -|--always @names.txt|--output out/r.csv}
""",
    "commands": """
{methods|methods --json|methods --promises|methods os-plus|methods sgd --json|generate --list
  |reproduce --list|reproduce ra-adaptation --repeats 1 --quiet --output out/table.csv}
generate {regression|classification|wide|sparse --set per-row=5|iid|scales|equicorrelated|toeplitz
  |student|binary|offset|duplicates|few-rows|toeplitz --set rho=0.5|iid --set noise=20%
  |iid --set task=classification|iid --set noise=stated --set sample=2} --set n=40 --set p=30
  --set s=4 --seed 3 --output out/x.csv --target out/y.csv --truth out/truth.csv
generate iid --set n=40 --set p=30 --set s=4 --output out/x.{tsv|npy|svm|jsonl|parquet|arrow}
compare {reg|two|three}.csv --target y -k 4 --methods os-plus,os,ofsa --splits 3 --output out/t.csv
compare two.csv --target y --methods {saola,os-plus:k=4,fast-osfs|alpha-investing,l1-hinge:k=3}
  {--splits holdout:3:0.3 --seed 5|--splits 2x2 --orders 2|--splits splits.csv
  |--splits 3 --classifiers svm,own --class-weight balanced} --quiet --output -
compare reg.csv --target y -k 4 --methods os-plus,lasso:k=3 --splits 3 --truth truth.csv
  --external hand=external.csv --sample-weight w.csv --report out/report.html --output out/tidy.csv
compare --dataset one=two.csv:y --dataset more=codes.csv:y --methods saola,os:k=3 -q --output -
demo --set p=1000 --set n=200 --set s=5
""",
    "fails": """
REG {--method os-minus|--set speed=9|--set reserve|--set theta=high|--set theta=2|--set reserve=-1
  |--loss hinge|--loss logistic --task regression|--task cluster|--missing maybe|--missing drop-row
  |--max-missing 2|--memory lots|--memory 1MB|--time soon|--threads 0|--scans 0|--class-weight heavy
  |--class-weight balanced|--output r.txt|--output none/r.json|--output reg.csv|--reduced r.csv.gz
  |--decisions d.json|--decisions out/d.csv --checkpoint out/c.kn|--report r.txt|--format excel
  |--frobnicate|--measure su|--on-full evict|--every 5|--averages out/a.kn|--columns a_11
  |--exclude q|--always q|--always y|--key id|--covar none.csv|--covar people.csv:old
  |--sample-weight none|--sample-weight short.csv|--sample-weight zero.csv|--offset short.csv
  |--order none|--order wrong.txt|--groups none.csv|--categorical maybe|--min-count x}
REG --method annealed-ridge {--scans 2|--order shuffled|--stack columns|--max-missing 0.5
  |--min-count 3|--groups prefix:_|--decisions out/d.csv|--every 0|--missing indicator|--set drop=2
  |--missing drop-feature|--covar none|--covar short.csv|--always q|--set forget=1|--set choose=luck
  |--set gamma=3|--measure su|--loss squared-epsilon|--sample-weight short.csv}
REG --method {sgd --always a_1|sgd --set rate=-1|sgd --averages out/a.kn|group-saola|os --set eta=x
  |saola --measure g2|saola --set alpha=7|saola --set bins=1|osfs --set max-condition=-1
  |group-saola --groups block:x|omcp --set gamma=1|oscad --set a=2|ofsa --set step=3
  |lasso --set lambda=-1|alpha-investing --set wealth=-1}
select reg.csv --target y -k {0|-1|x|120}
TWO {--offset beside.csv:o --method annealed-ridge|--task regression}
select {none.csv|none*.csv|x.dat|empty.csv|head.csv|ragged.csv|words.csv|names.csv|cut.npy|text.svm
  |back.svm|text.csv|one.csv|gone.csv|wide.csv reg.csv|keys.csv --key id|-} --target y -k 1 BOTH
select x.csv --exclude id -k 2 BOTH --target {short.csv|none.csv:y|beside.csv:q|beside.csv}
{HOLES|HOLES --method sgd
  |CODES --method group-saola --groups apart.csv|CODES --method ogfs --groups some.csv}
{select|select reg.csv -k 2|choose|methods nonesuch|methods --json --promises|extract none.kn
  |merge none.kn b.kn|extract reg.csv|reproduce nothing|generate nothing --output out/x.csv
  |generate iid|generate iid --set q=1 --output out/x.csv|generate iid --output out/x.dat}
compare two.csv --target y --methods {os-plus|nothing|os,os -k 2|saola:size=3|group-saola}
{REG|TWO} --method ols --averages out/a.kn; CODES --method ols --averages out/b.kn;
  merge out/a.kn out/b.kn --output out/c.kn
REG --method ols --averages out/a.kn; extract out/a.kn {--always q|--method os -k 2|-k 0}
""",
    "real": """
select {colon.parquet --method saola|colon.parquet -k 10|wdbc.parquet --method saola
  |wdbc.parquet --method annealed-ridge -k 5|lung_small.parquet -k 10} --target y
""",
}

# Files of a few lines, which semicolons separate here; most of them are wrong in one way.
SMALL = {
    "names.txt": "a_1;b_2;c_0", "order.txt": "d_4;a_1;c_3;b_2;a_0", "places.txt": "9;3;1;14;20",
    "wrong.txt": "a_1;q", "short.csv": "v;1;2", "x.dat": "a,y;1,2", "empty.csv": "",
    "head.csv": "a,y", "ragged.csv": "a,y;1,2;3", "words.csv": "a,y;1,2;x,3;2,2",
    "names.csv": "a,a,y;1,2,3;2,3,4", "text.csv": "a,y;u,1;v,2;u,3", "one.csv": "a,y;1,no;2,no",
    "gone.csv": "a,y;1,;2,", "keys.csv": "id,a,y;1,2,3;1,3,4;2,2,2", "some.csv": "a_0,g;a_1,g",
    "truth.csv": "name,weight;a_1,2;b_2,-1.5", "external.csv": "feature;a_1;b_2",
    "text.svm": "1 x:1", "back.svm": "1 2:3 1:4",
}


def method_cases(methods):
    """The cases of every method: name and commands."""
    for method in methods:
        known = {setting["name"] for setting in method["settings"]}
        call = f"--method {method['name']}" + " --set centre=simulated" * ("centre" in known)
        call += " --groups prefix:_" * (method["stream"] == "groups")
        ways = ["", "-k 4"] + [f"-k 4 --loss {loss}" for loss in LOSSES if method["has_loss"]]
        ways += [f"--measure {measure}" for measure in MEASURES if "measure" in known]
        own = [f"--set {setting}" for setting in SETTINGS if setting.split("=")[0] in known]
        sizes = ["-k 2 "] if method["needs_k"] else ["", "-k 2 "]
        made = [(t, way) for t in TABLES for way in ways]
        made += [(t, k + flags) for t in TABLES[:3] for k in sizes for flags in own]
        for i, (source, way) in enumerate(made, 1):
            yield f"method-{method['name']}-{i:03}", [f"select {source} {call} {way}".strip()]


def written_cases():
    """The cases that are written above: name and commands."""
    for group, text in CASES.items():
        text = re.sub(r"\b[A-Z]{3,}\b", lambda m: WORDS.get(m[0], m[0]), text)
        lines = re.sub(r"\n +(\|?)", lambda m: m[1] or " ", text).strip().splitlines()
        parts = [re.split(r"\{([^{}]*)\}", line) for line in lines]
        choices = [[p.split("|") if i % 2 else [p] for i, p in enumerate(line)] for line in parts]
        made = [" ".join("".join(c).split()) for line in choices for c in itertools.product(*line)]
        yield from ((f"{group}-{i:03}", case.split("; ")) for i, case in enumerate(made, 1))


def npy(path, kind, columns, fortran=False):
    """Writes columns as an array of samples by features; `kind` is a type such as <f8."""
    code = {"f8": "d", "f4": "f", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "b1": "B"}
    values = itertools.chain(*(columns if fortran else zip(*columns)))
    data = array.array(code[kind[1:]], [min(v, 1) if kind == "|b1" else v for v in values])
    if (kind[0] == ">") != (sys.byteorder == "big"):
        data.byteswap()
    shape = len(columns[0]), len(columns)
    head = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}".ljust(117)
    path.write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + b"\n" + data.tobytes())


def table(path, columns, rows=range(ROWS)):
    """Writes columns by name in the format of the extension; None is missing."""
    lines = [[values[i] for values in columns.values()] for i in rows]
    name = path.name.removesuffix(".gz")
    if name.endswith("jsonl"):
        text = [json.dumps(dict(zip(columns, line))) for line in lines]
    elif name.endswith("svm"):
        pairs = [[f"{j}:{v}" for j, v in enumerate(line[:-1], 1) if v] for line in lines]
        text = [" ".join([str(line[-1]), *pair]) for line, pair in zip(lines, pairs)]
    else:
        show = lambda v: "" if v is None else str(v).lower() if isinstance(v, bool) else str(v)
        comma = "\t" if name.endswith("tsv") else ","
        text = [comma.join(map(show, line)) for line in [list(columns), *lines]]
    data = "".join(f"{line}\n" for line in text).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.name.endswith("gz") else data)


def draw_tables():
    """The tables by name, each with its columns by name."""
    rng, n = random.Random(20), range(ROWS)
    draw = lambda: round(rng.gauss(0, 1), 4)
    shared = {g: [draw() for _ in n] for g in "abcd"}
    near = lambda values: [round(0.6 * v + draw(), 4) for v in values]
    x = {f"{g}_{j}": near(shared[g]) for g in shared for j in range(6)}
    true = zip(x["a_1"], x["b_2"], x["c_3"], x["d_4"])
    y = [round(2 * a - 1.5 * b + c + d / 2 + draw(), 4) for a, b, c, d in true]
    level = [0 if v + draw() < -1 else 1 if v < 1 else 2 for v in y]
    spam = [int(v + draw() > 0) for v in y]
    two, three = [["ham", "spam"][v] for v in spam], [["low", "mid", "top"][v] for v in level]
    codes = {name: [min(3, max(0, int(v + 2))) for v in values] for name, values in x.items()}
    people = {"age": [rng.randrange(20, 80) for _ in n], "sex": [rng.randrange(2) for _ in n]}
    beside = people | {"o": [draw() for _ in n], "w": [round(rng.uniform(0.5, 3), 2) for _ in n]}
    ids, town = {"id": [f"r{i}" for i in n]}, {"town": [rng.choice(["Oslo", "Rome"]) for _ in n]}
    some = lambda groups: {name: x[name] for name in x if name[0] in groups}
    odd = {"twin_0": [round(2 * v + 1, 4) for v in x["a_1"]], "same_0": [7] * ROWS}
    kinds = {"flag": [v > 0.3 for v in x["a_1"]], "count": [int(3 * v) for v in x["b_2"]]}
    mixed = {name: [0 if i in (5, 6) else v for i, v in enumerate(x[name])] for name in some("ac")}
    mixed |= kinds | odd | town | {"copy": mixed["a_1"], "big": [1e8 + v for v in x["b_2"]]}
    mixed |= {"tiny": [v / 1e6 for v in x["d_4"]], "zero": [0] * ROWS, "w": beside["w"], "y": y}
    gap = lambda values, at, what=None: [what if i in at else v for i, v in enumerate(values)]
    holes = x | {"a_1": gap(x["a_1"], n[3::17]), "b_2": gap(x["b_2"], [5], "inf")}
    holes |= {"c_0": gap(x["c_0"], n[::3]), "d_4": gap(x["d_4"], [8], "NA"), "y": gap(y, [9, 30])}
    wide = {f"{'abc'[j // 20]}_{j}": [draw() for _ in range(WIDE)] for j in range(60)}
    return {
        "reg": x | {"y": y}, "two": x | {"y": two}, "three": x | {"y": three}, "mixed": mixed,
        "codes": codes | {"y": spam}, "levels": codes | {"y": level}, "spam": {"y": spam},
        "wide": wide | {"y": y[:WIDE]}, "holes": holes, "people": people, "y": {"y": y},
        "w": {"w": beside["w"]}, "zero": {"w": [0] * ROWS}, "beside": beside | {"y": y},
        "all": ids | town | x | odd | beside | {"y": y}, "num": x | {"target": y},
        "side": ids | beside | {"y": y, "kind": two}, "x": ids | x | {"sex": people["sex"]},
        "left": ids | some("ab"), "right": ids | some("cd"), "cols": some("cd") | {"y": y},
        "kinds": some("ab") | kinds | {"target": two}, "narrow": {"v": level, "y": spam},
        "splits": {f"s{k}": ["test" if i % 4 == k else "train" for i in n] for k in range(3)},
    }


def make(folder, binary):
    """Makes the inputs."""
    tables, n = draw_tables(), range(ROWS)
    rows = {"wide": n[:WIDE], "side": n[:8:-1], "right": n[:5:-1]}
    for name, columns in tables.items():
        table(folder / f"{name}.csv", columns, rows.get(name, n))
    for name, source, part in (("part1.csv", "reg", n[:50]), ("part2.csv", "reg", n[50:]),
                               ("one.svm", "codes", n[:70]), ("two.svm", "narrow", n[70:])):
        table(folder / name, tables[source], part)
    table(folder / "kinds.jsonl", tables["kinds"])
    for end in ("tsv", "jsonl", "svm", "csv.gz", "tsv.gz", "jsonl.gz", "svm.gz"):
        table(folder / f"num.{end}", tables["num"])
    for name, kind in {"c": "<f8", "f": "<f8", "c4": "<f4", "f4": "<f4", "big": ">f8"}.items():
        npy(folder / f"num.{name}.npy", kind, list(tables["num"].values()), name[0] == "f")
    for kind in ("|i1", "<i2", "<i4", ">i8", "|u1", "|b1"):
        npy(folder / f"codes.{kind[1:]}.npy", kind, list(tables["codes"].values())[:-1])
    (folder / "cut.npy").write_bytes((folder / "num.c.npy").read_bytes()[:999])
    names = list(tables["codes"])[:-1]
    groups = {"groups.csv": f"feature,group;{';'.join(f'{v},{v[0]}' for v in names)}",
              "apart.csv": ";".join(f"{v},{v[2]}" for v in names)}
    for name, text in (SMALL | groups).items():
        (folder / name).write_text(text and text.replace(";", "\n") + "\n")
    calls = [f"select {name}.csv --target target -k {k} --quiet --reduced {name}.{end}"
             for name, k in (("num", 24), ("kinds", 14)) for end in ("parquet", "arrow", "feather")]
    calls += [f"generate toeplitz --set n=80 --set p=40 --set s=5 --output made.{end}"
              for end in ("parquet", "arrow", "npy", "svm")]
    for call in calls:
        subprocess.run([binary, *call.split()], cwd=folder, check=True)
    (folder / "methods.json").write_bytes(subprocess.check_output([binary, "methods", "--json"]))
    data = pathlib.Path(os.environ.get("KEEPNET_DATA", "none"))
    for name in REAL if data.is_dir() else []:
        shutil.copyfile(data / f"{name}.parquet", folder / f"{name}.parquet")


def plain(text):
    """JSON without `run`; other text without times, sizes of memory and repeated spaces."""
    try:
        value = json.loads(text)
    except ValueError:
        text = re.sub(r'("(bytes|seconds|features_per_second|seconds_left)":)[^,}]*', r"\1#", text)
        text = re.sub(r"^\d+ s; the default", "# s; the default", text, flags=re.M)
        text = re.sub(r"^(memory .*|.*,(seconds|held_bytes),[^,\n]*)\n", "", text, flags=re.M)
        # A table of `compare` has seconds without a unit before the memory.
        size = r"( [\d.]+(e-\d+)?)? [\d.]+ (s|[KMG]iB|bytes|million numbers a second)\b"
        return re.sub(size, " #", re.sub(" +", " ", text))
    return {k: v for k, v in value.items() if k != "run"} if isinstance(value, dict) else value


def held(path):
    """What is held of a file that a case wrote."""
    data = path.read_bytes()
    if path.suffix == ".html":
        return "written" if b"</html>" in data else "damaged"
    if path.suffix == ".json" or path.suffix in (".csv", ".tsv", ".svm") and len(data) < 30_000:
        return plain(data.decode())
    return "sha256 " + hashlib.sha256(data).hexdigest()


def run(binary, folder, case):
    """Runs the commands of a case and returns what is held of it."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    result = {"commands": case, "status": [], "stdout": [], "stderr": []}
    for command in case:
        call, _, source = command.partition(" < ")
        call = call.split()
        if call[0] in ("select", "extract") and not {"--output", "--dry-run"} & set(call):
            call += ["--quiet", "--output", "out/result.json"]
        with open(folder / source if source else os.devnull, "rb") as stdin:
            done = subprocess.run([binary, *call], cwd=folder, stdin=stdin, capture_output=True)
        result["status"].append(done.returncode)
        result["stdout"].append(plain(done.stdout.decode()))
        result["stderr"].append(plain(done.stderr.decode()))
    result["files"] = {path.name: held(path) for path in sorted((folder / "out").iterdir())}
    return result


def gaps(methods, usage, used):
    """Methods, settings and flags of `select` that no run which succeeded has used."""
    flags = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+|-k)", usage, re.M)) - {"--help"}
    wanted = [[f" {flag} "] for flag in sorted(flags)]
    for m in methods:
        names = ["", *(f" {setting['name']}=" for setting in m["settings"])]
        wanted += [[f" --method {m['name']} ", name] for name in names]
    used = [f" {command} " for command in used]
    return [w for w in wanted if not any(all(part in command for part in w) for command in used)]


def record(binary, folder, data=None):
    """Runs every case and writes what it gave."""
    binary, folder, start = pathlib.Path(binary).resolve(), pathlib.Path(folder), time.monotonic()
    (place := folder / "data").mkdir(parents=True)
    (folder / "results").mkdir()
    if data:
        shutil.copytree(data, place, ignore=shutil.ignore_patterns("out"), dirs_exist_ok=True)
    else:
        make(place, binary)
    real = all((place / f"{name}.parquet").exists() for name in REAL)
    methods = json.loads((place / "methods.json").read_text())
    counts, fine = collections.Counter(), []
    for name, case in itertools.chain(method_cases(methods), written_cases()):
        group = name.split("-")[0]
        if group == "real" and not real:
            continue
        result = run(binary, place, case)
        (folder / "results" / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        failed = any(result["status"])
        counts[group, failed] += 1
        fine += [] if failed else case
        if group != "method" and failed != (group == "fails"):
            print(f"not as expected: {name}: {'; '.join(case)}\n  {result['stderr'][-1]}")
    print(f"{counts.total()} runs in {time.monotonic() - start:.0f} s:", counts["fails", True],
          f"failed as they must, {counts['method', True]} of a method on what it refuses")
    if not real:
        print("runs on real data sets were skipped: KEEPNET_DATA is not a folder of them")
    usage = subprocess.check_output([binary, "select", "--help"], text=True)
    for gap in gaps(methods, usage, fine):
        print("not covered:", *gap)


def places(a, b, path=""):
    """The places where two values differ, with what stands there."""
    if isinstance(a, str) and isinstance(b, str) and "\n" in a + b:
        a, b = a.splitlines(), b.splitlines()
    if isinstance(a, list) and isinstance(b, list):
        a, b = dict(enumerate(a)), dict(enumerate(b))
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a | b:
            yield from places(a.get(key, "nothing"), b.get(key, "nothing"), f"{path}/{key}")
    elif repr(a) != repr(b):
        yield f"{path}: {str(a)[:150]} -> {str(b)[:150]}"


def compare(first, second):
    """Prints what differs between two recordings; whether any result does."""
    files = [pathlib.Path(folder, "results").glob("*.json") for folder in (first, second)]
    a, b = [{path.stem: json.loads(path.read_text()) for path in sorted(some)} for some in files]
    both, differ, texts = sorted(a.keys() & b.keys()), 0, collections.defaultdict(list)
    for name in both:
        words = a[name].pop("stderr"), b[name].pop("stderr")
        found = list(places(a[name], b[name]))
        if found:
            differ += 1
            print("\n  ".join([f"{name}: {'; '.join(a[name]['commands'])}", *found[:5]]))
        for place in places(*words):
            texts[place].append(name)
    for place, names in texts.items():
        print(f"standard error of {len(names)} runs, {names[0]} the first: {place}")
    alone = sorted(a.keys() ^ b.keys())
    reworded = len(set().union(*texts.values()))
    print(f"{len(both)} runs compared, {differ} differ; {reworded} differ in standard error;",
          f"{len(alone)} are in one recording only", *alone)
    return differ > 0 or len(alone) > 0 or not both


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", program, folder, *data] if len(data) < 2:
            record(program, folder, *data)
        case ["compare", first, second]:
            sys.exit(compare(first, second))
        case _:
            sys.exit(__doc__)
