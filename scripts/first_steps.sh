#!/bin/sh
# The whole path of a user, with nothing but the wheel: install it, then go from generated data to
# a selection, its use, the next day's columns, a comparison and the report.
#   scripts/first_steps.sh WHEEL
# It runs in an empty directory with an environment of its own and without Rust, and prints each
# command and its output as docs/first-steps.md has them. Any failure ends it.
set -eu
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
python=$(command -v "${PYTHON:-python3}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Compilers are not to be found: nothing may be built on the way.
PATH=$folder/env/bin:/usr/bin:/bin
export PATH
for tool in cargo rustc; do
    if command -v $tool >/dev/null 2>&1; then
        echo "first_steps.sh: $tool is in /usr/bin; the test needs a machine where it is not" >&2
        exit 1
    fi
done

run() {
    echo "\$ $*"
    "$@" 2>&1
}

run "$python" -m venv env | sed 's|^\$ .*/|$ |'
echo "\$ pip install $(basename "$wheel")"
pip install --quiet --disable-pip-version-check "$wheel"
run keepnet --version
echo
run keepnet demo --set p=20000
echo
# Twenty of 4,000 features make the target; Monday has the first half of them.
run keepnet generate wide --set n=600 --set p=4000 --set s=20 --seed 1 --output all.csv
cat >split.py <<'PY'
import csv
with open("all.csv") as whole, open("monday.csv", "w") as monday, open("tuesday.csv", "w") as tuesday:
    for row in csv.reader(whole):
        *features, target = row
        csv.writer(monday).writerow([*features[:2000], target])
        csv.writer(tuesday).writerow([*features[2000:], target])
PY
run python split.py
echo
run keepnet select monday.csv --target target -k 20 --output monday.json --report monday.html
echo
run keepnet apply monday.json monday.csv --output kept.csv
run keepnet predict monday.json monday.csv --output fitted.csv
run head -n 3 fitted.csv
echo
run keepnet select monday.csv --target target -k 20 --state stream.kn --quiet
run rm monday.csv
run keepnet select tuesday.csv --target target -k 20 --state stream.kn --output both.json
echo
run keepnet compare all.csv --target target -k 20 --methods os-plus,saola,lasso --splits 3 --output tidy.csv --report compared.html
echo
cat >again.py <<'PY'
import json
import keepnet
selector = keepnet.select("all.csv", "target", k=20)
both = {feature["name"] for feature in json.load(open("both.json"))["selected"]}
print(len(both & set(selector.get_feature_names_out())), "of 20 features as on the two days")
PY
run python again.py
run ls
for page in monday.html compared.html; do
    grep -q "<svg" $page
done
[ "$(head -n 1 kept.csv | tr , '\n' | wc -l)" = 20 ]
[ "$(wc -l <fitted.csv)" = 601 ]
