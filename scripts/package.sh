#!/bin/sh
# Packs every crate that is meant to be published, as `cargo publish` would, without sending it.
#   scripts/package.sh            only packs
#   scripts/package.sh verify     builds each of the packed crates too; takes minutes
set -eu
cd "$(dirname "$0")/.."

verify=--no-verify
[ "${1:-}" = verify ] && verify=
# shellcheck disable=SC2086
cargo publish --dry-run --workspace $verify
echo "package.sh: every crate can be published"
