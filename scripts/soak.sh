#!/bin/sh
# Random tables through every method for as long as one likes; an hour without an argument.
#   scripts/soak.sh [90|90s|30m|8h]
# Each failure is printed with its seed, and with the table made smaller while it still fails. To
# see one again:
#   ANY_TABLE_SEED=SEED ANY_TABLE_METHOD=NAME scripts/soak.sh 1
# ANY_TABLE_SEED is the first seed (else one of the clock), ANY_TABLE_METHOD a method (else all).
set -eu
cd "$(dirname "$0")/.."

length=${1:-1h}
case $length in
*h) unit=3600 ;;
*m) unit=60 ;;
*) unit=1 ;;
esac
number=${length%[hms]}
case $number in
'' | *[!0-9]*)
    echo "usage: scripts/soak.sh [90|90s|30m|8h]" >&2
    exit 2
    ;;
esac
ANY_TABLE_SECONDS=$((number * unit))
ANY_TABLE_SEED=${ANY_TABLE_SEED:-$(date +%s)000}
export ANY_TABLE_SECONDS ANY_TABLE_SEED
echo "random tables for $ANY_TABLE_SECONDS s, from seed $ANY_TABLE_SEED"
exec cargo test --release -p keepnet-cli --test any_table -- --nocapture every_method
