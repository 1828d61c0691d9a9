#!/usr/bin/env bash
# tests/trust/check_faults.sh LIBRARY PROGRAMS [--long]
#
# Faults of memory, files, threads and processes, by the programs of tests/trust that were built into PROGRAMS;
# docs/TRUST.md says which promise each of them holds.
set -euo pipefail
library=$(realpath "$1") programs=$(realpath "$2") how=${3:-}
cd "$(dirname "$0")/../.."
if [ "$how" = --long ]; then
  python3 tests/trust/write_dense.py "$programs/dense.onnx"
  "$programs/limits" "$programs/dense.onnx"
  "$programs/out_of_memory" "$library" 11
  "$programs/files" "$programs/scratch" 20
  "$programs/hammer" 60
  "$programs/extremes" "$programs/dense.onnx"
  exit
fi
"$programs/out_of_memory" "$library" 499
"$programs/limits" models/default.onnx tests/data/onnx/keras_paper.onnx
"$programs/files" "$programs/scratch" 1
"$programs/hammer" 5
"$programs/fork"
"$programs/signals"
"$programs/modes"
"$programs/first_call"
"$programs/../c/dlopen" "$library" 1000
"$programs/numbers" >"$programs/numbers.txt" || { cat "$programs/numbers.txt"; exit 1; }
cat "$programs/numbers.txt"
"$programs/numbers" | diff "$programs/numbers.txt" -
echo 'ok      another process gives the same digest'
