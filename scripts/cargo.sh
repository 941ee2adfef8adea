#!/bin/sh
# cargo over the whole workspace, with MPI where it is there: every step of the tests through this
# builds the common crates with the same features, and so only once.
#   scripts/cargo.sh COMMAND [ARGUMENTS...]
set -eu
cd "$(dirname "$0")/.."

command=$1
shift
with="--release --workspace"
if scripts/mpi.sh there; then
    with="$with --features keepnet-mpi/mpi"
fi
# For the tests: debug assertions and checks of overflow in the crates of the project alone. The
# dependencies stay those of the release build, and are compiled once.
if [ "${KEEPNET_CHECKED:-}" = 1 ]; then
    for crate in crates/*; do
        profile=profile.release.package.$(basename "$crate")
        with="$with --config $profile.debug-assertions=true"
        with="$with --config $profile.overflow-checks=true"
    done
fi
# shellcheck disable=SC2086
exec cargo "$command" $with "$@"
