#!/bin/sh
# Installs Chromium for the tests of the report, where there are rights to; says so where not.
set -eu
if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "browser.sh: no Chromium and no right to install it; tests of the report skip it" >&2
    exit 0
fi
if ! (apt-get update -q && apt-get install -y -q --no-install-recommends chromium) >/dev/null 2>&1; then
    echo "browser.sh: Chromium could not be installed; tests of the report skip it" >&2
fi
