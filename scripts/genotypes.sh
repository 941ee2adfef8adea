#!/bin/sh
# Genotypes by seed through os-plus: what a run of one and of several traits takes, and what a scan
# without substitutions reads a second; beside plink2 where it is installed.
#   scripts/genotypes.sh [PEOPLE] [VARIANTS] [K] [TRAITS]     100000 100000 500 10 is 2.5 GB of genotypes
set -eu
n=${1:-20000} p=${2:-20000} k=${3:-500} traits=${4:-10}
keepnet=${KEEPNET:-target/release/keepnet}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$keepnet" generate genotypes --set n="$n" --set p="$p" --set traits="$traits" --seed 1 \
    --output "$folder/x.bed" --truth "$folder/truth.csv"

report() {
    python3 - "$folder" "$n" "$p" "$@" <<'END'
import csv, json, sys
folder, n, p, what, before, after = sys.argv[1:]
result = json.load(open(folder + "/x.json"))
truth = {}
for row in csv.DictReader(open(folder + "/truth.csv")):
    truth.setdefault(row["trait"], set()).add(row["name"])
run, targets = result["run"], result.get("targets", [result | {"target": "Y1"}])
cpu = float(after) - float(before)
read = int(p) * ((int(n) + 3) // 4) * result["scans"]
found = [len(truth[one["target"]] & {f["name"] for f in one["selected"]}) for one in targets]
total = sum(one["substitutions"] for one in targets)
metrics = {}
for one in targets:
    for name, value in one["metrics"].items():
        if isinstance(value, (int, float)):
            metrics[name] = metrics.get(name, 0) + value
print(f"{what}: {run['seconds']['total']:.1f} s, {cpu:.1f} s of processor time, {result['scans']} scans,",
      f"{read / cpu / 1e9:.2f} GB/s of genotypes a core, peak {run['peak_bytes'] / 2**20:.0f} MiB,",
      f"{total} substitutions, causal variants found {found},",
      f"distinct kept {result.get('distinct_kept', len(targets[0]['selected']))},", metrics)
END
}

# Processor time of the children of this shell, in seconds.
spent() {
    # One clock tick is a hundredth of a second.
    awk '{ print ($16 + $17) / 100 }' "/proc/$$/stat"
}

measured() {
    what=$1
    shift
    before=$(spent)
    "$keepnet" select "$folder/x.bed" --threads 1 --quiet --output "$folder/x.json" "$@"
    report "$what" "$before" "$(spent)"
}

# With k=1 there are a few substitutions only: a scan reads, counts and takes products.
for target in "Y1" "*"; do
    measured "one scan that keeps 1, $target" --target "$folder/x.phe:$target" -k 1 --scans 1
    measured "k=$k, $target" --target "$folder/x.phe:$target" -k "$k"
done
measured "k=$k, Y1, neighbours=0" --target "$folder/x.phe:Y1" -k "$k" --set neighbours=0
if command -v plink2 >/dev/null; then
    for last in 1 "$traits"; do
        awk -v last="$last" '{ line = $1 "\t" $2; for (j = 3; j <= last + 2; j++) line = line "\t" $j; print line }' \
            "$folder/x.phe" > "$folder/y.phe"
        before=$(spent)
        plink2 --threads 1 --bfile "$folder/x" --pheno "$folder/y.phe" --glm omit-ref allow-no-covars \
            --out "$folder/glm" >/dev/null
        after=$(spent)
        echo "plink2 --glm of $last traits: $(awk "BEGIN { print $after - $before }") s of processor time"
    done
else
    echo "plink2 is not installed: no comparison"
fi
