"""A file that another process shortens while it is read is an exception, never a crash.

Files are read into memory of our own: a mapped one that shrinks ends the process with SIGBUS. Each
case runs in a process of its own, so that a crash is a failure of the test and not of the suite.
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

ROWS, FEATURES = 2000, 600

SCRIPT = """
    import os, sys, warnings
    import keepnet
    warnings.simplefilter("ignore")
    path, target, method, rows = sys.argv[1:]
    done = [False]

    def cut(progress):
        # The first look comes while the first scan is under way; later blocks are gone.
        if not done[0]:
            done[0] = True
            os.truncate(path, 4096)

    try:
        selector = keepnet.select(path, target, k=3, method=method, callback=cut, scans=400)
    except (ValueError, OSError) as error:
        assert done[0], "it failed before the file was cut"
        print("refused:", str(error).splitlines()[0])
    else:
        print("whole" if not done[0] else "ended")
"""


def run(path, target):
    call = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(path), str(target), "os", "0"]
    return subprocess.run(call, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    return X, X[:, 7] - X[:, 500] + rng.normal(size=ROWS)


@pytest.mark.parametrize("form", ["npy", "arrow"])
def test_a_file_that_shrinks_between_scans_is_an_exception(form, table, tmp_path):
    X, y = table
    path = tmp_path / f"x.{form}"
    np.save(tmp_path / "y.npy", y)
    if form == "npy":
        np.save(path, np.asfortranarray(X))
    else:
        pa = pytest.importorskip("pyarrow")
        arrow = pa.table({f"f{j}": X[:, j] for j in range(FEATURES)})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, arrow.schema) as writer:
            writer.write_table(arrow)
    done = run(path, tmp_path / "y.npy")
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-600:]}"
    assert done.stdout.startswith("refused:") and path.name in done.stdout, done.stdout + done.stderr
