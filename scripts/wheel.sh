#!/bin/sh
# Builds the wheel, which has the Python package and the command `keepnet` in one library, and
# tests it in an empty environment without Rust.
#   scripts/wheel.sh            the wheel goes to dist/
#   scripts/wheel.sh test FILE  only tests a wheel
# The wheel is for Python 3.10 and newer (abi3) and Linux with glibc 2.17 and newer. Zig (from PyPI)
# is the linker, so that no newer symbol of this machine's glibc gets in; all that `cargo build
# --release` compiled is used again.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)

limit=15000000
python=${PYTHON:-python3}
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
export CARGO_TARGET_DIR

if [ "${1:-}" = test ]; then
    wheel=$2
else
    tools=$CARGO_TARGET_DIR/wheel-tools
    [ -x "$tools/bin/maturin" ] || "$python" -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check "maturin>=1.9,<2" ziglang
    # As `cc` on the path, so that cargo takes it for the linker and still knows what it has
    # compiled: a linker in its settings would make it compile all again. maturin knows which of
    # the flags of rustc Zig does not take.
    mkdir -p "$tools/zig"
    cat >"$tools/zig/cc" <<EOF
#!/bin/sh
export CARGO_ZIGBUILD_ZIG_COMMAND="$tools/bin/python3" CARGO_ZIGBUILD_ZIG_COMMAND_ARGS="-m ziglang"
exec "$tools/bin/maturin" zig cc -- -g -fno-sanitize=all -target $(uname -m)-linux-gnu.2.17 "\$@"
EOF
    chmod +x "$tools/zig/cc"
    fresh=$(mktemp -d)
    trap 'rm -rf "$fresh"' EXIT
    PATH=$tools/zig:$PATH "$tools/bin/maturin" build --manifest-path python/Cargo.toml \
        --release --locked --strip --compatibility manylinux_2_17 --out "$fresh"
    mkdir -p dist
    mv "$fresh"/keepnet-*.whl dist/
    wheel=$(ls -t dist/keepnet-*.whl | head -n 1)
fi

bytes=$(wc -c <"$wheel")
echo "wheel.sh: $wheel, $bytes bytes"
if [ "$bytes" -gt $limit ]; then
    echo "wheel.sh: more than $limit bytes" >&2
    exit 1
fi
scripts/first_steps.sh "$wheel"
echo "wheel.sh: all steps passed"
