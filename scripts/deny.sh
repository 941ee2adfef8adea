#!/bin/sh
# Licences, sources and wildcards of every dependency, as deny.toml has them, by cargo-deny where
# it is installed (`cargo install --locked cargo-deny`, which takes minutes); else says that it
# was skipped.
#   scripts/deny.sh             without network
#   scripts/deny.sh advisories  known weaknesses too; fetches the list of RustSec
set -eu
cd "$(dirname "$0")/.."

if ! command -v cargo-deny >/dev/null 2>&1; then
    said="cargo-deny is not installed (cargo install --locked cargo-deny): skipped licences and sources of dependencies"
    echo "deny.sh: $said"
    [ -z "${KEEPNET_SKIPPED:-}" ] || echo "$said" >>"$KEEPNET_SKIPPED"
    exit 0
fi
for folder in . python; do
    if [ "${1:-}" = advisories ]; then
        cargo-deny --manifest-path $folder/Cargo.toml check --config deny.toml
    else
        cargo-deny --offline --manifest-path $folder/Cargo.toml check --config deny.toml \
            licenses bans sources
    fi
done
