#!/bin/sh
# Builds the site of the documentation, with a gallery of examples that are run while it is built.
# A warning of Sphinx or an example that fails ends it.
#   scripts/docs.sh [WHEEL]   the site goes to target/docs/html; keepnet is built (`pip install .`)
#                             unless a wheel is given or it is in target/docs/env already
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)

work=${CARGO_TARGET_DIR:-$root/target}/docs
env=$work/env
if [ ! -x "$env/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check \
        sphinx myst-parser sphinx-gallery furo matplotlib pandas pyarrow
fi
if [ -n "${1:-}" ]; then
    "$env/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$1"
    "$env/bin/pip" install --quiet --disable-pip-version-check "$1"
elif ! "$env/bin/python" -c "import keepnet" 2>/dev/null; then
    "$env/bin/pip" install --quiet --disable-pip-version-check .
fi

rm -rf "$work/pages" "$work/html"
mkdir -p "$work/pages"
"$env/bin/python" scripts/docs_pages.py "$work/pages"
cd "$work"
KEEPNET_GALLERY=$root/docs/gallery "$env/bin/python" -m sphinx -W --keep-going -q -b html \
    pages html
echo "docs.sh: $work/html/index.html"
