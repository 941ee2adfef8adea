"""The build of the Python package from the repository's root: maturin's, in `python/`.

What is compiled goes to the target directory of the whole project, unless CARGO_TARGET_DIR says
otherwise, so that `cargo build --release` and `pip install .` share their dependencies.
"""

import os
from pathlib import Path

import maturin

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))


def _in_python(hook):
    def run(*arguments, **settings):
        # The first argument of most hooks is a folder, which pip may give as relative.
        arguments = [os.path.abspath(word) if isinstance(word, str) else word for word in arguments]
        before = os.getcwd()
        os.chdir(ROOT / "python")
        try:
            return hook(*arguments, **settings)
        finally:
            os.chdir(before)

    return run


build_wheel = _in_python(maturin.build_wheel)
build_sdist = _in_python(maturin.build_sdist)
build_editable = _in_python(maturin.build_editable)
get_requires_for_build_wheel = _in_python(maturin.get_requires_for_build_wheel)
get_requires_for_build_sdist = _in_python(maturin.get_requires_for_build_sdist)
get_requires_for_build_editable = _in_python(maturin.get_requires_for_build_editable)
prepare_metadata_for_build_wheel = _in_python(maturin.prepare_metadata_for_build_wheel)
prepare_metadata_for_build_editable = _in_python(maturin.prepare_metadata_for_build_editable)
