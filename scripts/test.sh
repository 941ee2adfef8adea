#!/bin/sh
# Every check of the project: format, lints, tests and the examples in the documentation.
set -eu
cd "$(dirname "$0")/.."

need() {
    if ! command -v "$1" >/dev/null 2>&1; then
        echo "test.sh: $1 is missing; $2" >&2
        exit 1
    fi
}

need cargo "install Rust 1.95 or newer from https://rustup.rs"

# The two tools that a minimal toolchain leaves out; rustup adds them where it is there.
for component in rustfmt clippy; do
    tool=$component
    [ "$component" = clippy ] && tool=cargo-clippy
    if ! command -v "$tool" >/dev/null 2>&1; then
        need rustup "and so is $component; install it with your Rust toolchain"
        rustup component add "$component"
    fi
done

# Every test with debug assertions on; see scripts/cargo.sh.
export KEEPNET_CHECKED=1
# Tests that cannot run here add a line to this file; it is printed at the end.
KEEPNET_SKIPPED=$(pwd)/target/skipped
export KEEPNET_SKIPPED
mkdir -p target
: >"$KEEPNET_SKIPPED"

echo "== format"
cargo fmt --all -- --check
scripts/browser.sh
mpi=true
scripts/mpi.sh install || mpi=false
echo "== lints"
scripts/cargo.sh clippy --all-targets -- -D warnings
echo "== tests"
scripts/cargo.sh test
if [ $mpi = false ]; then
    echo "keepnet-mpi: there is no MPI or libclang; scripts/mpi.sh says how to install them" \
        >>"$KEEPNET_SKIPPED"
fi
echo "== documentation"
RUSTDOCFLAGS="-D warnings" scripts/cargo.sh doc --lib --no-deps --quiet
echo "== licences and sources of dependencies"
scripts/deny.sh
echo "== python package"
scripts/python.sh
echo "== skipped"
if [ -s "$KEEPNET_SKIPPED" ]; then
    sort -u "$KEEPNET_SKIPPED"
    echo "test.sh: all checks passed but those skipped above"
else
    echo "nothing"
    echo "test.sh: all checks passed"
fi
