#!/bin/sh
# One archive of the program for those without Rust or Python: the stripped binary, completions
# for every shell, man pages, licences (ours and those of everything inside) and checksums.
#   scripts/release.sh            dist/keepnet-VERSION-TARGET.tar.gz and its .sha256
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
target=${CARGO_TARGET_DIR:-target}

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
host=$(rustc -vV | sed -n 's/^host: //p')
name=keepnet-$version-$host

scripts/cargo.sh build --locked --bin keepnet

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/$name
mkdir -p "$out/completions" "$out/man"
strip -o "$out/keepnet" "$target/release/keepnet"
for shell in bash zsh fish elvish powershell; do
    "$out/keepnet" completions $shell >"$out/completions/keepnet.$shell"
done
"$out/keepnet" man --directory "$out/man"
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$out"
cargo metadata --format-version 1 --locked --filter-platform "$host" |
    python3 scripts/licences.py keepnet-cli >"$out/LICENCES-OF-DEPENDENCIES.txt"

(cd "$out" && find . -type f ! -name SHA256SUMS | sort | xargs sha256sum >SHA256SUMS)
mkdir -p dist
# The same bytes from the same files: order, owner and times are fixed.
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" -cf "$work/all.tar" "$name"
gzip -n -9 <"$work/all.tar" >"dist/$name.tar.gz"
(cd dist && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")

# What was packed is what works: unpacked elsewhere, checked, and run.
mkdir "$work/try"
tar -C "$work/try" -xzf "dist/$name.tar.gz"
(cd "$work/try/$name" && sha256sum --quiet -c SHA256SUMS && ./keepnet demo --set p=2000 >/dev/null 2>&1)
echo "release.sh: dist/$name.tar.gz, $(wc -c <"dist/$name.tar.gz") bytes;" \
    "the program has $(wc -c <"$out/keepnet")"
cd "$root"
