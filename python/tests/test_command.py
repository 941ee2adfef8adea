"""The command `keepnet` of the package: the program, in the package's own library."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import keepnet
import numpy as np
import pytest

COMMAND = Path(sys.executable).with_name("keepnet")


def run(*words, program=(str(COMMAND),), **options):
    return subprocess.run([*program, *words], capture_output=True, text=True, **options)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    y = X[:, 3] - 2 * X[:, 17] + 0.1 * rng.normal(size=200)
    names = ",".join([f"f{j}" for j in range(30)] + ["y"])
    np.savetxt(tmp_path / "x.csv", np.column_stack([X, y]), delimiter=",", header=names, comments="")
    return tmp_path


@pytest.mark.parametrize("program", [[str(COMMAND)], [sys.executable, "-m", "keepnet"]])
def test_the_command_selects_what_the_package_selects(table, program):
    called = run("select", "x.csv", "--target", "y", "-k", "2", "--output", "r.json",
                 program=program, cwd=table)  # fmt: skip
    assert called.returncode == 0, called.stderr
    assert "2 of 30 features by os-plus" in called.stdout
    result = json.loads((table / "r.json").read_text())
    selector = keepnet.select(str(table / "x.csv"), "y", k=2)
    assert [f["name"] for f in result["selected"]] == ["f17", "f3"]
    assert result["selected"] == [
        {**f, "source": "x.csv"} for f in selector.result_["selected"]
    ]
    # The words of the user, not those of the interpreter.
    assert result["run"]["command"] == "keepnet select x.csv --target y -k 2 --output r.json"


def test_status_and_streams_are_those_of_the_program(table):
    assert run("--version").stdout.strip() == f"keepnet {keepnet.__version__}"
    wrong = run("select", "x.csv", cwd=table)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("keepnet: ") and wrong.stderr.count("\n") == 1
    missing = run("select", "none.csv", "--target", "y", "-k", "2", cwd=table)
    assert missing.returncode == 1 and "none.csv" in missing.stderr
    csv = run("select", "x.csv", "--target", "y", "-k", "1", "--quiet", "--output", "-", cwd=table)
    assert json.loads(csv.stdout)["selected"][0]["name"] == "f17"


def test_importing_the_command_imports_no_numpy():
    code = "import sys, keepnet_command; assert not {'numpy', 'sklearn', 'keepnet'} & set(sys.modules)"
    assert run("-c", code, program=(sys.executable,)).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_ctrl_c_ends_a_run_with_the_result_so_far(tmp_path):
    call = [str(COMMAND), "demo", "--set", "p=100000000", "--set", "n=200", "--set", "s=5"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The first line on standard error comes before the selection.
    assert "never stored" in process.stderr.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "ended early by a signal" in err and "Traceback" not in err
    assert "5" in out
