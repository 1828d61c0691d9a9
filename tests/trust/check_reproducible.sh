#!/usr/bin/env bash
# Builds the small library from the committed state in two directories and compares the bytes.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CARGO_TARGET_DIR

for place in one another/and/deeper; do
  mkdir -p "$work/$place"
  git -C "$here" archive HEAD | tar x -C "$work/$place"
  (cd "$work/$place" && "${CARGO:-cargo}" rustc --quiet --profile small --locked --no-default-features --lib --crate-type cdylib)
done
sha256sum "$work"/one/target/small/libdenise.so "$work"/another/and/deeper/target/small/libdenise.so | cut -d' ' -f1
if cmp "$work/one/target/small/libdenise.so" "$work/another/and/deeper/target/small/libdenise.so"; then
  echo "ok      the small library is the same, byte for byte"
else
  exit 1
fi
