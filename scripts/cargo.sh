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
# shellcheck disable=SC2086
exec cargo "$command" $with "$@"
