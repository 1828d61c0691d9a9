#!/usr/bin/env bash
# tests/windows/check_numbers.sh NUMBERS LIBRARY
#
# What tests/trust/numbers.c printed in wine, in the file NUMBERS, is what it prints here with LIBRARY: above all the
# digest of every result, of both kinds of networks, both precisions and two instruction sets.
set -euo pipefail
numbers=$(realpath "$1") library=$(realpath "$2")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
abi=$(sed -n 's/^const ABI: u32 = \([0-9]*\);/\1/p' build.rs)
ln -s "$library" "$work/libdenise.so.$abi"
"${DENISE_CC:-gcc}" -std=c11 -O2 -Iinclude -Itests/c -Itests/trust '-DDENSE="tests/data/onnx/keras_paper.onnx"' \
  tests/trust/numbers.c -o "$work/numbers" "$work/libdenise.so.$abi" -lm -pthread
LD_LIBRARY_PATH=$work "$work/numbers" >"$work/here"
tr -d '\r' <"$numbers" | diff "$work/here" -
echo "ok      C tests: $(grep '^digest' "$work/here"), as on Linux"
