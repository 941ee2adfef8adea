#!/bin/sh
# Builds and tests keepnet-mpi. Installs Open MPI and libclang from the distribution's packages
# where they are missing and this user may; says plainly what it leaves out and why.
#   scripts/mpi.sh          build and test
#   scripts/mpi.sh build    build only
#   scripts/mpi.sh install  install, and say by the exit status whether MPI is there
#   scripts/mpi.sh there    say by the exit status whether MPI is there
set -eu
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null 2>&1; }
there() {
    have mpicc && have mpirun &&
        ls /usr/lib/llvm*/lib/libclang*.so* /usr/lib/*/libclang*.so* >/dev/null 2>&1
}

if [ "${1:-}" = there ]; then
    there
    exit
fi
if ! there && have apt-get && [ "$(id -u)" = 0 ]; then
    echo "mpi.sh: installing Open MPI and libclang"
    packages="libopenmpi-dev openmpi-bin libclang-dev clang iproute2"
    # shellcheck disable=SC2086
    { apt-get update && apt-get install -y --no-install-recommends $packages; } >/dev/null 2>&1 ||
        true
fi
if ! there; then
    echo "mpi.sh: SKIPPED: no MPI or libclang here and no right to install them;" \
        "install an MPI library with its headers (Debian: libopenmpi-dev) and libclang-dev"
    [ "${1:-}" = install ] && exit 1
    exit 0
fi

case "${1:-}" in
install) ;;
build) scripts/cargo.sh build --bins --examples ;;
*) scripts/cargo.sh test --test mpi ;;
esac
