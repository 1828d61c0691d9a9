#!/usr/bin/env bash
# tests/packages/check_crate.sh DIST: the crate in the folder DIST is enough for a program in Rust, without the rest of
# the repository and without the net. Without the ONNX loader, which takes minutes to compile and is not ours.
set -euo pipefail
dist=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CARGO_TARGET_DIR
tar xzf "$dist"/denise-*.crate -C "$work"
mv "$work"/denise-* "$work/denise"
for file in README.md LICENSE-MIT LICENSE-APACHE models/default.layers; do
  [ -s "$work/denise/$file" ] || { echo "the crate has no $file" >&2; exit 1; }
done

mkdir -p "$work/program/src"
cp "$root/examples/rust/minimal.rs" "$work/program/src/main.rs"
cat >"$work/program/Cargo.toml" <<'T'
[package]
name = "program"
version = "0.0.0"
edition = "2024"

[dependencies]
denise = { path = "../denise", default-features = false }
T
cat >>"$work/program/src/main.rs" <<'T'

#[test]
fn both_networks_that_are_built_in() -> Result<(), Error> {
    for name in ["default", "fast"] {
        Model::load(name, &Options::size(5, 1))?;
    }
    Ok(())
}
T
# The versions of the repository's own lock file, which are those that are at hand.
cp "$root/Cargo.lock" "$work/program/"
cd "$work/program"
"${CARGO:-cargo}" test --quiet --offline
line=$("${CARGO:-cargo}" run --quiet --offline)
[ "$line" = 'ok: M = 1.50 is L = 1.00 plus S = 0.50' ] || { echo "it prints: $line" >&2; exit 1; }
echo "ok      $(basename "$dist"/denise-*.crate): $(stat -c %s "$dist"/denise-*.crate) bytes; a program and its test"
