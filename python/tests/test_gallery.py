"""Every example of the documentation's gallery runs from top to bottom."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pyarrow")

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
EXAMPLES = sorted(GALLERY.glob("plot_*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(example, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg", "TMPDIR": str(tmp_path)}
    called = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert called.returncode == 0, called.stderr
    assert called.stdout.strip(), "an example says what it found"
