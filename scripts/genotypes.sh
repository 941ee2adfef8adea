#!/bin/sh
# Genotypes by seed through os-plus: what a run takes, beside plink2 where it is installed.
#   scripts/genotypes.sh [PEOPLE] [VARIANTS] [K]        100000 100000 500 is 2.5 GB of genotypes
set -eu
n=${1:-20000} p=${2:-20000} k=${3:-500}
keepnet=${KEEPNET:-target/release/keepnet}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$keepnet" generate genotypes --set n="$n" --set p="$p" --seed 1 --output "$folder/x.bed" --truth "$folder/truth.csv"
for near in 200 0; do
    "$keepnet" select "$folder/x.bed" --target "$folder/x.phe:Y1" -k "$k" --threads 1 --quiet \
        --set neighbours=$near --output "$folder/x.json"
    python3 - "$folder" "$n" "$p" "$near" <<'END'
import csv, json, sys
folder, n, p, near = sys.argv[1:]
result = json.load(open(folder + "/x.json"))
truth = {row["name"] for row in csv.DictReader(open(folder + "/truth.csv"))}
found = len(truth & {feature["name"] for feature in result["selected"]})
seconds, read = result["run"]["seconds"], int(p) * ((int(n) + 3) // 4) * result["scans"]
print(f"neighbours={near}: {seconds['total']:.1f} s, {read / seconds['total'] / 1e9:.2f} GB/s of genotypes,",
      f"peak {result['run']['peak_bytes'] / 2**20:.0f} MiB, loss {result['final_loss']:.4f},",
      f"{found} of {len(truth)} causal variants, {result['substitutions']} substitutions,", result["metrics"])
END
done
if command -v plink2 >/dev/null; then
    awk '{ $1 = $1; print }' "$folder/x.phe" > "$folder/y.phe"
    time plink2 --threads 1 --bfile "$folder/x" --pheno "$folder/y.phe" --glm omit-ref allow-no-covars \
        --out "$folder/glm" >/dev/null
else
    echo "plink2 is not installed: no comparison"
fi
