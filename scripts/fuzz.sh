#!/bin/sh
# Mutated files and saved states for as long as one likes: scripts/fuzz.sh SECONDS [TARGET] [SEED]
# Targets: csv tsv npy svm jsonl parquet arrow arrows feather gz zst, columns-state rows-state
# averages compare-state; all is all. Failing inputs go to target/fuzz, shrunk, with their seed.
set -eu
cd "$(dirname "$0")/.."
if [ $# -lt 1 ]; then
    sed -n '2,4s/^# //p' "$0" >&2
    exit 2
fi
seed=${3:-$(date +%s)}
exec cargo run --release --quiet -p keepnet-fuzz -- \
    run --seconds "$1" --target "${2:-all}" --seed "$seed"
