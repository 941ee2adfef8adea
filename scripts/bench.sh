#!/bin/sh
# Runs every benchmark; each prints both sides of its ratio, measured in one run.
#   scripts/bench.sh         the sizes of docs/benchmarks.md: 4 GB of memory, 9 GB of disk, minutes
#   scripts/bench.sh quick   small sizes, for a look
# RAYON_NUM_THREADS limits the threads; TMPDIR says where files go for a while.
set -eu
cd "$(dirname "$0")/.."

quick=${1:-}
if [ -n "$quick" ] && [ "$quick" != quick ]; then
    echo "usage: scripts/bench.sh [quick]" >&2
    exit 2
fi

# LIBLINEAR is the other side of one ratio; without it that benchmark says so and goes on.
if ! command -v liblinear-train >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 &&
    [ "$(id -u)" = 0 ]; then
    apt-get install -y liblinear-tools >/dev/null 2>&1 || true
fi

cargo build --release -q -p keepnet-bench
cargo build --release -q -p keepnet-io --example parse_speed
bin=${CARGO_TARGET_DIR:-target}/release

if [ "$quick" = quick ]; then
    "$bin/os_blocked" 20000 400 100 1 1
    "$bin/wide" 20000 2000 2
    "$bin/files" 20000 2000 1
    "$bin/svm" 2000 50000 1 per-row=200
    "$bin/asy" 1000 2048 1
    "$bin/rows" 2000 400 1 wide-n=2000 wide-p=20000
    "$bin/examples/parse_speed" 10
else
    "$bin/os_blocked"
    "$bin/wide"
    "$bin/files"
    "$bin/svm"
    "$bin/asy"
    "$bin/rows"
    "$bin/examples/parse_speed"
    cargo bench -q -p keepnet --bench running_averages --bench extraction
fi
