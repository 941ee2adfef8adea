#!/bin/sh
# Builds and tests keepnet-mpi. Installs Open MPI and libclang from the distribution's packages
# where they are missing and this user may; says plainly what it leaves out and why.
#   scripts/mpi.sh          build and test
#   scripts/mpi.sh build    build only
set -eu
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null 2>&1; }
clang_there() { ls /usr/lib/llvm*/lib/libclang*.so* /usr/lib/*/libclang*.so* >/dev/null 2>&1; }

if ! have mpicc || ! have mpirun || ! clang_there; then
    if have apt-get && [ "$(id -u)" = 0 ]; then
        echo "mpi.sh: installing Open MPI and libclang"
        packages="libopenmpi-dev openmpi-bin libclang-dev clang iproute2"
        # shellcheck disable=SC2086
        { apt-get update && apt-get install -y --no-install-recommends $packages; } >/dev/null 2>&1 ||
            true
    fi
fi
if ! have mpicc || ! have mpirun || ! clang_there; then
    echo "mpi.sh: SKIPPED: no MPI or libclang here and no right to install them;" \
        "install an MPI library with its headers (Debian: libopenmpi-dev) and libclang-dev"
    exit 0
fi

# The whole workspace each time: a part of it would build common crates with other features anew,
# and so would a build beside the tests, which bring the program along.
with="--release --workspace --features keepnet-mpi/mpi"
if [ "${1:-}" = build ]; then
    # shellcheck disable=SC2086
    exec cargo build $with --bins
fi
# shellcheck disable=SC2086
cargo clippy $with --all-targets -- -D warnings
# shellcheck disable=SC2086
cargo test $with --test mpi
