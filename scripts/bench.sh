#!/bin/sh
# Runs every benchmark; each prints both sides of its ratio, measured in one run.
#   scripts/bench.sh         the sizes of docs/benchmarks.md: 4 GB of memory, 9 GB of disk, minutes
#   scripts/bench.sh quick   small sizes, for a look
#   scripts/bench.sh peers   installs the peers (PyPI, LIBLINEAR) in an environment of their own;
#                            the next runs measure them too
# RAYON_NUM_THREADS limits the threads; TMPDIR says where files go for a while.
set -eu
cd "$(dirname "$0")/.."

what=${1:-all}
case $what in
all | quick | peers) ;;
*)
    echo "usage: scripts/bench.sh [quick|peers]" >&2
    exit 2
    ;;
esac
target=${CARGO_TARGET_DIR:-target}
peers=$target/peers

if [ "$what" = peers ]; then
    # LIBLINEAR is no package of PyPI; without it that benchmark says so and goes on.
    if ! command -v liblinear-train >/dev/null 2>&1; then
        if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
            apt-get install -y liblinear-tools || true
        else
            echo "liblinear-train is not installed (Debian: liblinear-tools); left out" >&2
        fi
    fi
    python3 -m venv "$peers"
    "$peers/bin/pip" install numpy scikit-learn adelie
    # keepnet's own package, for the peers of running averages.
    "$peers/bin/pip" install ./python || echo "keepnet's package was not built; left out" >&2
    exit 0
fi

cargo build --release -q -p keepnet-bench
cargo build --release -q -p keepnet-io --example parse_speed
bin=$target/release

# averages P [N]: row A, beside NumPy's BLAS and scikit-learn's Ridge.
averages() {
    if [ -x "$peers/bin/python" ]; then
        "$peers/bin/python" benches/peers/averages.py "p=$1" "n=${2:-100000}"
    else
        echo "peers of running averages: not installed; run scripts/bench.sh peers"
    fi
}

# classes P SEEDS ROUNDS: row D, and what forward selection and the peers find in the same data.
classes() {
    if [ ! -x "$peers/bin/python" ]; then
        "$bin/classes" "$@"
        echo "  peers: not installed; run scripts/bench.sh peers"
        return
    fi
    data=$(mktemp -d)
    rows=$("$bin/classes" "$@" "out=$data" | tee /dev/stderr | sed -n 's/^classes: n = \([0-9]*\),.*/\1/p')
    OPENBLAS_NUM_THREADS=1 "$peers/bin/python" benches/peers/classes.py "$data" "$rows" "$1" "$2"
    rm -r "$data"
}

if [ "$what" = quick ]; then
    averages 400 20000
    "$bin/discrete" 1000 4000 1
    "$bin/features" 40000 20000 1
    classes 1000 2 1
    "$bin/svm" 2000 50000 1 per-row=200
    "$bin/regression" 1000 2 1
    "$bin/wide" 20000 2000 2
    "$bin/wide" 20000 1000 1 k=200
    "$bin/wide" 20000 2000 1 loss=logistic
    "$bin/files" 20000 2000 1
    "$bin/os_blocked" 20000 400 100 1 1
    "$bin/asy" 1000 2048 1
    "$bin/rows" 2000 400 1 wide-n=2000 wide-p=20000
    "$bin/examples/parse_speed" 10
else
    averages 1000
    averages 4000
    "$bin/discrete"
    "$bin/features"
    classes 1000 10 3
    classes 5000 10 3
    "$bin/svm"
    "$bin/regression"
    "$bin/wide"
    for k in 200 400 800; do "$bin/wide" 20000 50000 1 "k=$k"; done
    "$bin/wide" loss=logistic
    "$bin/files"
    "$bin/os_blocked"
    "$bin/asy"
    "$bin/rows"
    "$bin/examples/parse_speed"
    cargo bench -q -p keepnet --bench running_averages --bench extraction
fi
