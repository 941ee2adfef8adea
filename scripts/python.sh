#!/bin/sh
# Builds the Python package as a user would (`pip install .`) and runs its tests.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)

python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "python.sh: $python is missing; install Python 3.10 or newer, or set PYTHON" >&2
    exit 1
fi

# One target directory for both workspaces spares building common crates twice.
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
export CARGO_TARGET_DIR

if [ ! -x python/.venv/bin/python ]; then
    if ! "$python" -m venv python/.venv; then
        echo "python.sh: $python has no venv; install it (Debian: apt-get install python3-venv)" >&2
        exit 1
    fi
fi
venv=$root/python/.venv/bin

cd python
echo "== python: format and lints of the Rust half"
cargo fmt -- --check
cargo clippy --release --locked --features pyo3/extension-module -- -D warnings
echo "== python: pip install ."
"$venv/pip" install --quiet --disable-pip-version-check ".[test]"
echo "== python: lints"
"$venv/ruff" check --quiet "$root"
echo "== python: tests"
# The command line's results are what the package's are compared with.
"$root/scripts/cargo.sh" build --bins --quiet
# From another directory, so that the installed package is tested and not this one.
cd tests
"$venv/python" -m pytest --quiet -n "${PYTEST_WORKERS:-2}" -p no:cacheprovider .
echo "python.sh: all checks passed"
