#!/usr/bin/env python3
"""Accuracy of the statistical methods' selections, and what balanced class weights do.

    python3 scripts/statistical_accuracy.py --keepnet target/release/keepnet DATA_DIR

DATA_DIR holds Parquet files with features f0, f1, ... and the class in `y`. Needs numpy,
pyarrow and scikit-learn. Ten random stratified splits, two thirds for training; `keepnet
select` sees the training rows only. Then 1-nearest-neighbour, a linear SVM and a decision
tree of scikit-learn on the selected columns, standardised by the training rows. The second
table thins one class to a tenth, selects with and without `--class-weight balanced`, and
gives the AUC of the linear SVM on the test rows (10 splits).
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

DATASETS = ["leukemia", "ALLAML", "colon", "arcene", "madelon"]
# Integer-valued but continuous: su would see hundreds of levels.
CONTINUOUS = {"ALLAML", "arcene", "madelon"}


def methods(name):
    """Each method with the words that ask for it."""
    pairwise = "fisher-z" if name in CONTINUOUS else "su"
    tests = "fisher-z" if name in CONTINUOUS else "g2"
    return {
        "saola": ["--measure", pairwise],
        "saola-max": ["--measure", pairwise],
        "group-saola": ["--measure", pairwise, "--groups", "block:100"],
        "alpha-investing": ["--level", "0.5"],
        "fast-osfs": ["--measure", tests],
        "osfs": ["--measure", tests],
    }


def training_file(table, rows, folder):
    """A Parquet file of these rows."""
    path = folder / "train.parquet"
    pq.write_table(table.take(pa.array(rows)), path)
    return path


def select(keepnet, train, words, folder):
    """Indices that keepnet selects from a file."""
    out = folder / "result.json"
    call = [keepnet, "select", train, "--target", "y", "--task", "classification"]
    call += ["--quiet", "--output", out, *words]
    done = subprocess.run([str(word) for word in call], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return [feature["index"] for feature in json.loads(out.read_text())["selected"]]


def classifiers():
    """The classifiers of the paper, as scikit-learn has them."""
    return {
        "1-NN": KNeighborsClassifier(n_neighbors=1),
        "SVM": LinearSVC(dual="auto", max_iter=20000),
        "tree": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0),
    }


def show(values):
    """Mean and standard deviation."""
    return f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}"


def accuracy(keepnet, data, folder):
    """The first table."""
    names = list(classifiers())
    print(f"| data set | method | selected | {' | '.join(names)} |")
    print("|---|---|---|" + "---|" * len(names))
    for name in DATASETS:
        table = pq.read_table(data / f"{name}.parquet")
        y = table["y"].to_numpy()
        x = np.column_stack([table[c].to_numpy() for c in table.column_names if c != "y"])
        splits = StratifiedShuffleSplit(10, test_size=1 / 3, random_state=0)
        splits = list(splits.split(x, y))
        sizes = {method: [] for method in methods(name)}
        scores = {(method, key): [] for method in sizes for key in names}
        for train, test in splits:
            file = training_file(table, train, folder)
            for method, words in methods(name).items():
                chosen = select(keepnet, file, ["--method", method, *words], folder)
                sizes[method].append(len(chosen))
                for key, classifier in classifiers().items():
                    right = score(classifier, x, y, train, test, chosen)
                    scores[method, key].append(right)
        for method, size in sizes.items():
            cells = " | ".join(show(scores[method, key]) for key in names)
            print(f"| {name} | {method} | {np.mean(size):.1f} | {cells} |", flush=True)


def score(classifier, x, y, train, test, chosen):
    """Accuracy on the test rows; without a feature, that of the commonest class."""
    if not chosen:
        values, counts = np.unique(y[train], return_counts=True)
        return np.mean(y[test] == values[counts.argmax()])
    model = make_pipeline(StandardScaler(), classifier)
    model.fit(x[np.ix_(train, chosen)], y[train])
    return model.score(x[np.ix_(test, chosen)], y[test])


def imbalance(keepnet, data, folder):
    """The second table: one class thinned to a tenth of the other."""
    print("\n| data set | method | classes in training | AUC, equal rows | AUC, balanced |")
    print("|---|---|---|---|---|")
    for name in ["BASEHOCK", "PCMAC", "madelon"]:
        table = pq.read_table(data / f"{name}.parquet")
        y = table["y"].to_numpy()
        x = np.column_stack([table[c].to_numpy() for c in table.column_names if c != "y"])
        rare = np.unique(y)[1]
        words = ["--method", "saola", "--measure", "fisher-z"]
        scores = {"": [], "balanced": []}
        counts = None
        splits = StratifiedShuffleSplit(10, test_size=1 / 3, random_state=1)
        for seed, (train, test) in enumerate(splits.split(x, y)):
            random = np.random.default_rng(seed)
            few = train[y[train] == rare]
            few = random.choice(few, max(10, len(few) // 10), replace=False)
            train = np.sort(np.concatenate([train[y[train] != rare], few]))
            counts = f"{np.sum(y[train] != rare)} and {len(few)}"
            file = training_file(table, train, folder)
            for weight, values in scores.items():
                extra = ["--class-weight", "balanced"] if weight else []
                chosen = select(keepnet, file, words + extra, folder)
                svm = LinearSVC(dual="auto", max_iter=20000, class_weight="balanced")
                model = make_pipeline(StandardScaler(), svm)
                model.fit(x[np.ix_(train, chosen)], y[train])
                margin = model.decision_function(x[np.ix_(test, chosen)])
                values.append(roc_auc_score(y[test] == rare, margin))
        plain, balanced = show(scores[""]), show(scores["balanced"])
        print(f"| {name} | saola | {counts} | {plain} | {balanced} |", flush=True)


def main():
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--keepnet", default="target/release/keepnet")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        accuracy(arguments.keepnet, arguments.data, folder)
        imbalance(arguments.keepnet, arguments.data, folder)


if __name__ == "__main__":
    main()
